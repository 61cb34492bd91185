import { modelDirectory, type RealModel } from '../test/models.ts';
import { modes } from './cores.ts';
import { type CallCost, callCosts } from './cost/calls.ts';
import { type CopyCost, copyCosts } from './cost/copies.ts';
import { instrumentCosts } from './cost/instruments.ts';
import { loadCost } from './cost/load.ts';
import { type MemoryCost, memoryCost } from './cost/memory.ts';
import { type StartCost, startCosts } from './cost/start.ts';
import { type Bar, printBars, printTable, writeResults } from './results.ts';

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
  const rounds = quick ? 3 : model === 'qwen3' ? 7 : 3;
  start.push(...(await startCosts(model, modelDirectory(model), rounds)));
}
printTable(
  ['open to first ids, two workers', 'model', 'ms'],
  start.map(({ what, model, ms }) => [what, model, ms.toFixed(0)]),
);

process.stderr.write('  load\n');
const load = MODELS.map((model) => loadCost(model, modelDirectory(model), quick ? 1 : 5));
const ms = (value: number) => value.toFixed(0);
console.log('');
printTable(
  [
    'model load alone, ms',
    'read',
    'parse',
    'tables',
    'templates',
    'caches',
    'warm-up',
    'whole',
    'JSON.parse instead',
  ],
  load.map((cost) => [
    cost.model,
    ...[cost.read, cost.parse, cost.tables, cost.templates, cost.caches, cost.warmUp].map(ms),
    ms(cost.whole),
    ms(cost.jsonParse),
  ]),
);
console.log('read, parse and tables once; the rest in each worker');

process.stderr.write('  calls: chats of ~40k tokens\n');
const calls = await callCosts([5, 200], modes(), quick ? 600 : 5_000, quick ? 1 : 9);
const us = (value: number) => value.toFixed(0);
console.log('');
printTable(
  [
    'C over a socket, us (p50), seen before',
    'tokens',
    'parse',
    'render',
    'encode',
    'bridge',
    'whole',
    'bridge / whole',
    'with the library',
    'times',
  ],
  calls.map((call) => [
    `${call.turns} turns, ${call.bytes} bytes, ${call.mode}`,
    String(call.tokens),
    us(call.parse.p50),
    us(call.template.p50),
    us(call.encode.p50),
    us(call.bridge.p50),
    us(call.whole.p50),
    call.bridgeShare.toFixed(3),
    us(call.library.whole),
    call.timesLibrary.toFixed(1),
  ]),
);
console.log("with the library: AsyncTokenizer, encoder 'library', which epptok serve does not have");

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
  console.log('');
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

let copies: CopyCost[] = [];
if (process.platform === 'linux') {
  process.stderr.write('  copies\n');
  copies = await copyCosts(quick ? 20 : 100);
  const kb = (bytes: number) => (bytes / 1e3).toFixed(0);
  console.log('');
  printTable(
    ['bytes copied per call, kB', 'request', 'ids', 'by the program', 'by the kernel', 'times'],
    copies.map(({ door, requestBytes, idsBytes, programBytes, kernelBytes }) => [
      door,
      ...[requestBytes, idsBytes, programBytes, kernelBytes].map(kb),
      ((programBytes + kernelBytes) / (requestBytes + idsBytes)).toFixed(1),
    ]),
  );
}

process.stderr.write('  instruments\n');
const instruments = await instrumentCosts(quick ? 100_000 : 300_000);
console.log('');
printTable(
  ['instruments', 'us'],
  instruments.map(({ what, ns }) => [what, (ns / 1e3).toFixed(3)]),
);

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
