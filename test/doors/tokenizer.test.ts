import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { Tokenizer } from 'epptok';
import { modelDirectory } from '../models.ts';
import { total } from '../support/prometheus.ts';
import { unseenWords } from '../unseen-words.ts';

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
      const slow = unseenWords(4_000_000, i + 1);
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

  it('counts the calls that it gave up, and the answers that came too late for them', () => {
    const own = new Tokenizer({ model, threads: 1, contextLength: 10_000_000 });
    const slow = unseenWords(4_000_000, 9);
    assert.throws(() => own.tokenize({ kind: 'text', body: slow, timeoutMs: 10 }), { code: 'TIMEOUT' });
    const timeouts = (text: string) => total(text, 'epptok_calls_total', { kind: 'text', status: 'TIMEOUT' });
    const meanwhile = own.stats();
    assert.equal(timeouts(meanwhile), 1);
    assert.equal(total(meanwhile, 'epptok_workers_busy'), 1);
    assert.equal(total(meanwhile, 'epptok_answers_discarded_total'), 0);
    // Waits for its worker, which is at the slow one.
    const { timings } = own.tokenize({ kind: 'text', body: 'Hello' });
    assert.ok(timings.queue > 1000 && timings.total >= timings.queue, JSON.stringify(timings));
    const after = own.stats();
    assert.equal(timeouts(after), 1);
    assert.equal(total(after, 'epptok_calls_total', { kind: 'text', status: 'OK' }), 1);
    assert.equal(total(after, 'epptok_workers_busy'), 0);
    assert.equal(total(after, 'epptok_answers_discarded_total'), 1);
    own.close();
  });

  it('answers small calls and large ones alike', () => {
    const line = 'The quick brown fox jumps over the lazy dog.\n';
    const once = tokenizer.tokenize({ kind: 'text', body: line }).ids.length;
    // On both sides of what goes as a frame, and of what fits the memory shared with a worker.
    for (const bytes of [32 * 1024, 64 * 1024, 300_000]) {
      for (const lines of [-1, 0, 1].map((more) => Math.floor(bytes / line.length) + more)) {
        const body = line.repeat(lines);
        const result = tokenizer.tokenize({ kind: 'text', body, prompt: true });
        assert.equal(result.ids.length, lines * once);
        assert.equal(result.prompt, body);
        assert.equal(tokenizer.detokenize({ ids: result.ids }), body);
        assert.ok(result.ids.length === lines * once, "the ids that were decoded are still the caller's");
      }
    }
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
