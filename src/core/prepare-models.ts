import { Worker } from 'node:worker_threads';
import { fail, type Outcome } from '../protocol/status.ts';
import type { ModelSpec, PreparedModel } from './model.ts';

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
