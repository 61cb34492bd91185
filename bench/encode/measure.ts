import type { Corpus } from './corpora.ts';
import type { Encode } from './encoders.ts';

/** Medians over the slices of a corpus. */
export type Cell = {
  readonly freshMBps: number;
  readonly warmMBps: number;
  readonly freshTokensPerSecond: number;
  readonly warmTokensPerSecond: number;
  /** Slices whose ids are the oracle's, of those that the oracle got to within its limit. */
  readonly equal: number;
  readonly compared: number;
  /** Some slice took longer than the limit: the rest was left out. */
  readonly capped: boolean;
};

export const CELL_LIMIT_MS = 5000;

export function median(values: readonly number[]): number {
  const sorted = [...values].sort((a, b) => a - b);
  return sorted[Math.floor(sorted.length / 2)] ?? Number.NaN;
}

async function timed(encode: Encode, text: string): Promise<{ ids: ArrayLike<number>; ms: number }> {
  const start = performance.now();
  const ids = await encode(text);
  return { ids, ms: performance.now() - start };
}

export function sameIds(left: ArrayLike<number>, right: ArrayLike<number>): boolean {
  if (left.length !== right.length) return false;
  for (let k = 0; k < left.length; k++) if (left[k] !== right[k]) return false;
  return true;
}

/**
 * Encodes every slice once fresh and then again: the first time is `fresh`, the best of three later ones is `warm`.
 * The first slice is not counted. `expected` holds the oracle's ids: it is
 * measured first, with `isOracle`, and fills it.
 */
export async function measureCorpus(
  encode: Encode,
  corpus: Corpus,
  expected: Map<string, ArrayLike<number>>,
  isOracle: boolean,
): Promise<Cell> {
  const fresh: number[] = [];
  const warm: number[] = [];
  const freshTokens: number[] = [];
  const warmTokens: number[] = [];
  let equal = 0;
  let compared = 0;
  let capped = false;
  const started = performance.now();
  for (const [k, text] of corpus.slices.entries()) {
    const megabytes = Buffer.byteLength(text) / 1e6;
    const first = await timed(encode, text);
    let again = Number.POSITIVE_INFINITY;
    for (let round = 0; round < 3; round++) again = Math.min(again, (await timed(encode, text)).ms);
    if (k === 0) continue;
    fresh.push(megabytes / (first.ms / 1000));
    warm.push(megabytes / (again / 1000));
    freshTokens.push(first.ids.length / (first.ms / 1000));
    warmTokens.push(first.ids.length / (again / 1000));
    if (isOracle) expected.set(text, first.ids);
    const wanted = expected.get(text);
    if (wanted !== undefined) {
      compared++;
      if (sameIds(wanted, first.ids)) equal++;
    }
    if (performance.now() - started > CELL_LIMIT_MS) {
      capped = k < corpus.slices.length - 1;
      break;
    }
  }
  return {
    freshMBps: median(fresh),
    warmMBps: median(warm),
    freshTokensPerSecond: median(freshTokens),
    warmTokensPerSecond: median(warmTokens),
    equal,
    compared,
    capped,
  };
}
