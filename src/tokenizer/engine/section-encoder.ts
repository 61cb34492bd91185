import { SENTINEL } from './classes.ts';
import { mix } from './hashing.ts';
import type { PassageCache } from './passage-cache.ts';
import type { Scanner } from './scanners/scanner.ts';
import { endIsSettled } from './scanners/settled-end.ts';
import { lengthOfLead } from './symbols.ts';
import type { TextBuffer } from './text-buffer.ts';
import type { WordEncoder } from './word-encoder.ts';
import { WordEnds } from './word-ends.ts';

/** Sections up to this many bytes are encoded word by word: there are few words in them, and many such sections. */
const SHORT_SECTION = 6;

/** Encodes sections: passages that are remembered as they are, the rest word by word. */
export class SectionEncoder {
  readonly words: WordEncoder;
  /** Passages that were looked up so far, by outcome. */
  found = 0;
  missed = 0;
  readonly #passages: PassageCache;
  readonly #classes: Uint8Array;
  readonly #ends: WordEnds;

  constructor(words: WordEncoder, passages: PassageCache, classes: Uint8Array) {
    this.words = words;
    this.#passages = passages;
    this.#classes = classes;
    // A word has a byte at least.
    this.#ends = new WordEnds(passages.longest);
  }

  /** Encodes the section `start` to `end`, of the words that `scan` finds; the byte at `end` is lent to a sentinel. */
  encode(text: TextBuffer, scan: Scanner, start: number, end: number): void {
    const { bytes } = text;
    const { words } = this;
    const saved = bytes[end]!;
    bytes[end] = SENTINEL;
    // A byte gives one id at most.
    words.reserve(end - start);
    this.#ends.length = 0;
    if (end - start > SHORT_SECTION) this.#encodePassages(text, scan, start, end);
    else words.encode(text, scan, start, end, this.#ends);
    bytes[end] = saved;
  }

  #encodePassages(text: TextBuffer, scan: Scanner, start: number, end: number): void {
    const { words } = this;
    const { ids } = words;
    const passages = this.#passages;
    const { longest } = passages;
    const ends = this.#ends;
    // Passages reach to `at`, with `count` ids before it. Words may be encoded beyond, to `done`: `ends` has them.
    let done = start;
    let count = words.count;
    for (let at = start; at < end; ) {
      const length = Math.min(longest, end - at);
      const entry = passages.find(text, at, length);
      if (entry >= 0) {
        this.found++;
        passages.copyIds(entry, ids, count);
        count += passages.countOf(entry);
        at += passages.takenBy(entry);
        done = at;
        words.count = count;
        ends.length = 0;
        continue;
      }
      this.missed++;
      if (length < longest) {
        words.encode(text, scan, done, end, ends);
        passages.store(text, at, length, length, ids, count, words.count - count);
        return;
      }
      // The last byte may only hold what follows the last word.
      done = words.encode(text, scan, done, at + longest - 1, ends);
      const last = this.#lastOfPassage(text, at);
      if (last < 0) {
        at = done;
        count = words.count;
        ends.length = 0;
      } else {
        const taken = ends.at[last]! - at;
        passages.store(text, at, length, taken, ids, count, ends.count[last]! - count);
        at += taken;
        count = ends.count[last]!;
        ends.drop(last + 1);
      }
    }
  }

  /**
   * Index in `ends` of the word that the passage at `start` is to end with, or -1. Of those in its second half, it is one
   * that the next few bytes choose: so passages fall into step again behind a place where two texts differ.
   */
  #lastOfPassage(text: TextBuffer, start: number): number {
    const { bytes, view } = text;
    const ends = this.#ends;
    const { longest } = this.#passages;
    let last = -1;
    let lowest = Number.POSITIVE_INFINITY;
    for (let k = ends.length - 1; k >= 0; k--) {
      const end = ends.at[k]!;
      if (last >= 0 && end < start + longest / 2) break;
      if (end + lengthOfLead(bytes[end]!) > start + longest) continue;
      const choice = mix(view.getInt32(end, true), view.getInt32(end + 4, true));
      if (choice >= lowest || !endIsSettled(this.#classes, bytes, end)) continue;
      last = k;
      lowest = choice;
    }
    return last;
  }
}
