import assert from 'node:assert/strict';
import { join } from 'node:path';
import { before, describe, test } from 'node:test';
import { Tokenizer } from 'tokenizers';
import { type ModelSpec, type Models, openModels } from '../../src/core/model.ts';
import { prepareModel } from '../../src/core/prepare-model.ts';
import { serve } from '../../src/core/serve.ts';
import { warmUp } from '../../src/core/warm-up.ts';
import { FLAGS, type Kind, type Response } from '../../src/protocol/messages.ts';
import { withDirectory } from '../directory.ts';
import { modelDirectory } from '../models.ts';

const VOCABULARY = Object.fromEntries([...'abcdefgĠ'].map((character, id) => [character, id]));
const BYTE_LEVEL = { type: 'ByteLevel', add_prefix_space: false, trim_offsets: true, use_regex: true };

const SPECIAL = { single_word: false, lstrip: false, rstrip: false, normalized: false, special: true };

/** Files of a model with one token per letter a to g; "<s>" is 8, added before texts, "</s>" is 9, and 10 ids in all. */
const LETTERS = {
  'tokenizer.json': {
    model: { type: 'BPE', vocab: VOCABULARY, merges: [] },
    pre_tokenizer: BYTE_LEVEL,
    decoder: BYTE_LEVEL,
    added_tokens: [
      { id: 8, content: '<s>', ...SPECIAL },
      { id: 9, content: '</s>', ...SPECIAL },
    ],
  },
  'tokenizer_config.json': {
    tokenizer_class: 'LlamaTokenizerFast',
    bos_token: '<s>',
    eos_token: '</s>',
    unk_token: null,
    chat_template: '{{ bos_token }}{% for m in messages %}{{ m.content }}{{ eos_token }}{% endfor %}',
  },
};

function open(files: Readonly<Record<string, unknown>>, ...specs: Partial<ModelSpec>[]): Models {
  return withDirectory(files, (directory) => {
    const prepared = specs.map((spec) => {
      const outcome = prepareModel({ name: 'letters', directory, ...spec });
      assert.ok(outcome.ok, outcome.ok ? '' : outcome.fault.message);
      // What crosses to a worker is a clone.
      return structuredClone(outcome.value);
    });
    const models = openModels(prepared);
    assert.ok(models.ok, models.ok ? '' : models.fault.message);
    return models.value;
  });
}

const letters = open(LETTERS, {});

interface Ask {
  kind?: Kind;
  flags?: number;
  model?: string;
  models?: Models;
}

function ask(body: unknown, { kind = 'auto', flags = 0, model = '', models = letters }: Ask = {}): Response {
  const bytes =
    body instanceof Uint8Array ? body : Buffer.from(typeof body === 'string' ? body : JSON.stringify(body));
  return serve({ operation: 'tokenize', kind, flags, model, body: bytes }, models, 3);
}

function ids(body: unknown, asked?: Ask): number[] {
  const response = ask(body, asked);
  assert.equal(response.status, 'OK', response.message);
  return [...response.ids];
}

function refused(body: unknown, asked?: Ask): [status: string, message: string] {
  const response = ask(body, asked);
  assert.equal(response.ids.length, 0);
  assert.deepEqual(response.counts, []);
  assert.equal(response.provenance, 'none');
  return [response.status, response.message];
}

const chat = (content: string, others = {}) => ({ messages: [{ role: 'user', content }], ...others });

