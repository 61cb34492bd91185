import { availableParallelism } from 'node:os';
import type { Request, Response } from '../protocol/messages.ts';
import { fail, type Outcome, succeed } from '../protocol/status.ts';
import { Dispatcher, type Limits } from './dispatcher.ts';
import type { ModelSpec, PreparedModel } from './model.ts';
import { openPiscina, Pool } from './pool.ts';
import { Stats } from './stats.ts';

/** Everything a runtime is made of; plain data, so that it crosses threads. */
export interface RuntimeSettings extends Limits {
  readonly models: readonly ModelSpec[];
  /** 0: one per core available. */
  readonly threads: number;
}

/** The dispatcher and its warm pool. One per AsyncTokenizer, one in each secondary runtime. */
export interface Runtime {
  readonly dispatcher: Dispatcher;
  readonly models: readonly PreparedModel[];
  readonly threads: number;
  readonly stats: Stats;
  close(): Promise<void>;
}

export function threadCount(threads: number): number {
  return threads === 0 ? availableParallelism() : threads;
}

/** Loads the models and waits until every worker is warm. `workerFile` is the bundle's worker entry. */
export async function openRuntime(settings: RuntimeSettings, workerFile: URL): Promise<Outcome<Runtime>> {
  const prepared = await prepareModels(settings.models, workerFile);
  if (!prepared.ok) return prepared;
  const models = prepared.value;
  const pool = new Pool(workerFile, threadCount(settings.threads), models);
  const ready = await pool.ready();
  if (!ready.ok) {
    await pool.close();
    return ready;
  }
  const stats = new Stats();
  const dispatcher = new Dispatcher(pool, settings, (request: Request, response: Response) =>
    stats.record(request, response),
  );
  return succeed({
    dispatcher,
    models,
    threads: pool.size,
    stats,
    async close() {
      await dispatcher.close();
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
