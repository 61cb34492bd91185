import { median } from '../statistics.ts';

/** How long is measured. */
export interface Rounds {
  readonly rounds: number;
  readonly roundMs: number;
  readonly warmMs: number;
}

export const THOROUGH: Rounds = { rounds: 21, roundMs: 40, warmMs: 300 };
export const QUICK: Rounds = { rounds: 7, roundMs: 6, warmMs: 30 };

/** CPU time of the process in microseconds: on a machine that others use too, the time by the clock is mostly theirs. */
export function cpuTime(): number {
  const { user, system } = process.cpuUsage();
  return user + system;
}

/** Calls of `run` that fill about a round, after it has run warm. */
export function batchOf(run: () => void, { roundMs, warmMs }: Rounds): number {
  const started = cpuTime();
  let calls = 0;
  while (cpuTime() - started < warmMs * 1000 || calls < 3) {
    run();
    calls++;
  }
  return Math.max(1, Math.round((calls * roundMs) / warmMs));
}

/** Median CPU microseconds of one call of each; all take turns, round by round. */
export function compare(runs: readonly (() => void)[], rounds: Rounds): number[] {
  const sides = runs.map((run) => ({ run, batch: batchOf(run, rounds), times: [] as number[] }));
  for (let round = 0; round < rounds.rounds; round++) {
    for (const { run, batch, times } of sides) {
      const start = cpuTime();
      for (let call = 0; call < batch; call++) run();
      times.push((cpuTime() - start) / batch);
    }
  }
  return sides.map(({ times }) => median(times));
}
