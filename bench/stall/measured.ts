import type { Percentiles } from '../statistics.ts';
import type { LoopReport } from './event-loop.ts';
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
