import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { MergeSides } from '../../../../src/tokenizer/engine/builder/scanned-merges.ts';
import { SpaceRuns } from '../../../../src/tokenizer/engine/builder/space-runs.ts';

/** Every merge of two runs that make up one of `most` spaces or fewer. */
function runs(most: number): [string, string][] {
  const merges: [string, string][] = [];
  for (let left = 1; left < most; left++)
    for (let right = 1; left + right <= most; right++) merges.push(['_'.repeat(left), '_'.repeat(right)]);
  return merges;
}

function longestOf(merges: readonly [string, string][]): number {
  const spaceRuns = new SpaceRuns('_'.charCodeAt(0));
  const sides = new MergeSides();
  for (const [rank, [left, right]] of merges.entries()) {
    sides.set(left, 0, left.length, right, 0, right.length);
    spaceRuns.add(rank, sides);
  }
  return spaceRuns.longest();
}

describe('runs of spaces that are certain to become one token', () => {
  const words: [string, string][] = [
    ['a', 'b'],
    ['_', 'ab'],
    ['>', '_'],
  ];

  it('go up to the length that all merges of spaces make up', () => {
    assert.equal(longestOf([...runs(2), ...words]), 2);
    assert.equal(longestOf([...runs(31), ...words]), 31);
    assert.equal(longestOf([['a', 'b'], ...runs(5), ...words.slice(1)]), 5);
    assert.equal(longestOf(runs(64)), 63);
  });

  it('end where one of those merges is absent', () => {
    const absent = ([left, right]: [string, string]): boolean => left.length !== 3 || right.length !== 2;
    assert.equal(longestOf([...runs(6).filter(absent), ...words]), 4);
    assert.equal(longestOf([...runs(6).slice(1), ...words]), 0);
    assert.equal(longestOf(words), 0);
  });

  it('are none when a space may merge with something else first', () => {
    assert.equal(longestOf([['_', 'ab'], ...runs(4)]), 0);
    assert.equal(longestOf([['a_', 'b'], ...runs(4)]), 0);
    assert.equal(longestOf([['a', '_'], ...runs(4)]), 0);
    assert.equal(longestOf([['a', 'b_'], ...runs(4)]), 0);
  });

  it('are none when something else begins or ends with two spaces', () => {
    for (const merge of [
      ['__', 'a'],
      ['a', '__'],
      ['a__', '_'],
      ['a__', 'b'],
      ['b', '__a'],
    ] as [string, string][])
      assert.equal(longestOf([...runs(4), merge]), 0, merge.join(' + '));
  });
});
