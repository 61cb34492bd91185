import assert from 'node:assert/strict';
import fc from 'fast-check';
import type { Encoder } from '../../../../src/tokenizer/encoder.ts';
import type { Oracle } from '../oracle.ts';
import { type Stretch, stretches, type TextSources } from './kinds.ts';

const BATCH = 100;

/** How many texts held each kind of stretch. */
export type KindCounts = Map<string, number>;

/**
 * Throws, with the smallest text it can find, when ids or decoded text differ from the oracle's. Texts come in batches,
 * for a call of the oracle costs more than a text; pieces are cut at random, for a cut must not show.
 */
export async function assertSameAsOracle(
  encoder: Encoder,
  oracle: Oracle,
  sources: TextSources,
  texts: number,
  seed: number,
): Promise<KindCounts> {
  const counts: KindCounts = new Map();
  const batch = fc.array(stretches(sources), { minLength: BATCH, maxLength: BATCH });
  await fc.assert(
    fc.asyncProperty(batch, fc.boolean(), fc.boolean(), async (list, addSpecialTokens, skipSpecialTokens) => {
      for (const text of list) count(counts, text);
      const whole = list.map((text) => text.map((stretch) => stretch.text).join(''));
      const expected = await oracle.encode(whole, addSpecialTokens);
      for (const [k, text] of list.entries()) {
        const pieces = text.map((stretch) => stretch.text);
        assertSameIds(encoder, pieces, addSpecialTokens, expected[k]!);
      }
      const decoded = await oracle.decode(expected, skipSpecialTokens);
      for (const [k, ids] of expected.entries())
        assert.equal(
          encoder.decode(Uint32Array.from(ids), skipSpecialTokens),
          decoded[k],
          `decoding ${ids.join()}`,
        );
    }),
    { numRuns: Math.ceil(texts / BATCH), seed, endOnFailure: false },
  );
  return counts;
}

function assertSameIds(
  encoder: Encoder,
  pieces: string[],
  addSpecialTokens: boolean,
  expected: number[],
): void {
  const actual = encoder.encode(pieces, addSpecialTokens);
  if (actual.length === expected.length && expected.every((id, k) => id === actual[k])) return;
  assert.deepEqual([...actual], expected, `ids of ${JSON.stringify(pieces.join(''))}`);
}

function count(counts: KindCounts, text: readonly Stretch[]): void {
  for (const kind of new Set(text.map((stretch) => stretch.kind)))
    counts.set(kind, (counts.get(kind) ?? 0) + 1);
}
