import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { classTable, SENTINEL } from '../../../../src/tokenizer/engine/classes.ts';
import type { Scanner } from '../../../../src/tokenizer/engine/scanners/scanner.ts';
import { endIsSettled } from '../../../../src/tokenizer/engine/scanners/settled-end.ts';
import { createScanner, type ScannerName } from '../../../../src/tokenizer/engine/splitter.ts';
import { lengthOfLead } from '../../../../src/tokenizer/engine/symbols.ts';
import { SEED } from '../oracle.ts';
import { stretches } from '../texts/kinds.ts';

const classes = classTable();
type Rule = (bytes: Uint8Array, end: number) => boolean;
const rule: Rule = (bytes, end) => endIsSettled(classes, bytes, end);

const SCANNERS: readonly ScannerName[] = [
  { scan: 'gpt2' },
  { scan: 'cl100k', digits: 3, marksInWords: false },
  { scan: 'cl100k', digits: 1, marksInWords: true },
  { scan: 'o200k', digits: 3, contractions: true },
  { scan: 'o200k', digits: 1, contractions: false },
  { scan: 'numbers', most: 3 },
  { scan: 'han' },
  { scan: 'deepseek', digits: 0 },
  { scan: 'deepseek', digits: 3 },
  { scan: 'digits', individual: true },
  { scan: 'metaspace' },
];

function terminated(...parts: (string | Uint8Array)[]): Uint8Array {
  return Buffer.concat([...parts.map((part) => Buffer.from(part as string)), Buffer.alloc(8, SENTINEL)]);
}

function endsIn(scan: Scanner, bytes: Uint8Array, limit: number): number[] {
  const ends: number[] = [];
  for (let at = 0; at < limit; at = ends.at(-1)!) ends.push(scan(bytes, at));
  return ends;
}

/** Throws when words of a text up to an end that `rule` calls settled are others with another continuation. */
function assertSettled(scan: Scanner, rule: Rule): { ends: number; settled: number } {
  const text = stretches({ added: [], words: [] }).map((list) =>
    list.map((stretch) => stretch.text).join(''),
  );
  const seen = { ends: 0, settled: 0 };
  fc.assert(
    fc.property(text, fc.array(text, { minLength: 3, maxLength: 3 }), (start, continuations) => {
      const length = Buffer.byteLength(start);
      const bytes = terminated(start);
      const ends = endsIn(scan, bytes, length);
      for (const [k, end] of ends.entries()) {
        if (end === length) continue;
        seen.ends++;
        if (!rule(bytes, end)) continue;
        seen.settled++;
        const kept = bytes.subarray(0, end + lengthOfLead(bytes[end]!));
        for (const continuation of ['', ...continuations])
          assert.deepEqual(endsIn(scan, terminated(kept, continuation), end), ends.slice(0, k + 1));
      }
    }),
    { numRuns: 500, seed: SEED },
  );
  return seen;
}

describe('a settled end', () => {
  for (const name of SCANNERS)
    it(`stands whatever follows, with ${JSON.stringify(name)} (seed ${SEED})`, () => {
      const { ends, settled } = assertSettled(createScanner(name, classes, null), rule);
      assert.ok(settled > ends / 8, `${settled} of ${ends} ends were settled`);
    });

  const looksOn: [ScannerName, string, string][] = [
    [{ scan: 'cl100k', digits: 3, marksInWords: false }, 'x \n  y', 'x \n  \n'],
    [{ scan: 'gpt2' }, "a'rx", "a're"],
    [{ scan: 'o200k', digits: 3, contractions: true }, 'ああABC', 'ああABCd'],
    [{ scan: 'o200k', digits: 3, contractions: true }, "it'x", "it's"],
    [{ scan: 'deepseek', digits: 0 }, '\u200b\u2060\u200b', '\u200b\u2060\u200bx'],
  ];
  for (const [name, one, other] of looksOn)
    it(`is not where ${name.scan} looks on, as in ${JSON.stringify(one)} and ${JSON.stringify(other)}`, () => {
      const scan = createScanner(name, classes, null);
      const bytes = terminated(one);
      const ends = endsIn(scan, bytes, Buffer.byteLength(one));
      const others = endsIn(scan, terminated(other), Buffer.byteLength(other));
      const first = ends.findIndex((end, k) => end !== others[k]);
      const end = Math.min(
        ends[first] ?? Number.POSITIVE_INFINITY,
        others[first] ?? Number.POSITIVE_INFINITY,
      );
      assert.ok(Number.isFinite(end) && end < Buffer.byteLength(one), 'the two texts are split alike');
      assert.equal(endIsSettled(classes, bytes, end), false);
    });

  it('is caught by the same test when every end counts as settled', () => {
    for (const scan of ['gpt2', 'cl100k', 'o200k', 'deepseek'])
      assert.throws(
        () =>
          assertSettled(
            createScanner(SCANNERS.find((name) => name.scan === scan)!, classes, null),
            () => true,
          ),
        /Property failed/,
      );
  });
});
