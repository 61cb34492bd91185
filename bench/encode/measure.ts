import { median } from '../statistics.ts';
import type { Corpus } from './corpora.ts';
import type { Encode, EncoderName } from './encoders.ts';
import { sameIds, timed } from './timing.ts';

/** Of one encoder on one corpus: medians over its rounds. */
export type Cell = {
  readonly freshMBps: number;
  readonly warmMBps: number;
  readonly freshTokensPerSecond: number;
  readonly warmTokensPerSecond: number;
  /** Medians of how many times as fast as the oracle it was in the same round. */
  readonly freshTimesRust: number;
  readonly warmTimesRust: number;
  /** Slices whose ids are the oracle's, of those that both got to. */
  readonly equal: number;
  readonly compared: number;
  /** It took more processor time than the limit: the other rounds were left out. */
  readonly capped: boolean;
};

export const CELL_LIMIT_MS = 5000;
/** Warm calls of a round: the best counts, for garbage of the encoder before may be collected in any of them. */
const WARM_CALLS = 4;

type Round = { readonly freshMs: number; readonly warmMs: number; readonly ids: ArrayLike<number> };

/**
 * A round for each slice. In it every encoder has its turn, the oracle (`rust`) first and the others in an order that
 * turns: fresh, the first time it sees the slice, then warm. The first slice warms the compiler up and is not counted.
 */
export async function measureCorpus(
  encoders: ReadonlyMap<EncoderName, Encode>,
  corpus: Corpus,
): Promise<Map<EncoderName, Cell>> {
  const rounds = new Map<EncoderName, (Round | undefined)[]>(
    Array.from(encoders.keys(), (name) => [name, []]),
  );
  const spent = new Map<EncoderName, number>();
  const peers = [...encoders.keys()].filter((name) => name !== 'rust');
  for (const [k, text] of corpus.slices.entries())
    for (const name of [
      'rust' as const,
      ...peers.slice(k % peers.length),
      ...peers.slice(0, k % peers.length),
    ]) {
      const before = spent.get(name) ?? 0;
      if (before > CELL_LIMIT_MS) {
        rounds.get(name)!.push(undefined);
        continue;
      }
      const { round, cpuMs } = await measureRound(encoders.get(name)!, text);
      spent.set(name, before + cpuMs);
      rounds.get(name)!.push(round);
    }
  const oracle = rounds.get('rust')!;
  return new Map(Array.from(rounds, ([name, list]) => [name, summarize(corpus, list, oracle)]));
}

async function measureRound(encode: Encode, text: string): Promise<{ round: Round; cpuMs: number }> {
  const { ids, cpuMs: freshMs } = await timed(encode, text);
  let warmMs = Number.POSITIVE_INFINITY;
  let cpuMs = freshMs;
  for (let call = 0; call < WARM_CALLS && (call === 0 || cpuMs < CELL_LIMIT_MS); call++) {
    const reading = await timed(encode, text);
    warmMs = Math.min(warmMs, reading.cpuMs);
    cpuMs += reading.cpuMs;
  }
  return { round: { freshMs, warmMs, ids }, cpuMs };
}

function summarize(corpus: Corpus, list: (Round | undefined)[], oracle: (Round | undefined)[]): Cell {
  const counted = list.flatMap((round, k) =>
    round === undefined || k === 0
      ? []
      : [{ ...round, megabytes: Buffer.byteLength(corpus.slices[k]!) / 1e6, rust: oracle[k] }],
  );
  const compared = counted.flatMap(({ rust, ...round }) => (rust === undefined ? [] : [{ ...round, rust }]));
  return {
    freshMBps: median(counted.map(({ megabytes, freshMs }) => (megabytes / freshMs) * 1000)),
    warmMBps: median(counted.map(({ megabytes, warmMs }) => (megabytes / warmMs) * 1000)),
    freshTokensPerSecond: median(counted.map(({ ids, freshMs }) => (ids.length / freshMs) * 1000)),
    warmTokensPerSecond: median(counted.map(({ ids, warmMs }) => (ids.length / warmMs) * 1000)),
    freshTimesRust: median(compared.map(({ freshMs, rust }) => rust.freshMs / freshMs)),
    warmTimesRust: median(compared.map(({ warmMs, rust }) => rust.warmMs / warmMs)),
    equal: compared.filter(({ ids, rust }) => sameIds(ids, rust.ids)).length,
    compared: compared.length,
    capped: list.includes(undefined),
  };
}
