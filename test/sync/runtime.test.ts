import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, afterEach, before, describe, it } from 'node:test';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { build } from 'tsup';
import { deadlineIn, now } from '../../src/protocol/deadline.ts';
import { LARGE_BYTES } from '../../src/protocol/large.ts';
import type { Request } from '../../src/protocol/messages.ts';
import { SecondaryRuntime } from '../../src/sync/runtime.ts';

const LARGE = LARGE_BYTES + 1;

// A wait that never ends is ended by the time limit of the test runner, which kills the file's process.
const SCRIPT = new URL('./scripted-runtime.js', import.meta.url);
/** A body whose first byte an echo answers. */
const act = (model: string, first = 0, bytes = 1): Request => {
  const body = new Uint8Array(bytes);
  body[0] = first;
  return { operation: 'tokenize', kind: 'text', flags: 0, model, body };
};
/** The scripts' TypeScript, bundled: none runs in a thread whose parent is blocked. */
const folder = mkdtempSync(join(tmpdir(), 'epptok-scripts-'));
const bundled = (name: string) => pathToFileURL(join(folder, `${name}.js`)).href;
const ALL = { maxQueueBytes: 2 ** 30, worker: bundled('worker'), line: bundled('line') };
before(async () => {
  const source = (path: string) => fileURLToPath(new URL(path, import.meta.url));
  const entry = { worker: source('./scripted-worker.ts'), line: source('../../src/sync/line.ts') };
  await build({
    entry,
    outDir: folder,
    format: 'esm',
    outExtension: () => ({ js: '.js' }),
    config: false,
    silent: true,
  });
  writeFileSync(join(folder, 'package.json'), '{ "type": "module" }');
});
after(() => rmSync(folder, { recursive: true }));

let runtime: SecondaryRuntime<typeof ALL>;
const start = (settings = {}) => {
  runtime = new SecondaryRuntime<typeof ALL>(SCRIPT, { ...ALL, ...settings });
  return runtime;
};
const ready = (settings = {}) => {
  assert.deepEqual(start(settings).waitUntilReady(deadlineIn(20_000)), { ok: true, value: undefined });
  return runtime;
};
const idsOf = (request: Request, timeoutMs = 2000) => [...runtime.call(request, deadlineIn(timeoutMs)).ids];
const statusOf = (request: Request, timeoutMs: number) => runtime.call(request, deadlineIn(timeoutMs)).status;
afterEach(() => runtime.close(deadlineIn(200)));

describe('a thread that waits for its secondary runtime', () => {
  it('gets the reply of its own call', () => {
    ready();
    for (let i = 1; i <= 200; i++) assert.deepEqual(idsOf(act('echo', i)), [i]);
  });

  it('gets a frame for a frame, as the worker has written it', () => {
    ready();
    for (const bytes of [3, 100_000]) {
      const frame = Uint8Array.from({ length: bytes }, (_, i) => i % 251);
      const expected = frame.slice().reverse();
      const answer = runtime.callWithFrame(frame, { operation: 'detokenize' }, deadlineIn(2000));
      assert.deepEqual(answer, expected);
    }
  });

  it('gives up at its deadline, and the next call gets its own ids, not the late ones', () => {
    ready();
    const before = now();
    const response = runtime.call(act('late', 1), deadlineIn(50));
    const waited = now() - before;
    assert.equal(response.status, 'TIMEOUT');
    assert.match(response.message, /after \d+ ms, while its worker was busy with it/);
    assert.ok(waited >= 49 && waited < 110, `${waited} ms`);
    // The late reply of call 1 arrives while call 2 waits.
    assert.deepEqual(idsOf(act('late', 2)), [2]);
    assert.deepEqual(idsOf(act('echo', 3)), [3]);
  });

  it('gives up again and again, whenever the answer comes, and is never given that of another call', () => {
    ready();
    for (let i = 1; i <= 40; i++) {
      // Around the moment of the answer.
      const late = runtime.call(act('late', i), deadlineIn(119 + (i % 5)));
      if (late.status === 'OK') assert.deepEqual([...late.ids], [i]);
      else assert.equal(late.status, 'TIMEOUT');
      assert.deepEqual(idsOf(act('echo', i + 100)), [i + 100]);
    }
  });

  it('is woken when the runtime closes', () => {
    ready();
    assert.equal(statusOf(act('be closed'), 5000), 'SHUTTING_DOWN');
  });

  for (const end of ['run out of heap', 'exit', 'hang']) {
    it(`finds out within a second when the runtime is lost (${end}), and a replacement serves`, () => {
      ready();
      const before = now();
      const response = runtime.call(act(end), deadlineIn(20_000));
      const waited = now() - before;
      assert.equal(response.status, 'UNAVAILABLE');
      assert.ok(runtime.lost);
      // Filling a heap takes its own time before the thread dies.
      if (end !== 'run out of heap') assert.ok(waited < 1000, `${waited} ms`);
      runtime = runtime.replace();
      assert.equal(runtime.waitUntilReady(deadlineIn(20_000)).ok, true);
      assert.equal(statusOf(act('echo'), 2000), 'OK');
    });
  }

  it('is asked now and then whether it still wants the reply', () => {
    ready();
    const before = now();
    const check = () =>
      now() - before > 30 ? ({ status: 'CANCELLED', message: 'by the test' } as const) : undefined;
    assert.equal(runtime.call(act('late'), deadlineIn(5000), { everyMs: 5, check }).status, 'CANCELLED');
    assert.ok(now() - before < 110);
  });

  it('is not given the stats that came too late for an earlier call', () => {
    ready({ statsAfterMs: 60 });
    assert.equal(runtime.stats(deadlineIn(20)).status, 'TIMEOUT');
    runtime.call(act('late'), deadlineIn(10));
    const { status, text } = runtime.stats(deadlineIn(5000));
    assert.equal(status, 'OK');
    assert.equal(JSON.parse(text ?? '').length, 1);
  });
});

