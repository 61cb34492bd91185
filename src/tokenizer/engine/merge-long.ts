import { HeapOfKeys } from './key-heap.ts';
import { NO_MERGE, type PairTable, rankOf } from './pair-table.ts';

/** Places must stay below 2^26 and ranks below 2^24, so that `rank * PLACES + place` is exact in a double. */
const PLACES = 2 ** 26;
export const MOST_SYMBOLS = PLACES;

/**
 * Merges words of any length in n log n: symbols in a list linked both ways, and for each the rank of its merge with
 * the symbol after it.
 *
 * Merges of one rank are done in one sweep from left to right, a wave. That is the order of byte pair encoding as long
 * as no merge in a wave makes way for one of the same or a lower rank, and in files that training made none does. When
 * one does, a heap of all merges that are left takes over: slower, and right for any file.
 */
export class LongMerger {
  readonly #pairs: PairTable;
  #ids: Int32Array = new Int32Array(0);
  #next = new Int32Array(0);
  #previous = new Int32Array(0);
  #ranks = new Int32Array(0);
  /** Places that wait for the wave of their rank, as lists: `#first` by rank, -1 for none; then by entry. */
  readonly #first: Int32Array;
  #entryPlace = new Int32Array(0);
  #entryNext = new Int32Array(0);
  #wave = new Int32Array(0);
  #entries = 0;
  readonly #waiting = new HeapOfKeys();
  #count = 0;
  /** Rank of the wave in progress, -1 outside of one. */
  #current = -1;

  constructor(pairs: PairTable) {
    this.#pairs = pairs;
    this.#first = new Int32Array(pairs.mergedId.length).fill(-1);
  }

  /** Merges the first `count` of `ids` in place, and returns how many are left. */
  merge(ids: Int32Array, count: number): number {
    this.#reserve(count);
    this.#ids = ids;
    this.#count = count;
    this.#link();
    if (!this.#mergeByWaves()) this.#mergeByHeap();
    let kept = 0;
    for (let k = 0; k < count; k = this.#next[k]!) ids[kept++] = ids[k]!;
    return kept;
  }

  #reserve(count: number): void {
    if (this.#next.length >= count) return;
    const room = count * 2;
    this.#next = new Int32Array(room);
    this.#previous = new Int32Array(room);
    this.#ranks = new Int32Array(room);
    this.#wave = new Int32Array(room);
    // A symbol waits once at first, and every merge adds two.
    this.#entryPlace = new Int32Array(room * 3);
    this.#entryNext = new Int32Array(room * 3);
  }

  #link(): void {
    const { entries, filter, shift } = this.#pairs;
    const ids = this.#ids;
    const count = this.#count;
    this.#entries = 0;
    this.#current = -1;
    for (let k = count - 1; k >= 0; k--) {
      this.#next[k] = k + 1;
      this.#previous[k] = k - 1;
      const rank = k + 1 < count ? rankOf(entries, filter, shift, ids[k]!, ids[k + 1]!) : NO_MERGE;
      this.#ranks[k] = rank;
      if (rank !== NO_MERGE) this.#wait(k, rank);
    }
  }

  #wait(place: number, rank: number): void {
    const entry = this.#entries++;
    this.#entryPlace[entry] = place;
    this.#entryNext[entry] = this.#first[rank]!;
    if (this.#first[rank] === -1) this.#waiting.push(rank);
    this.#first[rank] = entry;
  }

  /** False when the order no longer holds: what is left is for the heap. Leaves no list behind. */
  #mergeByWaves(): boolean {
    const ranks = this.#ranks;
    while (this.#waiting.size > 0) {
      const rank = this.#waiting.pop();
      const length = this.#collect(rank);
      this.#current = rank;
      for (let k = 0; k < length; k++) {
        const place = this.#wave[k]!;
        // Stale: the symbol at `place` is gone, or has another neighbour by now.
        if (ranks[place] !== rank) continue;
        if (!this.#mergeAt(place, rank)) {
          while (this.#waiting.size > 0) this.#first[this.#waiting.pop()] = -1;
          return false;
        }
      }
    }
    return true;
  }

  /**
   * Moves the places that wait for `rank` to `#wave`, from left to right, and returns how many they are. None is there
   * twice: what stands at a place and after it only grows, so no pair comes back.
   */
  #collect(rank: number): number {
    const wave = this.#wave;
    let length = 0;
    let sorted = true;
    for (let entry = this.#first[rank]!; entry !== -1; entry = this.#entryNext[entry]!) {
      const place = this.#entryPlace[entry]!;
      if (this.#ranks[place] !== rank) continue;
      if (length > 0 && place < wave[length - 1]!) sorted = false;
      wave[length++] = place;
    }
    this.#first[rank] = -1;
    if (!sorted) wave.subarray(0, length).sort();
    return length;
  }

  /** Merges the symbol at `place` with the next; false when that makes way for a rank that should have come before. */
  #mergeAt(place: number, rank: number): boolean {
    const { entries, filter, shift, mergedId } = this.#pairs;
    const ids = this.#ids;
    const ranks = this.#ranks;
    const next = this.#next;
    const merged = mergedId[rank]!;
    const gone = next[place]!;
    const after = next[gone]!;
    const before = this.#previous[place]!;
    ids[place] = merged;
    next[place] = after;
    ranks[gone] = NO_MERGE;
    let lowest = NO_MERGE;
    let found = NO_MERGE;
    if (after < this.#count) {
      this.#previous[after] = place;
      found = rankOf(entries, filter, shift, merged, ids[after]!);
      lowest = found;
    }
    ranks[place] = found;
    if (found !== NO_MERGE) this.#wait(place, found);
    if (before >= 0) {
      found = rankOf(entries, filter, shift, ids[before]!, merged);
      ranks[before] = found;
      if (found !== NO_MERGE) this.#wait(before, found);
      if (found < lowest) lowest = found;
    }
    return lowest > this.#current;
  }

  #mergeByHeap(): void {
    const heap = new HeapOfKeys();
    for (let k = 0; k < this.#count; k = this.#next[k]!)
      if (this.#ranks[k] !== NO_MERGE) heap.push(this.#ranks[k]! * PLACES + k);
    while (heap.size > 0) {
      const key = heap.pop();
      const rank = Math.floor(key / PLACES);
      const place = key - rank * PLACES;
      if (this.#ranks[place] !== rank) continue;
      const before = this.#previous[place]!;
      this.#entries = 0;
      this.#mergeAt(place, rank);
      while (this.#waiting.size > 0) this.#first[this.#waiting.pop()] = -1;
      if (this.#ranks[place] !== NO_MERGE) heap.push(this.#ranks[place]! * PLACES + place);
      if (before >= 0 && this.#ranks[before] !== NO_MERGE) heap.push(this.#ranks[before]! * PLACES + before);
    }
  }
}
