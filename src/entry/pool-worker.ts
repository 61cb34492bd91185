import { parentPort } from 'node:worker_threads';
import { Piscina, transferableSymbol, valueSymbol, workerData } from 'piscina';
import { type ModelSpec, openModels, type PreparedModel, prepareModel, warmUp } from '../core/model.ts';
import type { WorkerGreeting, WorkerSeed } from '../core/pool.ts';
import { serve } from '../core/serve.ts';
import { failure, type Request, type Response } from '../protocol/messages.ts';
import { moved } from '../protocol/moved.ts';
import { type Outcome, succeed } from '../protocol/status.ts';

/** The piscina task of the promise side: one request, one response. */
export type ServeTask = (request: Request) => unknown;

/** Named task: reads and prepares models, for a pool that is seeded with the outcome. Needs no seed itself. */
export async function prepare(specs: readonly ModelSpec[]): Promise<Outcome<readonly PreparedModel[]>> {
  const prepared: PreparedModel[] = [];
  for (const spec of specs) {
    const model = await prepareModel(spec);
    if (!model.ok) return model;
    prepared.push(model.value);
  }
  return succeed(prepared);
}

function openTask(seed: WorkerSeed): ServeTask {
  const worker = Atomics.add(new Int32Array(seed.numbers), 0, 1) + 1;
  const models = openModels(seed.models);
  if (!models.ok) {
    greet({ failed: models.fault });
    return () => failure(models.fault.status, models.fault.message);
  }
  for (const model of models.value.values()) warmUp(model);
  greet({ ready: true });
  return (request) => movingIds(serve(request, models.value, worker));
}

function greet(greeting: WorkerGreeting): void {
  parentPort?.postMessage(greeting);
}

/** The buffer of many ids is transferred, not copied. */
function movingIds(response: Response): unknown {
  const transferList = moved(response.ids.buffer);
  if (transferList.length === 0) return response;
  return Piscina.move({
    get [transferableSymbol]() {
      return transferList;
    },
    get [valueSymbol]() {
      return response;
    },
  });
}

// piscina asks for the default export of the file it is given.
// biome-ignore lint/style/noDefaultExport: the tool demands it
export default workerData === undefined ? prepare : openTask(workerData as WorkerSeed);
