import { Tokenizer } from 'epptok';
import koffi from 'koffi';
import { type Sample, sample } from './sample.ts';

/**
 * A Node process that makes calls by one way into its own runtime: `callback` (C on this thread), `direct` (C on threads of its
 * own) or `blocking` (Tokenizer.tokenize). Prints a sample after each round, as JSON.
 *
 *     node-host.ts <way> <model> <calls> <rounds>
 */
const [, , way, model = '', calls, rounds] = process.argv;
const perRound = Math.ceil(Number(calls) / Number(rounds));
const SIZES = [1000, 4000, 20_000];
const STATUSES = 32;

const Plan = koffi.struct({
  threads: 'uint32_t',
  timeout_ms: 'uint32_t',
  calls: 'uint64_t',
  seconds: 'double',
  sizes: koffi.array('uint32_t', 4),
  per_second: 'double',
  fresh: 'uint32_t',
});
const library = koffi.load(new URL('../../build/native/libload_plugin.so', import.meta.url).pathname);
const loadRun = library.func('load_run', 'void', ['uint64_t', koffi.pointer(Plan), 'void *']);
/** load_report: calls, wrong, statuses, transports, and three doubles. */
const report = new BigUint64Array(2 + STATUSES + 4 + 3);

const tokenizer = new Tokenizer({ model, threads: 2, timeoutMs: 30_000 });

function fromC(threads: number, transport: number): void {
  const plan = {
    threads,
    timeout_ms: 30_000,
    calls: perRound,
    seconds: 0,
    sizes: [...SIZES, 0],
    per_second: 0,
    fresh: 0,
  };
  loadRun(tokenizer.nativeHandle, plan, report);
  const [made, wrong, ok] = report;
  const carried = report[2 + STATUSES + transport];
  if (made !== BigInt(perRound) || ok !== made || wrong !== 0n || carried !== made) {
    throw new Error(`of ${perRound} calls ${ok} were answered, ${wrong} wrongly, ${carried} by ${way}`);
  }
}

const texts = SIZES.map((size) => 'the router sends each prompt to a worker '.repeat(size / 40));
const counts = new Map<string, number>();
function blocking(): void {
  for (let i = 0; i < perRound; i++) {
    const text = texts[i % texts.length]!;
    const { ids } = tokenizer.tokenize({ kind: 'text', body: text });
    const known = counts.get(text) ?? ids.length;
    counts.set(text, known);
    if (ids.length !== known || ids.length === 0) throw new Error(`${ids.length} ids, not ${known}`);
  }
}

const WAYS: Readonly<Record<string, () => void>> = {
  callback: () => fromC(0, 1),
  direct: () => fromC(4, 2),
  blocking,
};
const round = WAYS[way ?? ''];
if (round === undefined) throw new Error(`${way}: one of ${Object.keys(WAYS).join(', ')}`);
for (let i = 1; i <= Number(rounds); i++) {
  round();
  // The event loop gets its turn, as in any host.
  await new Promise((resolve) => setTimeout(resolve, 1));
  const taken: Sample = sample(process.pid, i * perRound);
  console.log(JSON.stringify(taken));
}
tokenizer.close();
