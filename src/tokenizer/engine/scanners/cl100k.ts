import {
  BLANK,
  CLASS_BITS,
  classAt,
  classMask,
  IN_LETTERS,
  IN_MARKS,
  IN_NUMBERS,
  MARK,
  OTHER,
  PUNCTUATION,
  SYMBOL,
} from '../classes.ts';
import { ASCII_LETTER, contractionEnd, letterRunEnd, numberEnd, runEnd, whitespaceEnd } from './runs.ts';
import type { Scanner } from './scanner.ts';

/** `[^\r\n\p{L}\p{N}]`: what may stand once before letters. */
const IN_LEADERS = classMask(OTHER, MARK, PUNCTUATION, SYMBOL, BLANK);

/** What differs between the files of this family. */
export type Cl100kShape = {
  /** `\p{N}{1,digits}`: 3 in cl100k and llama3, 1 in qwen. */
  readonly digits: number;
  /** Whether words are `[\p{L}\p{M}]+` rather than `\p{L}+`. */
  readonly marksInWords: boolean;
};

/**
 * `(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+`
 */
export function cl100kScanner(classes: Uint8Array, shape: Cl100kShape): Scanner {
  const { digits, marksInWords } = shape;
  const inWords = marksInWords ? IN_LETTERS | IN_MARKS : IN_LETTERS;
  const inRest = classMask(OTHER, PUNCTUATION, SYMBOL) | (marksInWords ? 0 : IN_MARKS);
  return (bytes, at) => {
    const first = bytes[at]!;
    const word = first === 0x20 ? at + 1 : at;
    if (ASCII_LETTER[bytes[word]!] === 1) return letterRunEnd(classes, bytes, word + 1, inWords);

    if (first === 0x27) {
      const end = contractionEnd(bytes, at);
      if (end > 0) return end;
    }
    const entry = classAt(classes, bytes, at);
    const member = 1 << (entry & CLASS_BITS);
    const next = at + (entry >> 8);
    if (member & inWords) return letterRunEnd(classes, bytes, next, inWords);
    if (member & IN_NUMBERS) return numberEnd(classes, bytes, at, digits);
    if (member & IN_LEADERS) {
      const follower = 1 << (classAt(classes, bytes, next) & CLASS_BITS);
      if (follower & inWords) return letterRunEnd(classes, bytes, next, inWords);
      if (member & inRest || (first === 0x20 && follower & inRest)) {
        let end = runEnd(classes, bytes, next, inRest);
        while (bytes[end] === 0x0a || bytes[end] === 0x0d) end++;
        return end;
      }
    }
    return whitespaceEnd(classes, bytes, at);
  };
}
