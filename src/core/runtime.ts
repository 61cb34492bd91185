import { availableParallelism } from 'node:os';
import { type Outcome, succeed } from '../protocol/status.ts';
import { Dispatcher, type Limits } from './dispatcher.ts';
import type { LoopWatch } from './event-loop/watch.ts';
import { CallCounters } from './metrics/call-counters.ts';
import { metricsLibrary, type RuntimeReading } from './metrics/exposition.ts';
import type { ModelSpec, PreparedModel } from './model.ts';
import { Pool } from './pool.ts';

/** Everything a runtime is made of, secondary or not; plain data, so that it crosses threads. */
export interface RuntimeSettings extends Limits {
  readonly models: readonly ModelSpec[];
  /** 0: one per core available. */
  readonly threads: number;
  /** Event-loop stalls of at least so many milliseconds are logged; 0: none. */
  readonly stallTraceMs: number;
}

/** The dispatcher and its warm pool: of a thread that awaits its calls, one per AsyncTokenizer. */
export interface Runtime {
  readonly dispatcher: Dispatcher;
  /** What it has counted, and its state now. */
  read(): RuntimeReading;
  close(): Promise<void>;
}

export function threadCount(threads: number): number {
  return threads === 0 ? availableParallelism() : threads;
}

/**
 * Waits until every worker has the models, which are being prepared, and is warm. `workerFile` is the bundle's worker entry,
 * `loop` the watch of this thread's event loop.
 */
export async function openRuntime(
  settings: RuntimeSettings,
  preparing: Promise<Outcome<readonly PreparedModel[]>>,
  workerFile: URL,
  loop: LoopWatch,
): Promise<Outcome<Runtime>> {
  const pool = new Pool(workerFile, threadCount(settings.threads), preparing);
  void metricsLibrary();
  const ready = await pool.ready();
  if (!ready.ok) {
    await pool.close();
    return ready;
  }
  const counters = new CallCounters(settings.models.map(({ name }) => name));
  const dispatcher = new Dispatcher(pool, settings, counters, loop.clock);
  return succeed({
    dispatcher,
    read: () => ({
      ...dispatcher.gauges,
      calls: [counters],
      caches: pool.caches,
      loop: loop.read(),
      ready: true,
      workers: pool.size,
      workerRestarts: pool.restarts,
      runtimeRestarts: 0,
    }),
    async close() {
      dispatcher.close();
      // The workers end at once, whatever they are at: its callers have their answers.
      await pool.close();
    },
  });
}
