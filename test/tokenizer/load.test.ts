import assert from 'node:assert/strict';
import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { type ModelFiles, readModelDirectory } from '../../src/tokenizer/load.ts';
import { withDirectory } from '../directory.ts';

const TOKENIZER = { model: { type: 'BPE', vocab: { a: 0, b: 1 }, merges: [] } };

function read(files: Readonly<Record<string, unknown>>): ModelFiles {
  const outcome = withDirectory(files, readModelDirectory);
  assert.ok(outcome.ok, outcome.ok ? '' : outcome.fault.message);
  return outcome.value;
}

/** The message of a refusal, with the directory as DIR. */
function refusal(files: Readonly<Record<string, unknown>>): string {
  return withDirectory(files, (directory) => {
    const outcome = readModelDirectory(directory);
    assert.ok(!outcome.ok);
    assert.equal(outcome.fault.status, 'INIT_FAILED');
    return outcome.fault.message.replaceAll(directory, 'DIR');
  });
}

describe('what is wrong with a model directory is named', () => {
  test('it does not exist', () => {
    const outcome = readModelDirectory('/no/such/model');
    assert.deepEqual(outcome, {
      ok: false,
      fault: { status: 'INIT_FAILED', message: 'model directory /no/such/model does not exist' },
    });
  });

  test('it is a file', () => {
    const message = withDirectory({ file: '' }, (directory) => {
      const outcome = readModelDirectory(join(directory, 'file'));
      return outcome.ok ? '' : outcome.fault.message;
    });
    assert.match(message, /^model directory .*file is not a directory$/);
  });

  test('it is empty', () => {
    assert.equal(refusal({}), 'tokenizer.json is missing in model directory DIR');
  });

  test('it is half there', () => {
    assert.equal(
      refusal({ 'config.json': {}, 'tokenizer_config.json': {} }),
      'tokenizer.json is missing in model directory DIR; the directory is incomplete, it has only tokenizer_config.json, config.json',
    );
  });

  /** The refusal of a directory in which `name` is a link to itself. */
  function refusalOfLoop(name: string, files: Readonly<Record<string, unknown>>): string {
    return withDirectory(files, (directory) => {
      symlinkSync(name, join(directory, name));
      const outcome = readModelDirectory(directory);
      assert.ok(!outcome.ok);
      assert.equal(outcome.fault.status, 'INIT_FAILED');
      return outcome.fault.message.replaceAll(directory, 'DIR');
    });
  }

  test('the folder of chat templates is a link to itself', () => {
    assert.equal(
      refusalOfLoop('additional_chat_templates', { 'tokenizer.json': TOKENIZER }),
      'DIR/additional_chat_templates cannot be read (ELOOP)',
    );
  });

  test('a file beside a tokenizer.json that is missing is a link to itself', () => {
    assert.equal(
      refusalOfLoop('config.json', { 'chat_template.jinja': '' }),
      'tokenizer.json is missing in model directory DIR; the directory is incomplete, it has only chat_template.jinja',
    );
  });

  test('tokenizer.json is not JSON, and its content is not quoted', () => {
    assert.equal(refusal({ 'tokenizer.json': '{"secret": oops' }), 'DIR/tokenizer.json is not valid JSON');
    assert.equal(refusal({ 'tokenizer.json': '' }), 'DIR/tokenizer.json is not valid JSON');
  });

  test('tokenizer.json is not UTF-8', () => {
    const bytes = Uint8Array.of(0x22, 0xff, 0x22);
    assert.equal(refusal({ 'tokenizer.json': bytes }), 'DIR/tokenizer.json is not valid UTF-8');
  });

  test('tokenizer.json is cut off', () => {
    const text = JSON.stringify(TOKENIZER);
    assert.equal(refusal({ 'tokenizer.json': text.slice(0, -5) }), 'DIR/tokenizer.json is not valid JSON');
  });

  test('tokenizer.json is JSON of something else', () => {
    assert.equal(refusal({ 'tokenizer.json': [] }), 'DIR/tokenizer.json: not a JSON object');
    assert.equal(refusal({ 'tokenizer.json': {} }), 'DIR/tokenizer.json: "model" is missing');
    assert.equal(
      refusal({ 'tokenizer.json': { model: {} } }),
      'DIR/tokenizer.json: "model.vocab" is missing',
    );
    const flags = { single_word: false, lstrip: false, rstrip: false, normalized: false, special: true };
    const added = {
      ...TOKENIZER,
      added_tokens: [
        { id: 2, content: 'x', ...flags },
        { id: -1, content: 'y', ...flags },
      ],
    };
    assert.equal(
      refusal({ 'tokenizer.json': added }),
      'DIR/tokenizer.json: "added_tokens[1].id" is not an integer from 0 to 4294967295',
    );
  });

  test('tokenizer.json is a directory', () => {
    const message = withDirectory({}, (directory) => {
      mkdirSync(join(directory, 'tokenizer.json'));
      const outcome = readModelDirectory(directory);
      return outcome.ok ? '' : outcome.fault.message;
    });
    assert.match(message, /tokenizer\.json cannot be read \(EISDIR\)$/);
  });

  for (const name of [
    'tokenizer_config.json',
    'config.json',
    'special_tokens_map.json',
    'chat_template.json',
  ]) {
    test(`${name} is broken`, () => {
      assert.equal(refusal({ 'tokenizer.json': TOKENIZER, [name]: '{' }), `DIR/${name} is not valid JSON`);
      assert.equal(refusal({ 'tokenizer.json': TOKENIZER, [name]: [1] }), `DIR/${name} is not a JSON object`);
    });
  }

  test('a chat template is neither text nor a list', () => {
    const message =
      'DIR/tokenizer_config.json: "chat_template" is neither a string nor a list of named templates';
    for (const chat_template of [7, ['x'], [{ name: 'default' }], { default: 1 }]) {
      assert.equal(
        refusal({ 'tokenizer.json': TOKENIZER, 'tokenizer_config.json': { chat_template } }),
        message,
      );
    }
  });
});

