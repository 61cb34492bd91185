import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { EncodeError } from '../../../src/tokenizer/encode-error.ts';
import { buildEngine, type EngineTables, openEngine, warmUp } from '../../../src/tokenizer/engine/index.ts';
import { Oracle } from './oracle.ts';
import { type FileParts, smallFile } from './small-files.ts';

const byteLevel = { type: 'ByteLevel', add_prefix_space: false, trim_offsets: true, use_regex: true };
const PARTS: FileParts = {
  vocabulary: { unit: 'bytes' },
  normalizer: { type: 'NFC' },
  preTokenizer: byteLevel,
  decoder: byteLevel,
  added: [{ content: '<|end|>', special: true }],
  postProcessor: { type: 'BertProcessing', cls: ['<s>', 1], sep: ['</s>', 2] },
};

function tablesOf(parts: FileParts = PARTS): EngineTables {
  const verdict = buildEngine(smallFile(parts));
  assert.ok(verdict.ok, verdict.ok ? '' : verdict.construct);
  return verdict.tables;
}

/** Every typed array in `value`. */
function arraysIn(value: unknown): NodeJS.TypedArray[] {
  if (ArrayBuffer.isView(value)) return [value as NodeJS.TypedArray];
  return typeof value === 'object' && value !== null ? Object.values(value).flatMap(arraysIn) : [];
}

describe('engine tables', () => {
  it('survive structured cloning, and the clone shares their large arrays', () => {
    const tables = tablesOf();
    const clone = structuredClone(tables);
    const arrays = arraysIn(tables);
    for (const [k, array] of arraysIn(clone).entries()) {
      if (array.byteLength < 1024) continue;
      assert.ok(array.buffer instanceof SharedArrayBuffer);
      // A write through one view shows in the other: it is the same memory.
      const original = arrays[k]!;
      const first = original[0]!;
      original[0] = 77;
      assert.equal(array[0], 77);
      original[0] = first as never;
    }
    const text = 'the quick e\u0301 <|end|> 東京';
    assert.deepEqual(openEngine(clone).encode([text], true), openEngine(tables).encode([text], true));
  });
});

describe('an engine', () => {
  it('does not let a piece boundary show, whatever it cuts', () => {
    const engine = openEngine(tablesOf());
    const text = "the quick e\u0301 <|end|> it's  don't 東京 😀";
    const whole = engine.encode([text], true);
    const characters = Array.from(text);
    for (let k = 0; k <= characters.length; k++)
      assert.deepEqual(
        engine.encode([characters.slice(0, k).join(''), characters.slice(k).join('')], true),
        whole,
      );
    assert.deepEqual(engine.encode(characters, true), whole);
  });

  it('gives only what surrounds a text for no text at all', () => {
    const engine = openEngine(tablesOf());
    assert.deepEqual([...engine.encode([], true)], [1, 2]);
    assert.deepEqual([...engine.encode(['', ''], false)], []);
  });

  it('hands out ids that later calls leave alone', () => {
    const engine = openEngine(tablesOf());
    const first = engine.encode(['the quick'], false);
    const copy = first.slice();
    engine.encode(['brown fox jumps'], false);
    assert.deepEqual(first, copy);
  });

  it('gives the same ids with a cache that holds next to nothing', async () => {
    const file = smallFile(PARTS);
    const small = openEngine(tablesOf(), { cacheBytes: 1 });
    const oracle = new Oracle(JSON.stringify(file));
    const words = Array.from({ length: 5000 }, (_, k) => `w${k} ${'x'.repeat(k % 40)}é`);
    const [expected] = await oracle.encode([words.join(' ')], false);
    for (let round = 0; round < 2; round++)
      assert.deepEqual([...small.encode([words.join(' ')], false)], expected);
  });

  it('is right again on a short text after a long one has made its buffers grow and shrink', () => {
    const engine = openEngine(tablesOf());
    const before = engine.encode(['the lazy dog'], true);
    engine.encode(['the lazy dog '.repeat(300_000)], true);
    engine.encode(['a'.repeat(2_000_000)], true);
    assert.deepEqual(engine.encode(['the lazy dog'], true), before);
  });

  it('refuses a text, and a normalized text, whose symbols it cannot number, and says how long it may be', () => {
    const most = 2 ** 26 - 1;
    const refusal = (status: string, message: string) => (error: unknown) =>
      error instanceof EncodeError && error.status === status && error.message === message;
    const engine = openEngine(tablesOf());
    const before = engine.encode(['the lazy dog'], true);
    assert.throws(
      () => engine.encode(['a'.repeat(most), 'é'], false),
      refusal('UNSUPPORTED', `the text has ${most + 2} bytes, and no more than ${most} are encoded`),
    );
    assert.deepEqual(engine.encode(['the lazy dog'], true), before);

    const content = 'b'.repeat(2 ** 16);
    const grows = openEngine(
      tablesOf({ ...PARTS, normalizer: { type: 'Replace', pattern: { String: 'a' }, content } }),
    );
    assert.throws(
      () => grows.encode(['a'.repeat(2 ** 10)], false),
      refusal(
        'UNSUPPORTED',
        `the normalized text has ${most + 1} bytes, and no more than ${most} are encoded`,
      ),
    );
    assert.deepEqual(grows.encode(['the dog'], true), engine.encode(['the dog'], true));
  });

  it('fails on added tokens that overlap as they make the Rust library fail, and is right again after', () => {
    const added = [
      { content: 'X', rstrip: true },
      { content: '\r', lstrip: true },
    ];
    const engine = openEngine(tablesOf({ ...PARTS, added }));
    const before = engine.encode(['the X dog'], true);
    assert.throws(
      () => engine.encode(['X\r \n'], false),
      (error: unknown) => error instanceof EncodeError && error.status === 'TOKENIZE_FAILED',
    );
    assert.deepEqual(engine.encode(['the X dog'], true), before);
  });

  it('decodes no id beyond the vocabulary, and leaves out an id inside it that no token has', () => {
    const file = smallFile(PARTS);
    file.model.vocab.beyond = 5000;
    const verdict = buildEngine({ ...file, added_tokens: [] });
    assert.ok(verdict.ok);
    const engine = openEngine(verdict.tables);
    assert.equal(engine.vocabularySize, 5001);
    assert.equal(engine.decode(Uint32Array.of(4999, 5000), false), 'beyond');
    assert.throws(() => engine.decode(Uint32Array.of(5001), false), RangeError);
  });

  it('keeps a byte order mark when it decodes', () => {
    const engine = openEngine(tablesOf());
    assert.equal(engine.decode(engine.encode(['\ufeffthe'], false), false), '\ufeffthe');
  });

  it('warms up within its budget, and answers as before', () => {
    const engine = openEngine(tablesOf());
    const ids = engine.encode(['the quick brown fox'], true);
    const before = process.cpuUsage();
    warmUp(engine, 50);
    assert.ok(process.cpuUsage(before).user < 5_000_000);
    assert.deepEqual(engine.encode(['the quick brown fox'], true), ids);
  });
});
