import type { MessagePort } from 'node:worker_threads';
import { Piscina } from 'piscina';
import { type Fault, fail, type Outcome, succeed } from '../protocol/status.ts';
import { CacheCounters } from './metrics/cache-counters.ts';
import type { PreparedModel } from './model.ts';

/** From a worker thread to the one that started it. */
export type WorkerMessage =
  /** Its code is loaded: it sleeps on the Int32 until that is 1, and then has the models on the port. */
  | { readonly type: 'asks'; readonly port: MessagePort; readonly given: SharedArrayBuffer }
  /** Every model is open and warm. */
  | { readonly type: 'warm'; readonly caches: SharedArrayBuffer }
  | { readonly type: 'failed'; readonly fault: Fault };

/**
 * piscina workers that each have every model open and warm. They start at once and load their code while the models are still
 * being prepared, and ask for these when they have. One that replaces a worker that died asks as they did.
 */
export class Crew {
  readonly piscina: Piscina;
  /** What the caches of each worker so far have found, those that died too. */
  readonly caches: CacheCounters[] = [];
  readonly #ready: Promise<Outcome<void>>;

  constructor(
    file: URL,
    threads: number,
    workerData: unknown,
    models: Promise<Outcome<readonly PreparedModel[]>>,
  ) {
    this.piscina = openPiscina(file, threads, workerData);
    this.#ready = new Promise((resolve) => {
      let warm = 0;
      this.piscina.on('message', async (message: WorkerMessage) => {
        if (message.type === 'failed') return resolve({ ok: false, fault: message.fault });
        const prepared = await models;
        if (!prepared.ok) return;
        if (message.type === 'asks') return give(message, prepared.value);
        const names = prepared.value.map(({ name }) => name);
        this.caches.push(new CacheCounters(names, message.caches));
        if (++warm === threads) resolve(succeed(undefined));
      });
      void models.then((prepared) => prepared.ok || resolve(prepared));
      this.piscina.on('error', (error) =>
        resolve(fail('INIT_FAILED', `a worker could not start: ${messageOf(error)}`)),
      );
    });
  }

  /** Resolves when every worker is warm, or one has said why it cannot be, or there are no models. */
  ready(): Promise<Outcome<void>> {
    return this.#ready;
  }
}

/** A pool of `threads` workers that never grows, shrinks or retires. */
function openPiscina(file: URL, threads: number, workerData: unknown): Piscina {
  return new Piscina({
    filename: file.href,
    minThreads: threads,
    maxThreads: threads,
    workerData,
    // The host's --import and --require hooks are its own; workers run what the bundle holds.
    execArgv: [],
  });
}

function give(
  { port, given }: { port: MessagePort; given: SharedArrayBuffer },
  models: readonly PreparedModel[],
): void {
  port.postMessage(models);
  port.close();
  const words = new Int32Array(given);
  Atomics.store(words, 0, 1);
  Atomics.notify(words, 0);
}

export function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
