import { CLASS_BITS, classAt, NUMBER, RUST_NUMERIC, SENTINEL } from '../classes.ts';
import { numberEnd } from './runs.ts';
import type { Scanner } from './scanner.ts';

/** Split `\p{N}{1,most}` Isolated: numbers in groups of at most `most`, and what is between them. */
export function numberScanner(classes: Uint8Array, most: number): Scanner {
  return (bytes, at) => {
    if ((classAt(classes, bytes, at) & CLASS_BITS) === NUMBER) return numberEnd(classes, bytes, at, most);
    return numberFree(classes, bytes, at);
  };
}

/** First number at or after `at`, or the end. ASCII takes the short way: most text is far from any number. */
function numberFree(classes: Uint8Array, bytes: Uint8Array, at: number): number {
  for (;;) {
    const byte = bytes[at]!;
    if (byte < 0x80) {
      if (byte >= 0x30 && byte <= 0x39) return at;
      at++;
    } else if (byte === SENTINEL) return at;
    else {
      const entry = classAt(classes, bytes, at);
      if ((entry & CLASS_BITS) === NUMBER) return at;
      at += entry >> 8;
    }
  }
}

/** The Digits pretokenizer: Rust's numeric characters, each alone or in one run, and what is between them. */
export function digitsScanner(classes: Uint8Array, individual: boolean): Scanner {
  return (bytes, at) => {
    const entry = classAt(classes, bytes, at);
    const numeric = entry & RUST_NUMERIC;
    let next = at + (entry >> 8);
    if (numeric && individual) return next;
    for (;;) {
      const follower = classAt(classes, bytes, next);
      if (bytes[next] === SENTINEL || (follower & RUST_NUMERIC) !== numeric) return next;
      next += follower >> 8;
    }
  };
}

/** Metaspace with split, over folded text (a space stands for U+2581): each space begins a word. */
export function metaspaceScanner(): Scanner {
  return (bytes, at) => {
    let next = at + 1;
    while (bytes[next] !== 0x20 && bytes[next] !== SENTINEL) next++;
    return next;
  };
}

/** No split: the section is one word. */
export function wholeScanner(): Scanner {
  return (bytes, at) => bytes.indexOf(SENTINEL, at);
}
