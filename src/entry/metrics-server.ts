import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { Registry } from 'prom-client';
import { metricsLibrary } from '../core/metrics/exposition.ts';
import { fail, type Outcome, succeed } from '../protocol/status.ts';

/** Where metrics are served. */
export interface MetricsAddress {
  readonly host: string;
  readonly port: number;
}

/** What the pages are made of. */
export interface MetricsSource {
  /** Prometheus text. */
  metrics(): Promise<string>;
  /** Why calls cannot be served now, if they cannot. */
  whyNotReady(): string | undefined;
}

/** `host:port`, `[v6]:port`, or a port alone, which is of the loopback interface. */
export function metricsAddress(text: string): MetricsAddress | undefined {
  const [, v6, name, digits] = /^(?:(?:\[([\da-fA-F:.]+)\]|([^:[\]]+)):)?(\d{1,5})$/.exec(text) ?? [];
  const port = Number(digits);
  return digits === undefined || port > 65_535 ? undefined : { host: v6 ?? name ?? '127.0.0.1', port };
}

/**
 * /metrics, /healthz (this process's event loop turns) and /readyz (every model is warm) for Prometheus and an orchestrator.
 * Read only, without access control: it listens where the operator says and nowhere else.
 */
export class MetricsServer {
  /** Where it listens, with the port that the system chose for port 0. */
  readonly url: string;
  readonly #server: Server;

  private constructor(server: Server, url: string) {
    this.#server = server;
    this.url = url;
  }

  static async listen(
    { host, port }: MetricsAddress,
    source: MetricsSource,
  ): Promise<Outcome<MetricsServer>> {
    // Of the process: memory, processor time, descriptors, garbage collection.
    const { collectDefaultMetrics, Registry } = await metricsLibrary();
    const ofProcess = new Registry();
    collectDefaultMetrics({ register: ofProcess });
    const server = createServer((request, response) => void answer(request, response, source, ofProcess));
    server.requestTimeout = 5_000;
    server.headersTimeout = 5_000;
    server.maxConnections = 64;
    const failed = await new Promise<Error | undefined>((resolve) => {
      server.once('error', resolve);
      server.listen(port, host, () => resolve(undefined));
    });
    if (failed) return fail('INIT_FAILED', `metrics on ${host}:${port}: ${failed.message}`);
    // A process that is out of descriptors cannot accept: whoever scrapes comes again, and calls are served meanwhile.
    server.on('error', () => {});
    const bound = server.address();
    const boundPort = typeof bound === 'object' && bound ? bound.port : port;
    return succeed(
      new MetricsServer(server, `http://${host.includes(':') ? `[${host}]` : host}:${boundPort}`),
    );
  }

  close(): void {
    this.#server.close();
    this.#server.closeAllConnections();
  }
}

async function answer(
  request: IncomingMessage,
  response: ServerResponse,
  source: MetricsSource,
  ofProcess: Registry,
): Promise<void> {
  const send = (status: number, body: string, type = 'text/plain; charset=utf-8') => {
    response.writeHead(status, { 'content-type': type, 'cache-control': 'no-store' });
    response.end(request.method === 'HEAD' ? undefined : body);
  };
  if (request.method !== 'GET' && request.method !== 'HEAD') {
    response.setHeader('allow', 'GET, HEAD');
    return send(405, 'GET and HEAD only\n');
  }
  switch (request.url?.split('?', 1)[0]) {
    case '/metrics':
      try {
        const pages = await Promise.all([source.metrics(), ofProcess.metrics()]);
        return send(200, pages.join('\n'), ofProcess.contentType);
      } catch {
        return send(500, 'the metrics could not be rendered\n');
      }
    case '/healthz':
      return send(200, 'alive\n');
    case '/readyz': {
      const reason = source.whyNotReady();
      return reason === undefined ? send(200, 'ready\n') : send(503, `${reason}\n`);
    }
    default:
      return send(404, 'known: /metrics, /healthz, /readyz\n');
  }
}
