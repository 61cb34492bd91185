import { once } from 'node:events';
import type { Worker } from 'node:worker_threads';
import type { EncoderName, ModelName } from './encoders.ts';
import { CELL_LIMIT_MS, median, sameIds } from './measure.ts';
import { startWorker } from './start-worker.ts';

export type PathologicalCell = { readonly ms: number | 'over 5 s'; readonly equal: boolean | undefined };

type Reply = { readonly ms: number; readonly ids: Uint32Array };

const ROUNDS = 7;
/** Where a round takes longer than this, three do. */
const LONG_ROUND_MS = 1500;

async function spawn(name: EncoderName, model: ModelName): Promise<Worker | undefined> {
  const worker = startWorker('./pathological-worker.ts', { name, model });
  const [state] = await once(worker, 'message');
  if (state === 'ready') return worker;
  await worker.terminate();
  return undefined;
}

/** One round; undefined when it takes longer than the limit. */
async function encodeOnce(worker: Worker, text: string): Promise<Reply | undefined> {
  worker.postMessage(text);
  try {
    const [reply] = await once(worker, 'message', { signal: AbortSignal.timeout(CELL_LIMIT_MS) });
    return reply as Reply;
  } catch {
    return undefined;
  }
}

async function ask(worker: Worker, text: string): Promise<Reply | undefined> {
  const times: number[] = [];
  for (;;) {
    const reply = await encodeOnce(worker, text);
    if (reply === undefined) return undefined;
    times.push(reply.ms);
    if (times.length >= (reply.ms > LONG_ROUND_MS ? 3 : ROUNDS)) return { ms: median(times), ids: reply.ids };
  }
}

/** Median time for each input, by input and encoder. */
export async function measurePathological(
  model: ModelName,
  inputs: Record<string, string>,
  names: readonly EncoderName[],
): Promise<Record<string, Partial<Record<EncoderName, PathologicalCell>>>> {
  const results: Record<string, Partial<Record<EncoderName, PathologicalCell>>> = {};
  const expected = new Map<string, Uint32Array>();
  // The oracle first: the others are compared with it.
  for (const name of ['rust' as const, ...names.filter((one) => one !== 'rust')]) {
    let worker = await spawn(name, model);
    for (const [input, text] of Object.entries(inputs)) {
      if (worker === undefined) break;
      const reply = await ask(worker, text);
      results[input] ??= {};
      if (reply === undefined) {
        results[input][name] = { ms: 'over 5 s', equal: undefined };
        await worker.terminate();
        worker = await spawn(name, model);
        continue;
      }
      const wanted = expected.get(input);
      if (name === 'rust') expected.set(input, reply.ids);
      results[input][name] = { ms: reply.ms, equal: wanted && sameIds(wanted, reply.ids) };
    }
    await worker?.terminate();
  }
  return results;
}