describe('a worker that is lost with a call in hand', () => {
  it('costs that call, at once, and its successor serves the next', () => {
    ready({ workers: 1 });
    const before = now();
    const response = runtime.call(act('die'), deadlineIn(20_000));
    assert.equal(response.status, 'UNAVAILABLE');
    assert.match(response.message, /as scripted/);
    assert.ok(now() - before < 1000);
    assert.ok(!runtime.lost);
    assert.deepEqual(idsOf(act('echo', 7), 20_000), [7]);
  });

  it('costs nothing when the call had been given up', () => {
    ready({ workers: 2 });
    assert.equal(statusOf(act('die'), 0.01), 'TIMEOUT');
    for (let i = 1; i <= 20; i++) assert.deepEqual(idsOf(act('echo', i), 20_000), [i]);
  });
});

describe('calls whose workers are busy with those that were given up', () => {
  it('go to the worker that is free', () => {
    ready({ workers: 2 });
    assert.equal(statusOf(act('late'), 10), 'TIMEOUT');
    const before = now();
    assert.deepEqual(idsOf(act('echo', 1)), [1]);
    assert.ok(now() - before < 90);
  });

  it('wait for one, and say for how long', () => {
    ready();
    assert.equal(statusOf(act('late'), 10), 'TIMEOUT');
    const [queue] = idsOf(act('waited'));
    assert.ok(queue! > 50_000 && queue! < 200_000, `${queue} us`);
    assert.deepEqual(idsOf(act('waited')).length, 1);
  });

  it('expire in the queue, unrun', () => {
    ready();
    assert.equal(statusOf(act('late'), 10), 'TIMEOUT');
    const expired = runtime.call(act('count, then rest'), deadlineIn(20));
    assert.match(expired.message, /in the queue/);
    assert.deepEqual(idsOf(act('count, then rest')), [2]);
  });

  it('are taken back from a worker that has not begun', () => {
    ready();
    assert.deepEqual(idsOf(act('count, then rest')), [1]);
    assert.equal(statusOf(act('count, then rest'), 20), 'TIMEOUT');
    assert.deepEqual(idsOf(act('count, then rest')), [2]);
  });

  it('are BACKPRESSURE at once when they exceed what may wait, and served when they need not', () => {
    ready({ maxQueueBytes: 1000 });
    assert.equal(statusOf(act('echo', 1, 1001), 2000), 'OK');
    assert.equal(statusOf(act('late'), 10), 'TIMEOUT');
    const before = now();
    const refused = runtime.call(act('echo', 1, 1001), deadlineIn(2000));
    assert.equal(refused.status, 'BACKPRESSURE');
    assert.match(refused.message, /1001 more exceed the limit of 1000/);
    assert.ok(now() - before < 50);
    assert.deepEqual(idsOf(act('echo', 2, 1000)), [2]);
  });

  it('leave one worker to the small ones when they are large', () => {
    ready({ workers: 2 });
    assert.equal(statusOf(act('late', 0, LARGE), 10), 'TIMEOUT');
    const large = runtime.call(act('echo', 1, LARGE), deadlineIn(20));
    assert.match(large.message, /in the queue/);
    assert.deepEqual(idsOf(act('echo', 2), 50), [2]);
    assert.deepEqual(idsOf(act('echo', 3, LARGE)), [3]);
  });
});

describe('a call that no worker has answered', () => {
  it('is told to the runtime, which counts it, with the time that it took', () => {
    ready({ maxQueueBytes: 1000 });
    statusOf(act('late'), 20);
    statusOf(act('echo', 0, 2000), 2000);
    statusOf(act('echo'), 0);
    const { text } = runtime.stats(deadlineIn(2000));
    const told = JSON.parse(text ?? '') as { call: object; response: { status: string; timings: object } }[];
    assert.deepEqual(
      told.map(({ response }) => response.status),
      ['TIMEOUT', 'BACKPRESSURE', 'TIMEOUT'],
    );
    for (const { call } of told) assert.deepEqual(call, { operation: 'tokenize', kind: 'text' });
    const totals = told.map(({ response }) => (response.timings as { total: number }).total);
    assert.ok(totals[0]! >= 20_000, `${totals[0]} us`);
    assert.deepEqual(totals.slice(1), [0, 0], 'refused at the door');
  });
});

describe('a runtime that starts', () => {
  it('says why it cannot', () => {
    const failed = start({ fail: true }).waitUntilReady(deadlineIn(5000));
    assert.deepEqual(failed, { ok: false, fault: { status: 'INIT_FAILED', message: 'as scripted' } });
  });

  it('is waited for until the deadline, no longer', () => {
    const before = now();
    const failed = start({ silent: true }).waitUntilReady(deadlineIn(100));
    assert.equal(failed.ok || failed.fault.status, 'TIMEOUT');
    assert.ok(now() - before < 300);
  });

  it('is not waited for when it is closed meanwhile', () => {
    start({ silent: true });
    const before = now();
    runtime.close(deadlineIn(5000));
    assert.ok(now() - before < 300);
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
