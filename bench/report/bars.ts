import type { Bar } from '../results.ts';
import type { AllResults } from './results.ts';

export interface ReportedBar extends Omit<Bar, 'measured'> {
  readonly bench: string;
  readonly measured: string;
}

/** The bars of every bench, each as its bench has judged it. */
export function allBars({
  overhead,
  encode,
  render,
  stall,
  threads,
  cost,
}: AllResults): readonly ReportedBar[] {
  const from = (bench: string, bars: readonly Bar[] = []) =>
    bars.map((bar) => ({ ...bar, bench, measured: digits(bar.measured) }));
  return [
    ...from(
      'overhead',
      overhead?.bars.map((bar) => ({ ...bar, what: `${bar.what}, ${bar.mode}` })),
    ),
    ...(encode === undefined ? [] : encodeBars(encode.missed)),
    ...(render === undefined ? [] : [renderBar(render)]),
    ...from('stall', stall?.bars),
    ...from('threads', threads?.bars),
    ...from('cost', cost?.bars),
  ];
}

/** bench/encode says of each bar only that it is missed. */
function encodeBars(missed: readonly string[]): readonly ReportedBar[] {
  const bar = { bench: 'encode', demanded: 'see the README' };
  if (missed.length === 0)
    return [{ ...bar, what: 'speed and ids on every text', measured: 'all', met: true }];
  return missed.map((what) => ({ ...bar, what, measured: 'missed', met: false }));
}

function renderBar({ bar, rows }: NonNullable<AllResults['render']>): ReportedBar {
  const slowest = rows.reduce((a, b) => (a.ratio < b.ratio ? a : b));
  return {
    bench: 'render',
    what: `@huggingface/jinja / ours, least of all (${slowest.template}, ${slowest.conversation})`,
    demanded: `>= ${bar}`,
    measured: digits(slowest.ratio),
    met: slowest.ratio >= bar,
  };
}

export function digits(value: number): string {
  return value.toFixed(Math.abs(value) < 10 ? 2 : Math.abs(value) < 100 ? 1 : 0);
}