describe('what a request becomes', () => {
  test('chat: the rendered template, with no special tokens but its own', () => {
    const response = ask(chat('ab'));
    assert.deepEqual([...response.ids], [8, 0, 1, 9]);
    assert.deepEqual(response.counts, [4]);
    assert.equal(response.provenance, 'tokenized');
    assert.equal(response.model, 'letters');
    assert.equal(response.worker, 3);
    assert.equal(response.message, '');
  });

  test('completion, embedding and text: the text, with the special tokens of transformers', () => {
    assert.deepEqual(ids({ prompt: 'ab' }), [8, 0, 1]);
    assert.deepEqual(ids({ input: 'ab' }), [8, 0, 1]);
    assert.deepEqual(ids('ab', { kind: 'text' }), [8, 0, 1]);
  });

  test('a batch: several sequences', () => {
    const response = ask({ prompt: ['ab', '', 'c'] });
    assert.deepEqual([...response.ids], [8, 0, 1, 8, 8, 2]);
    assert.deepEqual(response.counts, [3, 1, 2]);
  });

  test('token ids: themselves', () => {
    const response = ask({ prompt: [[1, 2], [], [3]] });
    assert.equal(response.provenance, 'passthrough');
    assert.deepEqual([...response.ids], [1, 2, 3]);
    assert.deepEqual(response.counts, [2, 0, 1]);
    assert.deepEqual(refused({ prompt: [1, 10] }), [
      'INVALID_REQUEST',
      'prompt[1] must be a token id, an integer from 0 to 9',
    ]);
  });

  test('an empty prompt: zero tokens, or the model’s specials', () => {
    assert.deepEqual(ids({ prompt: '' }), [8]);
    assert.deepEqual(ids('', { kind: 'text' }), [8]);
    const none = ask({ prompt: '' }, { flags: FLAGS.noSpecialTokens });
    assert.equal(none.status, 'OK');
    assert.deepEqual(none.counts, [0]);
  });

  test('NUL: nothing', () => {
    assert.deepEqual(ids({ prompt: 'a\0\0b\0' }), [8, 0, 1]);
    assert.deepEqual(ids(chat('\0a\0b')), [8, 0, 1, 9]);
    assert.deepEqual(ids('\0', { kind: 'text' }), [8]);
    assert.equal(ask({ prompt: 'a\0' }, { flags: FLAGS.wantPrompt }).prompt, 'a');
  });

  test('nvext.token_data: the ids that it holds', () => {
    const response = ask(chat('ab', { nvext: { token_data: [5, 6], annotations: ['token_ids'] } }));
    assert.equal(response.provenance, 'precomputed');
    assert.deepEqual([...response.ids], [5, 6]);
    assert.equal(response.annotations, undefined);
    assert.equal(response.warnings, undefined);
  });

  test('nvext.backend_instance_id alone: a warning and the ids', () => {
    const response = ask(chat('ab', { nvext: { backend_instance_id: 1 } }));
    assert.deepEqual([...response.ids], [8, 0, 1, 9]);
    assert.equal(response.warnings?.length, 1);
  });

  test('nvext.use_raw_prompt: the prompt beside the messages', () => {
    assert.deepEqual(ids(chat('ab', { prompt: 'cd', nvext: { use_raw_prompt: true } })), [2, 3]);
  });
});

describe('special tokens', () => {
  test('follow the body’s add_special_tokens', () => {
    assert.deepEqual(ids({ prompt: 'a', add_special_tokens: false }), [0]);
    assert.deepEqual(ids(chat('a', { add_special_tokens: true })), [8, 8, 0, 9]);
  });

  test('follow the flags before the body', () => {
    const no = { flags: FLAGS.noSpecialTokens };
    const add = { flags: FLAGS.addSpecialTokens };
    assert.deepEqual(ids({ prompt: 'a', add_special_tokens: true }, no), [0]);
    assert.deepEqual(ids({ prompt: 'a', add_special_tokens: false }, add), [8, 0]);
    assert.deepEqual(ids(chat('a'), add), [8, 8, 0, 9]);
    assert.deepEqual(ids('a', { ...no, kind: 'text' }), [0]);
    assert.deepEqual(refused({ prompt: 'a' }, { flags: no.flags | add.flags }), [
      'INVALID_ARGUMENT',
      'flags: special tokens cannot be both added and left out',
    ]);
  });

  test('are not added for Dynamo, unless the flags say so', () => {
    const models = open(LETTERS, { engine: 'dynamo' });
    assert.deepEqual(ids({ prompt: 'a' }, { models }), [0]);
    assert.deepEqual(ids({ input: 'a', add_special_tokens: true }, { models }), [0]);
    assert.deepEqual(ids({ prompt: 'a' }, { models, flags: FLAGS.addSpecialTokens }), [8, 0]);
  });
});

