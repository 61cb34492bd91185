import { LongMerger } from './merge-long.ts';
import { NO_MERGE, type PairTable, rankOf } from './pair-table.ts';
import { idOfByte, type SymbolTable, symbolsOf } from './symbols.ts';

/** Up to this many symbols the lowest rank is found by looking at all of them; above, by a heap. */
const SHORT = 96;
/** Scratch for longer words than this is given back after a long text. */
const SHRINK_ABOVE = 1 << 16;

export type MergeTables = {
  readonly symbols: SymbolTable;
  readonly pairs: PairTable;
  /**
   * Rank of the merge of two neighbouring bytes that are each a symbol, by `left << 8 | right`: the first look at a word
   * of plain bytes. Where symbols are characters, those are the bytes of ASCII.
   */
  readonly byteRanks: Int32Array | null;
};

/** Byte pair encoding of one word. Holds the scratch of one worker. */
export class Merger {
  /** Ids of the last word; the first `merge(...)` of them. */
  ids = new Int32Array(SHORT);
  readonly #tables: MergeTables;
  readonly #ranks = new Int32Array(SHORT);
  /** Id of a byte that is a symbol of its own, else -1. */
  readonly #byteIds: Int32Array;
  #long: LongMerger | undefined;

  constructor(tables: MergeTables) {
    this.#tables = tables;
    const { symbols } = tables;
    this.#byteIds = Int32Array.from({ length: 256 }, (_, byte) => idOfByte(symbols, byte));
  }

  /** Merges the word `start` to `end` of `bytes` into `ids`; returns how many there are. */
  merge(bytes: Uint8Array, start: number, end: number): number {
    const length = end - start;
    if (length > SHORT) return this.#mergeLong(bytes, start, end);
    const { pairs, byteRanks } = this.#tables;
    const { entries, filter, shift, mergedId } = pairs;
    const ids = this.ids;
    const ranks = this.#ranks;
    let lowest = NO_MERGE;
    let place = -1;
    let count = byteRanks === null ? 0 : length;
    if (byteRanks !== null) {
      const byteIds = this.#byteIds;
      let left = 0;
      for (let k = 0; k < length; k++) {
        const right = bytes[start + k]!;
        const id = byteIds[right]!;
        if (id < 0) {
          count = 0;
          break;
        }
        ids[k] = id;
        if (k > 0) {
          const rank = byteRanks[(left << 8) | right]!;
          ranks[k - 1] = rank;
          if (rank < lowest) {
            lowest = rank;
            place = k - 1;
          }
        }
        left = right;
      }
    }
    if (count === 0) {
      lowest = NO_MERGE;
      place = -1;
      count = symbolsOf(this.#tables.symbols, bytes, start, end, ids);
      for (let k = 0; k + 1 < count; k++) {
        const rank = rankOf(entries, filter, shift, ids[k]!, ids[k + 1]!);
        ranks[k] = rank;
        if (rank < lowest) {
          lowest = rank;
          place = k;
        }
      }
    }
    while (place >= 0) {
      const merged = mergedId[lowest]!;
      ids[place] = merged;
      count--;
      for (let k = place + 1; k < count; k++) {
        ids[k] = ids[k + 1]!;
        ranks[k] = ranks[k + 1]!;
      }
      if (place + 1 < count) ranks[place] = rankOf(entries, filter, shift, merged, ids[place + 1]!);
      if (place > 0) ranks[place - 1] = rankOf(entries, filter, shift, ids[place - 1]!, merged);
      lowest = NO_MERGE;
      place = -1;
      for (let k = 0; k + 1 < count; k++) {
        const rank = ranks[k]!;
        if (rank < lowest) {
          lowest = rank;
          place = k;
        }
      }
    }
    return count;
  }

  /** Gives back what a very long word made grow. */
  shrink(): void {
    if (this.ids.length <= SHRINK_ABOVE) return;
    this.#long = undefined;
    this.ids = new Int32Array(SHORT);
  }

  #mergeLong(bytes: Uint8Array, start: number, end: number): number {
    const length = end - start;
    if (this.ids.length < length) this.ids = new Int32Array(length * 2);
    const count = symbolsOf(this.#tables.symbols, bytes, start, end, this.ids);
    this.#long ??= new LongMerger(this.#tables.pairs);
    return this.#long.merge(this.ids, count);
  }
}
