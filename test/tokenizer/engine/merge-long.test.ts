import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { LongMerger } from '../../../src/tokenizer/engine/merge-long.ts';
import { addPair, createPairTable } from '../../../src/tokenizer/engine/pair-table.ts';
import { SEED } from './oracle.ts';

type Merge = readonly [left: number, right: number, merged: number];

/** Merges in order of rank among ids that stand for ever longer words: a merged id is new each time. */
const merges = (ordered: boolean): fc.Arbitrary<Merge[]> =>
  fc
    .array(fc.tuple(fc.nat(1000), fc.nat(1000)), { minLength: 1, maxLength: 60 })
    .map((pairs) => pairs.map(([left, right], k): Merge => [left % (4 + k), right % (4 + k), 4 + k]))
    .chain((list) => (ordered ? fc.constant(list) : fc.shuffledSubarray(list, { minLength: list.length })));

function byDefinition(list: readonly Merge[], symbols: readonly number[]): number[] {
  const ranks = new Map(list.map(([left, right], rank) => [`${left} ${right}`, rank]));
  const result = [...symbols];
  for (;;) {
    let lowest = Number.POSITIVE_INFINITY;
    let place = -1;
    for (let k = 0; k + 1 < result.length; k++) {
      const rank = ranks.get(`${result[k]} ${result[k + 1]}`) ?? Number.POSITIVE_INFINITY;
      if (rank < lowest) {
        lowest = rank;
        place = k;
      }
    }
    if (place < 0) return result;
    result.splice(place, 2, list[lowest]![2]);
  }
}

describe('merging a long word', () => {
  for (const ordered of [true, false])
    it(`is byte pair encoding by its definition, with merges ${ordered ? 'as training leaves them' : 'in any order'} (seed ${SEED})`, () => {
      const symbols = fc.array(fc.nat(3), { minLength: 1, maxLength: 80 });
      fc.assert(
        fc.property(merges(ordered), fc.array(symbols, { minLength: 1, maxLength: 4 }), (list, words) => {
          const pairs = createPairTable(list.length);
          for (const [rank, [left, right, merged]] of list.entries())
            addPair(pairs, left, right, rank, merged);
          // One merger for all words: nothing of a word may be left for the next.
          const merger = new LongMerger(pairs);
          for (const word of words) {
            const ids = Int32Array.from(word);
            assert.deepEqual([...ids.subarray(0, merger.merge(ids, ids.length))], byDefinition(list, word));
          }
        }),
        { seed: SEED, numRuns: 2000 },
      );
    });
});
