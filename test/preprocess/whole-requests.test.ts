import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { Tokenizer } from 'tokenizers';
import { type Models, openModels } from '../../src/core/model.ts';
import { prepareModel } from '../../src/core/prepare-model.ts';
import { serve } from '../../src/core/serve.ts';
import { FLAGS } from '../../src/protocol/messages.ts';
import { modelDirectory, type RealModel } from '../models.ts';

type Expected = string | { readonly error: string };

/** What oracle/whole_requests.py wrote: vLLM's request types, its conversation and transformers' apply_chat_template. */
interface Fixture {
  readonly versions: { readonly transformers: string };
  readonly requests: readonly { readonly name: string; readonly body: string }[];
  readonly models: Readonly<Record<string, readonly Expected[]>>;
  /** Templates of requests to qwen3. */
  readonly templates: readonly {
    readonly name: string;
    readonly template: string;
    readonly prompts: readonly Expected[];
  }[];
}

let judged = 0;

async function judge(body: string, expected: Expected, models: Models, tokenizer: Tokenizer): Promise<void> {
  const request = { operation: 'tokenize', kind: 'auto', flags: FLAGS.wantPrompt, model: '' } as const;
  const response = serve({ ...request, body: Buffer.from(body) }, models, 0);
  if (typeof expected !== 'string') {
    assert.equal(response.status, 'INVALID_REQUEST', expected.error);
    assert.equal(response.ids.length, 0);
    return;
  }
  assert.equal(response.status, 'OK', response.message);
  assert.equal(response.prompt, expected);
  const encoding = await tokenizer.encode(expected, null, { addSpecialTokens: false });
  assert.deepEqual([...response.ids], encoding.getIds());
  judged++;
}

for (const transformers of [4, 5] as const) {
  const file = new URL(`fixtures/whole-requests-${transformers}.json`, import.meta.url);
  const { versions, requests, models, templates } = JSON.parse(readFileSync(file, 'utf8')) as Fixture;

  describe(`chat requests have the prompts of transformers ${versions.transformers}, and their ids`, () => {
    for (const [name, prompts] of Object.entries(models)) {
      const directory = modelDirectory(name as RealModel);
      const prepared = prepareModel({ name, directory, transformers, allowChatTemplate: true });
      assert.ok(prepared.ok, prepared.ok ? '' : prepared.fault.message);
      const opened = openModels([structuredClone(prepared.value)]);
      assert.ok(opened.ok);
      const tokenizer = Tokenizer.fromFile(join(directory, 'tokenizer.json'));

      requests.forEach(({ name: request, body }, index) => {
        it(`${name}: ${request}`, () => judge(body, prompts[index] as Expected, opened.value, tokenizer));
      });
      for (const { name: own, template, prompts } of name === 'qwen3' ? templates : []) {
        requests.forEach(({ name: request, body }, index) => {
          const asking = body.replace('{', () => `{"chat_template": ${JSON.stringify(template)}, `);
          it(`a template of the request, ${own}: ${request}`, () =>
            judge(asking, prompts[index] as Expected, opened.value, tokenizer));
        });
      }
    }
  });
}

it('enough of them were judged', (test) => {
  test.diagnostic(`${judged} prompts equal to Python's, with the ids of the Rust tokenizers`);
  assert.ok(judged >= 400, `only ${judged}`);
});
