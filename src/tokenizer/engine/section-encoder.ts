import { SENTINEL } from './classes.ts';
import { PASSAGE, PASSAGE_IDS, type PassageCache } from './passage-cache.ts';
import type { Scanner } from './scanners/scanner.ts';
import { endIsSettled } from './scanners/settled-end.ts';
import { lengthOfLead } from './symbols.ts';
import type { TextBuffer } from './text-buffer.ts';
import type { WordEncoder } from './word-encoder.ts';
import { WordEnds } from './word-ends.ts';

const NEWLINE = 0x0a;
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
  readonly #ends = new WordEnds();

  constructor(words: WordEncoder, passages: PassageCache, classes: Uint8Array) {
    this.words = words;
    this.#passages = passages;
    this.#classes = classes;
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
    const { bytes, view } = text;
    const { words } = this;
    const { ids } = words;
    const passages = this.#passages;
    const { lines } = passages;
    const ends = this.#ends;
    // Passages reach to `at`, with `count` ids before it. Words may be encoded beyond, to `done`: `ends` has them.
    let done = start;
    let count = words.count;
    for (let at = start; at < end; ) {
      const length = Math.min(PASSAGE, end - at);
      const line = passages.find(view, at, length);
      if (line >= 0) {
        this.found++;
        const head = lines[line]!;
        const after = line + 1 + (head >>> 8);
        for (let k = line + 1; k < after; k++) ids[count++] = lines[k]!;
        at += head & 0xff;
        done = at;
        words.count = count;
        ends.length = 0;
        continue;
      }
      this.missed++;
      if (length < PASSAGE) {
        words.encode(text, scan, done, end, ends);
        if (words.count - count <= PASSAGE_IDS) passages.store(length, ids, count, words.count - count);
        return;
      }
      // The last byte may only hold what follows the last word.
      done = words.encode(text, scan, done, at + PASSAGE - 1, ends);
      const last = this.#lastOfPassage(bytes, at + PASSAGE, count + PASSAGE_IDS);
      if (last < 0) {
        at = done;
        count = words.count;
        ends.length = 0;
      } else {
        const taken = ends.at[last]! - at;
        passages.store(taken, ids, count, ends.count[last]! - count);
        at += taken;
        count = ends.count[last]!;
        ends.drop(last + 1);
      }
    }
  }

  /**
   * Index in `ends` of the last word that a passage may end with, or -1. The last that ends a line is taken before any
   * other: passages then begin where lines do, whatever comes before, and are found again in another place.
   */
  #lastOfPassage(bytes: Uint8Array, limit: number, mostIds: number): number {
    const ends = this.#ends;
    let last = -1;
    for (let k = ends.length - 1; k >= 0; k--) {
      const end = ends.at[k]!;
      const newline = bytes[end - 1] === NEWLINE;
      if ((last >= 0 && !newline) || ends.count[k]! > mostIds || end + lengthOfLead(bytes[end]!) > limit)
        continue;
      if (!endIsSettled(this.#classes, bytes, end)) continue;
      last = k;
      if (newline) break;
    }
    return last;
  }
}
