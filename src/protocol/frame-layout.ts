import type { Request } from './messages.ts';

/** The layout of frames, as docs/protocol.md draws it. */
export const HEADER_BYTES = 64;
export const ENTRY_BYTES = 16;
export const MAX_SECTIONS = 16;
export const MAGIC = 0x4b505045; // 'E' 'P' 'P' 'K', little-endian
export const VERSION = 1;

export const FRAME_TYPES = { tokenize: 3, detokenize: 4, stats: 5, ready: 6, response: 7 } as const;

export const TAG = {
  model: 1,
  body: 2,
  ids: 3,
  counts: 4,
  message: 5,
  prompt: 6,
  text: 7,
  annotations: 8,
  warnings: 9,
} as const;
export const LAST_TAG = TAG.warnings;

/** Sections start at multiples of 8. */
export function align8(bytes: number): number {
  return (bytes + 7) & ~7;
}

/** What a request frame asks of the runtime. */
export interface RequestFrame {
  readonly callId: bigint;
  /** Milliseconds until the deadline. */
  readonly timeoutMs: number;
  readonly request: Request | { readonly operation: 'stats' } | { readonly operation: 'ready' };
}
