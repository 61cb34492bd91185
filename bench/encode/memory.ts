import { once } from 'node:events';
import type { Worker } from 'node:worker_threads';
import type { EngineTables } from '../../src/tokenizer/engine/index.ts';
import { startWorker } from './start-worker.ts';

/** Resident memory of the process, in MB, with 0, 1, 2 ... workers that each have encoded something. */
export async function memoryByWorkers(tables: EngineTables, most: number, sample: string): Promise<number[]> {
  const resident = [process.memoryUsage.rss() / 1e6];
  const workers: Worker[] = [];
  for (let count = 1; count <= most; count++) {
    const worker = startWorker('./memory-worker.ts', { tables, sample });
    await once(worker, 'message');
    workers.push(worker);
    resident.push(process.memoryUsage.rss() / 1e6);
  }
  await Promise.all(workers.map((worker) => worker.terminate()));
  return resident;
}
