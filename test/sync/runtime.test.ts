import assert from 'node:assert/strict';
import { afterEach, describe, it } from 'node:test';
import { deadlineIn, now } from '../../src/protocol/deadline.ts';
import { failure, type Request } from '../../src/protocol/messages.ts';
import { SecondaryRuntime } from '../../src/sync/runtime.ts';
import { assertInTime } from '../support/in-time.ts';

// A wait that never ends is ended by the time limit of the test runner, which kills the file's process.
const SCRIPT = new URL('./scripted-runtime.js', import.meta.url);
const act = (model: string): Request => ({
  operation: 'tokenize',
  kind: 'text',
  flags: 0,
  model,
  body: new Uint8Array(0),
});

let runtime: SecondaryRuntime<object>;
const start = (settings = {}) => {
  runtime = new SecondaryRuntime(SCRIPT, settings);
  return runtime;
};
const ready = () => {
  assert.deepEqual(start().waitUntilReady(deadlineIn(30_000)), { ok: true, value: undefined });
  return runtime;
};
afterEach(() => runtime.close(deadlineIn(200)));

describe('a thread that waits for its secondary runtime', () => {
  it('gets the reply of its own call', () => {
    ready();
    for (let i = 1; i <= 200; i++) {
      assert.deepEqual([...runtime.call(act('echo'), deadlineIn(20_000)).ids], [i]);
    }
  });

  it('gives up at its deadline, and the next call gets its own ids, not the late ones', () => {
    ready();
    const before = now();
    assert.equal(runtime.call(act('late'), deadlineIn(50)).status, 'TIMEOUT');
    const waited = now() - before;
    assert.ok(waited >= 49 && waited < 550, `${waited} ms`);
    // The late reply of call 1 arrives while call 2 waits.
    assert.deepEqual([...runtime.call(act('late'), deadlineIn(20_000)).ids], [2]);
    assert.deepEqual([...runtime.call(act('echo'), deadlineIn(20_000)).ids], [3]);
  });

  it('is woken when the runtime closes', () => {
    ready();
    assert.equal(runtime.call(act('be closed'), deadlineIn(30_000)).status, 'SHUTTING_DOWN');
  });

  for (const end of ['run out of heap', 'exit', 'hang']) {
    it(`finds out within a second when the runtime is lost (${end}), and a replacement serves`, () => {
      ready();
      // Filling a heap takes its own time before the thread dies.
      return assertInTime(end === 'run out of heap' ? 20_000 : 1000, () => {
        const before = now();
        const response = runtime.call(act(end), deadlineIn(30_000));
        const waited = now() - before;
        assert.equal(response.status, 'UNAVAILABLE');
        assert.ok(runtime.lost);
        runtime = runtime.replace();
        assert.equal(runtime.waitUntilReady(deadlineIn(30_000)).ok, true);
        assert.equal(runtime.call(act('echo'), deadlineIn(20_000)).status, 'OK');
        return waited;
      });
    });
  }

  it('is asked now and then whether it still wants the reply', () => {
    ready();
    const before = now();
    const check = () => (now() - before > 30 ? failure('CANCELLED', 'by the test') : undefined);
    assert.equal(runtime.call(act('never'), deadlineIn(30_000), { everyMs: 5, check }).status, 'CANCELLED');
    assert.ok(now() - before < 10_000);
  });
});

describe('a runtime that starts', () => {
  it('says why it cannot', () => {
    const failed = start({ fail: true }).waitUntilReady(deadlineIn(30_000));
    assert.deepEqual(failed, { ok: false, fault: { status: 'INIT_FAILED', message: 'as scripted' } });
  });

  it('is waited for until the deadline, no longer', () => {
    const before = now();
    const failed = start({ silent: true }).waitUntilReady(deadlineIn(100));
    assert.equal(failed.ok || failed.fault.status, 'TIMEOUT');
    assert.ok(now() - before < 3000);
  });

  it('is not waited for when it is closed meanwhile', () => {
    start({ silent: true });
    const before = now();
    runtime.close(deadlineIn(30_000));
    assert.ok(now() - before < 10_000);
  });

  it('is found out when it dies, long before the deadline', () => {
    const before = now();
    const failed = start({ die: true }).waitUntilReady(deadlineIn(60_000));
    assert.deepEqual(failed, {
      ok: false,
      fault: { status: 'INIT_FAILED', message: 'the runtime thread died while it started' },
    });
    assert.ok(now() - before < 20_000);
  });
});
