import { type LoopOperation, OperationClock, within } from '../../src/core/event-loop/operations.ts';
import { LoopWatch } from '../../src/core/event-loop/watch.ts';
import { CacheCounters } from '../../src/core/metrics/cache-counters.ts';
import { CallCounters } from '../../src/core/metrics/call-counters.ts';
import { renderMetrics } from '../../src/core/metrics/exposition.ts';
import { failure, type Request, type Response } from '../../src/protocol/messages.ts';
import { RequestTracker } from '../../src/request-tracker.ts';
import { median } from '../statistics.ts';

export interface InstrumentCost {
  readonly what: string;
  /** Nanoseconds, the median of several rounds. */
  readonly ns: number;
}

const MODELS = ['a', 'b', 'c'];
const ROUNDS = 9;

const request: Request = {
  operation: 'tokenize',
  kind: 'chat',
  flags: 0,
  model: '',
  body: new Uint8Array(9),
};

/** Responses as different as those of a day: sizes, models, failures. */
const RESPONSES: readonly Response[] = Array.from({ length: 64 }, (_, i) => {
  const encode = 30 * 1.2 ** (i % 40);
  const timings = {
    queue: 5 * i,
    parse: 20 + i,
    template: i % 3 ? 40 : 0,
    encode,
    total: encode + 6 * i + 60,
  };
  return {
    ...failure(i % 16 === 0 ? 'TIMEOUT' : 'OK', ''),
    model: MODELS[i % 3]!,
    provenance: i % 16 === 0 ? 'none' : 'tokenized',
    worker: 1,
    ids: new Uint32Array(i),
    counts: [i],
    timings,
  };
});

/** What the instruments add to a call, and what a look at them takes. */
export async function instrumentCosts(calls: number): Promise<InstrumentCost[]> {
  const counters = new CallCounters(MODELS);
  const tracker = new RequestTracker(undefined);
  const told = new RequestTracker((record) => record.tokens);
  const clock = new OperationClock();
  const operations = (one: OperationClock | undefined) => {
    for (const operation of ['accept', 'dispatch', 'reply', 'decode'] satisfies LoopOperation[]) {
      within(one, operation, () => operation);
    }
  };
  const perCall: [string, (response: Response) => void][] = [
    ['count a call (dispatcher)', (response) => counters.record(request, response)],
    ['count a call (service thread)', (response) => counters.settle(request, response, () => true)],
    ['record of a request, no hook', (response) => tracker.end(tracker.begin(request), response)],
    ['record of a request, with a hook', (response) => told.end(told.begin(request), response)],
    ['stall trace off, four operations', () => operations(undefined)],
    ['stall trace on, four operations', () => operations(clock)],
  ];
  const costs = perCall.map(([what, work]) => ({ what, ns: nanoseconds(calls, work) }));
  return [...costs, { what: 'render the metrics of 3 models, 4 threads', ns: await rendering() }];
}

function nanoseconds(calls: number, work: (response: Response) => void): number {
  const rounds = Array.from({ length: ROUNDS }, () => {
    const start = process.hrtime.bigint();
    for (let i = 0; i < calls; i++) work(RESPONSES[i & 63]!);
    return Number(process.hrtime.bigint() - start) / calls;
  });
  return median(rounds);
}

async function rendering(): Promise<number> {
  const threads = Array.from({ length: 4 }, () => new CallCounters(MODELS));
  for (const counters of threads) for (const response of RESPONSES) counters.record(request, response);
  const watch = new LoopWatch('runtime');
  watch.stop();
  const state = { ready: true, workers: 4, busyWorkers: 2, queuedCalls: 0, queuedBytes: 0 };
  const rounds: number[] = [];
  for (let round = 0; round < ROUNDS * 5; round++) {
    const start = process.hrtime.bigint();
    await renderMetrics({
      ...state,
      calls: threads,
      caches: threads.map(() => new CacheCounters(MODELS)),
      loop: watch.read(),
      workerRestarts: 0,
      runtimeRestarts: 0,
    });
    rounds.push(Number(process.hrtime.bigint() - start));
  }
  return median(rounds);
}
