import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { buildEngine, openEngine } from '../../../src/tokenizer/engine/index.ts';
import { PASSAGE } from '../../../src/tokenizer/engine/passage-cache.ts';
import { MODELS, modelFile, Oracle, SEED, TEXTS } from './oracle.ts';
import { stretches } from './texts/kinds.ts';

const BATCH = 50;

/** Texts that share much: made of the same few parts, each in an order of its own, some from the middle of a part on. */
function relatedTexts(): fc.Arbitrary<string[]> {
  const part = fc
    .array(stretches({ added: [], words: [] }), { minLength: 8, maxLength: 32 })
    .map((lists) => lists.flatMap((list) => list.map((stretch) => stretch.text)).join(''));
  const parts = fc.array(part, { minLength: 3, maxLength: 6 });
  const order = fc.array(fc.tuple(fc.nat(5), fc.nat(400)), { minLength: 2, maxLength: 8 });
  return fc.tuple(parts, fc.array(order, { minLength: BATCH, maxLength: BATCH })).map(([list, orders]) =>
    orders.map((places) =>
      places
        .map(([index, skip]) =>
          Array.from(list[index % list.length]!)
            .slice(skip % 3 === 0 ? skip : 0)
            .join(''),
        )
        .join(''),
    ),
  );
}

describe('text that was seen before in other company', () => {
  for (const [index, model] of MODELS.entries())
    it(`gives the ids of the Rust library with ${model}, in passages long and short (seed ${SEED})`, async () => {
      const text = modelFile(model);
      const oracle = new Oracle(text);
      const verdict = buildEngine(JSON.parse(text));
      assert.ok(verdict.ok);
      // In short passages more ends have to be right, with little room in older ones have to make way.
      const engines = [
        openEngine(verdict.tables),
        openEngine(verdict.tables, { passageBytes: 64 }),
        openEngine(verdict.tables, { passageBytes: 128, cacheBytes: 1 << 15 }),
      ];
      let long = 0;
      let count = 0;
      await fc.assert(
        fc.asyncProperty(relatedTexts(), async (texts) => {
          const expected = await oracle.encode(texts, false);
          for (const [k, one] of texts.entries()) {
            count++;
            if (Buffer.byteLength(one) > PASSAGE * 3) long++;
            for (const engine of engines)
              for (let round = 0; round < 2; round++)
                assert.deepEqual([...engine.encode([one], false)], expected[k], JSON.stringify(one));
          }
        }),
        { numRuns: Math.ceil(TEXTS / 5 / BATCH), seed: SEED + index },
      );
      assert.ok(long > count / 4, `only ${long} of ${count} texts had several passages`);
    });
});
