import assert from 'node:assert/strict';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { statusName } from '../../src/protocol/status.ts';
import { modelDirectory } from '../models.ts';
import { nativeLibrary } from '../support/built.ts';
import { run } from '../support/subprocess.ts';

const host = join(import.meta.dirname, 'hosts/owner.js');
const plugin = nativeLibrary('quickstart_plugin');

interface Call {
  readonly status: number;
  readonly tookMs: number;
  readonly ids: number[];
  readonly message: string;
}
interface Report {
  readonly before: Call;
  readonly inFlightMs: number;
  readonly inFlight: number[];
  readonly here: Call;
  readonly elsewhere: Call;
  readonly next: Call;
  readonly stale: Call;
}

describe('a worker thread that owned a native handle ends; calls of other threads come back at once', () => {
  for (const ending of [
    'its natural end',
    'process.exit',
    'an uncaught exception',
    'terminate()',
    'heap exhaustion',
  ]) {
    it(ending, async () => {
      const ended = await run(process.execPath, [host, ending, modelDirectory('qwen3'), plugin]);
      assert.equal(ended.code, 0, ended.stderr);
      const report = JSON.parse(ended.stdout) as Report;
      assert.deepEqual(report.before.ids, [9707, 1879]);
      for (const status of report.inFlight.map(statusName)) {
        assert.ok(['OK', 'UNAVAILABLE', 'SHUTTING_DOWN', 'INVALID_HANDLE'].includes(status), status);
      }
      assert.ok(report.inFlightMs < 2000, `calls in flight came back ${report.inFlightMs} ms later`);
      for (const stale of [report.here, report.elsewhere, report.stale]) {
        assert.equal(statusName(stale.status), 'INVALID_HANDLE');
        assert.match(stale.message, /closed/);
        assert.ok(stale.tookMs < 2000, `${stale.tookMs} ms`);
      }
      assert.deepEqual(report.next.ids, [9707, 1879], 'another thread owns the next one');
    });
  }
});
