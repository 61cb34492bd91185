import { FRAME_TYPES, HEADER_BYTES } from './frame-layout.ts';
import { type CallSubject, KINDS } from './messages.ts';

/** What of a request frame one must know to pass it on as it is. */
export interface RequestHeader {
  /** undefined: no call of the models, or no kind that is known. */
  readonly subject: CallSubject | undefined;
  readonly type: number;
  readonly callId: bigint;
  /** Milliseconds until the deadline. */
  readonly timeoutMs: number;
}

/** Reads the header alone; whoever serves the frame checks all of it. undefined when `frame` is too short to have one. */
export function readRequestHeader(frame: Uint8Array): RequestHeader | undefined {
  if (frame.length < HEADER_BYTES) return undefined;
  const view = new DataView(frame.buffer, frame.byteOffset, HEADER_BYTES);
  const type = view.getUint16(6, true);
  return {
    type,
    callId: view.getBigUint64(16, true),
    timeoutMs: view.getUint32(36, true),
    subject: subjectOf(type, view.getUint32(28, true)),
  };
}

function subjectOf(type: number, kindNumber: number): CallSubject | undefined {
  if (type === FRAME_TYPES.detokenize) return { operation: 'detokenize' };
  const kind = KINDS[kindNumber];
  return type === FRAME_TYPES.tokenize && kind !== undefined ? { operation: 'tokenize', kind } : undefined;
}
