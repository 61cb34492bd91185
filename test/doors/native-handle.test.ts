import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { STATUS, Tokenizer } from 'epptok';
import { modelDirectory } from '../models.ts';
import { pluginRunOnThreads, pluginTokenize } from './plugin.ts';

let tokenizer: Tokenizer;
before(() => {
  tokenizer = new Tokenizer({
    model: `qwen3=${modelDirectory('qwen3')}`,
    threads: 2,
    contextLength: 10_000_000,
  });
});
after(() => tokenizer.close());

for (const [where, transport] of [
  ['this thread', 'callback'],
  ['another thread', 'direct'],
] as const) {
  describe(`a C plugin in this process, on ${where}`, () => {
    const call = (kind: Parameters<typeof pluginTokenize>[2], body: string | Uint8Array, capacity?: number) =>
      pluginTokenize(tokenizer.nativeHandle, where, kind, body, capacity);

    it(`is served by ${transport}`, () => {
      const answer = call('text', 'Hello world');
      assert.deepEqual(answer, { status: 0, transport, ids: [9707, 1879], count: 2, message: '' });
    });

    it('gets zero tokens for an empty text, with status OK', () => {
      assert.deepEqual(call('text', ''), { status: 0, transport, ids: [], count: 0, message: '' });
    });

    it('is told how large its buffer must be', () => {
      const { status, count } = call('text', 'Hello world', 1);
      assert.equal(status, STATUS.BUFFER_TOO_SMALL);
      assert.equal(count, 2);
    });

    it('is served a prompt of 10 MB', () => {
      const { status, count } = call('text', 'Hello world\n'.repeat(873_814), 2_621_442);
      assert.equal(status, 0);
      assert.equal(count, 2_621_442);
    });

    it('is served bodies on both sides of what is handed over in one piece', () => {
      // The frame around the body has a head of some hundred bytes.
      for (let count = 65_300; count <= 65_560; count += 20) {
        const answer = call('text', 'a '.repeat(count / 2).trimEnd(), count);
        assert.deepEqual([answer.status, answer.count], [0, count / 2], `${count} bytes`);
      }
    });

    const refusals: [string, Parameters<typeof call>, number, RegExp][] = [
      ['invalid JSON', ['chat', '{"messages"'], STATUS.INVALID_REQUEST, /JSON/],
      ['invalid UTF-8', ['text', Uint8Array.of(0xff)], STATUS.INVALID_REQUEST, /UTF-8/],
      ['a lone surrogate', ['completion', '{"prompt":"\\ud83d"}'], STATUS.INVALID_REQUEST, /surrogate/],
      ['a body of no kind', ['auto', '{}'], STATUS.INVALID_REQUEST, /messages/],
    ];
    for (const [name, args, status, message] of refusals) {
      it(`is refused ${name}, with a message`, () => {
        const answer = call(...args);
        assert.equal(answer.status, status);
        assert.match(answer.message, message);
      });
    }
  });
}

describe('eight C threads at once, while the JavaScript thread is blocked joining them', () => {
  it('are all answered, by at least two workers', () => {
    // Of two workers that start, one may be up long before the other: again, until both have served.
    const body = 'words for the workers '.repeat(10_000);
    const served = new Set<number>();
    for (let round = 0; round < 50 && served.size < 2; round++) {
      const { answered, workers, statuses } = pluginRunOnThreads(tokenizer.nativeHandle, 8, 5, body);
      assert.deepEqual(statuses, new Array(8).fill(0));
      assert.equal(answered, 8);
      for (const worker of workers) served.add(worker);
    }
    assert.ok(served.size >= 2, `worker ${[...served]} alone`);
  });
});

describe('nativeHandle', () => {
  it('is the same value each time', () => assert.equal(tokenizer.nativeHandle, tokenizer.nativeHandle));

  it('is invalid, not fatal, once the tokenizer is closed', () => {
    const brief = new Tokenizer({ model: modelDirectory('qwen3'), threads: 1 });
    const handle = brief.nativeHandle;
    assert.equal(pluginTokenize(handle, 'this thread', 'text', 'Hello').status, 0);
    brief.close();
    for (const where of ['this thread', 'another thread'] as const) {
      const { status, message } = pluginTokenize(handle, where, 'text', 'Hello');
      assert.equal(status, STATUS.INVALID_HANDLE);
      assert.notEqual(message, '');
    }
    assert.throws(() => brief.nativeHandle, { code: 'SHUTTING_DOWN' });
  });

  it('counts what it serves', () => {
    pluginTokenize(tokenizer.nativeHandle, 'another thread', 'embedding', '{"input":"Hello"}');
    pluginTokenize(tokenizer.nativeHandle, 'this thread', 'embedding', '{"input":"Hello"}');
    assert.match(
      tokenizer.stats(),
      /epptok_calls_total\{kind="embedding",status="OK",provenance="tokenized",model="\w+"\} 2/,
    );
  });
});
