import { parentPort, workerData } from 'node:worker_threads';
import { decodeRequest } from '../../src/protocol/frame-reader.ts';
import { FrameWriter } from '../../src/protocol/frame-writer.ts';
import { failure, type TokenizeRequest } from '../../src/protocol/messages.ts';
import { Latch } from '../../src/sync/latch.ts';
import { type LineEnd, WorkerEnd } from '../../src/sync/line.ts';

// A worker that does what its calls' model names say.
const { latch, line } = workerData as { latch: SharedArrayBuffer; line: LineEnd };
const end = new WorkerEnd(line, new Latch(latch));
const writer = new FrameWriter();
let calls = 0;
let framed = false;

const sleep = (ms: number) => Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, ms);

function reply(...ids: number[]): void {
  const response = { ...failure('OK', ''), ids: Uint32Array.from(ids), counts: [ids.length] };
  end.answer(framed ? writer.response(response, 0n) : response);
}

function act({ model, body }: TokenizeRequest, queueMicroseconds: number): void {
  if (model === 'echo') reply(body[0]!);
  else if (model === 'late') {
    const first = body[0]!;
    sleep(120);
    reply(first);
  } else if (model === 'waited') reply(queueMicroseconds);
  else if (model === 'count, then rest') {
    reply(calls);
    sleep(150);
  } else if (model === 'die') process.exit(0);
  else {
    // What is the runtime's to do; the caller hears no more of this call.
    parentPort?.postMessage(model);
    sleep(60_000);
  }
}

parentPort?.postMessage('ready');
for (;;) {
  const { call, queueMicroseconds } = end.next();
  calls++;
  framed = call instanceof Uint8Array;
  const decoded = call instanceof Uint8Array ? decodeRequest(call) : undefined;
  const request = decoded === undefined ? call : decoded.ok ? decoded.value.request : undefined;
  if (request !== undefined && 'body' in request) act(request, queueMicroseconds);
  // No frame of ours: as it is, but the other way round.
  else end.answer((call as Uint8Array).slice().reverse());
}
