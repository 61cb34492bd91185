import type { Piscina } from 'piscina';
import { everyWorkerGreets, openPiscina, type WorkerSeed } from '../../src/core/pool.ts';
import { prepareModels } from '../../src/core/runtime.ts';
import { MODEL_DIRECTORY, POOL_WORKER } from '../paths.ts';

/**
 * What a pool of workers does when nobody has to be reached: each of them serves the same requests from its own memory. The
 * capacity that callers can get at most.
 */
export class Capacity {
  readonly #piscina: Piscina;
  readonly #workers: number;
  readonly #bodies: readonly Uint8Array[];
  readonly #kind: string;

  private constructor(piscina: Piscina, workers: number, bodies: readonly string[], kind: string) {
    this.#piscina = piscina;
    this.#workers = workers;
    this.#bodies = bodies.map((body) => new TextEncoder().encode(body));
    this.#kind = kind;
  }

  static async open(workers: number, bodies: readonly string[], kind: string): Promise<Capacity> {
    const prepared = await prepareModels([{ name: 'qwen3', directory: MODEL_DIRECTORY }], POOL_WORKER);
    if (!prepared.ok) throw new Error(prepared.fault.message);
    const seed: WorkerSeed = { models: prepared.value, numbers: new SharedArrayBuffer(4) };
    const piscina = openPiscina(new URL('./capacity-worker.js', import.meta.url), workers, seed);
    const ready = await everyWorkerGreets(piscina, workers);
    if (!ready.ok) throw new Error(ready.fault.message);
    return new Capacity(piscina, workers, bodies, kind);
  }

  /** Serves every body `passes` times in every worker, so that each has seen all. The ids of each body, by worker. */
  async warmUp(passes: number): Promise<readonly (readonly Uint32Array[])[]> {
    const task = { bodies: this.#bodies, kind: this.#kind, passes };
    return this.#inEach((piscina) => piscina.run(task, { name: 'idsOf' }) as Promise<readonly Uint32Array[]>);
  }

  /** Calls per second of all workers together. */
  async measure(milliseconds: number): Promise<number> {
    const task = { bodies: this.#bodies, kind: this.#kind, milliseconds };
    const rates = await this.#inEach((piscina) => piscina.run(task) as Promise<number>);
    return rates.reduce((sum, rate) => sum + rate, 0);
  }

  /** A worker runs one task at a time, and none of these is done before all are given out. */
  #inEach<T>(run: (piscina: Piscina) => Promise<T>): Promise<T[]> {
    return Promise.all(Array.from({ length: this.#workers }, () => run(this.#piscina)));
  }

  async close(): Promise<void> {
    await this.#piscina.destroy();
  }
}
