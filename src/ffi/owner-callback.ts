import { type Deadline, deadlineIn } from '../protocol/deadline.ts';
import { readRequestHeader } from '../protocol/frame-header.ts';
import { FRAME_TYPES } from '../protocol/frame-layout.ts';
import { FrameWriter } from '../protocol/frame-writer.ts';
import { type CallSubject, failure, type Response } from '../protocol/messages.ts';
import { type Fault, statusName } from '../protocol/status.ts';
import type { NativeLibrary } from './native-library.ts';

/** What serves the calls of this thread. Both block until the answer is there. */
export interface BlockingDoor {
  /**
   * Serves a request frame, whose buffer may be given away when the frame fills it. Answers with a response frame, valid until
   * the next call, or with a response that says why there is none. `abandoned` is asked now and then whether the call is still
   * wanted.
   */
  callWithFrame(
    frame: Uint8Array,
    subject: CallSubject,
    deadline: Deadline,
    abandoned: () => Fault | undefined,
  ): Uint8Array | Response;
  stats(deadline: Deadline): Response;
}

/** Most requests fit; a larger one is taken in a second call, into a buffer of its own. */
const BUFFER_BYTES = 64 * 1024;

const NOT_ANSWERED = 0;

/**
 * The callback transport's JavaScript end: libepptok calls it on the thread that owns the handle, with the token of an
 * exchange. Frames pass as they are: the request's is copied into a buffer of ours, the response's is copied out, and no native
 * memory is kept or viewed.
 *
 * An exception must not reach C: koffi would give C a 0 and throw after C has returned. 0 means failure there as well.
 */
export class OwnerCallback {
  readonly #library: NativeLibrary;
  readonly #door: BlockingDoor;
  readonly #writer = new FrameWriter();
  readonly #buffer = new Uint8Array(BUFFER_BYTES);
  /** Registered with koffi; calling it after this thread has ended would abort the process. */
  readonly pointer: bigint;

  constructor(library: NativeLibrary, door: BlockingDoor) {
    this.#library = library;
    this.#door = door;
    this.pointer = library.registerCallback((exchange) => this.#serve(exchange));
  }

  close(): void {
    this.#library.unregisterCallback(this.pointer);
  }

  #serve(exchange: bigint | number): number {
    try {
      const frame = this.#answer(exchange);
      return this.#library.exchangePut(exchange, frame, frame.length);
    } catch {
      return NOT_ANSWERED;
    }
  }

  #answer(exchange: bigint | number): Uint8Array {
    const frame = this.#take(exchange);
    const header = readRequestHeader(frame);
    if (header === undefined) return this.#failed('frame has no header', 0n);
    const { type, callId, subject, timeoutMs } = header;
    if (type === FRAME_TYPES.ready) return this.#writer.response(failure('OK', ''), callId);
    const deadline = deadlineIn(timeoutMs);
    if (type === FRAME_TYPES.stats) return this.#writer.response(this.#door.stats(deadline), callId);
    if (subject === undefined) return this.#failed('unknown kind of frame or of request', callId);
    const abandoned = () => {
      const status = this.#library.exchangeAbandoned(exchange);
      return status === 0
        ? undefined
        : { status: statusName(status), message: 'the call was given up by its caller' };
    };
    const answer = this.#door.callWithFrame(frame, subject, deadline, abandoned);
    return answer instanceof Uint8Array ? answer : this.#writer.response(answer, callId);
  }

  #take(exchange: bigint | number): Uint8Array {
    const buffer = this.#buffer;
    const length = Number(this.#library.exchangeTake(exchange, buffer, buffer.length));
    if (length < buffer.length) return buffer.subarray(0, length);
    const whole = new Uint8Array(length);
    this.#library.exchangeTake(exchange, whole, length);
    return whole;
  }

  #failed(message: string, callId: bigint): Uint8Array {
    return this.#writer.response(failure('INVALID_ARGUMENT', message), callId);
  }
}
