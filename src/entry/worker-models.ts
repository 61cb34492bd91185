import { MessageChannel, parentPort, receiveMessageOnPort } from 'node:worker_threads';
import type { WorkerMessage } from '../core/crew.ts';
import { CacheCounters } from '../core/metrics/cache-counters.ts';
import { type Models, openModels, type PreparedModel } from '../core/model.ts';
import { warmUp } from '../core/warm-up.ts';
import type { Fault, Outcome } from '../protocol/status.ts';

/**
 * The models of this worker thread, open and warm. Blocks until the thread that started it has them prepared: piscina may give
 * a worker its first task as soon as its code is loaded.
 */
export function warmModels(): Outcome<Models> {
  const prepared = askForModels();
  const caches = new CacheCounters(prepared.map(({ name }) => name));
  const models = openModels(prepared, caches);
  if (!models.ok) {
    refuseToStart(models.fault);
    return models;
  }
  warmUp(models.value);
  caches.clear();
  tell({ type: 'warm', caches: caches.memory });
  return models;
}

/** Why this worker cannot serve, for the thread that started it. */
export function refuseToStart(fault: Fault): void {
  tell({ type: 'failed', fault });
}

function askForModels(): readonly PreparedModel[] {
  const { port1, port2 } = new MessageChannel();
  const given = new SharedArrayBuffer(4);
  parentPort?.postMessage({ type: 'asks', port: port2, given } satisfies WorkerMessage, [port2]);
  // The message is posted before the word is set.
  Atomics.wait(new Int32Array(given), 0, 0);
  const models = receiveMessageOnPort(port1)?.message as readonly PreparedModel[];
  port1.close();
  return models;
}

function tell(message: WorkerMessage): void {
  parentPort?.postMessage(message);
}
