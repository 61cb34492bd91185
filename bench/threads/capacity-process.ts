import { createInterface } from 'node:readline';
import type { Piscina } from 'piscina';
import { Crew } from '../../src/core/crew.ts';
import type { WorkerSeed } from '../../src/core/pool.ts';
import { prepareModels } from '../../src/core/prepare-models.ts';
import { MODEL_DIRECTORY, MODEL_READER } from '../paths.ts';
import { idsHash } from '../timings-client.ts';
import { readBodies } from './bodies.ts';

/**
 * `capacity-process.ts WORKERS KIND BODIES_FILE PASSES`: a pool of warm workers that serve from their own memory. Prints the
 * hashes of the ids of each body, by worker; then, for each line of standard input, calls per second for so many
 * milliseconds. One JSON value a line.
 */
const [workers, kind, file, passes] = process.argv.slice(2);
const bodies = readBodies(file!).map((body) => new TextEncoder().encode(body));

async function openWorkers(): Promise<Piscina> {
  const prepared = prepareModels([{ name: 'qwen3', directory: MODEL_DIRECTORY }], MODEL_READER);
  const seed: WorkerSeed = { numbers: new SharedArrayBuffer(4) };
  const file = new URL('./capacity-worker.js', import.meta.url);
  const crew = new Crew(file, Number(workers), seed, prepared);
  const ready = await crew.ready();
  if (!ready.ok) throw new Error(ready.fault.message);
  return crew.piscina;
}

const piscina = await openWorkers();

/** A worker runs one task at a time, and none of these is done before all are given out. */
function inEach<T>(task: object, name = 'default'): Promise<T[]> {
  return Promise.all(
    Array.from({ length: Number(workers) }, () => piscina.run(task, { name }) as Promise<T>),
  );
}

const ids = await inEach<Uint32Array[]>({ bodies, kind, passes: Number(passes) }, 'idsOf');
console.log(JSON.stringify(ids.map((ofOne) => ofOne.map(idsHash))));
for await (const milliseconds of createInterface(process.stdin)) {
  const rates = await inEach<number>({ bodies, kind, milliseconds: Number(milliseconds) });
  console.log(rates.reduce((sum, rate) => sum + rate, 0));
}
await piscina.destroy();
