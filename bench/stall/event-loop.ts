import { readFileSync } from 'node:fs';
import { monitorEventLoopDelay } from 'node:perf_hooks';

export const STALL_MS = [20, 50, 100, 1000] as const;
const TICK_MS = 10;
const BUCKET_MS = 100;

export interface LoopReport {
  /** Longest delay that perf_hooks.monitorEventLoopDelay saw, ms; its own period of 10 ms is part of it. */
  readonly monitorMax: number;
  /**
   * The longest that this thread was on a core between two timers, ms: a stall of its own making, and not of a machine that
   * gave it no core. Linux only.
   */
  readonly longestWork: number | undefined;
  /** How many timers were late by more than so many ms. */
  readonly stalls: Readonly<Record<(typeof STALL_MS)[number], number>>;
  /** The longest delay in each tenth of a second, ms. */
  readonly timeline: readonly number[];
}

/** Watches the event loop of this thread from the moment it is made. */
export class LoopWatch {
  readonly #monitor = monitorEventLoopDelay({ resolution: TICK_MS });
  readonly #start = performance.now();
  readonly #delays: number[] = [];
  readonly #timeline: number[] = [];
  readonly #timer: NodeJS.Timeout;
  #longestWork: number | undefined;

  constructor() {
    this.#monitor.enable();
    let expected = performance.now() + TICK_MS;
    let onCore = timeOnCore();
    const tick = () => {
      if (onCore !== undefined) {
        const before = onCore;
        onCore = timeOnCore() ?? before;
        this.#longestWork = Math.max(this.#longestWork ?? 0, onCore - before);
      }
      const now = performance.now();
      const delay = Math.max(0, now - expected);
      this.#delays.push(delay);
      const bucket = Math.floor((now - this.#start) / BUCKET_MS);
      this.#timeline[bucket] = Math.max(this.#timeline[bucket] ?? 0, Math.round(delay * 10) / 10);
      expected = performance.now() + TICK_MS;
    };
    this.#timer = setInterval(tick, TICK_MS);
  }

  /** Ends the watch. */
  report(): LoopReport {
    this.#monitor.disable();
    clearInterval(this.#timer);
    const over = (limit: number) => this.#delays.filter((delay) => delay > limit).length;
    return {
      monitorMax: this.#monitor.max / 1e6,
      longestWork: this.#longestWork,
      stalls: { 20: over(20), 50: over(50), 100: over(100), 1000: over(1000) },
      timeline: Array.from(this.#timeline, (delay) => delay ?? 0),
    };
  }
}

/** Milliseconds that the calling thread has spent on a core. */
function timeOnCore(): number | undefined {
  try {
    return Number(readFileSync('/proc/thread-self/schedstat', 'latin1').split(' ', 1)[0]) / 1e6;
  } catch {
    return undefined;
  }
}
