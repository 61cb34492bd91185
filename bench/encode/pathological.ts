import { once } from 'node:events';
import type { Worker } from 'node:worker_threads';
import type { EncoderName, ModelName } from './encoders.ts';
import { CELL_LIMIT_MS, median, sameIds } from './measure.ts';
import { startWorker } from './start-worker.ts';

export type PathologicalCell = { readonly ms: number | 'over 5 s'; readonly equal: boolean | undefined };

type Reply = { readonly times: number[]; readonly ids: Uint32Array };

async function spawn(name: EncoderName, model: ModelName): Promise<Worker | undefined> {
  const worker = startWorker('./pathological-worker.ts', { name, model });
  const [state] = await once(worker, 'message');
  if (state === 'ready') return worker;
  await worker.terminate();
  return undefined;
}

async function ask(worker: Worker, text: string): Promise<Reply | undefined> {
  const limit = AbortSignal.timeout(CELL_LIMIT_MS);
  worker.postMessage({ text, rounds: 7 });
  try {
    const [reply] = await once(worker, 'message', { signal: limit });
    return reply as Reply;
  } catch {
    return undefined;
  }
}

/** Median of seven runs of each input (of one, where one takes over a second), by input and encoder. */
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
      results[input][name] = { ms: median(reply.times), equal: wanted && sameIds(wanted, reply.ids) };
    }
    await worker?.terminate();
  }
  return results;
}
