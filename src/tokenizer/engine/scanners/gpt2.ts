import {
  CLASS_BITS,
  classAt,
  classMask,
  IN_LETTERS,
  IN_NUMBERS,
  IN_SPACES,
  MARK,
  OTHER,
  PUNCTUATION,
  SYMBOL,
} from '../classes.ts';
import { ASCII_LETTER, blankEnd, letterRunEnd, lowerContractionEnd, runEnd } from './runs.ts';
import type { Scanner } from './scanner.ts';

const IN_REST = classMask(OTHER, MARK, PUNCTUATION, SYMBOL);

/** `'s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+`, built into ByteLevel. */
export function gpt2Scanner(classes: Uint8Array): Scanner {
  return (bytes, at) => {
    const first = bytes[at]!;
    if (first === 0x27) {
      const end = lowerContractionEnd(bytes, at);
      if (end > 0) return end;
    }
    const start = first === 0x20 ? at + 1 : at;
    if (ASCII_LETTER[bytes[start]!] === 1) return letterRunEnd(classes, bytes, start + 1);
    const entry = classAt(classes, bytes, start);
    const member = 1 << (entry & CLASS_BITS);
    const next = start + (entry >> 8);
    if (member & IN_LETTERS) return letterRunEnd(classes, bytes, next);
    if (member & IN_NUMBERS) return runEnd(classes, bytes, next, IN_NUMBERS);
    if (member & IN_REST) return runEnd(classes, bytes, next, IN_REST);
    return first === 0x20 || member & IN_SPACES ? blankEnd(classes, bytes, at) : next;
  };
}
