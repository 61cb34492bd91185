import { Piscina, transferableSymbol, valueSymbol, workerData } from 'piscina';
import type { WorkerSeed } from '../core/pool.ts';
import { serve } from '../core/serve.ts';
import { failure, type Request, type Response } from '../protocol/messages.ts';
import { moved } from '../protocol/moved.ts';
import { warmModels } from './worker-models.ts';

/** The piscina task of the promise side: one request, one response. */
export type ServeTask = (request: Request) => unknown;

function openTask(seed: WorkerSeed): ServeTask {
  const worker = Atomics.add(new Int32Array(seed.numbers), 0, 1) + 1;
  const models = warmModels();
  if (!models.ok) return () => failure(models.fault.status, models.fault.message);
  return (request) => movingIds(serve(request, models.value, worker));
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
export default openTask(workerData as WorkerSeed);
