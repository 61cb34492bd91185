// The secondary runtime of a Tokenizer ends under it, while this thread does nothing but run its event loop. A C thread then calls
// through the native handle, and this thread after it; what came of both is printed.
import { Tokenizer } from 'epptok';
import { openPlugin, TEXT } from './plugin.js';

const [, , model, pluginPath] = process.argv;
const HELLO = Buffer.from('Hello world');
const runtimes = [];
process.on('worker', (worker) => runtimes.push(worker));

const tokenizer = new Tokenizer({ model, threads: 1, timeoutMs: 10_000 });
await new Promise((resolve) => setTimeout(resolve, 10)); // process tells of the worker on its next turn
const { runOnThreads } = openPlugin(pluginPath);
const { nativeHandle } = tokenizer;
const fromC = () =>
  new Promise((resolve) => {
    const statuses = new Uint32Array(2);
    const start = performance.now();
    runOnThreads.async(nativeHandle, 2, 1, TEXT, HELLO, HELLO.length, null, statuses, () =>
      resolve({ statuses: [...statuses], tookMs: performance.now() - start }),
    );
  });

const report = { runtimes: runtimes.length, before: await fromC() };
await runtimes[0].terminate();
report.after = await fromC();
report.blocking = [...tokenizer.tokenize({ kind: 'text', body: 'Hello world' }).ids];
report.again = await fromC();
tokenizer.close();
console.log(JSON.stringify(report));
