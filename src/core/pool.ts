import { Piscina } from 'piscina';
import { failure, type Request, type Response } from '../protocol/messages.ts';
import { moved } from '../protocol/moved.ts';
import { type Fault, fail, type Outcome, succeed } from '../protocol/status.ts';
import type { Workers } from './dispatcher.ts';
import type { PreparedModel } from './model.ts';

/** What a worker thread is given when it starts. */
export interface WorkerSeed {
  readonly models: readonly PreparedModel[];
  /** One Int32: the last worker number given out. A worker that replaces a dead one gets a number of its own. */
  readonly numbers: SharedArrayBuffer;
}

/** What a worker thread says once, before its first task. */
export type WorkerGreeting = { readonly ready: true } | { readonly failed: Fault };

/**
 * A fixed number of piscina workers, each with every model open and warm. `run` never rejects: a worker that dies (out of
 * heap, exit) costs its own call and is replaced.
 */
export class Pool implements Workers {
  readonly size: number;
  readonly #piscina: Piscina<Request, Response>;
  readonly #ready: Promise<Outcome<void>>;
  #restarts = 0;

  constructor(workerFile: URL, threads: number, models: readonly PreparedModel[]) {
    this.size = threads;
    const seed: WorkerSeed = { models, numbers: new SharedArrayBuffer(4) };
    this.#piscina = openPiscina(workerFile, threads, seed);
    this.#ready = everyWorkerGreets(this.#piscina, threads);
  }

  /** Resolves when every worker is warm, or one has said why it cannot be. */
  ready(): Promise<Outcome<void>> {
    return this.#ready;
  }

  /** Workers that were lost and replaced. */
  get restarts(): number {
    return this.#restarts;
  }

  async run(request: Request): Promise<Response> {
    const transferList = request.operation === 'tokenize' ? owned(request.body) : [];
    try {
      return await this.#piscina.run(request, { transferList });
    } catch (error) {
      this.#restarts++;
      return failure('UNAVAILABLE', `the worker was lost: ${messageOf(error)}`);
    }
  }

  async close(): Promise<void> {
    await this.#piscina.destroy();
  }
}

/** A pool of `threads` workers that never grows, shrinks or retires. */
export function openPiscina(file: URL, threads: number, workerData: unknown): Piscina {
  return new Piscina({
    filename: file.href,
    minThreads: threads,
    maxThreads: threads,
    workerData,
    // The host's --import and --require hooks are its own; workers run what the bundle holds.
    execArgv: [],
  });
}

/** Counts `threads` greetings; the first failure decides. */
export function everyWorkerGreets(piscina: Piscina, threads: number): Promise<Outcome<void>> {
  return new Promise((resolve) => {
    let greeted = 0;
    piscina.on('message', (greeting: WorkerGreeting) => {
      if ('failed' in greeting) resolve({ ok: false, fault: greeting.failed });
      else if (++greeted === threads) resolve(succeed(undefined));
    });
    piscina.on('error', (error) =>
      resolve(fail('INIT_FAILED', `a worker could not start: ${messageOf(error)}`)),
    );
  });
}

/** A large body that has its buffer to itself moves to the worker; a view into another buffer is copied by the clone. */
function owned(bytes: Uint8Array): ArrayBuffer[] {
  const { buffer } = bytes;
  return buffer.byteLength === bytes.byteLength ? moved(buffer) : [];
}

export function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
