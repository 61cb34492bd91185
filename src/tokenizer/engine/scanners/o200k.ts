import {
  BLANK,
  CLASS_BITS,
  classAt,
  classMask,
  IN_LETTERS,
  IN_MARKS,
  IN_NUMBERS,
  LOWER,
  MARK,
  MODIFIER,
  OTHER,
  OTHER_LETTER,
  PUNCTUATION,
  SYMBOL,
  TITLE,
  UPPER,
} from '../classes.ts';
import { ASCII_LETTER, ASCII_LOWER, contractionEnd, numberEnd, runEnd, whitespaceEnd } from './runs.ts';
import type { Scanner } from './scanner.ts';

const IN_LEADERS = classMask(OTHER, MARK, PUNCTUATION, SYMBOL, BLANK);
const IN_REST = classMask(OTHER, MARK, PUNCTUATION, SYMBOL);
/** `[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]`, the head of a word. */
const IN_HEADS = classMask(UPPER, TITLE, MODIFIER, OTHER_LETTER, MARK);
/** `[\p{Ll}\p{Lm}\p{Lo}\p{M}]`, its tail. */
const IN_TAILS = classMask(LOWER, MODIFIER, OTHER_LETTER, MARK);
const IN_BOTH = IN_HEADS & IN_TAILS;

/** What differs between the files of this family. */
export type O200kShape = {
  /** `\p{N}{1,digits}`: 3 in o200k, 1 in tekken. */
  readonly digits: number;
  /** `(?i:'s|'t|'re|'ve|'m|'ll|'d)?` after a word; tekken has none. */
  readonly contractions: boolean;
};

/**
 * End of `heads*tails+` at `at`, or 0. The heads are taken greedily; when no tail follows them the regex gives heads
 * back until one is a tail too, which then is the end, for what follows it is a head and no tail.
 */
function tailedEnd(classes: Uint8Array, bytes: Uint8Array, at: number): number {
  let next = at;
  let afterBoth = 0;
  for (;;) {
    const entry = classAt(classes, bytes, next);
    const member = 1 << (entry & CLASS_BITS);
    if ((member & IN_HEADS) === 0)
      return member & IN_TAILS ? runEnd(classes, bytes, next, IN_TAILS) : afterBoth;
    next += entry >> 8;
    if (member & IN_BOTH) afterBoth = next;
  }
}

/**
 * `[^\r\n\p{L}\p{N}]?heads*tails+(?i:'s|...)?|[^\r\n\p{L}\p{N}]?heads+tails*(?i:'s|...)?|\p{N}{1,3}|
 *  ?[^\s\p{L}\p{N}]+[\r\n/]*|\s*[\r\n]+|\s+(?!\S)|\s+`
 */
export function o200kScanner(classes: Uint8Array, shape: O200kShape): Scanner {
  const { digits, contractions } = shape;

  function wordEnd(bytes: Uint8Array, end: number): number {
    if (!contractions || bytes[end] !== 0x27) return end;
    return contractionEnd(bytes, end) || end;
  }

  return (bytes, at) => {
    const first = bytes[at]!;
    let word = first === 0x20 ? at + 1 : at;
    // An ASCII letter, then lower case letters, then ASCII that is no letter: ` Word`, the commonest.
    if (ASCII_LETTER[bytes[word]!] === 1) {
      const lone = ASCII_LOWER[bytes[word]!] === 1;
      word++;
      if (lone || ASCII_LOWER[bytes[word]!] === 1) {
        while (ASCII_LOWER[bytes[word]!] === 1) word++;
        if (bytes[word]! < 0x80) return wordEnd(bytes, word);
      }
    }

    const entry = classAt(classes, bytes, at);
    const member = 1 << (entry & CLASS_BITS);
    const next = at + (entry >> 8);
    if (member & IN_LETTERS)
      return wordEnd(bytes, tailedEnd(classes, bytes, at) || runEnd(classes, bytes, at, IN_HEADS));
    if (member & IN_NUMBERS) return numberEnd(classes, bytes, at, digits);
    if (member & IN_LEADERS) {
      const follower = 1 << (classAt(classes, bytes, next) & CLASS_BITS);
      if (follower & (IN_HEADS | IN_TAILS)) {
        // A mark may lead a word or begin one: the regex tries leading first.
        const end =
          tailedEnd(classes, bytes, next) ||
          (member & IN_MARKS && tailedEnd(classes, bytes, at)) ||
          runEnd(classes, bytes, next, IN_HEADS);
        return wordEnd(bytes, end);
      }
      if (member & IN_MARKS) return wordEnd(bytes, next);
      if (member & IN_REST || (first === 0x20 && follower & IN_REST)) {
        let end = runEnd(classes, bytes, next, IN_REST);
        while (bytes[end] === 0x0a || bytes[end] === 0x0d || bytes[end] === 0x2f) end++;
        return end;
      }
    }
    return whitespaceEnd(classes, bytes, at);
  };
}
