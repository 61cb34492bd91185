import { once } from 'node:events';
import type { Worker } from 'node:worker_threads';
import { median } from '../statistics.ts';
import type { EncoderName, ModelName } from './encoders.ts';
import { CELL_LIMIT_MS } from './measure.ts';
import { startWorker } from './start-worker.ts';
import { sameIds } from './timing.ts';

export type PathologicalCell = { readonly ms: number | 'over 5 s'; readonly equal: boolean | undefined };

type Reply = { readonly ms: number; readonly ids: Uint32Array };

const ROUNDS = 7;
/** Where a round takes longer than this, three do. */
const LONG_ROUND_MS = 1500;

/** Encoders in threads of their own; only one is at work at any time, so that the process's time is its time. */
class Encoders {
  readonly #model: ModelName;
  readonly #workers = new Map<EncoderName, Worker>();

  constructor(model: ModelName) {
    this.#model = model;
  }

  /** False when its package is not installed. */
  async open(name: EncoderName): Promise<boolean> {
    const worker = startWorker('./pathological-worker.ts', { name, model: this.#model });
    const [state] = await once(worker, 'message');
    if (state === 'ready') this.#workers.set(name, worker);
    else await worker.terminate();
    return state === 'ready';
  }

  /** One round; undefined when it takes longer than the limit. */
  async encode(name: EncoderName, text: string): Promise<Reply | undefined> {
    const worker = this.#workers.get(name)!;
    worker.postMessage(text);
    try {
      const [reply] = await once(worker, 'message', { signal: AbortSignal.timeout(CELL_LIMIT_MS) });
      return reply as Reply;
    } catch {
      await worker.terminate();
      await this.open(name);
      return undefined;
    }
  }

  async close(): Promise<void> {
    await Promise.all(Array.from(this.#workers.values(), (worker) => worker.terminate()));
  }
}

/** Median processor time for each input, by input and encoder; the encoders take turns, a round each. */
export async function measurePathological(
  model: ModelName,
  inputs: Record<string, string>,
  names: readonly EncoderName[],
): Promise<Record<string, Partial<Record<EncoderName, PathologicalCell>>>> {
  const encoders = new Encoders(model);
  const opened: EncoderName[] = [];
  for (const name of ['rust' as const, ...names.filter((one) => one !== 'rust')])
    if (await encoders.open(name)) opened.push(name);
  const results: Record<string, Partial<Record<EncoderName, PathologicalCell>>> = {};
  for (const [input, text] of Object.entries(inputs))
    results[input] = await measureInput(encoders, opened, text);
  await encoders.close();
  return results;
}

async function measureInput(
  encoders: Encoders,
  names: readonly EncoderName[],
  text: string,
): Promise<Partial<Record<EncoderName, PathologicalCell>>> {
  const cells: Partial<Record<EncoderName, PathologicalCell>> = {};
  const times = new Map<EncoderName, number[]>(names.map((name) => [name, []]));
  let wanted: Uint32Array | undefined;
  for (let round = 0; round < ROUNDS; round++)
    for (const [name, list] of times) {
      if (round >= 3 && list.at(-1)! > LONG_ROUND_MS) continue;
      const reply = await encoders.encode(name, text);
      if (reply === undefined) {
        times.delete(name);
        cells[name] = { ms: 'over 5 s', equal: undefined };
        continue;
      }
      if (name === 'rust') wanted = reply.ids;
      list.push(reply.ms);
      cells[name] = { ms: median(list), equal: wanted && sameIds(wanted, reply.ids) };
    }
  return cells;
}
