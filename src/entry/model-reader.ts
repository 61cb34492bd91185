import { parentPort, workerData } from 'node:worker_threads';
import type { ModelSpec, PreparedModel } from '../core/model.ts';
import { prepareModel } from '../core/prepare-model.ts';
import { type Outcome, succeed } from '../protocol/status.ts';

/** Reads and prepares the models that it is given, says what has come of it, and ends. */
function prepareAll(specs: readonly ModelSpec[]): Outcome<readonly PreparedModel[]> {
  const prepared: PreparedModel[] = [];
  for (const spec of specs) {
    const model = prepareModel(spec);
    if (!model.ok) return model;
    prepared.push(model.value);
  }
  return succeed(prepared);
}

parentPort?.postMessage(prepareAll(workerData as readonly ModelSpec[]));
