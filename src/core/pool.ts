import { failure, type Request, type Response } from '../protocol/messages.ts';
import { moved } from '../protocol/moved.ts';
import type { Outcome } from '../protocol/status.ts';
import { Crew, messageOf } from './crew.ts';
import type { Workers } from './dispatcher.ts';
import type { CacheCounters } from './metrics/cache-counters.ts';
import type { PreparedModel } from './model.ts';

/** What a worker thread is given when it starts. */
export interface WorkerSeed {
  /** One Int32: the last worker number given out. A worker that replaces a dead one gets a number of its own. */
  readonly numbers: SharedArrayBuffer;
}

/**
 * A fixed number of piscina workers, each with every model open and warm. `run` never rejects: a worker that dies (out of
 * heap, exit) costs its own call and is replaced.
 */
export class Pool implements Workers {
  readonly size: number;
  readonly #crew: Crew;
  #restarts = 0;

  /** Starts the workers, which wait for `models`. */
  constructor(workerFile: URL, threads: number, models: Promise<Outcome<readonly PreparedModel[]>>) {
    this.size = threads;
    const seed: WorkerSeed = { numbers: new SharedArrayBuffer(4) };
    this.#crew = new Crew(workerFile, threads, seed, models);
  }

  /** Resolves when every worker is warm, or one has said why it cannot be. */
  ready(): Promise<Outcome<void>> {
    return this.#crew.ready();
  }

  /** What the caches of the workers have found. */
  get caches(): readonly CacheCounters[] {
    return this.#crew.caches;
  }

  /** Workers that were lost and replaced. */
  get restarts(): number {
    return this.#restarts;
  }

  async run(request: Request): Promise<Response> {
    const transferList = request.operation === 'tokenize' ? owned(request.body) : [];
    try {
      return await this.#crew.piscina.run(request, { transferList });
    } catch (error) {
      this.#restarts++;
      return failure('UNAVAILABLE', `the worker was lost: ${messageOf(error)}`);
    }
  }

  async close(): Promise<void> {
    await this.#crew.piscina.destroy();
  }
}

/** A large body that has its buffer to itself moves to the worker; a view into another buffer is copied by the clone. */
function owned(bytes: Uint8Array): ArrayBuffer[] {
  const { buffer } = bytes;
  return buffer.byteLength === bytes.byteLength ? moved(buffer) : [];
}
