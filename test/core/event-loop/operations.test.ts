import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { OperationClock, within } from '../../../src/core/event-loop/operations.ts';

/** A clock that the test moves. */
function clockByHand() {
  let now = 1000;
  const pass = (milliseconds: number) => {
    now += milliseconds;
  };
  return { clock: new OperationClock(() => now), pass };
}

describe('the operation clock', () => {
  it('adds up what each operation takes, and nothing in between', () => {
    const { clock, pass } = clockByHand();
    pass(7);
    clock.within('accept', () => pass(1));
    pass(7);
    clock.within('dispatch', () => pass(2));
    clock.within('accept', () => pass(4));
    assert.deepEqual(clock.take(), { accept: 5, dispatch: 2, reply: 0, decode: 0 });
  });

  it('takes an operation inside another one for itself', () => {
    const { clock, pass } = clockByHand();
    clock.within('reply', () => {
      pass(1);
      clock.within('dispatch', () => pass(10));
      pass(2);
    });
    assert.deepEqual(clock.take(), { accept: 0, dispatch: 10, reply: 3, decode: 0 });
  });

  it('ends an operation that throws', () => {
    const { clock, pass } = clockByHand();
    const failing = () =>
      clock.within('decode', () => {
        pass(1);
        throw new Error('by the test');
      });
    assert.throws(failing, /by the test/);
    pass(100);
    assert.equal(clock.take().decode, 1);
  });

  it('starts anew with each take', () => {
    const { clock, pass } = clockByHand();
    clock.within('reply', () => pass(3));
    clock.take();
    assert.deepEqual(clock.take(), { accept: 0, dispatch: 0, reply: 0, decode: 0 });
  });

  it('returns what the work returns, with a clock or without one', () => {
    assert.equal(
      within(new OperationClock(), 'accept', () => 5),
      5,
    );
    assert.equal(
      within(undefined, 'accept', () => 6),
      6,
    );
  });
});
