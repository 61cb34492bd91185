import type { Percentiles } from '../statistics.ts';

/** The work as a function call: what is left of a whole call when this is taken off is the cost of its bridge. */
export const NO_BRIDGE = 'no bridge';

/** What one mode (pinned or not) came to. Microseconds; each value is the median over the rounds. */
export interface Measured {
  readonly rounds: number;
  readonly cases: readonly CaseResult[];
}

export interface CaseResult {
  readonly name: string;
  readonly bytes: number;
  readonly callsPerRound: number;
  readonly designs: Readonly<Record<string, Percentiles>>;
}
