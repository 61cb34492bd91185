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

// A body as an object is serialised on the caller's loop, here at leisure.
let blocked = 0;
const body = {
  get prompt() {
    if (blocked++ === 0) for (const end = performance.now() + 900; performance.now() < end; );
    return 'canary';
  },
};
await tokenizer.tokenize({ body });
await sleep(50);
await tokenizer.close();
