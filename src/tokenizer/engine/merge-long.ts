import { NO_MERGE, type PairTable, rankOf } from './pair-table.ts';

/** A list of symbols linked both ways, the rank of each with its right neighbour, and a heap of the merges to do. */
export type LongMergeScratch = {
  readonly next: Int32Array;
  readonly previous: Int32Array;
  readonly ranks: Int32Array;
  /** `rank * PLACES + place`: the lowest rank first, leftmost first among equals. Three entries a symbol suffice. */
  readonly heap: Float64Array;
};

/** Places must stay below 2^26 and ranks below 2^24, so that a key is exact in a double. */
const PLACES = 2 ** 26;
export const MOST_SYMBOLS = PLACES;

/** Merges the `count` symbols in `ids`, in n log n; leaves the result at the front of `ids` and returns its length. */
export function mergeLong(
  pairs: PairTable,
  ids: Int32Array,
  count: number,
  scratch: LongMergeScratch,
): number {
  const { entries, filter, shift, mergedId } = pairs;
  const { next, previous, ranks, heap } = scratch;
  let size = 0;
  for (let k = 0; k < count; k++) {
    next[k] = k + 1;
    previous[k] = k - 1;
    const rank = k + 1 < count ? rankOf(entries, filter, shift, ids[k]!, ids[k + 1]!) : NO_MERGE;
    ranks[k] = rank;
    if (rank !== NO_MERGE) heap[size++] = rank * PLACES + k;
  }
  for (let k = (size >> 1) - 1; k >= 0; k--) siftDown(heap, size, k);

  while (size > 0) {
    const key = heap[0]!;
    size--;
    if (size > 0) {
      heap[0] = heap[size]!;
      siftDown(heap, size, 0);
    }
    const rank = Math.floor(key / PLACES);
    const place = key - rank * PLACES;
    // Stale: the symbol at `place` is gone, or has another neighbour by now.
    if (ranks[place] !== rank) continue;
    const gone = next[place]!;
    const after = next[gone]!;
    const merged = mergedId[rank]!;
    ids[place] = merged;
    ranks[gone] = NO_MERGE;
    next[place] = after;
    ranks[place] = NO_MERGE;
    if (after < count) {
      previous[after] = place;
      const found = rankOf(entries, filter, shift, merged, ids[after]!);
      if (found !== NO_MERGE) {
        ranks[place] = found;
        heap[size] = found * PLACES + place;
        siftUp(heap, size++);
      }
    }
    const before = previous[place]!;
    if (before >= 0) {
      const found = rankOf(entries, filter, shift, ids[before]!, merged);
      ranks[before] = found;
      if (found !== NO_MERGE) {
        heap[size] = found * PLACES + before;
        siftUp(heap, size++);
      }
    }
  }

  let kept = 0;
  for (let k = 0; k < count; k = next[k]!) ids[kept++] = ids[k]!;
  return kept;
}

function siftDown(heap: Float64Array, size: number, at: number): void {
  const key = heap[at]!;
  for (;;) {
    let child = 2 * at + 1;
    if (child >= size) break;
    if (child + 1 < size && heap[child + 1]! < heap[child]!) child++;
    if (heap[child]! >= key) break;
    heap[at] = heap[child]!;
    at = child;
  }
  heap[at] = key;
}

function siftUp(heap: Float64Array, at: number): void {
  const key = heap[at]!;
  while (at > 0) {
    const parent = (at - 1) >> 1;
    if (heap[parent]! <= key) break;
    heap[at] = heap[parent]!;
    at = parent;
  }
  heap[at] = key;
}
