// A worker thread opens a Tokenizer, hands its nativeHandle to the main thread, and ends in the way that the argument names.
// The main thread then calls the handle that is left, from its own thread and from one of C, and prints what came of it.
import { isMainThread, parentPort, Worker, workerData } from 'node:worker_threads';
import { Tokenizer } from 'epptok';
import { openPlugin, TEXT } from './plugin.js';

const HELLO = Buffer.from('Hello world');
const TIMEOUT_MS = 4000;

const endings = {
  'its natural end'() {},
  'process.exit'() {
    process.exit(0);
  },
  'an uncaught exception'() {
    throw new Error('as the test wants');
  },
  'terminate()'() {
    setInterval(() => {}, 1000);
  },
  'heap exhaustion'() {
    const kept = [];
    for (;;) kept.push(Array.from({ length: 100 }, (_, index) => ({ index })));
  },
};

if (isMainThread) {
  const [, , ending, model, pluginPath] = process.argv;
  const { tokenize, runOnThreads } = openPlugin(pluginPath);
  const call = (handle, inThread) => {
    const ids = new Uint32Array(8);
    const count = new BigUint64Array(1);
    const message = Buffer.alloc(256);
    const start = performance.now();
    const status = tokenize(
      handle,
      inThread,
      TEXT,
      HELLO,
      HELLO.length,
      ids,
      8,
      count,
      new Uint32Array(1),
      message,
      256,
    );
    const text = message.toString('utf8', 0, message.indexOf(0));
    return {
      status,
      tookMs: performance.now() - start,
      ids: [...ids.subarray(0, Number(count[0]))],
      message: text,
    };
  };
  const start = () =>
    new Promise((resolve) => {
      const worker = new Worker(new URL(import.meta.url), {
        workerData: { ending, model },
        resourceLimits: ending === 'heap exhaustion' ? { maxOldGenerationSizeMb: 64 } : {},
      });
      worker.on('error', () => {});
      worker.once('message', (handle) => resolve([worker, handle]));
    });

  const [worker, handle] = await start();
  const report = { before: call(handle, 1) };
  // Calls of C threads are under way when the owner ends.
  const words = Buffer.from('words for the workers '.repeat(4000));
  const statuses = new Uint32Array(2);
  const inFlight = new Promise((resolve) => {
    runOnThreads.async(handle, 2, 20, TEXT, words, words.length, null, statuses, () =>
      resolve(performance.now()),
    );
  });
  const ended = new Promise((resolve) => worker.once('exit', resolve));
  worker.postMessage('end');
  if (ending === 'terminate()') await worker.terminate();
  await ended;
  const endedAt = performance.now();
  report.inFlightMs = (await inFlight) - endedAt;
  report.inFlight = [...statuses];
  report.here = call(handle, 0);
  report.elsewhere = call(handle, 1);
  // The next owner is another thread, whatever number the system gives it.
  const [next, nextHandle] = await start();
  report.next = call(nextHandle, 1);
  report.stale = call(handle, 0);
  await next.terminate();
  console.log(JSON.stringify(report));
  process.exit(0);
} else {
  const { ending, model } = workerData;
  const tokenizer = new Tokenizer({ model, threads: 1, timeoutMs: TIMEOUT_MS });
  parentPort.once('message', () => endings[ending]());
  parentPort.postMessage(tokenizer.nativeHandle);
}
