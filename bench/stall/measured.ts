import { type Percentiles, percentiles } from '../statistics.ts';
import { type LoopReport, STALL_MS } from './event-loop.ts';
import type { HeartbeatReport } from './heartbeats.ts';
import type { LoadReport } from './load.ts';

/** One load that every design is given. */
export interface Cell {
  readonly prompt: '1k' | '40k';
  readonly concurrency: number;
  readonly seconds: number;
}

/** What became of one design under one load. Percentiles in ms. */
export interface Measured extends Cell, Percentiles {
  readonly design: string;
  readonly completed: number;
  readonly requestsPerSecond: number;
  readonly tokensPerRequest: number;
  readonly loop: LoopReport;
  readonly heartbeats: HeartbeatReport;
  /** The event loop of an idle process meanwhile: what the machine alone does to one. */
  readonly control: LoopReport;
  readonly hashes: LoadReport['hashes'];
}

/** What one round of a load gave. */
export interface Round {
  readonly load: LoadReport;
  readonly loop: LoopReport;
  readonly heartbeats: HeartbeatReport;
  readonly control: LoopReport;
}

/** One result of several rounds: sums, and the worst of what is worst. */
export function merged(rounds: readonly Round[]): Omit<Measured, keyof Cell | 'design'> {
  const sum = (of: (round: Round) => number) => rounds.reduce((total, round) => total + of(round), 0);
  const completed = sum(({ load }) => load.completed);
  const steadySeconds = sum(({ load }) => load.steady.seconds);
  return {
    completed,
    requestsPerSecond:
      steadySeconds > 0
        ? sum(({ load }) => load.steady.intervals) / steadySeconds
        : completed / sum(({ load }) => load.seconds),
    tokensPerRequest: Math.round(sum(({ load }) => load.tokens) / completed),
    ...percentiles(rounds.flatMap(({ load }) => load.latencies)),
    loop: worst(rounds.map(({ loop }) => loop)),
    heartbeats: {
      sent: sum(({ heartbeats }) => heartbeats.sent),
      late: sum(({ heartbeats }) => heartbeats.late),
      missed: sum(({ heartbeats }) => heartbeats.missed),
      inhibited: Math.max(...rounds.map(({ heartbeats }) => heartbeats.inhibited)),
      longestAck: Math.max(...rounds.map(({ heartbeats }) => heartbeats.longestAck)),
    },
    control: worst(rounds.map(({ control }) => control)),
    hashes: Object.assign({}, ...rounds.map(({ load }) => load.hashes)),
  };
}

/** The timeline is that of the first. */
function worst(reports: readonly LoopReport[]): LoopReport {
  const most = (of: (report: LoopReport) => number) => Math.max(...reports.map(of));
  const stalls = { 20: 0, 50: 0, 100: 0, 1000: 0 };
  for (const report of reports) for (const limit of STALL_MS) stalls[limit] += report.stalls[limit];
  return {
    monitorMax: most(({ monitorMax }) => monitorMax),
    longestWork: reports.some(({ longestWork }) => longestWork === undefined)
      ? undefined
      : most(({ longestWork }) => longestWork ?? 0),
    stalls,
    timeline: reports[0]?.timeline ?? [],
  };
}
