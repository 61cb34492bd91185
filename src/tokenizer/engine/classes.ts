import { CLASS_RUNS } from './generated/class-runs.ts';

/**
 * Unicode as the oracle's regex engines see it, one byte per code point:
 *
 *     bit  7 6 5 4 3 2 1 0
 *          p n w [ class  ]    class: the numbers below, w: \w of Rust's regex crate, n: numeric in Rust's std,
                              p: what the Punctuation pretokenizer finds
 *
 * Scanners test a class by mask: `1 << entry & MASK`. A shift looks at the low five bits only, so the flags above
 * them and the length that `classAt` adds need not be cleared first.
 */
export const OTHER = 0;
export const UPPER = 1;
export const LOWER = 2;
export const TITLE = 3;
export const MODIFIER = 4;
export const OTHER_LETTER = 5;
export const MARK = 6;
export const NUMBER = 7;
export const PUNCTUATION = 8;
export const SYMBOL = 9;
/** Whitespace other than carriage return and line feed; holds U+0085. */
export const BLANK = 10;
export const NEWLINE = 11;
/** The byte 0xFF, which no UTF-8 text holds and which ends every section. */
export const END = 12;

export const CLASS_BITS = 31;
export const RUST_WORD = 32;
export const RUST_NUMERIC = 64;
export const RUST_PUNCTUATION = 128;

/** The set of classes given, as a mask. */
export function classMask(...members: readonly number[]): number {
  return members.reduce((mask, member) => mask | (1 << member), 0);
}

export const IN_LETTERS = classMask(UPPER, LOWER, TITLE, MODIFIER, OTHER_LETTER);
export const IN_MARKS = classMask(MARK);
export const IN_NUMBERS = classMask(NUMBER);
export const IN_SPACES = classMask(BLANK, NEWLINE);

/** The byte that ends a section: class END, and no continuation of any character. */
export const SENTINEL = 0xff;

const CODE_POINTS = 0x110000;
let shared: Uint8Array | undefined;

/** The table of every code point; expanded once in a process, in shared memory, and handed to workers by reference. */
export function classTable(): Uint8Array {
  if (shared) return shared;
  const table = new Uint8Array(new SharedArrayBuffer(CODE_POINTS));
  const [values, runs] = CLASS_RUNS.split(';') as [string, string];
  const entries = values.split(',').map((value) => Number.parseInt(value, 36));
  let start = 0;
  for (const [, letter, length] of runs.matchAll(/([A-Z])([0-9a-z]+)/g)) {
    const end = start + Number.parseInt(length!, 36);
    table.fill(entries[letter!.charCodeAt(0) - 0x41]!, start, end);
    start = end;
  }
  shared = table;
  return table;
}

/**
 * Class of the character that starts at `bytes[at]`, with its length in bytes above bit 8:
 * `entry = classAt(...); 1 << entry & MASK; at += entry >> 8`. The text must be valid UTF-8 and end in SENTINEL.
 */
export function classAt(classes: Uint8Array, bytes: Uint8Array, at: number): number {
  const lead = bytes[at]!;
  if (lead < 0x80) return classes[lead]! | 0x100;
  if (lead < 0xe0) return classes[((lead & 31) << 6) | (bytes[at + 1]! & 63)]! | 0x200;
  if (lead < 0xf0)
    return classes[((lead & 15) << 12) | ((bytes[at + 1]! & 63) << 6) | (bytes[at + 2]! & 63)]! | 0x300;
  if (lead === SENTINEL) return END;
  return (
    classes[
      ((lead & 7) << 18) |
        ((bytes[at + 1]! & 63) << 12) |
        ((bytes[at + 2]! & 63) << 6) |
        (bytes[at + 3]! & 63)
    ]! | 0x400
  );
}
