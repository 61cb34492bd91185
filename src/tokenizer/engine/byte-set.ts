import { sharedBytes } from './hashing.ts';
import type { TextBuffer } from './text-buffer.ts';

/** A set of bytes to look for: 1 for each member, and for each two bytes (the first the lower) of which one is. */
export type ByteSet = { readonly members: Uint8Array; readonly pairs: Uint8Array };

export function createByteSet(members: Uint8Array): ByteSet {
  const pairs = sharedBytes(1 << 16);
  for (let byte = 0; byte < 256; byte++) {
    if (members[byte] === 0) continue;
    pairs.fill(1, byte << 8, (byte + 1) << 8);
    for (let second = 0; second < 256; second++) pairs[(second << 8) | byte] = 1;
  }
  return { members, pairs };
}

/** First member in `at` to `end`, or `end`. Four bytes at a time: most text holds none for long. */
export function nextMember(set: ByteSet, text: TextBuffer, at: number, end: number): number {
  const { members, pairs } = set;
  const { bytes, view } = text;
  for (; at + 4 <= end; at += 4) {
    const four = view.getInt32(at, true);
    if ((pairs[four & 0xffff]! | pairs[four >>> 16]!) !== 0) break;
  }
  while (at < end && members[bytes[at]!] === 0) at++;
  return at;
}
