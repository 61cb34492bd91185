import type { Bar } from '../results.ts';
import { digits } from '../tables.ts';
import type { AllResults } from './results.ts';

export interface ReportedBar extends Omit<Bar, 'measured'> {
  readonly bench: string;
  readonly measured: string;
}

/** The bars of every bench, each as its bench has judged it. */
export function allBars({ overhead, ...others }: AllResults): readonly ReportedBar[] {
  const from = (bench: string, bars: readonly Bar[] = []) =>
    bars.map((bar) => ({ ...bar, bench, measured: digits(bar.measured) }));
  return [
    ...from(
      'overhead',
      overhead?.bars.map((bar) => ({ ...bar, what: `${bar.what}, ${bar.mode}` })),
    ),
    ...Object.entries(others).flatMap(([bench, { bars }]) => from(bench, bars)),
  ];
}
