import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { Latch } from '../../src/sync/latch.ts';

describe('the latch, as its two sides see it', () => {
  const caller = new Latch();
  const runtime = new Latch(caller.memory);

  it('shows the call that waits for a worker, rounded up to KiB, and when none does', () => {
    assert.equal(runtime.queued, undefined);
    for (const [bytes, shown] of [
      [0, 1024],
      [1023, 1024],
      [1024, 1024],
      [1025, 2048],
      [5_000_000_000, 5_000_000_512],
    ] as const) {
      caller.queued = bytes;
      assert.equal(runtime.queued, shown);
    }
    caller.queued = undefined;
    assert.equal(runtime.queued, undefined);
  });

  it('has a signal for each piece of news, and news for the runtime alone', () => {
    const { signals, news } = caller;
    runtime.signal();
    assert.deepEqual([caller.signals, caller.news], [signals + 1, news]);
    runtime.signalNews();
    assert.deepEqual([caller.signals, caller.news], [signals + 2, news + 1]);
  });
});
