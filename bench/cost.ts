import { modelDirectory, type RealModel } from '../test/models.ts';
import { modes } from './cores.ts';
import { type CallCost, callCosts } from './cost/calls.ts';
import { type CopyCost, copyCosts } from './cost/copies.ts';
import { instrumentCosts } from './cost/instruments.ts';
import { loadCost } from './cost/load.ts';
import { type MemoryCost, memoryCost } from './cost/memory.ts';
import { type StartCost, startCosts } from './cost/start.ts';
import { type Bar, printBars, writeResults } from './results.ts';
import {
  callsTable,
  copiesTable,
  instrumentsTable,
  loadTable,
  memoryTable,
  printTable,
  startTable,
} from './tables.ts';

/**
 * What it costs to have a tokenizer at all: the time to the first ids and to load a model, where the time of a call goes and
 * what it copies, the memory of `epptok serve` by models and threads, and what metrics and traces add to a call. `npm run bench:cost [-- --quick]`.
 */
const quick = process.argv.includes('--quick');
const MODELS: readonly RealModel[] = quick
  ? ['qwen3']
  : ['qwen3', 'llama3', 'gptoss', 'gemma3', 'deepseek_v3'];

const start: StartCost[] = [];
for (const model of MODELS) {
  process.stderr.write(`  start: ${model}\n`);
  // The promise is about the first of them.
  const rounds = quick ? 1 : model === 'qwen3' ? 7 : 3;
  start.push(...(await startCosts(model, modelDirectory(model), rounds)));
}
printTable(startTable(start));

process.stderr.write('  load\n');
const load = MODELS.map((model) => loadCost(model, modelDirectory(model), quick ? 1 : 5));
printTable(loadTable(load));
console.log('read, parse and tables once; the rest in each worker');

process.stderr.write('  calls: chats of ~40k tokens\n');
const calls = await callCosts(quick ? [5] : [5, 200], modes(), quick ? 400 : 5_000, quick ? 1 : 9);
printTable(callsTable(calls));
console.log('C echo: two programs of C that pass as many bytes over a socket, and do nothing with them');
console.log("library: AsyncTokenizer with encoder 'library', which epptok serve does not have");

const memory: MemoryCost[] = [];
const sets: [RealModel[], number[]][] = quick
  ? [[['qwen3'], [2]]]
  : [
      [['qwen3'], [1, 2, 4, 8]],
      [['qwen3', 'llama3'], [2]],
      [
        ['qwen3', 'llama3', 'gptoss'],
        [2, 4],
      ],
    ];
if (process.platform === 'linux') {
  for (const [set, counts] of sets) {
    for (const threads of counts) {
      process.stderr.write(`  memory: ${set.join(', ')} with ${threads} threads\n`);
      memory.push(
        await memoryCost(
          set.map((model) => `${model}=${modelDirectory(model)}`),
          threads,
        ),
      );
    }
  }
  printTable(memoryTable(memory));
}

let copies: CopyCost[] = [];
if (process.platform === 'linux') {
  process.stderr.write('  copies\n');
  copies = await copyCosts(quick ? 5 : 100);
  printTable(copiesTable(copies));
}

process.stderr.write('  instruments\n');
const instruments = await instrumentCosts(quick ? 100_000 : 300_000);
printTable(instrumentsTable(instruments));

const bars = [...startBars(start), ...calls.flatMap(callBars), ...memoryBars(memory)];
printBars('', bars);
writeResults('cost', { quick, start, load, calls, memory, copies, instruments, bars });

function startBars(costs: readonly StartCost[]): readonly Bar[] {
  return costs
    .filter(({ model }) => model === 'qwen3')
    .map(({ what, ms }) => ({
      what: `first ids of Qwen3, ms: ${what}`,
      demanded: '< 1000',
      measured: ms,
      met: ms < 1_000,
    }));
}

function callBars({ turns, mode, bridgeShare, timesLibrary }: CallCost): readonly Bar[] {
  return [
    {
      what: `${turns} turns, ${mode}: bridge / whole`,
      demanded: '< 0.1',
      measured: bridgeShare,
      met: bridgeShare < 0.1,
    },
    {
      what: `${turns} turns, ${mode}: library / whole`,
      demanded: '>= 20',
      measured: timesLibrary,
      met: timesLibrary >= 20,
    },
  ];
}

function memoryBars(costs: readonly MemoryCost[]): readonly Bar[] {
  return costs
    .filter(({ models, threads }) => models.length === 1 && threads === 2)
    .map(({ servedMb }) => ({
      what: 'epptok serve, Qwen3, two workers, after calls, MB',
      demanded: '< 250',
      measured: servedMb,
      met: servedMb < 250,
    }));
}
