import { addToFilter, mix, powerFor, sharedInt32 } from './hashing.ts';

/** No merge: above every rank. */
export const NO_MERGE = 0x7fffffff;

export const MOST_IDS = 1 << 20;
export const MOST_MERGES = (1 << 24) - 1;

/**
 * Merges by the pair of ids that they join. Open addressing, two words an entry, -1 in the second when empty:
 *
 *     word 0   [ right, low 12 bits | left, 20 bits ]
 *     word 1   [ right, high 8 bits | rank, 24 bits ]
 *
 * `filter` answers most questions, for most pairs that stand side by side never merge. `mergedId` is by rank.
 */
export type PairTable = {
  readonly entries: Int32Array;
  /** 32 minus the exponent of the capacity: a hash shifted by it is a slot. */
  readonly shift: number;
  readonly filter: Int32Array;
  readonly mergedId: Int32Array;
};

const FILTER_WORDS = 1 << 17;

export function createPairTable(merges: number): PairTable {
  const exponent = powerFor(merges * 1.6 + 1);
  return {
    entries: sharedInt32(2 << exponent).fill(-1),
    shift: 32 - exponent,
    filter: sharedInt32(FILTER_WORDS),
    mergedId: sharedInt32(merges),
  };
}

/** Adds a merge. A pair that is there already takes the later rank, as the oracle's hash map does. */
export function addPair(table: PairTable, left: number, right: number, rank: number, merged: number): void {
  const { entries, shift } = table;
  const mask = (entries.length >> 1) - 1;
  const hash = mix(left, right);
  addToFilter(table.filter, hash);
  const low = left | (right << 20);
  const high = right >>> 12;
  let slot = hash >>> shift;
  for (;;) {
    const word = entries[slot * 2 + 1]!;
    if (word === -1 || (entries[slot * 2] === low && word >>> 24 === high)) break;
    slot = (slot + 1) & mask;
  }
  entries[slot * 2] = low;
  entries[slot * 2 + 1] = (high << 24) | rank;
  table.mergedId[rank] = merged;
}

/** Rank of the merge of `left` and `right`, or NO_MERGE. */
export function rankOf(
  entries: Int32Array,
  filter: Int32Array,
  shift: number,
  left: number,
  right: number,
): number {
  const hash = mix(left, right);
  if (((filter[(hash >>> 5) & (FILTER_WORDS - 1)]! >>> (hash & 31)) & 1) === 0) return NO_MERGE;
  const mask = (entries.length >> 1) - 1;
  const low = left | (right << 20);
  const high = right >>> 12;
  let slot = hash >>> shift;
  for (;;) {
    const word = entries[slot * 2 + 1]!;
    if (word === -1) return NO_MERGE;
    if (entries[slot * 2] === low && word >>> 24 === high) return word & 0xffffff;
    slot = (slot + 1) & mask;
  }
}
