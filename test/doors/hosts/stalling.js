// A host that blocks its own event loop while it uses AsyncTokenizer: node stalling.js DIRECTORY [stallTraceMs]
import { setTimeout as sleep } from 'node:timers/promises';
import { AsyncTokenizer } from 'epptok';

const [, , directory, threshold] = process.argv;
const stallTraceMs = threshold === undefined ? {} : { stallTraceMs: Number(threshold) };
const tokenizer = await AsyncTokenizer.create({ model: directory, threads: 1, ...stallTraceMs });
await tokenizer.tokenize({ kind: 'text', body: 'canary' });
await sleep(50);
const until = performance.now() + 700;
while (performance.now() < until);
await sleep(50);

// What is read on the caller's loop when a call is made is given at leisure, the first time.
const atLeisure = (value) => {
  let read = 0;
  return () => {
    if (read++ === 0) for (const end = performance.now() + 900; performance.now() < end; );
    return value;
  };
};
const slowly = (name, value) => Object.defineProperty({}, name, { enumerable: true, get: atLeisure(value) });
await tokenizer.tokenize({ body: slowly('prompt', 'canary') });
await sleep(50);
await tokenizer.detokenize(slowly('ids', [9707]));
await sleep(50);
await tokenizer.close();
