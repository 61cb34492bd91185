import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { Tokenizer } from 'epptok';
import { freshText } from '../fresh-text.ts';
import { modelDirectory } from '../models.ts';

const model = `qwen3=${modelDirectory('qwen3')}`;
const chat = { messages: [{ role: 'user', content: 'Hello world' }] };

let tokenizer: Tokenizer;
before(() => {
  tokenizer = new Tokenizer({ model, threads: 2, contextLength: 10_000_000 });
});
after(() => tokenizer.close());

describe('Tokenizer, the blocking door', () => {
  it('answers as the async door does', () => {
    const result = tokenizer.tokenize({ kind: 'chat', body: chat, prompt: true });
    assert.deepEqual([...result.ids], [151644, 872, 198, 9707, 1879, 151645, 198, 151644, 77091, 198]);
    assert.match(result.prompt ?? '', /Hello world/);
    assert.equal(
      tokenizer.detokenize({ ids: result.ids, skipSpecialTokens: true }),
      'user\nHello world\nassistant\n',
    );
  });

  it('throws with a code and a message', () => {
    assert.throws(() => tokenizer.tokenize({ kind: 'chat', body: '{' }), {
      code: 'INVALID_REQUEST',
      message: /JSON/,
    });
    assert.throws(() => tokenizer.tokenize({ body: '{"prompt":"\\udc00"}' }), { message: /surrogate/ });
    assert.throws(() => tokenizer.detokenize({ ids: [-1] }), {
      code: 'INVALID_ARGUMENT',
      message: /ids\[0\]/,
    });
  });

  it('gives up at its deadline, and the next call gets its own ids', () => {
    for (let i = 0; i < 3; i++) {
      const slow = freshText(4_000_000, i + 1);
      assert.throws(() => tokenizer.tokenize({ kind: 'text', body: slow, timeoutMs: 10 }), {
        code: 'TIMEOUT',
      });
      assert.deepEqual([...tokenizer.tokenize({ kind: 'text', body: 'Hello' }).ids], [9707]);
    }
  });

  it('takes a prompt of 10 MB', () => {
    const { ids } = tokenizer.tokenize({
      kind: 'text',
      body: 'Hello world\n'.repeat(873_814),
      timeoutMs: 120_000,
    });
    assert.equal(ids.length, 3 * 873_814);
  });

  it('opens, closes and opens again', () => {
    const brief = new Tokenizer({ model, threads: 1 });
    brief.close();
    brief.close();
    assert.throws(() => brief.tokenize({ body: chat }), { code: 'SHUTTING_DOWN' });
    const again = new Tokenizer({ model, threads: 1 });
    assert.equal(again.tokenize({ kind: 'text', body: 'Hello' }).ids[0], 9707);
    again.close();
  });

  it('reports what it has served, as Prometheus text', () => {
    assert.match(
      tokenizer.stats(),
      /epptok_calls_total\{kind="text",status="OK",provenance="tokenized",model="\w+"\} [1-9]/,
    );
    assert.match(
      tokenizer.stats(),
      /epptok_cache_lookups_total\{cache="word",result="miss",model="\w+"\} [1-9]/,
    );
  });
});
