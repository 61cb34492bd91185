import { modelDirectory, type RealModel } from '../test/models.ts';
import { instrumentCosts } from './cost/instruments.ts';
import { type MemoryCost, memoryCost } from './cost/memory.ts';
import { type StartCost, startCosts } from './cost/start.ts';
import { printTable, writeResults } from './results.ts';

/**
 * What it costs to have a tokenizer at all: the time to the first ids, the memory of `epptok serve` by models and threads, and
 * what metrics and traces add to a call. `npm run bench:cost [-- --quick]`.
 */
const quick = process.argv.includes('--quick');
const rounds = quick ? 3 : 7;
const MODELS: readonly RealModel[] = quick
  ? ['qwen3']
  : ['qwen3', 'llama3', 'gptoss', 'gemma3', 'deepseek_v3'];

const start: StartCost[] = [];
for (const model of MODELS) {
  console.log(`start: ${model}`);
  start.push(...(await startCosts(model, modelDirectory(model), rounds)));
}
printTable(
  ['open to first ids, two workers', 'model', 'ms'],
  start.map(({ what, model, ms }) => [what, model, ms.toFixed(0)]),
);

const memory: MemoryCost[] = [];
const counts = quick ? [2] : [1, 2, 4, 8];
const sets: RealModel[][] = quick
  ? [['qwen3']]
  : [['qwen3'], ['qwen3', 'llama3'], ['qwen3', 'llama3', 'gptoss']];
if (process.platform === 'linux') {
  for (const set of sets) {
    for (const threads of counts) {
      console.log(`memory: ${set.join(', ')} with ${threads} threads`);
      memory.push(
        await memoryCost(
          set.map((model) => `${model}=${modelDirectory(model)}`),
          threads,
        ),
      );
    }
  }
  printTable(
    ['epptok serve', 'threads', 'ready MB', 'after ~40k-token calls MB'],
    memory.map(({ models, threads, readyMb, servedMb }) => [
      models.join(', '),
      String(threads),
      readyMb.toFixed(0),
      servedMb.toFixed(0),
    ]),
  );
}

const instruments = await instrumentCosts(quick ? 100_000 : 1_000_000);
printTable(
  ['instruments', 'us'],
  instruments.map(({ what, ns }) => [what, (ns / 1e3).toFixed(3)]),
);
writeResults('cost', { quick, start, memory, instruments });
