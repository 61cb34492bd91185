import type { MessagePort } from 'node:worker_threads';
import { messageOf } from '../core/crew.ts';
import type { CacheCounters } from '../core/metrics/cache-counters.ts';
import { CallCounters } from '../core/metrics/call-counters.ts';
import type { PreparedModel } from '../core/model.ts';
import type { WorkerSeed } from '../core/pool.ts';
import { ResidentPool } from '../core/resident-pool.ts';
import type { Outcome } from '../protocol/status.ts';
import type { Latch } from '../sync/latch.ts';
import { isBusy, makeLine } from '../sync/line.ts';
import type { FromRuntime } from '../sync/messages.ts';
import type { CallerTask } from './caller-thread.ts';

/** Tells the caller something; the ports in `transfer` go with it. */
export type Tell = (message: FromRuntime, transfer?: MessagePort[]) => void;

/**
 * The workers of a blocked caller, each at the end of a line on which the caller posts its calls. The call that a worker had in
 * hand when it died is answered by the caller, who is told and given a line to the worker's successor.
 */
export class CallerServices {
  readonly threads: number;
  readonly names: readonly string[];
  readonly models: Promise<Outcome<readonly PreparedModel[]>>;
  /** What each worker has served. */
  readonly counters: readonly CallCounters[];
  readonly #pool: ResidentPool;
  readonly #latch: Latch;
  readonly #tell: Tell;
  readonly #onLost: (error: unknown) => void;
  /** The words of the line that each worker has now. */
  readonly #lines: SharedArrayBuffer[] = [];
  #lastLine = 0;

  /**
   * `file` is the bundle's worker entry; the workers wait for `models`, whose `names` are known before. The lines are there at
   * once; a call on one waits until its worker is warm. `onLost` is told why a worker has ended.
   */
  constructor(
    file: URL,
    threads: number,
    names: readonly string[],
    models: Promise<Outcome<readonly PreparedModel[]>>,
    latch: Latch,
    tell: Tell,
    onLost: (error: unknown) => void,
  ) {
    this.threads = threads;
    this.names = names;
    this.models = models;
    this.#latch = latch;
    this.#tell = tell;
    this.#onLost = onLost;
    this.counters = Array.from({ length: threads }, () => new CallCounters(names));
    const seed: WorkerSeed = { numbers: new SharedArrayBuffer(4) };
    this.#pool = new ResidentPool(file, threads, seed, models);
    for (const [worker, counters] of this.counters.entries()) this.#keepAnswering(worker, counters);
  }

  /** Resolves when every worker is warm, or one has said why it cannot be. */
  ready(): Promise<Outcome<void>> {
    return this.#pool.ready();
  }

  /** What the caches of the workers have found. */
  get caches(): readonly CacheCounters[] {
    return this.#pool.caches;
  }

  /** Workers that were lost and replaced. */
  get restarts(): number {
    return this.#pool.restarts;
  }

  /** Workers with a call in hand, abandoned or not. */
  get busy(): number {
    return this.#lines.filter(isBusy).length;
  }

  #keepAnswering(worker: number, { memory: counters }: CallCounters): void {
    let line = 0;
    const start = () => {
      line = ++this.#lastLine;
      const { forCaller, forWorker } = makeLine();
      this.#lines[worker] = forCaller.memory;
      this.#tell({ type: 'line', line, end: forCaller }, [forCaller.port]);
      const data: CallerTask = { line: forWorker, latch: this.#latch.memory, counters };
      return { data, name: 'answerCaller', transferList: [forWorker.port] };
    };
    const lost = (error: unknown) => {
      this.#onLost(error);
      this.#tell({ type: 'line-lost', line, message: messageOf(error) });
    };
    void this.#pool.keepRunning(start, lost);
  }
}
