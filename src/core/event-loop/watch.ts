import { readFileSync } from 'node:fs';
import { type HistogramReading, histogramLayout, observe, readHistogram } from '../metrics/histogram.ts';
import { LOOP_OPERATIONS, type LoopOperation, OperationClock, type OperationTimes } from './operations.ts';

/**
 * How often the watch looks. A stall is seen as long as it was, or shorter by up to this. On a loop that idles each look wakes
 * a core, about 130 us of it; on a busy one it is a microsecond.
 */
const TICK_MS = 50;
const TRACE_TICK_MS = 10;

/** What the stall counter counts, in ms; the histogram tells the other sizes apart. */
const STALL_MS = 100;

/** Upper bounds in milliseconds. */
export const DELAY_BOUNDS = [1, 5, 10, 20, 50, 100, 250, 500, 1000, 2500, 5000] as const;
const DELAYS = histogramLayout(DELAY_BOUNDS);

/** Whose code runs on the loop beside our operations: that of the process we are a guest of, or the runtime's own. */
export type LoopOwner = 'host' | 'runtime';

/** An event loop that did not turn for a while. */
export interface Stall {
  /** By how much a timer was late. */
  readonly ms: number;
  /** What most of it was: an operation of ours, or the rest, under the name of the loop's owner. */
  readonly operation: LoopOperation | LoopOwner;
  /** Milliseconds of each that took any. */
  readonly spent: Readonly<Partial<Record<LoopOperation | LoopOwner, number>>>;
  /** How long the thread was on a core meanwhile; much less than `ms`: the machine, or a quota, kept it off. Linux only. */
  readonly cpuMs: number | undefined;
}

export interface StallTrace {
  /** Stalls of at least so many milliseconds are reported; 0: none, and no operation is timed. */
  readonly thresholdMs: number;
  readonly report: (stall: Stall) => void;
}

export interface LoopReading {
  /** Milliseconds by which timers were late. */
  readonly delay: HistogramReading;
  /** Those of at least STALL_MS. */
  readonly stalls: number;
  readonly longestMs: number;
}

/** Watches the event loop of this thread with a timer that does not keep it alive. */
export class LoopWatch {
  /** Times what this library does on the loop; absent unless stalls are traced. */
  readonly clock: OperationClock | undefined;
  readonly #words = new Float64Array(DELAYS.words);
  readonly #timer: NodeJS.Timeout;
  #stalls = 0;
  #longestMs = 0;

  constructor(owner: LoopOwner, trace: StallTrace = { thresholdMs: 0, report: () => {} }) {
    const { thresholdMs, report } = trace;
    const clock = thresholdMs > 0 ? new OperationClock() : undefined;
    const tickMs = clock ? TRACE_TICK_MS : TICK_MS;
    this.clock = clock;
    let expected = performance.now() + tickMs;
    let onCore = clock && timeOnCore();
    this.#timer = setInterval(() => {
      const late = Math.max(0, performance.now() - expected);
      this.#count(late);
      if (clock) {
        const before = onCore;
        onCore = before === undefined ? undefined : timeOnCore();
        const spent = clock.take();
        const cpuMs = before === undefined || onCore === undefined ? undefined : tenths(onCore - before);
        if (late >= thresholdMs) report({ ...culpritOf(owner, late, spent), ms: tenths(late), cpuMs });
      }
      expected = performance.now() + tickMs;
    }, tickMs);
    this.#timer.unref();
  }

  read(): LoopReading {
    const delay = readHistogram([{ words: this.#words, at: 0 }], DELAYS);
    return { delay, stalls: this.#stalls, longestMs: this.#longestMs };
  }

  stop(): void {
    clearInterval(this.#timer);
  }

  #count(late: number): void {
    observe(this.#words, 0, DELAYS, late);
    if (late >= STALL_MS) this.#stalls++;
    if (late > this.#longestMs) this.#longestMs = late;
  }
}

function culpritOf(
  owner: LoopOwner,
  late: number,
  times: OperationTimes,
): Pick<Stall, 'operation' | 'spent'> {
  const ours = LOOP_OPERATIONS.reduce((sum, operation) => sum + times[operation], 0);
  const all = { ...times, [owner]: Math.max(0, late - ours) };
  const bySize = (Object.entries(all) as [LoopOperation | LoopOwner, number][])
    .map(([operation, ms]) => [operation, tenths(ms)] as const)
    .filter(([, ms]) => ms > 0)
    .sort(([, a], [, b]) => b - a);
  return { operation: bySize[0]?.[0] ?? owner, spent: Object.fromEntries(bySize) };
}

function tenths(ms: number): number {
  return Math.round(ms * 10) / 10;
}

/** Milliseconds that the calling thread has spent on a core. */
function timeOnCore(): number | undefined {
  try {
    return Number(readFileSync('/proc/thread-self/schedstat', 'latin1').split(' ', 1)[0]) / 1e6;
  } catch {
    return undefined;
  }
}
