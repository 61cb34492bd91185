import assert from 'node:assert/strict';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { statusName } from '../../src/protocol/status.ts';
import { modelDirectory } from '../models.ts';
import { nativeLibrary } from '../support/built.ts';
import { run } from '../support/subprocess.ts';

const host = (name: string) => join(import.meta.dirname, `hosts/${name}.js`);
const plugin = nativeLibrary('quickstart_plugin');
const MODEL = modelDirectory('qwen3');
const HI = [151644, 872, 198, 13048, 151645, 198, 151644, 77091, 198];
/** A thread is back within a second on a machine that does nothing else (lifecycle.test.ts); a call's own deadline is 30 s. */
const BACK_MS = 10_000;

interface Timed {
  readonly answer: number[] | { readonly status: string | number };
  readonly tookMs: number;
}

interface Door {
  readonly door: string;
  readonly before: Timed;
  readonly lost: Timed;
  readonly after: Timed;
}

describe('a thread that runs out of heap costs its own call, UNAVAILABLE, and is replaced', () => {
  it('by every door of a Node host', async () => {
    const ended = await run(process.execPath, ['--max-old-space-size=64', host('heap'), MODEL, plugin]);
    assert.equal(ended.code, 0, ended.stderr);
    const logged = (what: string) => ended.stderr.split(`a ${what} was lost`).length - 1;
    // Of the blocking door, called from Node and from C; the host of an AsyncTokenizer has a log of its own. In so small a heap
    // one that takes its place may be lost, too, before it serves.
    assert.ok(logged('worker') >= 2 && logged('service thread') >= 1, ended.stderr);
    const lines = ended.stdout.trim().split('\n');
    const doors = lines.map((line) => JSON.parse(line) as Door);
    assert.deepEqual(
      doors.map(({ door }) => door),
      ['AsyncTokenizer', 'Tokenizer', 'callback', 'direct'],
    );
    for (const { door, before, lost, after } of doors) {
      assert.deepEqual(before.answer, HI, door);
      const { status } = lost.answer as { status: string | number };
      assert.equal(typeof status === 'number' ? statusName(status) : status, 'UNAVAILABLE', door);
      assert.deepEqual(after.answer, HI, door);
      assert.ok(after.tookMs < BACK_MS, `${door}: ${after.tookMs} ms`);
    }
  });
});

describe('a secondary runtime that ends while its owner idles', () => {
  it('is replaced at once, and C threads are served again', async () => {
    const ended = await run(process.execPath, [host('lost-runtime'), MODEL, plugin]);
    assert.equal(ended.code, 0, ended.stderr);
    const report = JSON.parse(ended.stdout);
    assert.equal(report.runtimes, 1);
    for (const { statuses, tookMs } of [report.before, report.after, report.again]) {
      assert.deepEqual(statuses.map(statusName), ['OK', 'OK']);
      assert.ok(tookMs < BACK_MS, `${tookMs} ms`);
    }
    assert.deepEqual(report.blocking, [9707, 1879]);
  });
});
