import { parentPort } from 'node:worker_threads';
import { Piscina, transferableSymbol, valueSymbol, workerData } from 'piscina';
import {
  type ModelSpec,
  type Models,
  openModels,
  type PreparedModel,
  prepareModel,
  warmUp,
} from '../core/model.ts';
import type { WorkerGreeting, WorkerSeed } from '../core/pool.ts';
import { serve } from '../core/serve.ts';
import { failure, type Request, type Response } from '../protocol/messages.ts';
import { moved } from '../protocol/moved.ts';
import { type Outcome, succeed } from '../protocol/status.ts';
import { type CallerTask, CallerThread } from './caller-thread.ts';

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

interface OpenWorker {
  readonly models: Models;
  readonly number: number;
}

function openWorker(seed: WorkerSeed): Outcome<OpenWorker> {
  const number = Atomics.add(new Int32Array(seed.numbers), 0, 1) + 1;
  const models = openModels(seed.models);
  if (!models.ok) {
    greet({ failed: models.fault });
    return models;
  }
  for (const model of models.value.values()) warmUp(model);
  greet({ ready: true });
  return succeed({ models: models.value, number });
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

/** undefined in a worker that has only models to prepare. */
const opened = workerData === undefined ? undefined : openWorker(workerData as WorkerSeed);

/** Named task: answers the calls of a blocked caller, and does not return. */
export function answerCaller(task: CallerTask): void {
  if (opened?.ok) new CallerThread(task, opened.value.models, opened.value.number).run();
}

function serveOne(request: Request): unknown {
  if (opened?.ok) return movingIds(serve(request, opened.value.models, opened.value.number));
  const { status, message } = opened?.fault ?? { status: 'INTERNAL', message: 'the worker has no models' };
  return failure(status, message);
}

// piscina asks for the default export of the file it is given.
// biome-ignore lint/style/noDefaultExport: the tool demands it
export default opened === undefined ? prepare : serveOne;
