import { type Deadline, deadlineIn } from '../protocol/deadline.ts';
import { decodeRequest, FrameWriter } from '../protocol/frame.ts';
import { failure, type Request, type Response } from '../protocol/messages.ts';
import { statusName } from '../protocol/status.ts';
import type { NativeLibrary } from './native-library.ts';

/** What serves the calls of this thread. Both block until the response is there. */
export interface BlockingDoor {
  /** `abandoned` is asked now and then whether the call is still wanted. */
  call(request: Request, deadline: Deadline, abandoned: () => Response | undefined): Response;
  stats(deadline: Deadline): Response;
}

const NOT_ANSWERED = 0;

/**
 * The callback transport's JavaScript end: libepptok calls it on the thread that owns the handle, with the token of an
 * exchange. The request is copied into a buffer of ours, the response is copied out: no native memory is kept or viewed.
 *
 * An exception must not reach C: koffi would give C a 0 and throw after C has returned. 0 means failure there as well.
 */
export class OwnerCallback {
  readonly #library: NativeLibrary;
  readonly #door: BlockingDoor;
  readonly #writer = new FrameWriter();
  #buffer = new Uint8Array(8192);
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
      const frame = this.#writer.response(...this.#answer(exchange));
      return this.#library.exchangePut(exchange, frame, frame.length);
    } catch {
      return NOT_ANSWERED;
    }
  }

  #answer(exchange: bigint | number): [Response, bigint] {
    let length = Number(this.#library.exchangeTake(exchange, this.#buffer, this.#buffer.length));
    if (length > this.#buffer.length) {
      this.#buffer = new Uint8Array(length);
      length = Number(this.#library.exchangeTake(exchange, this.#buffer, length));
    }
    const frame = decodeRequest(this.#buffer.subarray(0, length));
    if (!frame.ok) return [failure(frame.fault.status, frame.fault.message), 0n];
    const { request, callId, timeoutMs } = frame.value;
    if (request.operation === 'ready') return [failure('OK', ''), callId];
    const deadline = deadlineIn(timeoutMs);
    if (request.operation === 'stats') return [this.#door.stats(deadline), callId];
    // The body moves to the runtime with its buffer, and this one is used again.
    const own = request.operation === 'tokenize' ? { ...request, body: request.body.slice() } : request;
    const abandoned = () => {
      const status = this.#library.exchangeAbandoned(exchange);
      return status === 0 ? undefined : failure(statusName(status), 'the call was given up by its caller');
    };
    return [this.#door.call(own, deadline, abandoned), callId];
  }
}
