import assert from 'node:assert/strict';
import { afterEach, describe, it } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { within } from '../../../src/core/event-loop/operations.ts';
import { stallThreshold } from '../../../src/core/event-loop/threshold.ts';
import { LoopWatch, type Stall } from '../../../src/core/event-loop/watch.ts';

const watches: LoopWatch[] = [];
afterEach(() => {
  for (const watch of watches.splice(0)) watch.stop();
});

/** A watch, and the stalls over 150 ms that it has seen: a machine that is busy makes shorter ones of its own. */
async function traced(): Promise<{ watch: LoopWatch; stalls: Stall[] }> {
  const stalls: Stall[] = [];
  const watch = new LoopWatch('host', { thresholdMs: 150, report: (stall) => stalls.push(stall) });
  watches.push(watch);
  await sleep(30);
  return { watch, stalls };
}

function block(milliseconds: number): void {
  const until = performance.now() + milliseconds;
  while (performance.now() < until);
}

describe('the watch of an event loop', () => {
  it('reports a stall with its length', async () => {
    const { stalls } = await traced();
    block(300);
    await sleep(30);
    assert.equal(stalls.length, 1);
    // A timer was due at most one tick of 10 ms after the loop was blocked.
    assert.ok(stalls[0]!.ms >= 285, `${stalls[0]!.ms} ms`);
  });

  it('names the operation of ours that it was, and lets the host account for the rest', async () => {
    const { watch, stalls } = await traced();
    block(50);
    within(watch.clock, 'dispatch', () => block(220));
    await sleep(30);
    assert.equal(stalls[0]?.operation, 'dispatch');
    assert.ok(stalls[0].spent.dispatch! >= 219, `${stalls[0].spent.dispatch} ms`);
    assert.ok(stalls[0].spent.host! >= 35, `${stalls[0].spent.host} ms`);
    assert.equal(stalls[0].spent.reply, undefined);
  });

  it('says of a sleeping thread that it was on no core', { skip: process.platform !== 'linux' }, async () => {
    const { stalls } = await traced();
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 300);
    await sleep(30);
    assert.equal(stalls[0]?.operation, 'host');
    assert.ok(stalls[0].cpuMs! < 100, `${stalls[0].cpuMs} ms on a core`);
  });

  it('counts stalls and delays without a trace, and times no operation', async () => {
    const watch = new LoopWatch('runtime');
    watches.push(watch);
    assert.equal(watch.clock, undefined);
    await sleep(160);
    block(300);
    await sleep(110);
    const { stalls, longestMs, delay } = watch.read();
    assert.ok(stalls >= 1);
    assert.ok(longestMs >= 245, `${longestMs} ms`);
    assert.ok(delay.count >= 3);
    assert.equal(delay.cumulative.at(-1), delay.count);
  });
});

describe('EPPTOK_STALL_TRACE_MS', () => {
  it('is whole milliseconds; absent or empty, there is no trace', () => {
    const of = (value?: string) =>
      stallThreshold(value === undefined ? {} : { EPPTOK_STALL_TRACE_MS: value });
    assert.deepEqual(of('100'), { ok: true, value: 100 });
    assert.deepEqual(of(), { ok: true, value: 0 });
    assert.deepEqual(of(''), { ok: true, value: 0 });
    for (const wrong of ['-1', '1.5', 'yes', '10ms']) {
      const outcome = of(wrong);
      assert.ok(!outcome.ok);
      assert.match(outcome.fault.message, /EPPTOK_STALL_TRACE_MS/);
    }
  });
});