describe('what comes with the ids', () => {
  test('the prompt, when the flag asks for it', () => {
    assert.equal(ask(chat('ab'), { flags: FLAGS.wantPrompt }).prompt, '<s>ab</s>');
    assert.equal(ask(chat('ab')).prompt, undefined);
    assert.equal(ask({ prompt: ['a', 'b'] }, { flags: FLAGS.wantPrompt }).prompt, 'a');
    assert.equal(ask({ prompt: [1] }, { flags: FLAGS.wantPrompt }).prompt, undefined);
  });

  test('annotations, when the body asks for them', () => {
    const nvext = { annotations: ['token_ids', 'formatted_prompt'] };
    assert.deepEqual(JSON.parse(ask(chat('ab', { nvext })).annotations ?? ''), {
      formatted_prompt: '<s>ab</s>',
      token_ids: [8, 0, 1, 9],
    });
    assert.deepEqual(JSON.parse(ask({ prompt: ['a', 'b'], nvext }).annotations ?? ''), {
      formatted_prompt: 'a',
      token_ids: [
        [8, 0],
        [8, 1],
      ],
    });
    assert.equal(ask(chat('ab')).annotations, undefined);
  });

  test('whole microseconds of each stage, no more in sum than in all', () => {
    const { timings } = ask(chat('abcdefg'.repeat(2000)));
    for (const value of Object.values(timings)) assert.ok(Number.isInteger(value) && value >= 0);
    assert.equal(timings.queue, 0);
    assert.ok(timings.parse > 0 && timings.template > 0 && timings.encode > 0);
    // Little is done outside of the stages of a chat that its template refuses.
    const config = { ...LETTERS['tokenizer_config.json'], chat_template: '{{ raise_exception("no") }}' };
    const models = open({ ...LETTERS, 'tokenizer_config.json': config }, {});
    for (let call = 0; call < 2000; call++) {
      const { parse, template, encode, total } = ask(chat('ab'), { models }).timings;
      assert.ok(parse + template + encode <= total, `${parse} + ${template} + ${encode} > ${total}`);
    }
  });
});

describe('the model', () => {
  const two = open(LETTERS, { name: 'one' }, { name: 'two', engine: 'dynamo' });

  test('is the only one, whatever the body says', () => {
    assert.equal(ask({ prompt: 'a', model: 'gpt' }).model, 'letters');
  });

  test('is the one that the call names', () => {
    assert.equal(ask({ prompt: 'a', model: 'one' }, { model: 'two', models: two }).model, 'two');
    assert.deepEqual(refused({ prompt: 'a' }, { model: 'gpt' }), [
      'UNKNOWN_MODEL',
      'no model named "gpt" is loaded; loaded: letters',
    ]);
  });

  test('is the body’s when several are loaded', () => {
    assert.deepEqual(ids({ prompt: 'a', model: 'one' }, { models: two }), [8, 0]);
    assert.deepEqual(ids({ prompt: 'a', model: 'two' }, { models: two }), [0]);
    assert.deepEqual(refused({ prompt: 'a', model: 'three' }, { models: two }), [
      'UNKNOWN_MODEL',
      'no model named "three" is loaded; loaded: one, two',
    ]);
    const unnamed: [string, string] = ['UNKNOWN_MODEL', 'the request names no model; loaded: one, two'];
    assert.deepEqual(refused({ prompt: 'a' }, { models: two }), unnamed);
    assert.deepEqual(refused('a', { models: two, kind: 'text' }), unnamed);
  });
});

describe('ids that a request brings', () => {
  test('may be of those with which the engine pads its vocabulary', () => {
    const models = open({ ...LETTERS, 'config.json': { vocab_size: 12 } }, {});
    assert.deepEqual(ids({ prompt: [11] }, { models }), [11]);
    assert.deepEqual(refused({ prompt: [12] }, { models }), [
      'INVALID_REQUEST',
      'prompt[0] must be a token id, an integer from 0 to 11',
    ]);
  });
});

describe('the context length', () => {
  const models = open(LETTERS, { contextLength: 4 });

  test('leaves room for output', () => {
    assert.deepEqual(ids({ prompt: 'ab' }, { models }), [8, 0, 1]);
    assert.deepEqual(refused({ prompt: 'abc' }, { models }), [
      'CONTEXT_TOO_LONG',
      'the prompt has 4 tokens, and the context of 4 must also hold output',
    ]);
  });

  test('may be filled by what is embedded, which gives no output', () => {
    assert.deepEqual(ids({ input: [1, 2, 3, 4] }, { models }), [1, 2, 3, 4]);
    assert.deepEqual(refused({ input: [1, 2, 3, 4, 5] }, { models }), [
      'CONTEXT_TOO_LONG',
      'the prompt has 5 tokens, and the context holds 4',
    ]);
  });

  test('holds for each sequence, and for ids that came as ids', () => {
    assert.deepEqual(refused({ prompt: ['a', 'abcde'] }, { models }), [
      'CONTEXT_TOO_LONG',
      'prompt 1 of the batch has 6 tokens, and the context of 4 must also hold output',
    ]);
    assert.equal(refused({ prompt: [1, 2, 3, 4] }, { models })[0], 'CONTEXT_TOO_LONG');
    assert.equal(refused({ nvext: { token_data: [1, 2, 3, 4] } }, { models })[0], 'CONTEXT_TOO_LONG');
  });

  test('is the option’s, or the files’', () => {
    const files = { ...LETTERS, 'config.json': { max_position_embeddings: 3 } };
    const message = (spec: Partial<ModelSpec>) =>
      refused({ prompt: 'abcdefg' }, { models: open(files, spec) })[1];
    assert.match(message({}), /context of 3 /);
    assert.match(message({ contextLength: 0 }), /context of 3 /);
    assert.match(message({ contextLength: 5 }), /context of 5 /);
  });
});

