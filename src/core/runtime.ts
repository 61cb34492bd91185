import { availableParallelism } from 'node:os';
import { fail, type Outcome, succeed } from '../protocol/status.ts';
import { Dispatcher, type Limits } from './dispatcher.ts';
import type { LoopWatch } from './event-loop/watch.ts';
import { CallCounters } from './metrics/call-counters.ts';
import type { RuntimeReading } from './metrics/exposition.ts';
import type { ModelSpec, PreparedModel } from './model.ts';
import { openPiscina, Pool } from './pool.ts';

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
  readonly models: readonly PreparedModel[];
  readonly threads: number;
  /** What it has counted, and its state now. */
  read(): RuntimeReading;
  close(): Promise<void>;
}

export function threadCount(threads: number): number {
  return threads === 0 ? availableParallelism() : threads;
}

/**
 * Loads the models and waits until every worker is warm. `workerFile` is the bundle's worker entry, `loop` the watch of this
 * thread's event loop.
 */
export async function openRuntime(
  settings: RuntimeSettings,
  workerFile: URL,
  loop: LoopWatch,
): Promise<Outcome<Runtime>> {
  const prepared = await prepareModels(settings.models, workerFile);
  if (!prepared.ok) return prepared;
  const models = prepared.value;
  const pool = new Pool(workerFile, threadCount(settings.threads), models);
  const ready = await pool.ready();
  if (!ready.ok) {
    await pool.close();
    return ready;
  }
  const counters = new CallCounters(models.map(({ name }) => name));
  const dispatcher = new Dispatcher(pool, settings, counters, loop.clock);
  return succeed({
    dispatcher,
    models,
    threads: pool.size,
    read: () => ({
      ...dispatcher.gauges,
      calls: [counters],
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

/**
 * Reads and prepares the models in a worker of their own: JSON.parse of a tokenizer.json alone would block an event loop for
 * 100 ms and more, and its garbage goes with the thread.
 */
export async function prepareModels(
  specs: readonly ModelSpec[],
  workerFile: URL,
): Promise<Outcome<readonly PreparedModel[]>> {
  const piscina = openPiscina(workerFile, 1, undefined);
  try {
    return (await piscina.run(specs, { name: 'prepare' })) as Outcome<readonly PreparedModel[]>;
  } catch (error) {
    return fail(
      'INIT_FAILED',
      `the models could not be loaded: ${error instanceof Error ? error.message : error}`,
    );
  } finally {
    await piscina.destroy();
  }
}
