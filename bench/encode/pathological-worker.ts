import { parentPort, workerData } from 'node:worker_threads';
import { type EncoderName, type ModelName, openEncoder } from './encoders.ts';
import { timed } from './timing.ts';

/** Opens one encoder and times what it is sent, in a thread that can be ended when an input takes too long. */
const { name, model } = workerData as { name: EncoderName; model: ModelName };
const encode = await openEncoder(name, model);
parentPort!.postMessage(encode === undefined ? 'absent' : 'ready');
parentPort!.on('message', async (text: string) => {
  const { ids, cpuMs } = await timed(encode!, text);
  parentPort!.postMessage({ ms: cpuMs, ids: Uint32Array.from(ids) });
});
