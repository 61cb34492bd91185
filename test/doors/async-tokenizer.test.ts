import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { AsyncTokenizer, EpptokError, type TokenizeOptions } from 'epptok';
import { modelDirectory } from '../models.ts';
import { total } from '../support/prometheus.ts';
import { unseenWords } from '../unseen-words.ts';

const qwen3 = `qwen3=${modelDirectory('qwen3')}`;
const chat = { messages: [{ role: 'user', content: 'Hello world' }] };
const HELLO_CHAT = [151644, 872, 198, 9707, 1879, 151645, 198, 151644, 77091, 198];

let tokenizer: AsyncTokenizer;
before(async () => {
  tokenizer = await AsyncTokenizer.create({ model: qwen3, threads: 2, contextLength: 10_000_000 });
});
after(() => tokenizer.close());

const refusal = async (options: TokenizeOptions): Promise<EpptokError> => {
  const error = await tokenizer.tokenize(options).then(
    () => assert.fail('it succeeded'),
    (thrown: unknown) => thrown,
  );
  assert.ok(error instanceof EpptokError);
  return error;
};

describe('AsyncTokenizer.tokenize', () => {
  it('takes the body as a string, bytes or an object', async () => {
    const text = JSON.stringify(chat);
    for (const body of [text, new TextEncoder().encode(text), Buffer.from(text), chat]) {
      const result = await tokenizer.tokenize({ kind: 'chat', body });
      assert.deepEqual([...result.ids], HELLO_CHAT);
      assert.equal(result.provenance, 'tokenized');
      assert.equal(result.model, 'qwen3');
    }
  });

  it('leaves the bytes of the caller as they were', async () => {
    const body = new TextEncoder().encode(JSON.stringify(chat));
    await tokenizer.tokenize({ body });
    assert.equal(body.length, JSON.stringify(chat).length);
  });

  it('returns prompt, annotations, warnings and timings', async () => {
    const body = {
      ...chat,
      nvext: { annotations: ['formatted_prompt', 'token_ids'], backend_instance_id: 7 },
    };
    const result = await tokenizer.tokenize({ body, prompt: true });
    assert.equal(result.prompt, '<|im_start|>user\nHello world<|im_end|>\n<|im_start|>assistant\n');
    assert.deepEqual(result.annotations, { formatted_prompt: result.prompt, token_ids: HELLO_CHAT });
    assert.equal(result.warnings?.length, 1);
    assert.ok(result.timings.total >= result.timings.encode);
    assert.ok(result.worker >= 1);
  });

  it('serves a batch as several sequences', async () => {
    const { sequences, ids } = await tokenizer.tokenize({ body: { prompt: ['Hello', '', 'Hello world'] } });
    assert.deepEqual(
      sequences.map((sequence) => [...sequence]),
      [[9707], [], [9707, 1879]],
    );
    assert.equal(ids, sequences[0]);
  });

  it('answers zero tokens for an empty text', async () => {
    const { ids, sequences } = await tokenizer.tokenize({ kind: 'text', body: '' });
    assert.equal(ids.length, 0);
    assert.equal(sequences.length, 1);
  });

  it('takes a prompt of 10 MB', async () => {
    const { ids } = await tokenizer.tokenize({
      kind: 'text',
      body: 'Hello world\n'.repeat(873_814),
      timeoutMs: 120_000,
    });
    assert.equal(ids.length, 3 * 873_814);
  });

  it('serves calls at the same time by more than one worker', async () => {
    const body = 'some words to encode '.repeat(2000);
    const results = await Promise.all(
      Array.from({ length: 8 }, () => tokenizer.tokenize({ kind: 'text', body })),
    );
    assert.ok(new Set(results.map(({ worker }) => worker)).size >= 2);
  });
});

