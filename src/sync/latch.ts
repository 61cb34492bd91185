/**
 * The words that a blocked caller shares with its runtime and the workers, in one SharedArrayBuffer of Int32:
 *
 *     0  SIGNAL        raised by one with every answer, every piece of news and every change of STATE; what the caller sleeps on
 *     1  STATE         STARTING, READY, FAILED or CLOSED
 *     2  HEARTBEAT     raised by a timer of the runtime's event loop
 *     3  NEWS          raised by one with every message of the runtime itself
 *     4  QUEUED_KIB    of the call that waits for a free worker; 0: none does
 *
 * The messages themselves travel on MessagePorts. The order is what makes it safe: whoever has something to say posts the
 * message, then changes the words, then notifies; a caller reads SIGNAL, then looks for its message, then sleeps only while
 * SIGNAL is still what it read. A message that comes in between changes SIGNAL, and the sleep returns at once.
 */
const SIGNAL = 0;
const STATE = 1;
const HEARTBEAT = 2;
const NEWS = 3;
const QUEUED_KIB = 4;
const WORDS = 5;

export const STATES = { starting: 0, ready: 1, failed: 2, closed: 3 } as const;
export type State = (typeof STATES)[keyof typeof STATES];

export class Latch {
  readonly memory: SharedArrayBuffer;
  readonly #words: Int32Array;

  constructor(memory: SharedArrayBuffer = new SharedArrayBuffer(WORDS * Int32Array.BYTES_PER_ELEMENT)) {
    this.memory = memory;
    this.#words = new Int32Array(memory);
  }

  /** The other side of a caller: call after the message was posted. */
  signal(): void {
    Atomics.add(this.#words, SIGNAL, 1);
    Atomics.notify(this.#words, SIGNAL);
  }

  /** The runtime's side: call after its message was posted. */
  signalNews(): void {
    Atomics.add(this.#words, NEWS, 1);
    this.signal();
  }

  enter(state: State): void {
    Atomics.store(this.#words, STATE, state);
    this.signal();
  }

  beat(): void {
    Atomics.add(this.#words, HEARTBEAT, 1);
  }

  /** Bytes of the call that waits for a free worker, in whole KiB; undefined: none does. */
  get queued(): number | undefined {
    const kib = Atomics.load(this.#words, QUEUED_KIB);
    return kib === 0 ? undefined : kib * 1024;
  }

  /** The caller's side. */
  set queued(bytes: number | undefined) {
    Atomics.store(this.#words, QUEUED_KIB, bytes === undefined ? 0 : Math.max(1, Math.ceil(bytes / 1024)));
  }

  get state(): State {
    return Atomics.load(this.#words, STATE) as State;
  }

  get heartbeat(): number {
    return Atomics.load(this.#words, HEARTBEAT);
  }

  get news(): number {
    return Atomics.load(this.#words, NEWS);
  }

  get signals(): number {
    return Atomics.load(this.#words, SIGNAL);
  }

  /** The caller's side: sleeps while SIGNAL is still `seen`, at most `milliseconds`. */
  sleep(seen: number, milliseconds: number): void {
    Atomics.wait(this.#words, SIGNAL, seen, milliseconds);
  }
}
