import { setTimeout as sleep } from 'node:timers/promises';
import { DELAY_BOUNDS, type LoopReading } from '../event-loop/watch.ts';
import { type CacheCounters, readCaches } from './cache-counters.ts';
import { type CallCounters, readCounters, STAGES, TIME_BOUNDS } from './call-counters.ts';
import type { HistogramReading } from './histogram.ts';

/** What a native host has answered by itself. */
export interface HostReading {
  readonly connections: number;
  readonly refusedBackpressure: number;
  readonly expired: number;
  readonly disconnected: number;
  readonly badFrames: number;
}

/** Everything that the metrics of a runtime are made of. */
export interface RuntimeReading {
  /** One per thread that answers, all of the same models. */
  readonly calls: readonly CallCounters[];
  /** One per thread that encodes, all of the same models. */
  readonly caches: readonly CacheCounters[];
  readonly loop: LoopReading;
  readonly ready: boolean;
  readonly workers: number;
  readonly busyWorkers: number;
  readonly queuedCalls: number;
  readonly queuedBytes: number;
  /** Worker threads that were lost and replaced. */
  readonly workerRestarts: number;
  /** Runtimes that were lost before this one. */
  readonly runtimeRestarts: number;
  readonly host?: HostReading | undefined;
}

type Labels = Readonly<Record<string, string | number>>;

interface Sample {
  readonly labels: Labels;
  readonly value: number;
  readonly metricName?: string;
}

/** A metric as prom-client's getMetricsAsJSON gives it, which is what its registries of several threads are made of. */
interface Family {
  readonly name: string;
  readonly help: string;
  readonly type: 'counter' | 'gauge' | 'histogram';
  readonly aggregator: 'sum';
  readonly values: readonly Sample[];
}

/** Between an answer and its count lie microseconds, unless the thread is kept off its core. */
const PENDING_TRIES = 20;

/** Takes tens of milliseconds to load, which no start has to wait for: call it once while something else is waited for. */
export function metricsLibrary(): Promise<typeof import('prom-client')> {
  return import('prom-client');
}

/** Prometheus text. Labels are bounded: our own words, and the names under which the operator has loaded models. */
export async function renderMetrics(reading: RuntimeReading): Promise<string> {
  const pending = () => reading.calls.some((counters) => counters.pending);
  for (let tries = 0; tries < PENDING_TRIES && pending(); tries++) await sleep(1);
  const { AggregatorRegistry } = await metricsLibrary();
  return AggregatorRegistry.aggregate([[...callFamilies(reading), ...stateFamilies(reading)]]).metrics();
}

function callFamilies({ calls, caches, host }: RuntimeReading): Family[] {
  const models = readCounters(calls);
  const answered = models.flatMap(({ model, calls }) =>
    calls.map(({ kind, status, provenance, count }) => sample(count, { kind, status, provenance, model })),
  );
  const served = models.filter(({ calls }) => calls.length > 0);
  return [
    counter(
      'calls_total',
      'Calls answered. Kind unknown: by the native host, before a worker had read them.',
      answered.concat(host ? unreadCalls(host) : []),
    ),
    counter(
      'tokens_total',
      'Token ids returned.',
      served.map(({ model, tokens }) => sample(tokens, { model })),
    ),
    counter(
      'cache_lookups_total',
      'Lookups of text seen before while prompts were encoded, by cache: of words, and of passages of several words.',
      readCaches(caches).flatMap(({ model, cache, hits, misses }) => [
        sample(hits, { cache, result: 'hit', model }),
        sample(misses, { cache, result: 'miss', model }),
      ]),
    ),
    counter(
      'answers_discarded_total',
      'Answers of workers that came too late: the deadline had passed, or the caller had left.',
      [sample(models.reduce((sum, { discarded }) => sum + discarded, 0))],
    ),
    times(
      'call_duration_seconds',
      'Time from the arrival of a call to its answer, waiting included. Calls that were refused on arrival are not in it.',
      served.flatMap(({ model, duration }) =>
        (['tokenize', 'detokenize'] as const).map((operation) => ({
          labels: { operation, model },
          reading: duration[operation],
        })),
      ),
    ),
    times(
      'call_stage_duration_seconds',
      'Time of a call by stage: waiting in the queue, parsing the body, rendering the prompt, encoding it.',
      served.flatMap(({ model, stages }) =>
        STAGES.map((stage) => ({ labels: { stage, model }, reading: stages[stage] })),
      ),
    ),
  ];
}

