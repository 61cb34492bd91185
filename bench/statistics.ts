/** Value below which the share `p` of `sorted` lies; NaN if there is none. */
export function percentile(sorted: ArrayLike<number>, p: number): number {
  return sorted[Math.round(p * (sorted.length - 1))] ?? Number.NaN;
}

export function median(values: readonly number[]): number {
  return percentile(
    [...values].sort((a, b) => a - b),
    0.5,
  );
}

export interface Percentiles {
  readonly p50: number;
  readonly p99: number;
}

export function percentiles(values: ArrayLike<number>): Percentiles {
  const sorted = Float64Array.from(values).sort();
  return { p50: percentile(sorted, 0.5), p99: percentile(sorted, 0.99) };
}
