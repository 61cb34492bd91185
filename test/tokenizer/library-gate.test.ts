import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { prepareModel } from '../../src/core/prepare-model.ts';
import { inexactConstruct } from '../../src/tokenizer/library-gate.ts';
import { readTokenizerJson } from '../../src/tokenizer/tokenizer-json.ts';
import { modelDirectory } from '../models.ts';

const bpe = { type: 'BPE', vocab: { a: 0 }, merges: [] };

function constructOf(file: object): string | undefined {
  const tokenizer = readTokenizerJson({ model: bpe, ...file }, 'tokenizer.json');
  assert.ok(tokenizer.ok);
  return inexactConstruct(tokenizer.value);
}
const split = (regex: string, behavior = 'Isolated') => ({
  pre_tokenizer: {
    type: 'Sequence',
    pretokenizers: [{ type: 'Split', pattern: { Regex: regex }, behavior, invert: false }],
  },
});

describe('the gate before the reference library', () => {
  it('lets real models pass', () => {
    for (const name of ['qwen3', 'llama3', 'deepseek_v3'] as const) {
      const prepared = prepareModel({ name, directory: modelDirectory(name), encoder: 'library' });
      assert.equal(prepared.ok, true, name);
    }
  });

  it('names what the library is silently wrong on', () => {
    const word = { id: 1, content: 'b', single_word: true };
    assert.equal(constructOf({ added_tokens: [word] }), 'added_tokens[0] with single_word');
    assert.equal(constructOf({ model: { ...bpe, type: 'Unigram' } }), 'model Unigram');
    for (const behavior of ['Removed', 'MergedWithPrevious', 'MergedWithNext', 'Contiguous']) {
      assert.equal(constructOf(split('a', behavior)), `Split with behavior ${behavior}`);
    }
  });

  it('tells a possessive quantifier from the end of a class', () => {
    for (const regex of ['\\p{L}++', 'a?+b', '\\d{1,3}+']) {
      assert.equal(constructOf(split(regex)), 'Split by a possessive regex', regex);
    }
    for (const regex of ['\\p{L}+', '[\\p{L}\\p{M}]+', '\\p{N}{1,3}', 'a+']) {
      assert.equal(constructOf(split(regex)), undefined, regex);
    }
  });
});
