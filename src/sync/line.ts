import { MessageChannel, type MessagePort, receiveMessageOnPort } from 'node:worker_threads';
import type { Request, Response } from '../protocol/messages.ts';
import { moved } from '../protocol/moved.ts';
import type { Latch } from './latch.ts';

/**
 * A line joins a blocked caller with one worker: a MessagePort, and shared memory of three words and an area.
 *
 *     0  STATE     FREE, POSTED, ANSWERED or ABANDONED; what the worker sleeps on
 *     1  QUEUE_US  how long the call waited for this worker
 *     2  LENGTH    bytes of the frame that is in the area; 0: the message is in the port
 *     16 area      64 KiB
 *
 *                caller posts            worker answers              caller takes the answer
 *         FREE ───────────────► POSTED ──────────────► ANSWERED ─────────────────────────────► FREE
 *                                  │ caller gives up                          worker is done
 *                                  └──────────────────► ABANDONED ───────────────────────────► FREE
 *
 * Whoever posts a message does so before it changes STATE, and nobody writes where it is not at the turn: the caller at FREE,
 * the worker at POSTED and ABANDONED. The race is at POSTED, where a worker answers a caller that gives up: both compare and
 * exchange, one wins. When the worker does, its answer is there and the caller takes it; when the caller does, the answer is
 * late, the worker learns that, and the caller empties the port before it posts again. So what is there at ANSWERED is the
 * answer to the one call that the line has in hand, and no late one is ever taken for it.
 */
const STATE = 0;
const QUEUE_US = 1;
const LENGTH = 2;
const AREA_AT = 16;
/** A message costs some 5 us to clone, twice a call; a copy of 4 kB a tenth of that. */
const AREA_BYTES = 64 * 1024;

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
  const memory = new SharedArrayBuffer(AREA_AT + AREA_BYTES);
  const { port1, port2 } = new MessageChannel();
  return { forCaller: { memory, port: port1 }, forWorker: { memory, port: port2 } };
}

/** Whether the worker of a line has a call in hand. */
export function isBusy(memory: SharedArrayBuffer): boolean {
  const state = Atomics.load(wordsOf(memory), STATE);
  return state === POSTED || state === ABANDONED;
}

export class CallerEnd {
  readonly #port: MessagePort;
  readonly #words: Int32Array;
  readonly #messages: Messages;
  #bytes = 0;
  /** The last call was given up: its answer may be in the port. */
  #late = false;
  #lost: string | undefined;

  constructor({ memory, port }: LineEnd) {
    this.#port = port;
    this.#words = wordsOf(memory);
    this.#messages = new Messages({ memory, port });
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

  /** Only when free. A body has its buffer to itself, which moves to the worker when it is large, and so may a large frame's. */
  post(call: Call, bytes: number, queueMicroseconds: number): void {
    if (this.#late) while (receiveMessageOnPort(this.#port) !== undefined);
    this.#late = false;
    this.#bytes = bytes;
    this.#words[QUEUE_US] = Math.min(queueMicroseconds, 2 ** 31 - 1);
    this.#messages.put(call);
    Atomics.store(this.#words, STATE, POSTED);
    Atomics.notify(this.#words, STATE);
  }

  /** The answer, once it is there; a frame is valid until the next call is posted. */
  take(): Answer | undefined {
    if (Atomics.load(this.#words, STATE) !== ANSWERED) return undefined;
    const answer = this.#messages.get() as Answer;
    Atomics.store(this.#words, STATE, FREE);
    return answer;
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
  readonly #words: Int32Array;
  readonly #messages: Messages;
  readonly #latch: Latch;

  constructor(end: LineEnd, latch: Latch) {
    this.#words = wordsOf(end.memory);
    this.#messages = new Messages(end);
    this.#latch = latch;
  }

  /** Sleeps until there is a call that somebody waits for. Terminating the thread ends the sleep. A frame is valid until then. */
  next(): { readonly call: Call; readonly queueMicroseconds: number } {
    for (;;) {
      const state = Atomics.load(this.#words, STATE);
      if (state === FREE || state === ANSWERED) Atomics.wait(this.#words, STATE, state);
      else {
        const call = this.#messages.get() as Call;
        if (state === POSTED) return { call, queueMicroseconds: this.#words[QUEUE_US]! };
        this.#freeAgain();
      }
    }
  }

  /** True if somebody still waited for it. */
  answer(answer: Answer): boolean {
    this.#messages.put(answer);
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

/** The messages of a line, as each end puts them there and gets them: small frames in the area, all else in the port. */
class Messages {
  readonly #port: MessagePort;
  readonly #words: Int32Array;
  readonly #area: Uint8Array;
  /** What is got from the area is copied here: TextDecoder and others take no shared memory. */
  readonly #own = new Uint8Array(AREA_BYTES);

  constructor({ memory, port }: LineEnd) {
    this.#port = port;
    this.#words = wordsOf(memory);
    this.#area = new Uint8Array(memory, AREA_AT);
  }

  put(message: Call | Answer): void {
    const inArea = message instanceof Uint8Array && message.length > 0 && message.length <= AREA_BYTES;
    this.#words[LENGTH] = inArea ? message.length : 0;
    if (inArea) {
      this.#area.set(message);
      return;
    }
    // The clone of a view would bring all of its buffer.
    const alone =
      message instanceof Uint8Array && message.length < message.buffer.byteLength ? message.slice() : message;
    this.#port.postMessage(alone, buffersOf(alone));
  }

  get(): Call | Answer {
    const length = this.#words[LENGTH]!;
    if (length === 0) return receiveMessageOnPort(this.#port)?.message;
    this.#own.set(this.#area.subarray(0, length));
    return this.#own.subarray(0, length);
  }
}

function wordsOf(memory: SharedArrayBuffer): Int32Array {
  return new Int32Array(memory, 0, AREA_AT / Int32Array.BYTES_PER_ELEMENT);
}

/** The buffer of a frame, a body or of answered ids; those of a detokenize request are its caller's own. */
function buffersOf(message: Call | Answer): ArrayBuffer[] {
  if (message instanceof Uint8Array) return moved(message.buffer);
  if (!('operation' in message)) return moved(message.ids.buffer);
  return message.operation === 'tokenize' ? moved(message.body.buffer) : [];
}
