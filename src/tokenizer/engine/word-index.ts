import { powerFor, sharedInt32 } from './hashing.ts';

/**
 * Vocabulary by the bytes of its words, for `ignore_merges`: a whole word that is in the vocabulary is one token.
 * `slots` is open addressing over ids, -1 when empty; the word of an id is `bytes[offsets[id] .. offsets[id + 1]]`.
 */
export type WordIndex = {
  readonly slots: Int32Array;
  readonly shift: number;
  readonly bytes: Uint8Array;
  readonly offsets: Uint32Array;
};

export function createWordIndex(
  ids: Iterable<number>,
  count: number,
  bytes: Uint8Array,
  offsets: Uint32Array,
): WordIndex {
  const exponent = powerFor(count * 2 + 1);
  const index: WordIndex = {
    slots: sharedInt32(1 << exponent).fill(-1),
    shift: 32 - exponent,
    bytes,
    offsets,
  };
  const mask = index.slots.length - 1;
  for (const id of ids) {
    let slot = hashOf(bytes, offsets[id]!, offsets[id + 1]!) >>> index.shift;
    while (index.slots[slot] !== -1) slot = (slot + 1) & mask;
    index.slots[slot] = id;
  }
  return index;
}

/** Id of the word `start` to `end` of `text`, or -1. */
export function idOfWord(index: WordIndex, text: Uint8Array, start: number, end: number): number {
  const { slots, bytes, offsets } = index;
  const mask = slots.length - 1;
  let slot = hashOf(text, start, end) >>> index.shift;
  for (;;) {
    const id = slots[slot]!;
    if (id === -1) return -1;
    const word = offsets[id]!;
    if (offsets[id + 1]! - word === end - start) {
      let same = 0;
      while (same < end - start && bytes[word + same] === text[start + same]) same++;
      if (same === end - start) return id;
    }
    slot = (slot + 1) & mask;
  }
}

function hashOf(bytes: Uint8Array, start: number, end: number): number {
  let hash = 0x811c9dc5;
  for (let at = start; at < end; at++) hash = Math.imul(hash ^ bytes[at]!, 0x01000193);
  return Math.imul(hash ^ (hash >>> 15), 0x2c1b3c6d);
}
