import type { CacheCounters } from '../core/metrics/cache-counters.ts';
import { CallCounters } from '../core/metrics/call-counters.ts';
import type { PreparedModel } from '../core/model.ts';
import { ResidentPool } from '../core/resident-pool.ts';
import type { Outcome } from '../protocol/status.ts';
import type { ServiceSeed, ServiceTask } from './service-thread.ts';

/**
 * The service threads of one native host. They end when the host is stopped. The call that a thread had in hand when it died is
 * answered by the host.
 */
export class NativeServices {
  /** What each service thread has served. */
  readonly counters: readonly CallCounters[];
  readonly #pool: ResidentPool;

  /**
   * Starts the threads, which wait for `models`; their `names` are known before. `onLost` is told why a thread has ended, each
   * time that one does before its host.
   */
  constructor(
    file: URL,
    host: number,
    threads: number,
    names: readonly string[],
    models: Promise<Outcome<readonly PreparedModel[]>>,
    onLost: (error: unknown) => void,
  ) {
    this.counters = Array.from({ length: threads }, () => new CallCounters(names));
    const seed: ServiceSeed = { host, numbers: new SharedArrayBuffer(4) };
    this.#pool = new ResidentPool(file, threads, seed, models);
    for (const { memory } of this.counters) {
      const task: ServiceTask = { counters: memory };
      void this.#pool.keepRunning(() => ({ data: task }), onLost);
    }
  }

  /** Resolves when every service thread is warm, or one has said why it cannot be. */
  ready(): Promise<Outcome<void>> {
    return this.#pool.ready();
  }

  /** What the caches of the threads have found. */
  get caches(): readonly CacheCounters[] {
    return this.#pool.caches;
  }

  /** Service threads that were lost and replaced. */
  get restarts(): number {
    return this.#pool.restarts;
  }

  /** Ends threads that have not started to serve. */
  close(): Promise<void> {
    return this.#pool.close();
  }
}
