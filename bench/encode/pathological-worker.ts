import { parentPort, workerData } from 'node:worker_threads';
import { type EncoderName, type ModelName, openEncoder } from './encoders.ts';

/** Opens one encoder and times what it is sent, in a thread that can be ended when an input takes too long. */
const { name, model } = workerData as { name: EncoderName; model: ModelName };
const encode = await openEncoder(name, model);
parentPort!.postMessage(encode === undefined ? 'absent' : 'ready');
parentPort!.on('message', async ({ text, rounds }: { text: string; rounds: number }) => {
  const times: number[] = [];
  let ids: ArrayLike<number> = [];
  for (let round = 0; round < rounds; round++) {
    const start = performance.now();
    ids = await encode!(text);
    times.push(performance.now() - start);
    if (times[0]! > 1000) break;
  }
  parentPort!.postMessage({ times, ids: Uint32Array.from(ids) });
});
