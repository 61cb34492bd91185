/**
 * Counts by size, as words of a Float64Array: one per bound, one for what is above all bounds, then the sum.
 * Buckets are not cumulative here; Prometheus wants them so, and they are added up when they are read.
 */
export interface HistogramLayout {
  /** Upper bounds, inclusive, ascending, in the unit of what is observed. */
  readonly bounds: readonly number[];
  readonly words: number;
}

export function histogramLayout(bounds: readonly number[]): HistogramLayout {
  return { bounds, words: bounds.length + 2 };
}

/** A few additions, no allocation. */
export function observe(words: Float64Array, at: number, { bounds }: HistogramLayout, value: number): void {
  let bucket = 0;
  while (bucket < bounds.length && value > bounds[bucket]!) bucket++;
  words[at + bucket]!++;
  words[at + bounds.length + 1]! += value;
}

export interface HistogramReading {
  /** How many were at most as large as each bound. */
  readonly cumulative: readonly number[];
  readonly count: number;
  readonly sum: number;
}

/** The sum of what several writers have at the places `at`; empty, all zeros. */
export function readHistogram(
  blocks: readonly { readonly words: Float64Array; readonly at: number }[],
  { bounds }: HistogramLayout,
): HistogramReading {
  const total = (offset: number) => blocks.reduce((sum, { words, at }) => sum + words[at + offset]!, 0);
  let count = 0;
  const cumulative = bounds.map((_, bucket) => {
    count += total(bucket);
    return count;
  });
  // Added up, not counted apart: a reader never sees more in a bucket than in all.
  return { cumulative, count: count + total(bounds.length), sum: total(bounds.length + 1) };
}