describe('what is refused', () => {
  test('invalid JSON, without quoting it', () => {
    const [status, message] = refused('{"prompt": secret');
    assert.equal(status, 'INVALID_REQUEST');
    assert.match(message, /not JSON at byte \d+$/);
    assert.doesNotMatch(message, /secret/);
  });

  test('invalid UTF-8', () => {
    assert.deepEqual(refused(Uint8Array.of(0xff)), [
      'INVALID_REQUEST',
      'the body: the document is not valid UTF-8',
    ]);
    const text: Ask = { kind: 'text' };
    assert.deepEqual(refused(Uint8Array.of(0x61, 0xe2, 0x82), text), [
      'INVALID_REQUEST',
      'the body is not valid UTF-8',
    ]);
  });

  test('a lone surrogate escape', () => {
    assert.deepEqual(refused('{"prompt":"\\ud800"}'), [
      'INVALID_REQUEST',
      'prompt: a string holds the escape of a lone surrogate',
    ]);
  });

  test('a body whose kind cannot be told', () => {
    assert.deepEqual(refused({}), [
      'INVALID_REQUEST',
      'the body has none of messages, prompt and input: its kind cannot be told',
    ]);
  });

  test('a kind that is none', () => {
    assert.deepEqual(refused({ prompt: 'a' }, { kind: 'poem' as Kind }), [
      'INVALID_ARGUMENT',
      'unknown kind; known: auto, chat, completion, embedding, text',
    ]);
  });

  test('a chat without a chat template, and that alone', () => {
    const { chat_template: _, ...config } = LETTERS['tokenizer_config.json'];
    const models = open({ ...LETTERS, 'tokenizer_config.json': config }, { name: 'plain' });
    assert.deepEqual(refused(chat('a'), { models }), [
      'UNSUPPORTED',
      'model plain has no chat template, so it takes no chat requests',
    ]);
    assert.deepEqual(ids({ prompt: 'a' }, { models }), [8, 0]);
  });

  test('a model whose tokenizer.json uses what is not done exactly', () => {
    const files = { 'tokenizer.json': { model: { type: 'WordPiece', vocab: { a: 0 } } } };
    for (const encoder of ['compiled', 'library'] as const) {
      const prepared = withDirectory(files, (directory) => prepareModel({ name: 'm', directory, encoder }));
      assert.equal(!prepared.ok && prepared.fault.status, 'UNSUPPORTED');
      assert.match(prepared.ok ? '' : prepared.fault.message, /tokenizer\.json .*: model WordPiece$/);
    }
  });
});

describe('what a model is opened for', () => {
  const asking = chat('ab', { chat_template: '{{ messages[0].content }}{{ eos_token }}{{ eos_token }}' });

  test('a template of the request, where it is allowed', () => {
    assert.deepEqual(ids(asking, { models: open(LETTERS, { allowChatTemplate: true }) }), [0, 1, 9, 9]);
    assert.deepEqual(refused(asking), [
      'UNSUPPORTED',
      'chat_template is not allowed here: the option allowChatTemplate is off',
    ]);
    assert.deepEqual(ids({ prompt: 'a', chat_template: 'x' }), [8, 0]);
  });

  test('the names of reasoning that templates of transformers 5 are given', () => {
    const config = { ...LETTERS['tokenizer_config.json'], chat_template: '{{ messages[0].thinking }}' };
    const files = { ...LETTERS, 'tokenizer_config.json': config };
    const body = { messages: [{ role: 'assistant', reasoning_content: 'ab' }] };
    assert.deepEqual(ids(body, { models: open(files, { transformers: 4 }) }), []);
    assert.deepEqual(ids(body, { models: open(files, { transformers: 5 }) }), [0, 1]);
  });

  test('images, where the template has a placeholder for them: a warning comes with the ids', () => {
    const template =
      "{% for m in messages %}{% for p in m.content %}{{ p.text if p.type == 'text' else bos_token }}{% endfor %}{% endfor %}";
    const config = { ...LETTERS['tokenizer_config.json'], chat_template: template };
    const models = open({ ...LETTERS, 'tokenizer_config.json': config }, {});
    const content = ['a', { type: 'image_url', image_url: { url: 'x' } }, 'b'];
    const body = { messages: [{ role: 'user', content }], nvext: { backend_instance_id: 1 } };
    const response = ask(body, { models });
    assert.deepEqual([...response.ids], [0, 8, 1]);
    assert.deepEqual(response.warnings?.slice(1), [
      'the engine expands the placeholder of each image part, so ids from the first on may differ in number',
    ]);
    assert.equal(response.warnings?.length, 2);
    assert.deepEqual(refused(body), [
      'UNSUPPORTED',
      'messages[0].content[1] is a part of type image_url, and the chat template takes content as text',
    ]);
  });
});

