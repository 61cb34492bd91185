import assert from 'node:assert/strict';
import { afterEach, beforeEach, describe, it } from 'node:test';
import { failure, type Request, type Response } from '../../src/protocol/messages.ts';
import { Latch } from '../../src/sync/latch.ts';
import { CallerEnd, isBusy, type LineEnd, makeLine, WorkerEnd } from '../../src/sync/line.ts';

// Both ends in one thread, so that each order of a race can be written down.
const call = (model: string): Request => ({
  operation: 'tokenize',
  kind: 'text',
  flags: 0,
  model,
  body: new Uint8Array(0),
});
const answerOf = (request: unknown): Response => failure('OK', (request as { model: string }).model);

let ends: { forCaller: LineEnd; forWorker: LineEnd };
let caller: CallerEnd;
let worker: WorkerEnd;
let latch: Latch;
beforeEach(() => {
  ends = makeLine();
  latch = new Latch();
  caller = new CallerEnd(ends.forCaller);
  worker = new WorkerEnd(ends.forWorker, latch);
});
afterEach(() => caller.close());
const post = (model: string) => caller.post(call(model), 0, 0);
const serve = () => worker.answer(answerOf(worker.next().call));
const taken = () => (caller.take() as Response | undefined)?.message;

describe('a line', () => {
  it('brings a call to the worker and its answer back, and is free again', () => {
    assert.ok(caller.free && !isBusy(ends.forCaller.memory));
    caller.post(call('first'), 17, 23);
    assert.ok(!caller.free && isBusy(ends.forCaller.memory));
    assert.equal(caller.bytes, 17);
    assert.equal(caller.take(), undefined);
    const { call: got, queueMicroseconds } = worker.next();
    assert.deepEqual([got, queueMicroseconds], [call('first'), 23]);
    const before = latch.signals;
    assert.equal(worker.answer(answerOf(got)), true);
    assert.notEqual(latch.signals, before);
    assert.ok(!isBusy(ends.forCaller.memory));
    assert.equal(taken(), 'first');
    assert.ok(caller.free);
  });

  it('takes a wait of any length', () => {
    caller.post(call('first'), 0, 2 ** 40);
    assert.equal(worker.next().queueMicroseconds, 2 ** 31 - 1);
  });

  it('copies small frames and moves large ones', () => {
    for (const [bytes, left] of [
      [100, 100],
      [64 * 1024, 64 * 1024],
      [64 * 1024 + 1, 0],
    ] as const) {
      const frame = new Uint8Array(bytes).fill(7);
      caller.post(frame, bytes, 0);
      assert.equal(frame.length, left);
      const { call: got } = worker.next();
      assert.deepEqual(got, new Uint8Array(bytes).fill(7));
      worker.answer(got as Uint8Array);
      assert.deepEqual(caller.take(), new Uint8Array(bytes).fill(7));
    }
  });

  it('brings of a view what it shows', () => {
    for (const bytes of [0, 100, 100_000]) {
      const view = new Uint8Array(200_000).fill(7).subarray(10, 10 + bytes);
      caller.post(view, bytes, 0);
      assert.equal(view.length, bytes);
      const got = worker.next().call as Uint8Array;
      assert.deepEqual(new Uint8Array(got), new Uint8Array(bytes).fill(7));
      worker.answer(got);
      assert.deepEqual(new Uint8Array(caller.take() as Uint8Array), new Uint8Array(bytes).fill(7));
    }
  });

  it('leaves the ids of a detokenize call to whoever made it', () => {
    const ids = new Uint32Array(100_000);
    caller.post({ operation: 'detokenize', flags: 0, model: '', ids }, ids.byteLength, 0);
    assert.equal(ids.length, 100_000);
  });
});

describe('a call that is given up', () => {
  it('before the worker has answered: the worker learns it, and the late answer is never taken', () => {
    post('first');
    const { call: first } = worker.next();
    assert.equal(caller.abandon(), true);
    assert.ok(!caller.free && isBusy(ends.forCaller.memory));
    assert.equal(taken(), undefined);
    assert.equal(worker.answer(answerOf(first)), false);
    assert.equal(taken(), undefined);
    assert.ok(caller.free);
    post('second');
    assert.equal(taken(), undefined, 'the late answer is not the one to the second call');
    assert.equal(serve(), true);
    assert.equal(taken(), 'second');
  });

  it('when the worker was quicker: the answer is there to be taken', () => {
    post('first');
    serve();
    assert.equal(caller.abandon(), false);
    assert.equal(taken(), 'first');
    assert.equal(caller.abandon(), false, 'nothing is left to give up');
    post('second');
    serve();
    assert.equal(taken(), 'second');
  });

  it('signals the caller when the line is free, for who waits for a worker', () => {
    post('first');
    const { call: first } = worker.next();
    caller.abandon();
    const before = latch.signals;
    worker.answer(answerOf(first));
    assert.notEqual(latch.signals, before);
  });
});
