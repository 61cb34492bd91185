import { workerData } from 'piscina';
import { CallCounters } from '../core/metrics/call-counters.ts';
import type { Models } from '../core/model.ts';
import { serve } from '../core/serve.ts';
import { type Job, type NativeLibrary, NEXT, openNativeLibrary, QUEUES } from '../ffi/native-library.ts';
import { decodeRequest } from '../protocol/frame-reader.ts';
import { FrameWriter } from '../protocol/frame-writer.ts';
import { failure, type Response } from '../protocol/messages.ts';
import { refuseToStart, warmModels } from './worker-models.ts';

/** What a service thread is given when it starts. */
export interface ServiceSeed {
  readonly host: number;
  /** One Int32: the last worker number given out. */
  readonly numbers: SharedArrayBuffer;
}

/** What a resident task is given. */
export interface ServiceTask {
  /** Memory of the thread's CallCounters. */
  readonly counters: SharedArrayBuffer;
}

/** Longer than this no native wait may last: V8 does not look for termination inside one. */
const WAIT_MS = 100;

/** Of a thread's buffer for requests; what a request needs more is given back after it, unless it is little. */
const BUFFER_BYTES = 256 * 1024;
const KEPT_BUFFER_BYTES = 4 * 1024 * 1024;

interface Service {
  readonly library: NativeLibrary;
  readonly models: Models;
  readonly worker: number;
}

/** A resident piscina task: takes jobs from the native host until that is stopped. */
class ServiceThread {
  readonly #seed: ServiceSeed;
  readonly #service: Service;
  readonly #writer = new FrameWriter();
  #buffer = new Uint8Array(BUFFER_BYTES);

  constructor(seed: ServiceSeed, service: Service) {
    this.#seed = seed;
    this.#service = service;
  }

  run(task: ServiceTask): void {
    const { library } = this.#service;
    const { host } = this.#seed;
    const job: Job = { ticket: 0, length: 0, queue: 0 };
    const counters = new CallCounters([...this.#service.models.keys()], task.counters);
    counters.start();
    for (;;) {
      const found = library.next(host, QUEUES.calls, this.#buffer, job, WAIT_MS);
      checkForTermination();
      if (found === NEXT.stopped) return;
      if (found === NEXT.grow) this.#buffer = new Uint8Array(2 ** Math.ceil(Math.log2(job.length)));
      if (found !== NEXT.job) continue;
      this.#answer(job, counters);
      if (this.#buffer.length > KEPT_BUFFER_BYTES) this.#buffer = new Uint8Array(BUFFER_BYTES);
    }
  }

  #answer(job: Job, counters: CallCounters): void {
    const { library, models, worker } = this.#service;
    const send = (response: Response, callId: bigint) =>
      library.reply(
        this.#seed.host,
        job.ticket,
        this.#writer.responseBeforeIds(response, callId),
        response.ids,
      );
    const frame = decodeRequest(this.#buffer.subarray(0, job.length));
    if (!frame.ok) {
      send(failure(frame.fault.status, frame.fault.message), 0n);
      return;
    }
    const { request, callId } = frame.value;
    if (request.operation === 'stats' || request.operation === 'ready') {
      send(failure('INTERNAL', `${request.operation} is not for a service thread`), callId);
      return;
    }
    const response = serve(request, models, worker, job.queue);
    counters.settle(request, response, () => send(response, callId));
  }
}

/** V8 looks for termination on calls of JavaScript functions, not on return from a native one. */
function checkForTermination(): void {}

function openService(seed: ServiceSeed): ServiceThread | undefined {
  const library = openNativeLibrary(new URL('.', import.meta.url));
  if (!library.ok) {
    refuseToStart(library.fault);
    return undefined;
  }
  const models = warmModels();
  if (!models.ok) return undefined;
  const worker = Atomics.add(new Int32Array(seed.numbers), 0, 1) + 1;
  return new ServiceThread(seed, { library: library.value, models: models.value, worker });
}

const service = openService(workerData as ServiceSeed);

// piscina asks for the default export of the file it is given.
// biome-ignore lint/style/noDefaultExport: the tool demands it
export default (task: ServiceTask): void => service?.run(task);