describe('AsyncTokenizer refuses, with a code and a message that names the culprit', () => {
  const cases: [string, TokenizeOptions, string, RegExp][] = [
    ['invalid JSON', { kind: 'chat', body: '{"messages": [' }, 'INVALID_REQUEST', /JSON/],
    ['invalid UTF-8', { kind: 'chat', body: Uint8Array.of(0x22, 0xff, 0x22) }, 'INVALID_REQUEST', /UTF-8/],
    ['invalid UTF-8 in a text', { kind: 'text', body: Uint8Array.of(0xc3) }, 'INVALID_REQUEST', /UTF-8/],
    [
      'a lone surrogate',
      { kind: 'completion', body: '{"prompt":"\\ud800"}' },
      'INVALID_REQUEST',
      /surrogate/,
    ],
    ['a body of no kind', { body: {} }, 'INVALID_REQUEST', /messages.*prompt.*input/],
    ['an unknown model', { model: 'gpt-5', body: chat }, 'UNKNOWN_MODEL', /gpt-5.*qwen3/],
    ['an unknown kind', { kind: 'poem' as 'chat', body: chat }, 'INVALID_ARGUMENT', /kind/],
    ['an unknown option', { body: chat, timeout: 5 } as TokenizeOptions, 'INVALID_ARGUMENT', /timeout/],
    ['a deadline of 0', { body: chat, timeoutMs: 0 }, 'INVALID_ARGUMENT', /timeoutMs/],
    ['no body', {} as TokenizeOptions, 'INVALID_ARGUMENT', /body/],
    ['a string with a lone surrogate', { kind: 'text', body: 'a\ud800b' }, 'INVALID_REQUEST', /surrogate/],
    ['an ArrayBuffer', { kind: 'text', body: new ArrayBuffer(2) }, 'INVALID_ARGUMENT', /body/],
    ['a view that is no Uint8Array', { body: new Uint16Array(2) }, 'INVALID_ARGUMENT', /plain object/],
    ['an object as a text', { kind: 'text', body: { a: 1 } }, 'INVALID_ARGUMENT', /kind text/],
    ['a body that cannot be serialised', { body: { a: 1n } }, 'INVALID_ARGUMENT', /serialised \(TypeError\)/],
    ['a flag that is no boolean', { body: chat, prompt: 'no' as never }, 'INVALID_ARGUMENT', /prompt/],
    ['a signal that is none', { body: chat, signal: {} as AbortSignal }, 'INVALID_ARGUMENT', /signal/],
    ['a batch beyond measure', { body: { prompt: new Array(20_000).fill('') } }, 'INVALID_REQUEST', /16384/],
  ];
  for (const [name, options, code, message] of cases) {
    it(name, async () => {
      const error = await refusal(options);
      assert.equal(error.code, code);
      assert.match(error.message, message);
    });
  }

  it('a call whose deadline passes', async () => {
    const error = await refusal({ kind: 'text', body: unseenWords(4_000_000), timeoutMs: 20 });
    assert.equal(error.code, 'TIMEOUT');
  });

  it('a call whose signal is aborted', async () => {
    const signal = AbortSignal.timeout(20);
    const error = await refusal({ kind: 'text', body: unseenWords(4_000_000), signal });
    assert.equal(error.code, 'CANCELLED');
  });
});

describe('AsyncTokenizer.detokenize', () => {
  it('gives the text back, special tokens left out on request', async () => {
    assert.match(await tokenizer.detokenize({ ids: HELLO_CHAT }), /^<\|im_start\|>user\nHello world/);
    assert.match(
      await tokenizer.detokenize({ ids: HELLO_CHAT, skipSpecialTokens: true }),
      /^user\nHello world\n/,
    );
  });

  it('refuses an id outside the vocabulary', async () => {
    await assert.rejects(tokenizer.detokenize({ ids: [999_999] }), (error: EpptokError) => {
      assert.equal(error.code, 'INVALID_ARGUMENT');
      assert.match(error.message, /ids\[0\]/);
      return true;
    });
  });
});

describe('AsyncTokenizer', () => {
  it('loads several models; the body says which', async () => {
    const both = await AsyncTokenizer.create({
      model: { a: modelDirectory('qwen3'), b: modelDirectory('deepseek_v3') },
      threads: 1,
    });
    const ids = async (model: string) => [...(await both.tokenize({ body: { model, prompt: 'Hi' } })).ids];
    assert.deepEqual(await ids('a'), [13048]);
    assert.equal((await ids('b'))[0], 0);
    await assert.rejects(both.tokenize({ body: { model: 'c', prompt: 'Hi' } }), { code: 'UNKNOWN_MODEL' });
    await both.close();
  });

  it('closes twice, and refuses what comes after', async () => {
    const brief = await AsyncTokenizer.create({ model: qwen3, threads: 1 });
    await brief.close();
    await brief.close();
    await assert.rejects(brief.tokenize({ body: chat }), { code: 'SHUTTING_DOWN' });
  });

  it('answers calls in flight when it closes', async () => {
    const brief = await AsyncTokenizer.create({ model: qwen3, threads: 1 });
    const calls = Array.from({ length: 4 }, () =>
      brief.tokenize({ kind: 'text', body: 'words '.repeat(20_000) }),
    );
    const outcomes = Promise.allSettled(calls);
    await brief.close();
    for (const outcome of await outcomes) {
      if (outcome.status === 'rejected') assert.equal(outcome.reason.code, 'SHUTTING_DOWN');
    }
  });

  it('reports what it has served, as Prometheus text', async () => {
    assert.match(
      await tokenizer.stats(),
      /epptok_calls_total\{kind="chat",status="OK",provenance="tokenized",model="\w+"\} [1-9]/,
    );
  });

  it('counts what its workers find in their caches', async () => {
    const words = async (result: 'hit' | 'miss') =>
      total(await tokenizer.stats(), 'epptok_cache_lookups_total', { cache: 'word', result });
    const misses = await words('miss');
    await tokenizer.tokenize({ kind: 'text', body: unseenWords(2_000) });
    const afterwards = await words('miss');
    assert.ok(afterwards > misses, `${misses}, then ${afterwards}`);
    assert.ok((await words('hit')) > 0);
  });
});
