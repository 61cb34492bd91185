import { setTimeout } from 'node:timers/promises';
import { Crew } from '../core/crew.ts';
import type { CacheCounters } from '../core/metrics/cache-counters.ts';
import { CallCounters } from '../core/metrics/call-counters.ts';
import type { PreparedModel } from '../core/model.ts';
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
  readonly #crew: Crew;
  #restarts = 0;
  #closed = false;

  /** Starts the threads, which wait for `models`, whose `names` are known before. */
  constructor(
    file: URL,
    host: number,
    threads: number,
    names: readonly string[],
    models: Promise<Outcome<readonly PreparedModel[]>>,
  ) {
    this.counters = Array.from({ length: threads }, () => new CallCounters(names));
    const seed: ServiceSeed = { host, numbers: new SharedArrayBuffer(4) };
    this.#crew = new Crew(file, threads, seed, models);
    for (const { memory } of this.counters) void this.#keepRunning({ counters: memory });
  }

  /** Resolves when every service thread is warm, or one has said why it cannot be. */
  ready(): Promise<Outcome<void>> {
    return this.#crew.ready();
  }

  /** What the caches of the threads have found. */
  get caches(): readonly CacheCounters[] {
    return this.#crew.caches;
  }

  /** Service threads that were lost and replaced. */
  get restarts(): number {
    return this.#restarts;
  }

  /** Ends threads that have not started to serve. */
  async close(): Promise<void> {
    this.#closed = true;
    await this.#crew.piscina.destroy();
  }

  async #keepRunning(task: ServiceTask): Promise<void> {
    for (;;) {
      try {
        await this.#crew.piscina.run(task);
        return;
      } catch {
        if (this.#closed) return;
        this.#restarts++;
        await setTimeout(RESTART_PAUSE_MS);
      }
    }
  }
}
