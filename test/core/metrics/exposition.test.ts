import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { LoopWatch } from '../../../src/core/event-loop/watch.ts';
import { CallCounters } from '../../../src/core/metrics/call-counters.ts';
import { type RuntimeReading, renderMetrics } from '../../../src/core/metrics/exposition.ts';
import { failure, type Request } from '../../../src/protocol/messages.ts';
import { samplesOf } from '../../support/prometheus.ts';

const request: Request = {
  operation: 'tokenize',
  kind: 'chat',
  flags: 0,
  model: '',
  body: new Uint8Array(1),
};
const loop = new LoopWatch('runtime');
loop.stop();

const reading = (calls: readonly CallCounters[]): RuntimeReading => ({
  calls,
  caches: [],
  loop: loop.read(),
  ready: true,
  workers: 2,
  busyWorkers: 1,
  queuedCalls: 3,
  queuedBytes: 4000,
  workerRestarts: 5,
  runtimeRestarts: 6,
});

describe('the metrics as Prometheus text', () => {
  it('have each series once, every name of ours, and _total on counters alone', async () => {
    const counters = new CallCounters(['qwen3']);
    counters.record(request, failure('BACKPRESSURE', ''));
    const text = await renderMetrics(reading([counters]));
    for (const series of samplesOf(text).keys()) assert.match(series, /^epptok_[a-z_]+(\{|$)/);
    for (const [, name, type] of text.matchAll(/^# TYPE (\w+) (\w+)$/gm)) {
      assert.equal(name!.endsWith('_total'), type === 'counter', name);
    }
    assert.equal(
      samplesOf(text).get('epptok_calls_total{kind="chat",status="BACKPRESSURE",provenance="none",model=""}'),
      1,
    );
  });

  it('give times in seconds, in buckets that add up', async () => {
    const counters = new CallCounters(['qwen3']);
    for (const total of [200, 300, 40_000_000]) {
      const timings = { queue: total, parse: 0, template: 0, encode: 0, total };
      counters.record(request, { ...failure('TIMEOUT', '', timings), model: 'qwen3' });
    }
    const samples = samplesOf(await renderMetrics(reading([counters])));
    const name = 'epptok_call_duration_seconds';
    const labels = 'operation="tokenize",model="qwen3"';
    assert.equal(samples.get(`${name}_bucket{le="0.0001",${labels}}`), 0);
    assert.equal(samples.get(`${name}_bucket{le="0.00025",${labels}}`), 1);
    assert.equal(samples.get(`${name}_bucket{le="30",${labels}}`), 2);
    assert.equal(samples.get(`${name}_bucket{le="+Inf",${labels}}`), 3);
    assert.equal(samples.get(`${name}_count{${labels}}`), 3);
    assert.ok(Math.abs(samples.get(`${name}_sum{${labels}}`)! - 40.0005) < 1e-9);
  });

  it('give the state of the runtime', async () => {
    const samples = samplesOf(await renderMetrics(reading([new CallCounters([])])));
    const state = ['ready', 'workers', 'workers_busy', 'queued_calls', 'queued_bytes'];
    assert.deepEqual(
      state.map((name) => samples.get(`epptok_${name}`)),
      [1, 2, 1, 3, 4000],
    );
    assert.equal(samples.get('epptok_worker_restarts_total'), 5);
    assert.equal(samples.get('epptok_runtime_restarts_total'), 6);
  });

  it('count what the native host has answered by itself, of whatever kind that was', async () => {
    const host = { connections: 1, refusedBackpressure: 7, expired: 8, disconnected: 9, badFrames: 10 };
    const samples = samplesOf(await renderMetrics({ ...reading([]), host }));
    const calls = (status: string) =>
      samples.get(`epptok_calls_total{kind="unknown",status="${status}",provenance="none",model=""}`);
    assert.deepEqual(['BACKPRESSURE', 'TIMEOUT', 'CANCELLED'].map(calls), [7, 8, 9]);
    assert.equal(samples.get('epptok_bad_frames_total'), 10);
  });

  it('are those of an answer that its caller already has, also when its thread has not counted it yet', async () => {
    const counters = new CallCounters(['qwen3']);
    let rendering: Promise<string> | undefined;
    counters.settle(request, { ...failure('OK', ''), model: 'qwen3' }, () => {
      rendering = renderMetrics(reading([counters]));
      return true;
    });
    const labels = 'kind="chat",status="OK",provenance="none",model="qwen3"';
    assert.equal(samplesOf(await rendering!).get(`epptok_calls_total{${labels}}`), 1);
  });

  it('escape what an operator may call a model', async () => {
    const counters = new CallCounters(['a "b" \\ c\nd']);
    counters.record(request, { ...failure('OK', ''), model: 'a "b" \\ c\nd' });
    const text = await renderMetrics(reading([counters]));
    assert.match(text, /epptok_tokens_total\{model="a \\"b\\" \\\\ c\\nd"\} 0/);
  });
});
