import { Worker } from 'node:worker_threads';

/** Starts a thread on a TypeScript file of this folder; the file finds `data` in `workerData`. */
export function startWorker(entry: string, data: object): Worker {
  return new Worker(new URL('./typescript-worker.mjs', import.meta.url), {
    workerData: { ...data, entry: new URL(entry, import.meta.url).href },
  });
}
