import { parentPort, workerData } from 'node:worker_threads';
import { type EngineTables, openEngine, warmUp } from '../../src/tokenizer/engine/index.ts';

const { tables, sample } = workerData as { tables: EngineTables; sample: string };
const engine = openEngine(tables);
warmUp(engine);
engine.encode([sample], true);
parentPort!.postMessage('encoded');
