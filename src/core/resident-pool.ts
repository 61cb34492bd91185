import { setTimeout } from 'node:timers/promises';
import type { MessagePort } from 'node:worker_threads';
import type { Outcome } from '../protocol/status.ts';
import { Crew } from './crew.ts';
import type { CacheCounters } from './metrics/cache-counters.ts';
import type { PreparedModel } from './model.ts';

/** A thread that cannot start must not be started over and over without a breath. */
const RESTART_PAUSE_MS = 50;

/** What a thread is given to do for as long as it lives. */
export interface ResidentTask {
  readonly data: unknown;
  /** Of the file's exports; its default one unless set. */
  readonly name?: string;
  readonly transferList?: MessagePort[];
}

/**
 * A pool of threads that each do one task for good, and serve no others. piscina replaces a thread that died, not its task,
 * which is run again here.
 */
export class ResidentPool {
  readonly #crew: Crew;
  #restarts = 0;
  #closed = false;

  /** Starts the threads, which wait for `models`. */
  constructor(file: URL, threads: number, seed: unknown, models: Promise<Outcome<readonly PreparedModel[]>>) {
    this.#crew = new Crew(file, threads, seed, models);
  }

  /** Resolves when every thread is warm, or one has said why it cannot be. */
  ready(): Promise<Outcome<void>> {
    return this.#crew.ready();
  }

  /** What the caches of the threads have found. */
  get caches(): readonly CacheCounters[] {
    return this.#crew.caches;
  }

  /** Threads that were lost and replaced. */
  get restarts(): number {
    return this.#restarts;
  }

  /** Runs what `start` gives until that ends by itself; when its thread dies, tells `lost` why and starts anew. */
  async keepRunning(start: () => ResidentTask, lost: (error: unknown) => void): Promise<void> {
    for (;;) {
      const { data, ...options } = start();
      try {
        await this.#crew.piscina.run(data, options);
        return;
      } catch (error) {
        if (this.#closed) return;
        this.#restarts++;
        lost(error);
        await setTimeout(RESTART_PAUSE_MS);
      }
    }
  }

  /** Ends the threads, whatever they are at. */
  async close(): Promise<void> {
    this.#closed = true;
    await this.#crew.piscina.destroy();
  }
}
