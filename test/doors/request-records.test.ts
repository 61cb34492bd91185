import assert from 'node:assert/strict';
import { once } from 'node:events';
import { after, before, describe, it } from 'node:test';
import { setImmediate as turn } from 'node:timers/promises';
import { AsyncTokenizer, type EpptokError, type RequestRecord, Tokenizer } from 'epptok';
import { modelDirectory } from '../models.ts';
import { unseenWords } from '../unseen-words.ts';

const model = `qwen3=${modelDirectory('qwen3')}`;
const records: RequestRecord[] = [];
const onRequest = (record: RequestRecord) => records.push(record);
const last = () => records.at(-1)!;

describe('onRequest of AsyncTokenizer', () => {
  let tokenizer: AsyncTokenizer;
  before(async () => {
    tokenizer = await AsyncTokenizer.create({ model, threads: 1, onRequest });
  });
  after(() => tokenizer.close());

  it('is told of a call what its result says, and when it was made', async () => {
    const before = Date.now();
    const result = await tokenizer.tokenize({
      kind: 'completion',
      body: { prompt: ['Hello', 'Hello world'] },
    });
    const { receivedAt, elapsed, timings } = result;
    assert.deepEqual(last(), {
      kind: 'completion',
      status: 'OK',
      model: 'qwen3',
      worker: result.worker,
      provenance: 'tokenized',
      bytes: '{"prompt":["Hello","Hello world"]}'.length,
      sequences: 2,
      tokens: 3,
      receivedAt,
      elapsed,
      timings,
    });
    assert.ok(receivedAt >= before && receivedAt <= Date.now());
    assert.ok(elapsed >= timings.total, `${elapsed} µs in all, ${timings.total} of them in the runtime`);
  });

  it('is told of calls that fail', async () => {
    await assert.rejects(tokenizer.tokenize({ body: '{' }), { code: 'INVALID_REQUEST' });
    const { status, provenance, tokens, worker } = last();
    assert.deepEqual([status, provenance, tokens, worker], ['INVALID_REQUEST', 'none', 0, 1]);
  });

  it('is told of calls whose deadline passes, with the time that they took', async () => {
    const slow = { kind: 'text', body: unseenWords(4_000_000), timeoutMs: 100 } as const;
    await assert.rejects(tokenizer.tokenize(slow), { code: 'TIMEOUT' });
    assert.equal(last().status, 'TIMEOUT');
    assert.ok(last().timings.total >= 95_000, `${last().timings.total} µs`);
  });

  it('is told of detokenize calls', async () => {
    await tokenizer.detokenize({ ids: [9707, 1879] });
    assert.equal(last().kind, 'detokenize');
    assert.equal(last().bytes, 8);
  });

  it('never sees what the user typed', async () => {
    await tokenizer.tokenize({ body: { prompt: 'canary', model: 'canary' } });
    await assert.rejects(tokenizer.tokenize({ body: { prompt: 'canary' }, model: 'canary' }));
    assert.doesNotMatch(JSON.stringify(records), /canary/);
  });
});

describe('an onRequest that fails', () => {
  const failures: [string, () => unknown][] = [
    [
      'by a throw',
      () => {
        throw new Error('by the test');
      },
    ],
    ['by a rejection', () => Promise.reject(new Error('by the test'))],
  ];
  for (const [how, hook] of failures) {
    it(`${how} is a warning of the process, once, and no call's failure`, async () => {
      let told = 0;
      const counted = () => {
        told++;
        return hook();
      };
      const tokenizer = await AsyncTokenizer.create({ model, threads: 1, onRequest: counted });
      const warnings: Error[] = [];
      const collect = (warning: Error) => warnings.push(warning);
      const first = once(process, 'warning');
      process.on('warning', collect);
      for (let i = 0; i < 3; i++) {
        assert.equal((await tokenizer.tokenize({ kind: 'text', body: 'Hello' })).ids.length, 1);
      }
      await first;
      await turn();
      process.off('warning', collect);
      await tokenizer.close();
      assert.equal(told, 3);
      assert.deepEqual(
        warnings.map((warning) => (warning as NodeJS.ErrnoException).code),
        ['EPPTOK_ON_REQUEST'],
      );
    });
  }

  it('is refused when it is no function', async () => {
    const wrong = { model, onRequest: 'log' as unknown as () => void };
    await assert.rejects(AsyncTokenizer.create(wrong), (error: EpptokError) => {
      assert.equal(error.code, 'INVALID_ARGUMENT');
      assert.match(error.message, /onRequest/);
      return true;
    });
  });
});

describe('onRequest of Tokenizer', () => {
  it('is told the same, of a call that blocks', () => {
    const tokenizer = new Tokenizer({ model, threads: 1, onRequest });
    try {
      const { elapsed, receivedAt, timings } = tokenizer.tokenize({ kind: 'text', body: 'Hello world' });
      assert.deepEqual([last().kind, last().status, last().tokens, last().bytes], ['text', 'OK', 2, 11]);
      assert.deepEqual([last().elapsed, last().receivedAt, last().timings], [elapsed, receivedAt, timings]);
      assert.ok(elapsed >= timings.total);
      assert.throws(() => tokenizer.tokenize({ body: '{}' }), { code: 'INVALID_REQUEST' });
      assert.equal(last().status, 'INVALID_REQUEST');
    } finally {
      tokenizer.close();
    }
  });
});
