import { setTimeout } from 'node:timers/promises';
import type { MessagePort } from 'node:worker_threads';
import type { Piscina } from 'piscina';
import type { Outcome } from '../protocol/status.ts';
import { everyWorkerGreets, messageOf, openPiscina } from './pool.ts';

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
  readonly #piscina: Piscina;
  readonly #ready: Promise<Outcome<void>>;
  #restarts = 0;

  constructor(file: URL, threads: number, seed: unknown) {
    this.#piscina = openPiscina(file, threads, seed);
    this.#ready = everyWorkerGreets(this.#piscina, threads);
  }

  /** Resolves when every thread is warm, or one has said why it cannot be. */
  ready(): Promise<Outcome<void>> {
    return this.#ready;
  }

  /** Threads that were lost and replaced. */
  get restarts(): number {
    return this.#restarts;
  }

  /** Runs what `start` gives until that ends by itself; when its thread dies, tells `lost` of what and starts anew. */
  async keepRunning(start: () => ResidentTask, lost: (why: string) => void = () => {}): Promise<void> {
    for (;;) {
      const { data, ...options } = start();
      try {
        await this.#piscina.run(data, options);
        return;
      } catch (error) {
        this.#restarts++;
        lost(messageOf(error));
        await setTimeout(RESTART_PAUSE_MS);
      }
    }
  }
}
