import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { Tokenizer } from 'tokenizers';
import { classTable } from '../../../src/tokenizer/engine/classes.ts';
import { SectionNormalizer } from '../../../src/tokenizer/engine/normalizer.ts';
import { TextBuffer } from '../../../src/tokenizer/engine/text-buffer.ts';
import { type Form, unstableUnder } from '../../../src/tokenizer/engine/unicode-forms.ts';
import { SEED } from './oracle.ts';

function normalizerOf(form: Form): (text: string) => string {
  const normalizer = new SectionNormalizer(
    [{ kind: 'form', form, unstable: unstableUnder(form) }],
    classTable(),
  );
  return (text) => {
    const buffer = new TextBuffer(text.length * 3);
    buffer.appendText(text);
    normalizer.run(buffer, 0, buffer.length);
    return normalizer.text.buffer.toString('utf8', normalizer.start, normalizer.end);
  };
}

function oracleOf(form: Form): (text: string) => string {
  const tokenizer = Tokenizer.fromString(
    JSON.stringify({
      version: '1.0',
      added_tokens: [],
      normalizer: { type: form },
      model: { type: 'BPE', vocab: { a: 0 }, merges: [] },
    }),
  );
  const normalizer = tokenizer.getNormalizer()!;
  return (text) => normalizer.normalizeString(text);
}

/** Marks, starters that compose, Hangul letters and syllables: what normalization is about. */
const interesting = fc.oneof(
  fc.integer({ min: 0x300, max: 0x36f }),
  fc.integer({ min: 0x41, max: 0x17f }),
  fc.integer({ min: 0x590, max: 0x6ff }),
  fc.integer({ min: 0x900, max: 0xdff }),
  fc.integer({ min: 0xf00, max: 0xfff }),
  fc.integer({ min: 0x1100, max: 0x1200 }),
  fc.integer({ min: 0x1ab0, max: 0x1aff }),
  fc.integer({ min: 0x1dc0, max: 0x1fff }),
  fc.integer({ min: 0x3040, max: 0x30ff }),
  fc.integer({ min: 0xac00, max: 0xac40 }),
  fc.integer({ min: 0xf900, max: 0xfb4f }),
  fc.integer({ min: 0x11000, max: 0x11700 }),
  fc.integer({ min: 0x1d150, max: 0x1d1ff }),
  fc.integer({ min: 0x1e000, max: 0x1e95f }),
  fc.integer({ min: 0x2f800, max: 0x2fa1d }),
);

for (const form of ['NFC', 'NFD', 'NFKC', 'NFKD'] as const) {
  describe(form, () => {
    const normalize = normalizerOf(form);
    const oracle = oracleOf(form);

    it('is the oracle’s for every code point of the first planes, alone and before a mark', () => {
      const texts: string[] = [];
      // Planes 3 to 13 and the private ones hold nothing that normalizes.
      for (let code = 0; code < 0x30000; code++)
        if (code < 0xd800 || code > 0xdfff)
          texts.push(`${String.fromCodePoint(code)}\n${String.fromCodePoint(code)}\u0301\n`);
      const text = texts.join('');
      const [ours, theirs] = [normalize(text).split('\n'), oracle(text).split('\n')];
      assert.equal(ours.length, theirs.length);
      for (let k = 0; k < ours.length; k++) if (ours[k] !== theirs[k]) assert.equal(ours[k], theirs[k]);
    });

    it(`is the oracle’s for sequences (seed ${SEED})`, () => {
      const sequence = fc
        .array(interesting, { minLength: 1, maxLength: 8 })
        .map((codes) => String.fromCodePoint(...codes));
      fc.assert(
        fc.property(sequence, (text) => assert.equal(normalize(text), oracle(text))),
        { seed: SEED, numRuns: 20_000 },
      );
    });
  });
}