describe('detokenize', () => {
  const text = (list: number[], flags = 0, model = '') =>
    serve({ operation: 'detokenize', flags, model, ids: Uint32Array.from(list) }, letters, 1);

  test('gives the text, with or without special tokens', () => {
    assert.equal(text([8, 0, 7, 1, 9]).text, '<s>a b</s>');
    assert.equal(text([8, 0, 7, 1, 9], FLAGS.skipSpecialTokens).text, 'a b');
    assert.equal(text([]).text, '');
  });

  test('refuses an id outside the vocabulary, and a model that is not loaded', () => {
    const outside = text([0, 10]);
    assert.equal(outside.status, 'INVALID_ARGUMENT');
    assert.equal(outside.message, 'ids[1] is none: ids go from 0 to 9');
    assert.equal(text([0], 0, 'gpt').status, 'UNKNOWN_MODEL');
  });
});

describe('model directories that are refused', () => {
  const refusal = (files: Readonly<Record<string, unknown>>) =>
    withDirectory(files, (directory) => {
      const outcome = prepareModel({ name: 'm', directory });
      assert.ok(!outcome.ok);
      return [outcome.fault.status, outcome.fault.message.replaceAll(directory, 'DIR')];
    });

  test('missing, half there, and with a broken tokenizer.json', () => {
    const missing = prepareModel({ name: 'm', directory: '/no/such/model' });
    assert.deepEqual(!missing.ok && missing.fault, {
      status: 'INIT_FAILED',
      message: 'model directory /no/such/model does not exist',
    });
    const { 'tokenizer_config.json': config } = LETTERS;
    assert.deepEqual(refusal({ 'tokenizer_config.json': config }), [
      'INIT_FAILED',
      'tokenizer.json is missing in model directory DIR; the directory is incomplete, it has only tokenizer_config.json',
    ]);
    assert.deepEqual(refusal({ 'tokenizer.json': '{"model":' }), [
      'INIT_FAILED',
      'DIR/tokenizer.json is not valid JSON',
    ]);
  });
});

describe('Qwen3', () => {
  let models: Models;
  let judge: Tokenizer;
  before(() => {
    const directory = modelDirectory('qwen3');
    const prepared = prepareModel({ name: 'qwen3', directory, contextLength: 10_000_000 });
    assert.ok(prepared.ok);
    const opened = openModels([prepared.value]);
    assert.ok(opened.ok);
    models = opened.value;
    judge = Tokenizer.fromFile(join(directory, 'tokenizer.json'));
  });

  test('serves a chat with tools with the ids of the Rust library for the same prompt', async () => {
    const tools = [{ type: 'function', function: { name: 'weather', parameters: { type: 'object' } } }];
    const response = ask(chat('Wie ist das Wetter in Zürich? 你好', { tools }), {
      models,
      flags: FLAGS.wantPrompt,
    });
    assert.equal(response.status, 'OK');
    const prompt = response.prompt ?? '';
    assert.match(prompt, /^<\|im_start\|>system\n# Tools/);
    assert.ok(prompt.endsWith('<|im_end|>\n<|im_start|>assistant\n'));
    assert.deepEqual(
      [...response.ids],
      (await judge.encode(prompt, null, { addSpecialTokens: false })).getIds(),
    );
  });

  test('is warm after warmUp, which leaves no trace', () => {
    warmUp(models);
    assert.deepEqual(ids({ prompt: 'Hello world' }, { models }), [9707, 1879]);
  });

  test('serves a prompt of 10 MB', async () => {
    const text = 'The quick brown fox, 42 times. '.repeat(330_000);
    const response = ask({ prompt: text }, { models });
    assert.equal(response.status, 'OK', response.message);
    const expected = (
      await judge.encode('The quick brown fox, 42 times. '.repeat(3), null, { addSpecialTokens: false })
    ).getIds();
    assert.deepEqual([...response.ids.subarray(0, 20)], expected.slice(0, 20));
    assert.ok(response.ids.length > 3_000_000);
    assert.equal(ask('x'.repeat(10_000_000), { models }).status, 'INVALID_REQUEST');
  });
});
