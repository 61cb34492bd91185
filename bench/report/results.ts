import { existsSync, readFileSync } from 'node:fs';
import type { BesideRow } from '../beside/rows.ts';
import type { CallCost } from '../cost/calls.ts';
import type { CopyCost } from '../cost/copies.ts';
import type { InstrumentCost } from '../cost/instruments.ts';
import type { LoadCost } from '../cost/load.ts';
import type { MemoryCost } from '../cost/memory.ts';
import type { StartCost } from '../cost/start.ts';
import type { Speeds } from '../encode/bars.ts';
import type { OverheadBar } from '../overhead/bars.ts';
import type { Measured as Overhead } from '../overhead/measured.ts';
import type { Bar } from '../results.ts';
import type { Measured as Stall } from '../stall/measured.ts';
import type { ThreadsCell } from '../threads/measure.ts';

/** What each bench leaves in bench/results/<name>.json; a bench that crashed has left nothing. */
export interface AllResults {
  readonly overhead?: {
    readonly modes: Readonly<Record<string, Overhead>>;
    readonly bars: readonly OverheadBar[];
  };
  readonly encode?: {
    readonly speeds: Speeds;
    readonly bars: readonly Bar[];
  };
  readonly render?: {
    readonly bars: readonly Bar[];
    readonly rows: readonly {
      readonly template: string;
      readonly conversation: string;
      readonly tools: boolean;
      readonly oursUs: number;
      readonly peerUs: number;
      readonly ratio: number;
    }[];
  };
  readonly stall?: { readonly measured: readonly Omit<Stall, 'hashes'>[]; readonly bars: readonly Bar[] };
  readonly threads?: {
    readonly cores: number;
    readonly cells: readonly ThreadsCell[];
    readonly bars: readonly Bar[];
  };
  readonly beside?: { readonly rows: readonly BesideRow[]; readonly bars: readonly Bar[] };
  readonly cost?: {
    readonly start: readonly StartCost[];
    readonly load: readonly LoadCost[];
    readonly copies: readonly CopyCost[];
    readonly calls: readonly CallCost[];
    readonly memory: readonly MemoryCost[];
    readonly instruments: readonly InstrumentCost[];
    readonly bars: readonly Bar[];
  };
}

/** In the order in which they are run. */
export const BENCHES = [
  'overhead',
  'encode',
  'render',
  'stall',
  'threads',
  'beside',
  'cost',
] as const satisfies readonly (keyof AllResults)[];

export function readAll(folder: URL): AllResults {
  return Object.fromEntries(
    BENCHES.map((name) => [name, new URL(`${name}.json`, folder)] as const)
      .filter(([, file]) => existsSync(file))
      .map(([name, file]) => [name, JSON.parse(readFileSync(file, 'utf8')) as unknown]),
  ) as AllResults;
}

/** Largest prompts under the heaviest load: what the picture shows and the bars judge. */
export function heaviest(stall: NonNullable<AllResults['stall']>) {
  return stall.measured.filter(({ prompt, concurrency }) => prompt === '40k' && concurrency === 64);
}
