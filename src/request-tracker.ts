import { now } from './protocol/deadline.ts';
import type { Kind, Provenance, Request, Response, Timings } from './protocol/messages.ts';
import type { StatusName } from './protocol/status.ts';

/** One call, as the door that it was made through has seen it. No text of it. */
export interface RequestRecord {
  /** What the caller said that the body is, or `detokenize`. */
  readonly kind: Kind | 'detokenize';
  readonly status: StatusName;
  /** Name of the model that served; '' if none did. */
  readonly model: string;
  /** Number of the worker that served, from 1; 0 if none did. */
  readonly worker: number;
  readonly provenance: Provenance;
  /** Bytes of the body, or of the ids. */
  readonly bytes: number;
  readonly sequences: number;
  /** Ids of all sequences. */
  readonly tokens: number;
  /** When the call was made, in milliseconds since the epoch. */
  readonly receivedAt: number;
  /** Microseconds, as the runtime has measured them: waiting, parsing, rendering, encoding, and all from its arrival there. */
  readonly timings: Timings;
  /** Microseconds from the call to its answer at the door; what is not in `timings.total` is the way there and back. */
  readonly elapsed: number;
}

/** Sees every record. What it throws is a warning of the process, once, and never the call's. */
export type RequestHook = (record: RequestRecord) => unknown;

/** Follows the calls of one door and tells its hook. */
export class RequestTracker {
  readonly #hook: RequestHook | undefined;
  #warned = false;

  constructor(hook: RequestHook | undefined) {
    this.#hook = hook;
  }

  /** Call before the request is given away, with its buffers. */
  begin(request: Request): TrackedRequest {
    const tokenize = request.operation === 'tokenize';
    return {
      kind: tokenize ? request.kind : 'detokenize',
      bytes: tokenize ? request.body.byteLength : request.ids.byteLength,
      receivedAt: Date.now(),
      since: now(),
    };
  }

  end({ kind, bytes, receivedAt, since }: TrackedRequest, response: Response): RequestRecord {
    const { status, model, worker, provenance, timings, ids, counts } = response;
    const elapsed = Math.round((now() - since) * 1e3);
    const sequences = counts.length;
    const tokens = ids.length;
    const record: RequestRecord = {
      kind,
      status,
      model,
      worker,
      provenance,
      bytes,
      sequences,
      tokens,
      receivedAt,
      timings,
      elapsed,
    };
    if (this.#hook !== undefined) this.#tell(this.#hook, record);
    return record;
  }

  #tell(hook: RequestHook, record: RequestRecord): void {
    try {
      const told = hook(record);
      // An async hook that fails would be an unhandled rejection, which ends the process.
      if (told instanceof Promise) told.catch(() => this.#warn());
    } catch {
      this.#warn();
    }
  }

  #warn(): void {
    if (this.#warned) return;
    this.#warned = true;
    process.emitWarning('the onRequest hook of a tokenizer has failed; it is still called', {
      code: 'EPPTOK_ON_REQUEST',
    });
  }
}

export interface TrackedRequest {
  readonly kind: Kind | 'detokenize';
  readonly bytes: number;
  readonly receivedAt: number;
  readonly since: number;
}
