import assert from 'node:assert/strict';
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { describe, it } from 'node:test';
import { modelDirectory } from '../models.ts';
import { nativeLibrary } from '../support/built.ts';
import { assertInTime } from '../support/in-time.ts';

const host = new URL('./hosts/ending.js', import.meta.url);
const plugin = nativeLibrary('quickstart_plugin');

/** How the host ended, and how long after it had set out to. */
async function end(ending: string) {
  const child = fork(host, [ending, modelDirectory('qwen3'), plugin], {
    execArgv: [],
    stdio: ['ignore', 1, 'pipe', 'ipc'],
  });
  let stderr = '';
  child.stderr?.on('data', (text) => {
    stderr += text;
  });
  const limit = setTimeout(() => child.kill('SIGKILL'), 60_000);
  let endsAt = 0;
  child.on('message', (message: { endsAt: number }) => {
    endsAt = message.endsAt;
  });
  const [code, signal] = (await once(child, 'exit')) as [number | null, string | null];
  clearTimeout(limit);
  return { code, signal, after: Date.now() - endsAt, stderr };
}

describe('a Node host with handles open and calls in flight ends within 2 s', () => {
  const cases: [string, number | null, string | null][] = [
    ['process.exit', 0, null],
    ['an uncaught exception', 1, null],
    ['SIGTERM without a handler', null, 'SIGTERM'],
    ['SIGTERM with a handler', 0, null],
    ['process.exit in a SIGTERM handler', 0, null],
    ['the natural end', 0, null],
  ];
  for (const [ending, code, signal] of cases) {
    it(ending, async () => {
      await assertInTime(2000, async () => {
        const ended = await end(ending);
        assert.equal(ended.signal, signal, ended.stderr);
        assert.equal(ended.code, code, ended.stderr);
        return ended.after;
      });
    });
  }
});
