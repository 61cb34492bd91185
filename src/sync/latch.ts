/**
 * The words that a blocked caller and its runtime share, in one SharedArrayBuffer of Int32:
 *
 *     0  SIGNAL     raised by one with every reply and every change of STATE; what the caller sleeps on
 *     1  STATE      STARTING, READY, FAILED or CLOSED
 *     2  HEARTBEAT  raised by a timer of the runtime's event loop
 *
 * The replies themselves travel on a MessagePort. The order is what makes it safe: the runtime posts the message, then
 * changes the words, then notifies; a caller reads SIGNAL, then looks for its message, then sleeps only while SIGNAL is
 * still what it read. A reply that comes in between changes SIGNAL, and the sleep returns at once.
 */
const SIGNAL = 0;
const STATE = 1;
const HEARTBEAT = 2;
const WORDS = 3;

export const STATES = { starting: 0, ready: 1, failed: 2, closed: 3 } as const;
export type State = (typeof STATES)[keyof typeof STATES];

export class Latch {
  readonly memory: SharedArrayBuffer;
  readonly #words: Int32Array;

  constructor(memory: SharedArrayBuffer = new SharedArrayBuffer(WORDS * Int32Array.BYTES_PER_ELEMENT)) {
    this.memory = memory;
    this.#words = new Int32Array(memory);
  }

  /** The runtime's side: call after the message was posted. */
  signal(): void {
    Atomics.add(this.#words, SIGNAL, 1);
    Atomics.notify(this.#words, SIGNAL);
  }

  enter(state: State): void {
    Atomics.store(this.#words, STATE, state);
    this.signal();
  }

  beat(): void {
    Atomics.add(this.#words, HEARTBEAT, 1);
  }

  get state(): State {
    return Atomics.load(this.#words, STATE) as State;
  }

  get heartbeat(): number {
    return Atomics.load(this.#words, HEARTBEAT);
  }

  get signals(): number {
    return Atomics.load(this.#words, SIGNAL);
  }

  /** The caller's side: sleeps while SIGNAL is still `seen`, at most `milliseconds`. */
  sleep(seen: number, milliseconds: number): void {
    Atomics.wait(this.#words, SIGNAL, seen, milliseconds);
  }
}
