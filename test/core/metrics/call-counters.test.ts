import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { CallCounters, readCounters } from '../../../src/core/metrics/call-counters.ts';
import { failure, KINDS, type Request, type Response } from '../../../src/protocol/messages.ts';
import { STATUS_TABLE } from '../../../src/protocol/status.ts';

const text: Request = { operation: 'tokenize', kind: 'text', flags: 0, model: '', body: new Uint8Array(1) };
const chat: Request = { ...text, kind: 'chat' };
const detokenize: Request = { operation: 'detokenize', flags: 0, model: '', ids: new Uint32Array(1) };

const served = (model: string, tokens: number): Response => ({
  ...failure('OK', ''),
  model,
  provenance: 'tokenized',
  worker: 1,
  ids: new Uint32Array(tokens),
  counts: [tokens],
  timings: { queue: 10, parse: 60, template: 0, encode: 700, total: 800 },
});
const TIMED_OUT = failure('TIMEOUT', '', { queue: 5000, parse: 0, template: 0, encode: 0, total: 5000 });

describe('call counters', () => {
  it('count by model, kind, status and provenance; calls without a model under no name', () => {
    const counters = new CallCounters(['a', 'b']);
    counters.record(text, served('a', 3));
    counters.record(text, served('a', 4));
    counters.record(chat, served('b', 5));
    counters.record(detokenize, { ...served('b', 0), provenance: 'none' });
    counters.record(chat, failure('UNKNOWN_MODEL', ''));
    const [none, a, b] = readCounters([counters]);
    const once = { count: 1 };
    assert.deepEqual(a?.calls, [{ kind: 'text', status: 'OK', provenance: 'tokenized', count: 2 }]);
    assert.deepEqual(b?.calls, [
      { kind: 'chat', status: 'OK', provenance: 'tokenized', ...once },
      { kind: 'detokenize', status: 'OK', provenance: 'none', ...once },
    ]);
    assert.deepEqual(none?.calls, [{ kind: 'chat', status: 'UNKNOWN_MODEL', provenance: 'none', ...once }]);
    assert.deepEqual([none?.tokens, a?.tokens, b?.tokens], [0, 7, 5]);
  });

  it('keep every kind and status apart', () => {
    const counters = new CallCounters([]);
    for (const kind of KINDS)
      for (const [status] of STATUS_TABLE) counters.record({ ...text, kind }, failure(status, ''));
    const calls = readCounters([counters])[0]?.calls ?? [];
    assert.equal(calls.length, KINDS.length * STATUS_TABLE.length);
    assert.ok(calls.every(({ count }) => count === 1));
  });

  it('never name a model that the operator has not loaded', () => {
    const counters = new CallCounters(['a']);
    counters.record(text, { ...failure('UNKNOWN_MODEL', ''), model: 'typed by a user' });
    assert.deepEqual(
      readCounters([counters]).map(({ model, calls }) => [model, calls.length]),
      [
        ['', 1],
        ['a', 0],
      ],
    );
  });

  it('sum up what several threads have counted, each in memory of its own', () => {
    const threads = [new CallCounters(['a']), new CallCounters(['a'])];
    // What the service thread makes of the memory that it is given.
    for (const { memory } of threads) new CallCounters(['a'], memory).record(text, served('a', 2));
    const reading = readCounters(threads)[1];
    assert.equal(reading?.calls[0]?.count, 2);
    assert.equal(reading?.tokens, 4);
    assert.equal(reading?.duration.tokenize.count, 2);
  });

  it('time a stage only where it took place', () => {
    const counters = new CallCounters(['a']);
    counters.record(text, served('a', 1));
    const { stages } = readCounters([counters])[1]!;
    assert.deepEqual(
      [stages.queue.count, stages.parse.count, stages.template.count, stages.encode.count],
      [1, 1, 0, 1],
    );
    assert.equal(stages.encode.sum, 700);
  });

  it('time calls that ended in the queue, or the queue would look better the fuller it is', () => {
    const counters = new CallCounters(['a']);
    counters.record(text, TIMED_OUT);
    const { stages, duration } = readCounters([counters])[0]!;
    assert.equal(stages.queue.sum, 5000);
    assert.equal(duration.tokenize.count, 1);
    assert.equal(stages.encode.count, 0);
  });

  it('do not time calls that were refused on arrival', () => {
    const counters = new CallCounters(['a']);
    counters.record(text, failure('BACKPRESSURE', ''));
    const { stages, duration, calls } = readCounters([counters])[0]!;
    assert.deepEqual([stages.queue.count, duration.tokenize.count, calls.length], [0, 0, 1]);
  });

  it('put a time in the first bucket that holds it, its bound included', () => {
    const counters = new CallCounters(['a']);
    for (const total of [50, 51, 100, 30_000_000, 30_000_001]) {
      counters.record(text, { ...TIMED_OUT, timings: { ...TIMED_OUT.timings, queue: 0, total } });
    }
    const { cumulative, count } = readCounters([counters])[0]!.duration.tokenize;
    assert.deepEqual([cumulative[0], cumulative[1], cumulative.at(-1), count], [1, 3, 4, 5]);
  });

  it('count an answer once it is known that somebody got it, and say meanwhile that one is on its way', () => {
    const counters = new CallCounters(['a']);
    const reader = new CallCounters(['a'], counters.memory);
    counters.settle(text, served('a', 1), () => {
      assert.equal(reader.pending, true);
      return true;
    });
    counters.settle(text, served('a', 1), () => false);
    assert.equal(reader.pending, false);
    const { calls, discarded } = readCounters([reader])[1]!;
    assert.deepEqual([calls[0]?.count, discarded], [1, 1]);
  });

  it('forget, when a thread is replaced, that the one before it died with an answer in hand', () => {
    const counters = new CallCounters(['a']);
    const died = new Error('out of heap');
    assert.throws(() =>
      counters.settle(text, served('a', 1), () => {
        throw died;
      }),
    );
    assert.equal(counters.pending, true);
    new CallCounters(['a'], counters.memory).start();
    assert.equal(counters.pending, false);
  });
});
