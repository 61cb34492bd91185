import {
  BLANK,
  CLASS_BITS,
  classAt,
  classMask,
  IN_LETTERS,
  IN_MARKS,
  NUMBER,
  OTHER,
  PUNCTUATION,
  SENTINEL,
  SYMBOL,
} from '../classes.ts';
import { ASCII_LETTER, letterRunEnd, runEnd, whitespaceEnd } from './runs.ts';
import type { Scanner } from './scanner.ts';

const IN_WORDS = IN_LETTERS | IN_MARKS;
const IN_SIGNS = classMask(PUNCTUATION, SYMBOL);
/** `[^\r\n\p{L}\p{P}\p{S}]` that is not a mark: a mark begins a word all the same. */
const IN_LEADERS = classMask(OTHER, NUMBER, BLANK);
const IN_UNMATCHED = classMask(OTHER, NUMBER);

/** Whether `[一-龥぀-ゟ゠-ヿ]` (U+4E00..U+9FA5, U+3040..U+30FF) starts at `at`. All are three bytes. */
export function isHan(bytes: Uint8Array, at: number): boolean {
  const lead = bytes[at]!;
  if (lead < 0xe3 || lead > 0xe9) return false;
  const code = ((lead & 15) << 12) | ((bytes[at + 1]! & 63) << 6) | (bytes[at + 2]! & 63);
  return (code >= 0x4e00 && code <= 0x9fa5) || (code >= 0x3040 && code <= 0x30ff);
}

/** Second pass: runs of `[一-龥぀-ゟ゠-ヿ]+` stand alone, and so does what is between them. */
export function hanScanner(): Scanner {
  return (bytes, at) => {
    const han = isHan(bytes, at);
    let next = at;
    for (;;) {
      const lead = bytes[next]!;
      if (lead === SENTINEL) return next;
      if (lead < 0xe3 || lead > 0xe9) {
        if (han) return next;
        // One byte at a time is enough: no byte but a lead one is above E2.
        next++;
      } else if (han && lead >= 0xe5 && lead <= 0xe8) {
        // U+5000 to U+8FFF: inside for certain.
        next += 3;
      } else if (isHan(bytes, next) === han) next += 3;
      else return next;
    }
  };
}

/**
 * Third pass: ASCII punctuation and ASCII letters, or `[^\r\n\p{L}\p{P}\p{S}]?[\p{L}\p{M}]+`, or
 * ` ?[\p{P}\p{S}]+[\r\n]*`, or whitespace as in cl100k. Numbers were cut out by the first pass, yet remain possible
 * as a whole piece; they and characters of no class match nothing, and stay together as a gap between matches.
 */
export function deepseekScanner(classes: Uint8Array): Scanner {
  /** End of the match that starts at `at`, or 0. */
  function matchEnd(bytes: Uint8Array, at: number): number {
    const first = bytes[at]!;
    const entry = classAt(classes, bytes, at);
    const member = 1 << (entry & CLASS_BITS);
    const next = at + (entry >> 8);
    if (member & IN_SIGNS) {
      if (first < 0x80 && ASCII_LETTER[bytes[next]!] === 1) {
        let end = next + 1;
        while (ASCII_LETTER[bytes[end]!] === 1) end++;
        return end;
      }
      return signsEnd(bytes, next);
    }
    if (member & IN_WORDS) return letterRunEnd(classes, bytes, next, IN_WORDS);
    const follower = 1 << (classAt(classes, bytes, next) & CLASS_BITS);
    if (member & IN_LEADERS && follower & IN_WORDS) return letterRunEnd(classes, bytes, next, IN_WORDS);
    if (first === 0x20 && follower & IN_SIGNS) return signsEnd(bytes, next);
    return member & IN_UNMATCHED ? 0 : whitespaceEnd(classes, bytes, at);
  }

  function signsEnd(bytes: Uint8Array, at: number): number {
    let end = runEnd(classes, bytes, at, IN_SIGNS);
    while (bytes[end] === 0x0a || bytes[end] === 0x0d) end++;
    return end;
  }

  return (bytes, at) => {
    const word = bytes[at] === 0x20 ? at + 1 : at;
    if (ASCII_LETTER[bytes[word]!] === 1) return letterRunEnd(classes, bytes, word + 1, IN_WORDS);
    const end = matchEnd(bytes, at);
    if (end > 0) return end;
    let next = at;
    do next += classAt(classes, bytes, next) >> 8;
    while (bytes[next] !== SENTINEL && matchEnd(bytes, next) === 0);
    return next;
  };
}
