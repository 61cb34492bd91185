import { availableParallelism } from 'node:os';
import { Worker } from 'node:worker_threads';
import { fail, type Outcome, succeed } from '../protocol/status.ts';
import { Dispatcher, type Limits } from './dispatcher.ts';
import type { LoopWatch } from './event-loop/watch.ts';
import { CallCounters } from './metrics/call-counters.ts';
import type { RuntimeReading } from './metrics/exposition.ts';
import type { ModelSpec, PreparedModel } from './model.ts';
import { Pool } from './pool.ts';

/** Everything a runtime is made of; plain data, so that it crosses threads. */
export interface RuntimeSettings extends Limits {
  readonly models: readonly ModelSpec[];
  /** 0: one per core available. */
  readonly threads: number;
  /** Event-loop stalls of at least so many milliseconds are logged; 0: none. */
  readonly stallTraceMs: number;
}

/** The dispatcher and its warm pool. One per AsyncTokenizer, one in each secondary runtime. */
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
 * Loads the models and waits until every worker is warm. `workerFile` is the bundle's worker entry, beside which the others
 * are; `loop` the watch of this thread's event loop.
 */
export async function openRuntime(
  settings: RuntimeSettings,
  workerFile: URL,
  loop: LoopWatch,
): Promise<Outcome<Runtime>> {
  const preparing = prepareModels(settings.models, new URL('./model-reader.js', workerFile));
  const pool = new Pool(workerFile, threadCount(settings.threads), preparing);
  const [prepared, ready] = await Promise.all([preparing, pool.ready()]);
  if (!prepared.ok || !ready.ok) {
    await pool.close();
    return prepared.ok ? (ready as Outcome<never>) : prepared;
  }
  const models = prepared.value;
  const counters = new CallCounters(models.map(({ name }) => name));
  const dispatcher = new Dispatcher(pool, settings, counters, loop.clock);
  return succeed({
    dispatcher,
    models,
    threads: pool.size,
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

/**
 * Reads and prepares the models in a thread of their own, `readerFile`: JSON.parse of a tokenizer.json alone would block an
 * event loop for 100 ms and more, and its garbage goes with the thread.
 */
export function prepareModels(
  specs: readonly ModelSpec[],
  readerFile: URL,
): Promise<Outcome<readonly PreparedModel[]>> {
  const reader = new Worker(readerFile, { workerData: specs, execArgv: [] });
  return new Promise((resolve) => {
    const failed = (why: string) => resolve(fail('INIT_FAILED', `the models could not be loaded: ${why}`));
    reader.once('message', resolve);
    reader.once('error', (error) => failed(error instanceof Error ? error.message : String(error)));
    // Of those that have said nothing; for the others it is too late.
    reader.once('exit', (code) => failed(`their thread ended with code ${code}`));
  });
}
