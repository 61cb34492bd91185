import { parentPort, workerData } from 'node:worker_threads';
import { type EncoderName, type ModelName, openEncoder } from './encoders.ts';

/** Opens one encoder and times what it is sent, in a thread that can be ended when an input takes too long. */
const { name, model } = workerData as { name: EncoderName; model: ModelName };
const encode = await openEncoder(name, model);
parentPort!.postMessage(encode === undefined ? 'absent' : 'ready');
parentPort!.on('message', async (text: string) => {
  const start = performance.now();
  const ids = await encode!(text);
  const ms = performance.now() - start;
  parentPort!.postMessage({ ms, ids: Uint32Array.from(ids) });
});
