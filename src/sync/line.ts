import { MessageChannel, type MessagePort, receiveMessageOnPort } from 'node:worker_threads';
import type { Request, Response } from '../protocol/messages.ts';
import { moved } from '../protocol/moved.ts';
import type { Latch } from './latch.ts';

/**
 * A line joins a blocked caller with one worker: a MessagePort, and two words of shared memory.
 *
 *     0  STATE     FREE, POSTED, ANSWERED or ABANDONED; what the worker sleeps on
 *     1  QUEUE_US  how long the call waited for this worker
 *
 *                caller posts            worker answers              caller takes the answer
 *         FREE ───────────────► POSTED ──────────────► ANSWERED ─────────────────────────────► FREE
 *                                  │ caller gives up                          worker is done
 *                                  └──────────────────► ABANDONED ───────────────────────────► FREE
 *
 * Whoever posts a message does so before it changes STATE. The race is at POSTED, where a worker answers a caller that gives
 * up: both compare and exchange, one wins. When the worker does, its answer is in the port and the caller takes it; when the
 * caller does, the answer is late, the worker learns that, and the caller empties the port before it posts again. So what is
 * in the port at ANSWERED is the answer to the one call that the line has in hand, and no late one is ever taken for it.
 */
const STATE = 0;
const QUEUE_US = 1;
const WORDS = 2;

const FREE = 0;
const POSTED = 1;
const ANSWERED = 2;
const ABANDONED = 3;

/** A request frame, answered with a response frame, or a request, answered with a response. */
export type Call = Uint8Array | Request;
export type Answer = Uint8Array | Response;

/** One end of a line; plain data, of which the port has to be transferred. */
export interface LineEnd {
  readonly memory: SharedArrayBuffer;
  readonly port: MessagePort;
}

export function makeLine(): { readonly forCaller: LineEnd; readonly forWorker: LineEnd } {
  const memory = new SharedArrayBuffer(WORDS * Int32Array.BYTES_PER_ELEMENT);
  const { port1, port2 } = new MessageChannel();
  return { forCaller: { memory, port: port1 }, forWorker: { memory, port: port2 } };
}

/** Whether the worker of a line has a call in hand. */
export function isBusy(memory: SharedArrayBuffer): boolean {
  const state = Atomics.load(new Int32Array(memory), STATE);
  return state === POSTED || state === ABANDONED;
}

export class CallerEnd {
  readonly #port: MessagePort;
  readonly #words: Int32Array;
  #bytes = 0;
  /** The last call was given up: its answer may be in the port. */
  #late = false;
  #lost: string | undefined;

  constructor({ memory, port }: LineEnd) {
    this.#port = port;
    this.#words = new Int32Array(memory);
    port.unref();
  }

  /** Whether a call can be posted; false while the worker is at one that was abandoned. */
  get free(): boolean {
    return Atomics.load(this.#words, STATE) === FREE;
  }

  /** Of the last call. */
  get bytes(): number {
    return this.#bytes;
  }

  /** Only when free. A frame or a body has its buffer to itself, which moves to the worker when it is large. */
  post(call: Call, bytes: number, queueMicroseconds: number): void {
    if (this.#late) while (receiveMessageOnPort(this.#port) !== undefined);
    this.#late = false;
    this.#bytes = bytes;
    this.#words[QUEUE_US] = Math.min(queueMicroseconds, 2 ** 31 - 1);
    this.#port.postMessage(call, buffersOf(call));
    Atomics.store(this.#words, STATE, POSTED);
    Atomics.notify(this.#words, STATE);
  }

  /** The answer, once it is there. */
  take(): Answer | undefined {
    if (Atomics.load(this.#words, STATE) !== ANSWERED) return undefined;
    const received = receiveMessageOnPort(this.#port);
    Atomics.store(this.#words, STATE, FREE);
    return received?.message as Answer;
  }

  /** Gives the call up. False when the answer was quicker: it is there to be taken. */
  abandon(): boolean {
    this.#late = Atomics.compareExchange(this.#words, STATE, POSTED, ABANDONED) === POSTED;
    return this.#late;
  }

  /** What the worker died of. */
  get lost(): string | undefined {
    return this.#lost;
  }

  lose(why: string): void {
    this.#lost = why;
    this.close();
  }

  close(): void {
    this.#port.close();
  }
}

export class WorkerEnd {
  readonly #port: MessagePort;
  readonly #words: Int32Array;
  readonly #latch: Latch;

  constructor({ memory, port }: LineEnd, latch: Latch) {
    this.#port = port;
    this.#words = new Int32Array(memory);
    this.#latch = latch;
  }

  /** Sleeps until there is a call that somebody waits for. Terminating the thread ends the sleep. */
  next(): { readonly call: Call; readonly queueMicroseconds: number } {
    for (;;) {
      const state = Atomics.load(this.#words, STATE);
      if (state === FREE || state === ANSWERED) Atomics.wait(this.#words, STATE, state);
      else {
        const received = receiveMessageOnPort(this.#port);
        if (state === POSTED)
          return { call: received?.message as Call, queueMicroseconds: this.#words[QUEUE_US]! };
        this.#freeAgain();
      }
    }
  }

  /** True if somebody still waited for it. */
  answer(answer: Answer): boolean {
    this.#port.postMessage(answer, buffersOf(answer));
    const wanted = Atomics.compareExchange(this.#words, STATE, POSTED, ANSWERED) === POSTED;
    if (wanted) this.#latch.signal();
    else this.#freeAgain();
    return wanted;
  }

  #freeAgain(): void {
    Atomics.store(this.#words, STATE, FREE);
    this.#latch.signal();
  }
}

/** The buffer of a frame, a body or of answered ids; those of a detokenize request are its caller's own. */
function buffersOf(message: Call | Answer): ArrayBuffer[] {
  if (message instanceof Uint8Array) return moved(message.buffer);
  if (!('operation' in message)) return moved(message.ids.buffer);
  return message.operation === 'tokenize' ? moved(message.body.buffer) : [];
}
