/** The samples of a Prometheus text by their name and labels, as written: `epptok_calls_total{kind="chat",...}`. */
export function samplesOf(text: string): ReadonlyMap<string, number> {
  const samples = new Map<string, number>();
  for (const line of text.split('\n')) {
    if (line === '' || line.startsWith('#')) continue;
    const [, series, value] = /^([a-zA-Z_:][\w:]*(?:\{.*\})?) (\S+)$/.exec(line) ?? [];
    if (series === undefined) throw new Error(`no sample: ${line}`);
    if (samples.has(series)) throw new Error(`twice: ${series}`);
    samples.set(series, Number(value));
  }
  return samples;
}

/** The sum of the samples of `name` that have all of these labels. */
export function total(text: string, name: string, labels: Readonly<Record<string, string>> = {}): number {
  let sum = 0;
  for (const [series, value] of samplesOf(text)) {
    const [found] = series.split('{', 1);
    const matches = Object.entries(labels).every(([label, wanted]) =>
      series.includes(`${label}="${wanted}"`),
    );
    if (found === name && matches) sum += value;
  }
  return sum;
}
