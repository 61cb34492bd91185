/** Absolute deadlines, in milliseconds of the monotonic clock that all threads of a process share. */
export type Deadline = number;

/** `performance.now()` starts anew in each worker thread; this clock does not. */
export function now(): number {
  const [seconds, nanoseconds] = process.hrtime();
  return seconds * 1e3 + nanoseconds / 1e6;
}

export function deadlineIn(milliseconds: number): Deadline {
  return now() + milliseconds;
}

/** Milliseconds left, never negative. */
export function timeLeft(deadline: Deadline): number {
  return Math.max(0, deadline - now());
}
