import assert from 'node:assert/strict';
import { copyFileSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, describe, it } from 'node:test';
import { AsyncTokenizer, type StatusName, Tokenizer, type TokenizerOptions } from 'epptok';
import { modelDirectory } from '../models.ts';

const folder = mkdtempSync(join(tmpdir(), 'epptok-opening-'));
after(() => rmSync(folder, { recursive: true }));

const half = mkdtempSync(join(folder, 'half-'));
copyFileSync(join(modelDirectory('qwen3'), 'tokenizer_config.json'), join(half, 'tokenizer_config.json'));
const broken = mkdtempSync(join(folder, 'broken-'));
writeFileSync(join(broken, 'tokenizer.json'), '{"version": "1.0", "secret');

const CASES: [string, TokenizerOptions, StatusName, RegExp][] = [
  ['a directory that is missing', { model: join(folder, 'nowhere') }, 'INIT_FAILED', /nowhere/],
  ['a directory without tokenizer.json', { model: half }, 'INIT_FAILED', /tokenizer\.json/],
  ['a broken tokenizer.json', { model: broken }, 'INIT_FAILED', /tokenizer\.json.*JSON/],
  ['an unknown option', { model: broken, thread: 2 } as TokenizerOptions, 'INVALID_ARGUMENT', /thread/],
  ['a name with an equals sign', { model: { 'a=b': broken } }, 'INVALID_ARGUMENT', /a=b/],
  ['no call that may wait', { model: broken, maxQueueCalls: 0 }, 'INVALID_ARGUMENT', /maxQueueCalls/],
  [
    'more calls than 32 bits count',
    { model: broken, maxQueueCalls: 2 ** 32 },
    'INVALID_ARGUMENT',
    /maxQueueCalls/,
  ],
  ['no model', {} as TokenizerOptions, 'INVALID_ARGUMENT', /model/],
  ['half a thread', { model: broken, threads: 0.5 }, 'INVALID_ARGUMENT', /threads/],
  ['an unknown engine', { model: broken, engine: 'sglang' as 'vllm' }, 'INVALID_ARGUMENT', /engine/],
  [
    'a permission that is neither given nor not',
    { model: broken, allowChatTemplate: 'yes' as unknown as true },
    'INVALID_ARGUMENT',
    /allowChatTemplate/,
  ],
  ['a deadline too short', { model: modelDirectory('qwen3'), openTimeoutMs: 1 }, 'TIMEOUT', /warm/],
];

for (const [name, options, code, message] of CASES) {
  const expected = (error: Error & { code?: string }) => {
    assert.equal(error.name, 'EpptokError');
    assert.equal(error.code, code);
    assert.match(error.message, message);
    assert.doesNotMatch(error.message, /secret/);
    return true;
  };
  describe(name, () => {
    it('AsyncTokenizer.create rejects', () => assert.rejects(AsyncTokenizer.create(options), expected));
    it('new Tokenizer throws, as soon as it is known', () => {
      const start = performance.now();
      assert.throws(() => new Tokenizer(options), expected);
      // A thread that dies without a word is noticed after 5 s.
      assert.ok(performance.now() - start < 4500, `${performance.now() - start} ms`);
    });
  });
}
