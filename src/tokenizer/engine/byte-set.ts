import { isAscii } from 'node:buffer';
import { sharedBytes } from './hashing.ts';
import type { TextBuffer } from './text-buffer.ts';

/** A set of bytes to look for. */
export interface ByteSet {
  /** 1 for each member. */
  readonly members: Uint8Array;
  /** 1 for each two bytes, the first the lower, of which one is. */
  readonly pairs: Uint8Array;
  /** ASCII holds no member. */
  readonly aboveAscii: boolean;
}

/** Bytes of one native look, which takes as long as one by hand at some 150. */
const SPAN = 2048;
const LEAST = 256;
/** Where members are frequent the next one is found before it would pay. */
const NEAR = 64;

export function createByteSet(bytes: Iterable<number>): ByteSet {
  const members = sharedBytes(256);
  const pairs = sharedBytes(1 << 16);
  for (const byte of bytes) {
    if (members[byte] === 1) continue;
    members[byte] = 1;
    pairs.fill(1, byte << 8, (byte + 1) << 8);
    for (let second = 0; second < 256; second++) pairs[(second << 8) | byte] = 1;
  }
  return { members, pairs, aboveAscii: !members.subarray(0, 128).includes(1) };
}

/** First member in `at` to `end`, or `end`. */
export function nextMember(set: ByteSet, text: TextBuffer, at: number, end: number): number {
  if (!set.aboveAscii || end - at < NEAR + LEAST) return nextByHand(set, text, at, end);
  let near = at + NEAR;
  let passed = SPAN;
  for (;;) {
    const found = nextByHand(set, text, at, near);
    if (found < near || near === end) return found;
    at = near;
    while (end - at >= LEAST) {
      const to = Math.min(end, at + SPAN);
      if (!isAscii(text.buffer.subarray(at, to))) break;
      at = to;
      passed = SPAN;
    }
    near = Math.min(end, at + passed);
    // Text that is not ASCII here is likely not to be further on.
    passed *= 2;
  }
}

/** Four bytes at a time: most text holds none for long. */
function nextByHand({ members, pairs }: ByteSet, text: TextBuffer, at: number, end: number): number {
  const { bytes, view } = text;
  for (; at + 4 <= end; at += 4) {
    const four = view.getInt32(at, true);
    if ((pairs[four & 0xffff]! | pairs[four >>> 16]!) !== 0) break;
  }
  while (at < end && members[bytes[at]!] === 0) at++;
  return at;
}
