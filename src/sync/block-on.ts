import { type Deadline, timeLeft } from '../protocol/deadline.ts';
import { type Fault, fail, type Outcome, succeed } from '../protocol/status.ts';
import { type Latch, STATES } from './latch.ts';

/** A blocked thread gets no 'exit' event of its runtime and looks for itself this often. */
const SLICE_MS = 100;
/** The runtime's timer beats every 25 ms once it is ready; a gap as long as this means that its thread is gone. */
const SILENCE_MS = 700;

/** What ends a wait early: a caller that may be cancelled says so here, and is asked at least every `everyMs`. */
export interface Abandonment {
  readonly everyMs: number;
  check(): Fault | undefined;
}

/**
 * Blocks this thread until `look` finds what it looks for, the runtime is closed or dead, or the deadline has passed. What is
 * found is taken even then: it was there first.
 */
export function blockOn<T>(
  latch: Latch,
  look: () => T | undefined,
  deadline: Deadline,
  abandonment?: Abandonment,
): Outcome<T> | 'runtime lost' {
  let heartbeat = latch.heartbeat;
  let silence = 0;
  for (;;) {
    // Read before looking: what comes after the look has changed it.
    const seen = latch.signals;
    const found = look();
    if (found !== undefined) return succeed(found);
    if (latch.state === STATES.closed) return fail('SHUTTING_DOWN', 'the tokenizer was closed');
    const abandoned = abandonment?.check();
    if (abandoned) return { ok: false, fault: abandoned };
    const left = timeLeft(deadline);
    if (left === 0) return fail('TIMEOUT', 'the deadline passed');
    const slice = Math.min(left, SLICE_MS, abandonment?.everyMs ?? SLICE_MS);
    latch.sleep(seen, slice);
    if (latch.heartbeat !== heartbeat) {
      heartbeat = latch.heartbeat;
      silence = 0;
    } else {
      // Time asked for, not time passed: a process that was stopped and continued has not listened meanwhile.
      silence += latch.signals === seen ? slice : 0;
      if (silence > SILENCE_MS) return 'runtime lost';
    }
  }
}