test('padding and truncation of tokenizer.json are left out', () => {
  const { tokenizer } = read({
    'tokenizer.json': {
      ...TOKENIZER,
      padding: {
        strategy: { Fixed: 54000 },
        direction: 'Right',
        pad_to_multiple_of: null,
        pad_id: 0,
        pad_type_id: 0,
        pad_token: 'a',
      },
      truncation: { direction: 'Right', max_length: 6, strategy: 'LongestFirst', stride: 0 },
    },
  });
  assert.deepEqual(Object.keys(tokenizer).sort(), [
    'added_tokens',
    'decoder',
    'model',
    'normalizer',
    'post_processor',
    'pre_tokenizer',
  ]);
});

test('special_tokens_map.json counts only beside a tokenizer_config.json of the older layout', () => {
  const files = { 'tokenizer.json': TOKENIZER, 'special_tokens_map.json': { bos_token: 'map' } };
  const older = read({ ...files, 'tokenizer_config.json': { bos_token: 'config' } });
  assert.equal(older.tokenizerConfig.bos_token, 'map');
  const newer = read({
    ...files,
    'tokenizer_config.json': { bos_token: 'config', added_tokens_decoder: {} },
  });
  assert.equal(newer.tokenizerConfig.bos_token, 'config');
});

describe('chat templates', () => {
  const config = (chat_template: unknown) => ({
    'tokenizer.json': TOKENIZER,
    'tokenizer_config.json': { chat_template },
  });

  test('come from tokenizer_config.json, one or by name', () => {
    assert.deepEqual(read(config('one')).chatTemplates, { default: 'one' });
    const named = [
      { name: 'default', template: 'd' },
      { name: 'tool_use', template: 't' },
    ];
    assert.deepEqual(read(config(named)).chatTemplates, { default: 'd', tool_use: 't' });
    assert.deepEqual(read(config({ default: 'd', rag: 'r' })).chatTemplates, { default: 'd', rag: 'r' });
    assert.deepEqual(read(config(null)).chatTemplates, {});
  });

  test('come from files before tokenizer_config.json', () => {
    const jinja = { ...config('config'), 'chat_template.jinja': 'jinja' };
    assert.deepEqual(read({ ...jinja, 'chat_template.json': { chat_template: 'json' } }).chatTemplates, {
      default: 'jinja',
    });
    const json = { ...config('config'), 'chat_template.json': { chat_template: 'json' } };
    assert.deepEqual(read(json).chatTemplates, { default: 'json' });
  });

  test('do not come from a file that is named as their folder', () => {
    const files = { ...config('config'), additional_chat_templates: 'no folder' };
    assert.deepEqual(read(files).chatTemplates, { default: 'config' });
  });

  test('come from additional_chat_templates by file name', () => {
    const templates = withDirectory({ ...config('config'), 'chat_template.jinja': 'jinja' }, (directory) => {
      mkdirSync(join(directory, 'additional_chat_templates'));
      writeFileSync(join(directory, 'additional_chat_templates', 'tool_use.jinja'), 'tools');
      const outcome = readModelDirectory(directory);
      return outcome.ok ? outcome.value.chatTemplates : undefined;
    });
    assert.deepEqual(templates, { default: 'jinja', tool_use: 'tools' });
  });
});

describe('the context length', () => {
  const length = (config: object, tokenizerConfig: object) =>
    read({ 'tokenizer.json': TOKENIZER, 'config.json': config, 'tokenizer_config.json': tokenizerConfig })
      .contextLength;

  test('is that of config.json, also under text_config, before model_max_length', () => {
    assert.equal(length({ max_position_embeddings: 10 }, { model_max_length: 20 }), 10);
    assert.equal(length({ text_config: { max_position_embeddings: 30 } }, { model_max_length: 20 }), 30);
    assert.equal(length({}, { model_max_length: 20 }), 20);
  });

  test('is unknown where no file says, or says a number without meaning', () => {
    assert.equal(length({}, {}), undefined);
    assert.equal(length({}, { model_max_length: 1e30 }), undefined);
    assert.equal(length({ max_position_embeddings: 'long' }, {}), undefined);
  });
});
