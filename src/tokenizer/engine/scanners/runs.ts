import { BLANK, CLASS_BITS, classAt, END, IN_LETTERS, IN_SPACES, NEWLINE, NUMBER } from '../classes.ts';

/** 1 for A-Z and a-z: the step that most text takes most often. */
export const ASCII_LETTER = new Uint8Array(256);
export const ASCII_LOWER = new Uint8Array(256);
for (let byte = 0x61; byte <= 0x7a; byte++) {
  ASCII_LETTER[byte] = 1;
  ASCII_LETTER[byte - 0x20] = 1;
  ASCII_LOWER[byte] = 1;
}

/** End of the run of characters in `mask` that starts at `at`. */
export function runEnd(classes: Uint8Array, bytes: Uint8Array, at: number, mask: number): number {
  for (;;) {
    const entry = classAt(classes, bytes, at);
    if (((1 << entry) & mask) === 0) return at;
    at += entry >> 8;
  }
}

/** End of a run of letters (and, by `mask`, marks), quick on ASCII. */
export function letterRunEnd(classes: Uint8Array, bytes: Uint8Array, at: number, mask = IN_LETTERS): number {
  for (;;) {
    const byte = bytes[at]!;
    if (byte < 0x80) {
      if (ASCII_LETTER[byte] === 0) return at;
      at++;
    } else {
      const entry = classAt(classes, bytes, at);
      if (((1 << entry) & mask) === 0) return at;
      at += entry >> 8;
    }
  }
}

/** End of `\p{N}{1,most}`, given that a number starts at `at`. */
export function numberEnd(classes: Uint8Array, bytes: Uint8Array, at: number, most: number): number {
  for (let count = 0; count < most; count++) {
    const entry = classAt(classes, bytes, at);
    if ((entry & CLASS_BITS) !== NUMBER) return at;
    at += entry >> 8;
  }
  return at;
}

/** `\s+(?!\S)|\s+` at whitespace: a run gives its last character to what follows, unless alone or at the end. */
export function blankEnd(classes: Uint8Array, bytes: Uint8Array, at: number): number {
  let last = at;
  for (let next = at; ; ) {
    const entry = classAt(classes, bytes, next);
    if (((1 << entry) & IN_SPACES) === 0) return last > at && (entry & CLASS_BITS) !== END ? last : next;
    last = next;
    next += entry >> 8;
  }
}

/**
 * `\s*[\r\n]+|\s+(?!\S)|\s+` at whitespace. A run that holds a newline ends after the last one; else it gives its
 * last character to the word after it, unless it is alone or nothing follows. `stops` are the classes that count as
 * the end of the text, beside those that end a run: a split made before this one hides what comes after.
 */
export function whitespaceEnd(classes: Uint8Array, bytes: Uint8Array, at: number): number {
  let afterNewline = -1;
  let last = at;
  for (let next = at; ; ) {
    if (bytes[next] === 0x20) {
      last = next++;
      continue;
    }
    const entry = classAt(classes, bytes, next);
    const kind = entry & CLASS_BITS;
    if (kind === BLANK) {
      last = next;
      next += entry >> 8;
    } else if (kind === NEWLINE) {
      last = next++;
      afterNewline = next;
    } else {
      if (afterNewline >= 0) return afterNewline;
      return last > at && kind !== END ? last : next;
    }
  }
}

/** End of `'s|'t|'re|'ve|'m|'ll|'d` in any case at an apostrophe, or 0. U+017F (bytes C5 BF) folds to s. */
export function contractionEnd(bytes: Uint8Array, at: number): number {
  const first = bytes[at + 1]!;
  const letter = first | 0x20;
  if (letter === 0x73 || letter === 0x74 || letter === 0x6d || letter === 0x64) return at + 2;
  const second = bytes[at + 2]! | 0x20;
  if ((letter === 0x72 || letter === 0x76) && second === 0x65) return at + 3;
  if (letter === 0x6c && second === 0x6c) return at + 3;
  return first === 0xc5 && bytes[at + 2] === 0xbf ? at + 3 : 0;
}

/** The same in lower case only. */
export function lowerContractionEnd(bytes: Uint8Array, at: number): number {
  const first = bytes[at + 1]!;
  if (first === 0x73 || first === 0x74 || first === 0x6d || first === 0x64) return at + 2;
  const second = bytes[at + 2]!;
  if ((first === 0x72 || first === 0x76) && second === 0x65) return at + 3;
  return first === 0x6c && second === 0x6c ? at + 3 : 0;
}