function unreadCalls(host: HostReading): Sample[] {
  const statuses = {
    TIMEOUT: host.expired,
    BACKPRESSURE: host.refusedBackpressure,
    CANCELLED: host.disconnected,
  };
  return Object.entries(statuses).map(([status, count]) =>
    sample(count, { kind: 'unknown', status, provenance: 'none', model: '' }),
  );
}

function stateFamilies(reading: RuntimeReading): Family[] {
  const { loop, host } = reading;
  const families = [
    gauge('ready', '1 when every model is warm.', reading.ready ? 1 : 0),
    gauge('queued_calls', 'Calls that wait for a worker now.', reading.queuedCalls),
    gauge('queued_bytes', 'Bytes of requests that wait for a worker now.', reading.queuedBytes),
    gauge('workers', 'Worker threads that serve.', reading.workers),
    gauge('workers_busy', 'Worker threads that serve a call now.', reading.busyWorkers),
    counter('worker_restarts_total', 'Worker threads that were lost and replaced.', [
      sample(reading.workerRestarts),
    ]),
    counter('runtime_restarts_total', 'Runtime threads that were lost and replaced.', [
      sample(reading.runtimeRestarts),
    ]),
    histogram('event_loop_delay_seconds', "By how much timers of the runtime's event loop were late.", [
      { labels: {}, reading: loop.delay, bounds: DELAY_BOUNDS, perSecond: 1e3 },
    ]),
    counter('event_loop_stalls_total', "Delays of the runtime's event loop of 100 ms and more.", [
      sample(loop.stalls),
    ]),
    gauge('event_loop_longest_stall_seconds', 'The longest delay since the start.', loop.longestMs / 1e3),
  ];
  if (host === undefined) return families;
  return [
    ...families,
    gauge('connections', 'Connections open now.', host.connections),
    counter('bad_frames_total', 'Connections closed for a frame that was malformed or too long.', [
      sample(host.badFrames),
    ]),
  ];
}

function sample(value: number, labels: Labels = {}): Sample {
  return { labels, value };
}

function counter(name: string, help: string, values: readonly Sample[]): Family {
  return { name: `epptok_${name}`, help, type: 'counter', aggregator: 'sum', values };
}

function gauge(name: string, help: string, value: number): Family {
  return { name: `epptok_${name}`, help, type: 'gauge', aggregator: 'sum', values: [sample(value)] };
}

interface Series {
  readonly labels: Labels;
  readonly reading: HistogramReading;
  readonly bounds: readonly number[];
  /** How many of the units that were observed are a second. */
  readonly perSecond: number;
}

/** Histograms of microseconds; those without an observation are left out. */
function times(name: string, help: string, series: readonly Omit<Series, 'bounds' | 'perSecond'>[]): Family {
  const seen = series.filter(({ reading }) => reading.count > 0);
  return histogram(
    name,
    help,
    seen.map((one) => ({ ...one, bounds: TIME_BOUNDS, perSecond: 1e6 })),
  );
}

function histogram(name: string, help: string, series: readonly Series[]): Family {
  const prefixed = `epptok_${name}`;
  const values = series.flatMap(({ labels, reading, bounds, perSecond }): Sample[] => [
    ...bounds.map((bound, index) => ({
      metricName: `${prefixed}_bucket`,
      labels: { le: bound / perSecond, ...labels },
      value: reading.cumulative[index] ?? 0,
    })),
    { metricName: `${prefixed}_bucket`, labels: { le: '+Inf', ...labels }, value: reading.count },
    { metricName: `${prefixed}_sum`, labels, value: reading.sum / perSecond },
    { metricName: `${prefixed}_count`, labels, value: reading.count },
  ]);
  return { name: prefixed, help, type: 'histogram', aggregator: 'sum', values };
}
