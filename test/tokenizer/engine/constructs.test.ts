import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { buildEngine, openEngine } from '../../../src/tokenizer/engine/index.ts';
import { ADDED_TOKENS } from './constructs/added-tokens.ts';
import { BYTE_LEVEL } from './constructs/byte-level.ts';
import { NORMALIZED } from './constructs/normalizers.ts';
import { SPLITS } from './constructs/patterns.ts';
import { SENTENCEPIECE } from './constructs/sentencepiece.ts';
import { Oracle, SEED, TEXTS } from './oracle.ts';
import { smallFile } from './small-files.ts';
import { assertSameAsOracle } from './texts/compare.ts';

/** Constructs of public files that the five models do not have, each in a file as small as may be. */
const CONSTRUCTS = { ...BYTE_LEVEL, ...SPLITS, ...SENTENCEPIECE, ...NORMALIZED, ...ADDED_TOKENS };

const TEXTS_EACH = Math.ceil(TEXTS / 10);

describe(`small files, each with ${TEXTS_EACH} texts (seed ${SEED})`, () => {
  for (const [name, parts] of Object.entries(CONSTRUCTS)) {
    it(`has the ids and the text of the Rust library: ${name}`, async () => {
      const file = smallFile(parts);
      const verdict = buildEngine(file);
      assert.ok(verdict.ok, verdict.ok ? '' : verdict.construct);
      const words = Object.keys(file.model.vocab)
        .filter((token) => /^[\p{L}▁ ]+$/u.test(token))
        .map((token) => token.replaceAll(/[▁Ġ]/gu, ' '));
      const added = file.added_tokens.map((token) => token.content);
      const sources = { words, added: added.length > 0 ? added : ['<s>', '<unk>', '<0x41>'] };
      await assertSameAsOracle(
        openEngine(verdict.tables),
        new Oracle(JSON.stringify(file)),
        sources,
        TEXTS_EACH,
        SEED,
      );
    });
  }
});
