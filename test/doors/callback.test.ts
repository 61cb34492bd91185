import assert from 'node:assert/strict';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { fileURLToPath } from 'node:url';
import { Worker } from 'node:worker_threads';
import { STATUS, Tokenizer } from 'epptok';
import koffi from 'koffi';
import { modelDirectory } from '../models.ts';
import { total } from '../support/prometheus.ts';
import { unseenWords } from '../unseen-words.ts';

// C on the JavaScript thread that owns the handle: nothing of JavaScript runs there until the call returns.
const suffix = process.platform === 'darwin' ? 'dylib' : 'so';
const platform = `${process.platform}-${process.arch}`;
const path = join(import.meta.dirname, '../../dist/native', platform, `libepptok.${suffix}`);
const library = koffi.load(path);
const RequestStruct = koffi.struct({
  struct_size: 'size_t',
  kind: 'uint32_t',
  flags: 'uint32_t',
  body: 'void *',
  length: 'size_t',
  model: 'const char *',
  ids: 'void *',
  id_count: 'size_t',
  call_id: 'uint64_t',
  timeout_ms: 'uint32_t',
  reserved: 'uint32_t',
});
const tokenizeInto = library.func('epptok_tokenize_into', 'int32_t', [
  'uint64_t',
  koffi.pointer(RequestStruct),
  'void *',
  'size_t',
  'void *',
  'void *',
  'size_t',
]);
const TEXT = 4;
const HELLO = Buffer.from('Hello world');

/** A thread of its own that cancels call `callId` 50 ms after `begin`. */
class Canceller {
  readonly #begin = new Int32Array(new SharedArrayBuffer(4));
  readonly #worker: Worker;
  readonly #online: Promise<void>;

  constructor(handle: bigint, callId: number) {
    const source = `
      const { parentPort, workerData: { path, koffi, handle, callId, begin } } = require('node:worker_threads');
      const cancel = require(koffi).load(path).func('epptok_cancel', 'int32_t', ['uint64_t', 'uint64_t']);
      parentPort.postMessage('online');
      Atomics.wait(begin, 0, 0, 20_000);
      Atomics.wait(begin, 0, 1, 50);
      cancel(handle, callId);`;
    const koffi = fileURLToPath(import.meta.resolve('koffi'));
    this.#worker = new Worker(source, {
      eval: true,
      execArgv: [],
      workerData: { path, koffi, handle, callId, begin: this.#begin },
    });
    this.#online = new Promise((resolve) => this.#worker.once('message', () => resolve()));
  }

  online(): Promise<void> {
    return this.#online;
  }

  begin(): void {
    Atomics.store(this.#begin, 0, 1);
    Atomics.notify(this.#begin, 0);
  }

  async end(): Promise<void> {
    await this.#worker.terminate();
  }
}

let tokenizer: Tokenizer;
before(() => {
  tokenizer = new Tokenizer({ model: modelDirectory('qwen3'), threads: 1, contextLength: 10_000_000 });
});
after(() => tokenizer.close());

function call(body: Uint8Array, { callId = 0, timeoutMs = 0 } = {}) {
  const request = {
    struct_size: koffi.sizeof(RequestStruct),
    kind: TEXT,
    body,
    length: body.length,
    call_id: callId,
    timeout_ms: timeoutMs,
  };
  const [ids, count, message] = [new Uint32Array(16), new BigUint64Array(1), Buffer.alloc(512)];
  const status = tokenizeInto(
    tokenizer.nativeHandle,
    request,
    ids,
    ids.length,
    count,
    message,
    message.length,
  );
  return {
    status,
    ids: [...ids.subarray(0, Number(count[0]))],
    message: message.toString('utf8', 0, message.indexOf(0)),
  };
}

describe('a call of C on the thread that owns the handle', () => {
  it('is cancelled by another thread, and the next one gets its own ids', async () => {
    const canceller = new Canceller(tokenizer.nativeHandle, 7);
    await canceller.online();
    const slow = Buffer.from(unseenWords(8_000_000, 3));
    canceller.begin();
    const cancelled = call(slow, { callId: 7 });
    assert.equal(cancelled.status, STATUS.CANCELLED, cancelled.message);
    assert.deepEqual(call(HELLO).ids, [9707, 1879]);
    await canceller.end();
  });

  it('expires at its deadline, and the next one gets its own ids', () => {
    for (const timeoutMs of [1, 5, 20]) {
      const expired = call(Buffer.from(unseenWords(4_000_000, timeoutMs)), { timeoutMs });
      assert.equal(expired.status, STATUS.TIMEOUT, expired.message);
      assert.deepEqual(call(HELLO).ids, [9707, 1879]);
    }
  });

  it('is counted by its kind, whoever has answered it', () => {
    const counted = (status: string) =>
      total(tokenizer.stats(), 'epptok_calls_total', { kind: 'text', status });
    assert.deepEqual(['OK', 'TIMEOUT', 'CANCELLED'].map(counted), [4, 3, 1]);
    assert.equal(total(tokenizer.stats(), 'epptok_calls_total'), 8);
  });
});
