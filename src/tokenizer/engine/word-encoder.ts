import { type Crossings, nextCut } from './crossings.ts';
import { Merger, type MergeTables } from './merge.ts';
import type { Scanner } from './scanners/scanner.ts';
import { idOfByte } from './symbols.ts';
import type { TextBuffer } from './text-buffer.ts';
import { SHORT_WORD, WordCache } from './word-cache.ts';
import type { WordEnds } from './word-ends.ts';
import { idOfWord, type WordIndex } from './word-index.ts';

/** The byte pair model: from the bytes of a word to its ids. */
export type ModelTables = MergeTables & {
  /** Null where a cut cannot be proved, as with unknown characters that vanish or fuse. */
  readonly crossings: Crossings | null;
  /** With `ignore_merges`: a word that is in the vocabulary is its own token. */
  readonly words: WordIndex | null;
};

/** Tag of a piece of a word under `ignore_merges`, where only whole words are looked up in the vocabulary. */
const PIECE = 32;

/** Encodes words one after another into `ids`, through the cache. */
export class WordEncoder {
  /** Output of one text: the first `count` ids. */
  ids: Uint32Array = new Uint32Array(1 << 14);
  count = 0;
  readonly cache: WordCache;
  /** Words so far, and those that had to be merged. */
  words = 0;
  merged = 0;
  readonly #merger: Merger;
  readonly #crossings: Crossings | null;
  readonly #words: WordIndex | null;
  readonly #pieceTag: number;
  /** Id of a word that is one byte, -1 where that is not known beforehand. */
  readonly #single = new Int32Array(256).fill(-1);

  constructor(tables: ModelTables, cacheBytes: number) {
    this.cache = new WordCache(cacheBytes);
    this.#merger = new Merger(tables);
    this.#crossings = tables.crossings;
    this.#words = tables.words;
    this.#pieceTag = tables.words === null ? 0 : PIECE;
    const { symbols } = tables;
    if (symbols.plain) for (let byte = 0; byte < 256; byte++) this.#single[byte] = idOfByte(symbols, byte);
  }

  push(id: number): void {
    this.reserve(1);
    this.ids[this.count++] = id;
  }

  /** Makes room for `more` ids. */
  reserve(more: number): void {
    if (this.count + more <= this.ids.length) return;
    const grown = new Uint32Array(Math.max(this.count + more, this.ids.length * 2));
    grown.set(this.ids.subarray(0, this.count));
    this.ids = grown;
  }

  /** Gives back what a very long text made grow. */
  shrink(): void {
    if (this.ids.length > 1 << 18) this.ids = new Uint32Array(1 << 14);
    this.#merger.shrink();
  }

  /**
   * Encodes words from `start` on, as `scan` finds them, that end at `limit` at the latest, and one at least; adds their
   * ends to `ends`. Returns where the last of them ends. There must be room for an id for each byte.
   */
  encode(text: TextBuffer, scan: Scanner, start: number, limit: number, ends: WordEnds): number {
    const { bytes, view } = text;
    const { cache } = this;
    const { front, frontShift } = cache;
    const single = this.#single;
    const { ids } = this;
    let count = this.count;
    let at = start;
    let ended = ends.length;
    while (at < limit) {
      const next = scan(bytes, at);
      if (next > limit && ended > 0) break;
      const length = next - at;
      if (length > SHORT_WORD) {
        this.count = count;
        this.#encodeLong(text, at, next);
        count = this.count;
      } else if (length === 1 && single[bytes[at]!]! >= 0) {
        ids[count++] = single[bytes[at]!]!;
      } else {
        const hash = cache.load(view, at, length, length);
        const line = (hash >>> frontShift) << 3;
        const tag = front[line + 4]!;
        if (
          (tag & 0xff) === length &&
          front[line] === cache.key0 &&
          front[line + 1] === cache.key1 &&
          front[line + 2] === cache.key2 &&
          front[line + 3] === cache.key3
        ) {
          ids[count] = front[line + 5]!;
          if (tag > 0x1ff) {
            ids[count + 1] = front[line + 6]!;
            if (tag > 0x2ff) ids[count + 2] = front[line + 7]!;
          }
          count += tag >> 8;
        } else {
          this.count = count;
          this.#encodeShort(bytes, at, next, hash, length);
          cache.storeInFront(hash, length, ids, count, this.count - count);
          count = this.count;
        }
      }
      at = next;
      ends.at[ended] = at;
      ends.count[ended++] = count;
    }
    this.words += ended - ends.length;
    ends.length = ended;
    this.count = count;
    return at;
  }

  /** A word or piece of up to 16 bytes whose key is loaded and not in the front. */
  #encodeShort(bytes: Uint8Array, start: number, end: number, hash: number, tag: number): void {
    const { cache, ids } = this;
    const line = cache.findInBack(hash, tag);
    if (line >= 0) {
      const { back } = cache;
      const found = back[line + 5]!;
      for (let k = 0; k < found; k++) ids[this.count++] = back[line + 6 + k]!;
      return;
    }
    this.merged++;
    const merger = this.#merger;
    const whole = this.#words !== null && (tag & PIECE) === 0 ? idOfWord(this.#words, bytes, start, end) : -1;
    let found = 1;
    if (whole >= 0) merger.ids[0] = whole;
    else found = merger.merge(bytes, start, end);
    for (let k = 0; k < found; k++) ids[this.count++] = merger.ids[k]!;
    cache.storeInBack(hash, tag, merger.ids, found);
  }

  #encodeLong(text: TextBuffer, start: number, end: number): void {
    const { cache } = this;
    const key = cache.longKey(text.buffer, start, end);
    const known = key === undefined ? undefined : cache.findLong(key);
    if (known !== undefined) {
      this.ids.set(known, this.count);
      this.count += known.length;
      return;
    }
    const from = this.count;
    const { merged } = this;
    const whole = this.#words === null ? -1 : idOfWord(this.#words, text.bytes, start, end);
    if (whole >= 0) this.ids[this.count++] = whole;
    else this.#encodePieces(text, start, end);
    // Its pieces are no words of their own.
    this.merged = merged + 1;
    if (key !== undefined) cache.storeLong(key, this.ids.slice(from, this.count));
  }

  /** Encodes a long word piece by piece, between its certain cuts. */
  #encodePieces(text: TextBuffer, start: number, end: number): void {
    const { bytes, view } = text;
    const crossings = this.#crossings;
    for (let at = start; at < end; ) {
      const next = crossings === null ? end : nextCut(crossings, bytes, at, end);
      const length = next - at;
      if (length > SHORT_WORD) {
        const found = this.#merger.merge(bytes, at, next);
        const { ids } = this.#merger;
        for (let k = 0; k < found; k++) this.ids[this.count++] = ids[k]!;
      } else if (length === 1 && this.#single[bytes[at]!]! >= 0) {
        this.ids[this.count++] = this.#single[bytes[at]!]!;
      } else {
        const tag = length | this.#pieceTag;
        this.#encodeShort(bytes, at, next, this.cache.load(view, at, length, tag), tag);
      }
      at = next;
    }
  }
}
