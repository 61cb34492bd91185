import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { idsHash } from '../timings-client.ts';
import { DESIGNS, type Encode } from './designs.ts';
import { LoopWatch } from './event-loop.ts';
import { Heartbeats } from './heartbeats.ts';

/**
 * A frontend with the shape of the real one: HTTP requests whose text becomes token ids, and on the same event loop the
 * heartbeats of its workers. `frontend.ts DESIGN THREADS HTTP_SOCKET PLANE_SOCKET`.
 *
 *     POST /tokenize          text -> { count, hash }; 503 outside a measurement
 *     POST /start?seconds=N   starts a measurement
 *     POST /report            ends it, and says what was seen
 */
const [design, threads, httpSocket, planeSocket] = process.argv.slice(2);
const encode = await open(design!);
const heartbeats = new Heartbeats();
let watch: LoopWatch | undefined;
let until = 0;

async function open(name: string): Promise<Encode> {
  const found = DESIGNS.find((one) => one.name === name);
  if (found === undefined) throw new Error(`no design is named ${name}`);
  return found.open(Number(threads));
}

async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
  const url = new URL(request.url ?? '/', 'http://frontend');
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk as Buffer);
  switch (url.pathname) {
    case '/tokenize':
      // What is still unread when the time is up shall not hold up the report.
      if (performance.now() > until) return reply(response, 503, {});
      return reply(response, 200, summary(await encode(Buffer.concat(chunks), whenLeft(response))));
    case '/start':
      heartbeats.reset();
      watch?.report();
      watch = new LoopWatch();
      until = performance.now() + Number(url.searchParams.get('seconds')) * 1e3;
      return reply(response, 200, {});
    case '/report':
      return reply(response, 200, { loop: watch?.report(), heartbeats: heartbeats.report() });
    default:
      return reply(response, 404, {});
  }
}

function whenLeft(response: ServerResponse): AbortSignal {
  const left = new AbortController();
  response.once('close', () => left.abort());
  return left.signal;
}

function reply(response: ServerResponse, status: number, body: object): void {
  response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body));
}

/** The designs must agree in the hash. */
function summary(ids: Uint32Array): { count: number; hash: number } {
  return { count: ids.length, hash: idsHash(ids) };
}

const server = createServer((request, response) => {
  // A caller that has left needs no answer.
  answer(request, response).catch((error: unknown) => {
    if (!response.destroyed) throw error;
  });
});
// A loop that is blocked for seconds would reset the connections of callers that did nothing wrong.
server.keepAliveTimeout = 0;
server.requestTimeout = 0;
heartbeats.server.listen(planeSocket, () => server.listen(httpSocket, () => console.log('ready')));
