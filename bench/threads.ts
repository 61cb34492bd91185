import { availableParallelism } from 'node:os';
import { type Bar, printBars, writeResults } from './results.ts';
import { printTable, threadsTable } from './tables.ts';
import { measureThreads, type Plan, type ThreadsCell } from './threads/measure.ts';

/**
 * Many C threads on one handle: what they get of the workers' capacity, and where they wait. `npm run bench:threads
 * [-- --quick]`. The bars are judged at prompts of ~40k tokens and as many workers as there are cores.
 */
const quick = process.argv.includes('--quick');
const cores = availableParallelism();
const LARGE = 154_000;
const SMALL = 15_400;
const plans: readonly Plan[] = quick
  ? [{ workers: cores, bytes: LARGE, rounds: 3, milliseconds: 300 }]
  : [
      { workers: cores, bytes: LARGE, rounds: 7, milliseconds: 1_000 },
      { workers: cores, bytes: SMALL, rounds: 5, milliseconds: 500 },
      { workers: 1, bytes: LARGE, rounds: 3, milliseconds: 500 },
      ...(cores > 2 ? [] : [{ workers: 4, bytes: LARGE, rounds: 3, milliseconds: 500 }]),
    ];

function judge(cells: readonly ThreadsCell[]): readonly Bar[] {
  const at = (threads: number) =>
    cells.find((cell) => cell.workers === cores && cell.bytes === LARGE && cell.threads === threads)!;
  const share = at(16).shareOfCapacity;
  // The processes take turns; one that got more of the cores in its turn than the other did shows nothing.
  const plausible = share <= 1.1;
  const [few, many] = [at(16), at(64)];
  const waited = many.queue.mean - few.queue.mean;
  const grown = many.total.mean - few.total.mean;
  const encode = many.encode.p50 / few.encode.p50;
  return [
    {
      what: 'share of the capacity at 16 threads',
      demanded: '>= 0.9',
      measured: share,
      met: share >= 0.9 && plausible,
      ...(plausible ? {} : { note: 'more than there is: this machine is too busy to tell' }),
    },
    {
      what: 'of the growth from 16 to 64 threads, waiting',
      demanded: '>= 0.9',
      measured: waited / grown,
      met: grown > 0 && waited / grown >= 0.9,
    },
    {
      what: 'encode at 64 threads / at 16 (medians)',
      demanded: '<= 1.25',
      measured: encode,
      met: encode <= 1.25,
    },
  ];
}

const cells: ThreadsCell[] = [];
for (const plan of plans) cells.push(...(await measureThreads(plan)));
printTable(threadsTable(cells));
const bars = judge(cells);
printBars(`prompts of ~40k tokens, ${cores} workers`, bars);
writeResults('threads', { quick, cores, cells, bars });
