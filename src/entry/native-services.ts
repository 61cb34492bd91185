import { setTimeout } from 'node:timers/promises';
import type { Piscina } from 'piscina';
import { CallCounters } from '../core/metrics/call-counters.ts';
import type { PreparedModel } from '../core/model.ts';
import { everyWorkerGreets, openPiscina } from '../core/pool.ts';
import type { Outcome } from '../protocol/status.ts';
import type { ServiceSeed, ServiceTask } from './service-thread.ts';

/** A thread that cannot start must not be started over and over without a breath. */
const RESTART_PAUSE_MS = 50;

/**
 * The service threads of one native host: resident piscina tasks in a pool of their own, which serves no others. They end when
 * the host is stopped. piscina replaces a thread that died, not its task, which is run again here; the call that the thread
 * had in hand is answered by the host.
 */
export class NativeServices {
  /** What each service thread has served. */
  readonly counters: readonly CallCounters[];
  readonly #piscina: Piscina;
  readonly #ready: Promise<Outcome<void>>;
  readonly #onLost: (error: unknown) => void;
  #restarts = 0;

  /** `onLost` is told why a service thread has ended, each time that one does before its host. */
  constructor(
    file: URL,
    host: number,
    threads: number,
    models: readonly PreparedModel[],
    onLost: (error: unknown) => void,
  ) {
    this.#onLost = onLost;
    const names = models.map(({ name }) => name);
    this.counters = Array.from({ length: threads }, () => new CallCounters(names));
    const seed: ServiceSeed = { models, host, numbers: new SharedArrayBuffer(4) };
    this.#piscina = openPiscina(file, threads, seed);
    this.#ready = everyWorkerGreets(this.#piscina, threads);
    for (const { memory } of this.counters) void this.#keepRunning({ counters: memory });
  }

  /** Resolves when every service thread is warm, or one has said why it cannot be. */
  ready(): Promise<Outcome<void>> {
    return this.#ready;
  }

  /** Service threads that were lost and replaced. */
  get restarts(): number {
    return this.#restarts;
  }

  async #keepRunning(task: ServiceTask): Promise<void> {
    for (;;) {
      try {
        await this.#piscina.run(task);
        return;
      } catch (error) {
        this.#restarts++;
        this.#onLost(error);
        await setTimeout(RESTART_PAUSE_MS);
      }
    }
  }
}
