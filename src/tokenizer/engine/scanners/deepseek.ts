import {
  BLANK,
  CLASS_BITS,
  classAt,
  classMask,
  END,
  IN_LETTERS,
  IN_MARKS,
  NEWLINE,
  NUMBER,
  OTHER,
  PUNCTUATION,
  SENTINEL,
  SYMBOL,
} from '../classes.ts';
import { lengthOfLead } from '../symbols.ts';
import { ASCII_LETTER, letterRunEnd, numberEnd, runEnd, whitespaceEnd } from './runs.ts';
import type { Scanner } from './scanner.ts';

const IN_WORDS = IN_LETTERS | IN_MARKS;
const IN_SIGNS = classMask(PUNCTUATION, SYMBOL);
/** `[^\r\n\p{L}\p{P}\p{S}]` that is not a mark: a mark begins a word all the same. */
const IN_LEADERS = classMask(OTHER, NUMBER, BLANK);
const IN_UNMATCHED = classMask(OTHER, NUMBER);

/** `[一-龥぀-ゟ゠-ヿ]`. */
const HAN_RANGES = [
  [0x4e00, 0x9fa5],
  [0x3040, 0x30ff],
] as const;

/** Whether a character of HAN_RANGES starts at `at`. All are three bytes. */
export function isHan(bytes: Uint8Array, at: number): boolean {
  const lead = bytes[at]!;
  if (lead < 0xe3 || lead > 0xe9) return false;
  const code = ((lead & 15) << 12) | ((bytes[at + 1]! & 63) << 6) | (bytes[at + 2]! & 63);
  return (code >= 0x4e00 && code <= 0x9fa5) || (code >= 0x3040 && code <= 0x30ff);
}

/** Split `[一-龥぀-ゟ゠-ヿ]+` Isolated: runs of these, and what is between them. */
export function hanScanner(): Scanner {
  return (bytes, at) => {
    const han = isHan(bytes, at);
    do at += lengthOfLead(bytes[at]!);
    while (bytes[at] !== SENTINEL && isHan(bytes, at) === han);
    return at;
  };
}

/**
 * The three passes of deepseek at once: `\p{N}{1,digits}` alone, then `[一-龥぀-ゟ゠-ヿ]+` alone, then `thirdPass` on each
 * piece. No character is both number and han, so a piece of the first two ends where the kind of character changes. The
 * third pass finds such an end in its class table, where all other kinds are END.
 */
export function deepseekScanner(classes: Uint8Array, digits: number): Scanner {
  const { han, others } = pieceTables(classes);
  const scanHan = thirdPass(han, runEnd);
  const scanOthers = thirdPass(others);
  return (bytes, at) => {
    const word = bytes[at] === 0x20 ? at + 1 : at;
    if (ASCII_LETTER[bytes[word]!] === 1) return letterRunEnd(others, bytes, word + 1, IN_WORDS);
    if (isHan(bytes, at)) return scanHan(bytes, at);
    // The third pass leaves a number whole: in its pattern a number only leads.
    if ((classAt(classes, bytes, at) & CLASS_BITS) === NUMBER) return numberEnd(classes, bytes, at, digits);
    return scanOthers(bytes, at);
  };
}

type RunEnd = (classes: Uint8Array, bytes: Uint8Array, at: number, mask: number) => number;

type PieceTables = { readonly han: Uint8Array; readonly others: Uint8Array };

const tablesOf = new WeakMap<Uint8Array, PieceTables>();

function pieceTables(classes: Uint8Array): PieceTables {
  const known = tablesOf.get(classes);
  if (known !== undefined) return known;
  const han = new Uint8Array(classes.length).fill(END);
  const others = classes.slice();
  for (const [first, last] of HAN_RANGES) {
    han.set(classes.subarray(first, last + 1), first);
    others.fill(END, first, last + 1);
  }
  for (let code = 0; code < others.length; code++)
    if ((others[code]! & CLASS_BITS) === NUMBER) others[code] = END;
  const tables = { han, others };
  tablesOf.set(classes, tables);
  return tables;
}

/**
 * The third pass: ASCII punctuation and ASCII letters, or `[^\r\n\p{L}\p{P}\p{S}]?[\p{L}\p{M}]+`, or
 * ` ?[\p{P}\p{S}]+[\r\n]*`, or whitespace as in cl100k. Numbers were cut out by the first pass, yet remain possible
 * as a whole piece; they and characters of no class match nothing, and stay together as a gap between matches.
 * `lettersEnd`: letterRunEnd takes ASCII letters as such without a look at `classes`, so it is not for a table where
 * they are END.
 */
export function thirdPass(classes: Uint8Array, lettersEnd: RunEnd = letterRunEnd): Scanner {
  /** End of the match that starts at `at`, or 0; `at` itself where class END is. */
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
    if (member & IN_WORDS) return lettersEnd(classes, bytes, next, IN_WORDS);
    const follower = 1 << (classAt(classes, bytes, next) & CLASS_BITS);
    if (member & IN_LEADERS && follower & IN_WORDS) return lettersEnd(classes, bytes, next, IN_WORDS);
    if (first === 0x20 && follower & IN_SIGNS) return signsEnd(bytes, next);
    return member & IN_UNMATCHED ? 0 : whitespaceEnd(classes, bytes, at);
  }

  function signsEnd(bytes: Uint8Array, at: number): number {
    let end = runEnd(classes, bytes, at, IN_SIGNS);
    while ((classAt(classes, bytes, end) & CLASS_BITS) === NEWLINE) end++;
    return end;
  }

  return (bytes, at) => {
    const word = bytes[at] === 0x20 ? at + 1 : at;
    if (ASCII_LETTER[bytes[word]!] === 1) return lettersEnd(classes, bytes, word + 1, IN_WORDS);
    const end = matchEnd(bytes, at);
    if (end > 0) return end;
    let next = at;
    do next += classAt(classes, bytes, next) >> 8;
    while (matchEnd(bytes, next) === 0);
    return next;
  };
}
