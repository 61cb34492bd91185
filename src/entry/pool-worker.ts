import { Piscina, transferableSymbol, valueSymbol, workerData } from 'piscina';
import type { Models } from '../core/model.ts';
import type { WorkerSeed } from '../core/pool.ts';
import { serve } from '../core/serve.ts';
import { failure, type Request, type Response } from '../protocol/messages.ts';
import { moved } from '../protocol/moved.ts';
import { type Outcome, succeed } from '../protocol/status.ts';
import { type CallerTask, CallerThread } from './caller-thread.ts';
import { warmModels } from './worker-models.ts';

interface OpenWorker {
  readonly models: Models;
  readonly number: number;
}

function openWorker(seed: WorkerSeed): Outcome<OpenWorker> {
  const number = Atomics.add(new Int32Array(seed.numbers), 0, 1) + 1;
  const models = warmModels();
  return models.ok ? succeed({ models: models.value, number }) : models;
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

const opened = openWorker(workerData as WorkerSeed);

/** Named task: answers the calls of a blocked caller, and does not return. */
export function answerCaller(task: CallerTask): void {
  if (opened.ok) new CallerThread(task, opened.value.models, opened.value.number).run();
}

/** Time in the queue is for the dispatcher to add, which knows it. */
function serveOne(request: Request): unknown {
  if (opened.ok) return movingIds(serve(request, opened.value.models, opened.value.number));
  return failure(opened.fault.status, opened.fault.message);
}

// piscina asks for the default export of the file it is given.
// biome-ignore lint/style/noDefaultExport: the tool demands it
export default serveOne;
