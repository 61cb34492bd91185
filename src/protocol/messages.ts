import type { StatusName } from './status.ts';

/** Index is the number on the wire and in include/epptok.h. */
export const KINDS = ['auto', 'chat', 'completion', 'embedding', 'text'] as const;
export type Kind = (typeof KINDS)[number];

/** Index is the number on the wire and in include/epptok.h. */
export const PROVENANCES = ['none', 'tokenized', 'passthrough', 'precomputed'] as const;
export type Provenance = (typeof PROVENANCES)[number];

/** Bits of `flags`, as in include/epptok.h. */
export const FLAGS = {
  wantPrompt: 1,
  addSpecialTokens: 2,
  noSpecialTokens: 4,
  skipSpecialTokens: 8,
} as const;

export interface TokenizeRequest {
  readonly operation: 'tokenize';
  readonly kind: Kind;
  readonly flags: number;
  /** '': the body's model if several are loaded, else the only one. */
  readonly model: string;
  /** Raw bytes of the OpenAI-style body; the text itself for kind `text`. */
  readonly body: Uint8Array;
}

export interface DetokenizeRequest {
  readonly operation: 'detokenize';
  readonly flags: number;
  readonly model: string;
  readonly ids: Uint32Array;
}

export type Request = TokenizeRequest | DetokenizeRequest;

/** What a call is, as far as calls are counted. */
export type CallSubject = Pick<TokenizeRequest, 'operation' | 'kind'> | Pick<DetokenizeRequest, 'operation'>;

/** Microseconds. */
export interface Timings {
  readonly queue: number;
  readonly parse: number;
  readonly template: number;
  readonly encode: number;
  readonly total: number;
}

export const NO_TIMINGS: Timings = Object.freeze({ queue: 0, parse: 0, template: 0, encode: 0, total: 0 });

/** What `serve` answers. Cloneable, so that it crosses threads as it is; the ids' buffer is transferred. */
export interface Response {
  readonly status: StatusName;
  /** '' on success. */
  readonly message: string;
  readonly model: string;
  readonly provenance: Provenance;
  /** Number of the worker that served, from 1; 0 if none did. */
  readonly worker: number;
  /** Ids of all sequences, one after the other. */
  readonly ids: Uint32Array;
  /** Number of ids of each sequence. */
  readonly counts: readonly number[];
  readonly timings: Timings;
  readonly prompt?: string;
  /** What `detokenize` answers. */
  readonly text?: string;
  /** JSON object of the annotations that the request asked for. */
  readonly annotations?: string;
  readonly warnings?: readonly string[];
}

const NO_IDS = new Uint32Array(0);

/** A response that carries nothing but why. */
export function failure(status: StatusName, message: string, timings: Timings = NO_TIMINGS): Response {
  return { status, message, model: '', provenance: 'none', worker: 0, ids: NO_IDS, counts: [], timings };
}
