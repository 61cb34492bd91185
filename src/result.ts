import { EpptokError } from './errors.ts';
import type { Provenance, Response, Timings } from './protocol/messages.ts';
import type { RequestRecord } from './request-tracker.ts';

/** What `tokenize` answers. */
export interface TokenizeResult {
  /** Ids of the first sequence. */
  readonly ids: Uint32Array;
  /** One per prompt of a batch; one for chat and text. Views into one buffer. */
  readonly sequences: readonly Uint32Array[];
  /** Where the ids came from: encoded here, token ids in the request, or `nvext.token_data`. */
  readonly provenance: Provenance;
  /** Name of the model that served. */
  readonly model: string;
  /** Number of the worker that served, from 1. */
  readonly worker: number;
  /** Microseconds, as the runtime has measured them. */
  readonly timings: Timings;
  /** When the call was made, in milliseconds since the epoch. */
  readonly receivedAt: number;
  /** Microseconds from the call to its answer, the way to the runtime and back included. */
  readonly elapsed: number;
  /** The rendered prompt of the first sequence, if it was asked for. */
  readonly prompt?: string;
  /** The annotations that the request asked for; parsed when they are first read. */
  readonly annotations?: Readonly<Record<string, unknown>>;
  /** What was odd but answered. */
  readonly warnings?: readonly string[];
}

/** The rim: a failed response is thrown as EpptokError. */
export function tokenizeResult(
  response: Response,
  { receivedAt, elapsed }: Pick<RequestRecord, 'receivedAt' | 'elapsed'>,
): TokenizeResult {
  throwUnlessOk(response);
  let start = 0;
  const sequences = response.counts.map((count) => {
    const end = start + count;
    const sequence = response.ids.subarray(start, end);
    start = end;
    return sequence;
  });
  const { provenance, model, worker, timings, prompt, annotations, warnings } = response;
  const result: TokenizeResult = {
    ids: sequences[0] ?? new Uint32Array(0),
    sequences,
    provenance,
    model,
    worker,
    timings,
    receivedAt,
    elapsed,
    ...(prompt === undefined ? {} : { prompt }),
    ...(warnings === undefined ? {} : { warnings }),
  };
  return annotations === undefined ? result : withAnnotations(result, annotations);
}

/** Parsed when they are first read: a million token ids take the reader's event loop a tenth of a second. */
function withAnnotations(result: TokenizeResult, json: string): TokenizeResult {
  let parsed: TokenizeResult['annotations'];
  const get = () => {
    parsed ??= JSON.parse(json) as Record<string, unknown>;
    return parsed;
  };
  return Object.defineProperty(result, 'annotations', { enumerable: true, get });
}

/** The text of a detokenize or stats response; a failed one is thrown. */
export function textResult(response: Response): string {
  throwUnlessOk(response);
  return response.text ?? '';
}

function throwUnlessOk({ status, message }: Response): void {
  if (status !== 'OK') throw new EpptokError({ status, message });
}
