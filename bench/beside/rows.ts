import type { Company, DoorName, Latency, Pace } from './measured.ts';

/** Of small calls, through one door at one pace: medians of the rounds. */
export interface BesideRow extends Latency {
  readonly door: DoorName;
  readonly pace: Pace;
  readonly company: Company;
}

/** The 99th percentile of a door and pace in some company, in microseconds. */
export function p99(rows: readonly BesideRow[], door: DoorName, pace: Pace, company: Company): number {
  return rows.find((row) => row.door === door && row.pace === pace && row.company === company)!.p99;
}

export const BESIDE_HEAD = [
  '1 kB prompts, ms',
  'pace',
  'beside',
  'calls',
  'p50',
  'p99',
  'longest',
  'p99 / alone',
] as const;

export function besideCells(rows: readonly BesideRow[]): readonly (readonly string[])[] {
  const ms = (us: number) => (us / 1000).toFixed(2);
  return rows.map((row) => [
    row.door,
    row.pace,
    row.company,
    `${row.calls}`,
    ms(row.p50),
    ms(row.p99),
    ms(row.longest),
    (row.p99 / p99(rows, row.door, row.pace, 'alone')).toFixed(1),
  ]);
}
