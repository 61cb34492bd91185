/** What this library does on an event loop; all of it ends within the turn in which it began. */
export const LOOP_OPERATIONS = ['accept', 'dispatch', 'reply', 'decode'] as const;
/**
 * accept: a call's options are checked and its bytes copied. dispatch: it is admitted and posted to a worker. reply: what a
 * worker answered is handed to the caller. decode: a response becomes a result.
 */
export type LoopOperation = (typeof LOOP_OPERATIONS)[number];

export type OperationTimes = Record<LoopOperation, number>;

/** Which operation an event loop spends its time in. */
export class OperationClock {
  readonly #milliseconds: () => number;
  #spent: OperationTimes = { accept: 0, dispatch: 0, reply: 0, decode: 0 };
  #now: LoopOperation | undefined;
  #since = 0;

  constructor(milliseconds: () => number = () => performance.now()) {
    this.#milliseconds = milliseconds;
  }

  /** Operations nest: while one runs inside another, the time is the inner one's. `work` must not be async. */
  within<T>(operation: LoopOperation, work: () => T): T {
    const outer = this.#now;
    this.#turnTo(operation);
    try {
      return work();
    } finally {
      this.#turnTo(outer);
    }
  }

  /** Milliseconds spent in each operation since the last take. */
  take(): OperationTimes {
    const spent = this.#spent;
    this.#spent = { accept: 0, dispatch: 0, reply: 0, decode: 0 };
    return spent;
  }

  #turnTo(operation: LoopOperation | undefined): void {
    const now = this.#milliseconds();
    if (this.#now !== undefined) this.#spent[this.#now] += now - this.#since;
    this.#now = operation;
    this.#since = now;
  }
}

/** `work`, on the clock if there is one. */
export function within<T>(clock: OperationClock | undefined, operation: LoopOperation, work: () => T): T {
  return clock === undefined ? work() : clock.within(operation, work);
}
