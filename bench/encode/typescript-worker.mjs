// Worker threads do not inherit the loader of TypeScript on Node 20: this registers it and goes on to the real entry.
import { workerData } from 'node:worker_threads';
import { register } from 'tsx/esm/api';

register();
await import(workerData.entry);
