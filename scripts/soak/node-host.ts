import { Tokenizer } from 'epptok';
import { runLoad } from '../../test/support/load-plugin.ts';
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

const tokenizer = new Tokenizer({ model, threads: 2, timeoutMs: 30_000 });

function fromC(threads: number, transport: number): void {
  const { calls, wrong, statuses, transports } = runLoad(tokenizer.nativeHandle, {
    threads,
    timeoutMs: 30_000,
    calls: perRound,
    seconds: 0,
    sizes: SIZES,
    perSecond: 0,
    fresh: false,
  });
  const [ok] = statuses;
  const carried = transports[transport];
  if (calls !== perRound || ok !== calls || wrong !== 0 || carried !== calls) {
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
