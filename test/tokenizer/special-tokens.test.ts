import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { openModel } from '../../src/core/model.ts';
import { prepareModel } from '../../src/core/prepare-model.ts';
import { fromPostProcessor } from '../../src/tokenizer/special-tokens.ts';
import { withDirectory } from '../directory.ts';
import { modelDirectory, type RealModel } from '../models.ts';

type Ids = Partial<Record<'4' | '5', number[][] | null>>;
interface Fixture {
  tokenizer: { added_tokens: unknown[]; pre_tokenizer: object };
  post_processors: Record<string, unknown>;
  cases: Record<
    string,
    {
      ids: Ids;
      post_processor: string;
      added_tokens: unknown[];
      prefix_space: boolean;
      tokenizer_config: object;
      config: object;
      texts: string[];
    }
  >;
  models: Record<string, { texts: string[]; ids: Ids }>;
}

// Written by oracle/special_tokens.py, run with transformers 4 and 5.
const fixture = JSON.parse(
  readFileSync(new URL('fixtures/special-tokens.json', import.meta.url), 'utf8'),
) as Fixture;

function encodeAll(directory: string, transformers: 4 | 5, texts: readonly string[]): number[][] | string {
  const prepared = prepareModel({ name: 'm', directory, transformers });
  if (!prepared.ok) return prepared.fault.message;
  const model = openModel(prepared.value);
  if (!model.ok) return model.fault.message;
  return texts.map((text) => [...model.value.encoder.encode([text], true)]);
}

for (const transformers of [4, 5] as const) {
  test(`small tokenizers of every kind get the ids of transformers ${transformers}`, () => {
    const different: string[] = [];
    let compared = 0;
    for (const [name, entry] of Object.entries(fixture.cases)) {
      const expected = entry.ids[`${transformers}`];
      if (expected === undefined) continue;
      const tokenizer = {
        ...fixture.tokenizer,
        pre_tokenizer: { ...fixture.tokenizer.pre_tokenizer, add_prefix_space: entry.prefix_space },
        post_processor: fixture.post_processors[entry.post_processor],
        added_tokens: [...fixture.tokenizer.added_tokens, ...entry.added_tokens],
      };
      const files = {
        'tokenizer.json': tokenizer,
        'tokenizer_config.json': entry.tokenizer_config,
        'config.json': entry.config,
      };
      const actual = withDirectory(files, (directory) => encodeAll(directory, transformers, entry.texts));
      compared++;
      if (JSON.stringify(actual) !== JSON.stringify(expected)) {
        different.push(`${name}: ${JSON.stringify(actual)} and not ${JSON.stringify(expected)}`);
      }
    }
    assert.deepEqual(different, []);
    assert.ok(compared > 280, `${compared} cases`);
  });

  test(`real tokenizers get the ids of transformers ${transformers}`, () => {
    for (const [name, { texts, ids }] of Object.entries(fixture.models)) {
      const actual = encodeAll(modelDirectory(name as RealModel), transformers, texts);
      assert.deepEqual(actual, ids[`${transformers}`], name);
    }
  });
}

test('DeepSeek V3 gets a BOS that its tokenizer.json does not give', () => {
  const [ids] = encodeAll(modelDirectory('deepseek_v3'), 4, ['Hi']);
  assert.deepEqual(ids, [0, 23166]);
});

test('add_bos_token without a bos_token is refused', () => {
  const tokenizer = fixture.tokenizer;
  const config = { tokenizer_class: 'LlamaTokenizerFast', bos_token: null, add_bos_token: true };
  const outcome = withDirectory(
    { 'tokenizer.json': tokenizer, 'tokenizer_config.json': config },
    (directory) => prepareModel({ name: 'm', directory }),
  );
  assert.deepEqual(outcome, {
    ok: false,
    fault: { status: 'INIT_FAILED', message: 'tokenizer_config.json: add_bos_token without a bos_token' },
  });
});

test('a post-processor that is no prefix and suffix is refused by name', () => {
  const twice = {
    type: 'TemplateProcessing',
    single: [{ Sequence: { id: 'A' } }, { Sequence: { id: 'A' } }],
    special_tokens: {},
  };
  const adds = { type: 'BertProcessing', cls: ['a', 0], sep: ['b', 1] };
  const sequence = { type: 'Sequence', processors: [adds, adds] };
  for (const processor of [twice, sequence, { type: 'Unheard' }, 'text', { type: 'BertProcessing' }]) {
    const outcome = fromPostProcessor(processor);
    assert.equal(!outcome.ok && outcome.fault.status, 'UNSUPPORTED');
    assert.match(outcome.ok ? '' : outcome.fault.message, /^tokenizer\.json: a post-processor /);
  }
});
