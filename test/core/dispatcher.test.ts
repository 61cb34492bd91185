import assert from 'node:assert/strict';
import { afterEach, describe, it } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { Dispatcher, type Workers } from '../../src/core/dispatcher.ts';
import { deadlineIn } from '../../src/protocol/deadline.ts';
import { LARGE_BYTES } from '../../src/protocol/large.ts';
import { failure, type Request, type Response } from '../../src/protocol/messages.ts';

const LARGE = LARGE_BYTES + 1;

/** Workers whose answers the test gives by hand. */
class HandWorkers implements Workers {
  readonly size: number;
  readonly started: { request: Request; answer: (response: Response) => void }[] = [];

  constructor(size: number) {
    this.size = size;
  }

  run(request: Request): Promise<Response> {
    return new Promise((answer) => this.started.push({ request, answer }));
  }
}

const opened: Dispatcher[] = [];
/** What is still waiting would hold its timer. */
afterEach(() => {
  for (const dispatcher of opened.splice(0)) dispatcher.close();
});
function open(...args: ConstructorParameters<typeof Dispatcher>): Dispatcher {
  const dispatcher = new Dispatcher(...args);
  opened.push(dispatcher);
  return dispatcher;
}

/** A deadline that no test waits for. */
const LONG = () => deadlineIn(60_000);
const LIMITS = { maxQueueCalls: 2, maxQueueBytes: 100 };
const request = (bytes: number): Request => ({
  operation: 'tokenize',
  kind: 'text',
  flags: 0,
  model: '',
  body: new Uint8Array(bytes),
});
const answer = (worker: number): Response => ({ ...failure('OK', ''), worker });

describe('the dispatcher', () => {
  it('gives each worker one request at a time, in the order of arrival', async () => {
    const workers = new HandWorkers(1);
    const dispatcher = open(workers, LIMITS);
    const calls = [1, 2, 3].map((bytes) => dispatcher.submit(request(bytes), LONG()));
    assert.equal(workers.started.length, 1);
    for (let i = 0; i < 3; i++) {
      workers.started[i]!.answer(answer(i + 1));
      assert.equal((await calls[i]!.response).worker, i + 1);
    }
    assert.deepEqual(
      workers.started.map(({ request }) => request.operation === 'tokenize' && request.body.length),
      [1, 2, 3],
    );
  });

  it('refuses at once when too many calls wait, with the figures', async () => {
    const dispatcher = open(new HandWorkers(1), LIMITS);
    for (let i = 0; i < 3; i++) dispatcher.submit(request(1), LONG()).response;
    const refused = await dispatcher.submit(request(1), LONG()).response;
    assert.equal(refused.status, 'BACKPRESSURE');
    assert.equal(refused.message, '2 calls are waiting, the limit is 2');
  });

  it('refuses at once when too many bytes wait, with the figures', async () => {
    const dispatcher = open(new HandWorkers(1), LIMITS);
    dispatcher.submit(request(1000), LONG());
    dispatcher.submit(request(60), LONG());
    const refused = await dispatcher.submit(request(60), LONG()).response;
    assert.equal(refused.status, 'BACKPRESSURE');
    assert.equal(refused.message, '60 bytes are waiting, 60 more exceed the limit of 100');
  });

  it('leaves one of several workers to small requests, however many large ones wait', async () => {
    const workers = new HandWorkers(2);
    const dispatcher = open(workers, { maxQueueCalls: 10, maxQueueBytes: 1e9 });
    const sizes = () =>
      workers.started.map(({ request }) => request.operation === 'tokenize' && request.body.length);
    for (let i = 0; i < 3; i++) dispatcher.submit(request(LARGE + i), LONG());
    assert.deepEqual(sizes(), [LARGE]);
    dispatcher.submit(request(1), LONG());
    assert.deepEqual(sizes(), [LARGE, 1]);
    workers.started[0]!.answer(answer(1));
    await sleep(1);
    assert.deepEqual(sizes(), [LARGE, 1, LARGE + 1]);
  });

  it('gives large requests the only worker there is', () => {
    const workers = new HandWorkers(1);
    open(workers, LIMITS).submit(request(LARGE), LONG());
    assert.equal(workers.started.length, 1);
  });

  it('takes an expired call out of the queue, unrun', async () => {
    const workers = new HandWorkers(1);
    const dispatcher = open(workers, LIMITS);
    dispatcher.submit(request(1), LONG());
    const expired = await dispatcher.submit(request(2), deadlineIn(50)).response;
    assert.equal(expired.status, 'TIMEOUT');
    assert.match(expired.message, /in the queue/);
    assert.deepEqual(dispatcher.gauges, { queuedCalls: 0, queuedBytes: 0, busyWorkers: 1 });
    workers.started[0]!.answer(answer(1));
    await sleep(5);
    assert.equal(workers.started.length, 1);
  });

  it('answers TIMEOUT while a worker is busy with the call, and keeps the worker for itself until it is done', async () => {
    const workers = new HandWorkers(1);
    const dispatcher = open(workers, LIMITS);
    const expired = await dispatcher.submit(request(1), deadlineIn(50)).response;
    assert.equal(expired.status, 'TIMEOUT');
    assert.match(expired.message, /busy/);
    const next = dispatcher.submit(request(2), LONG());
    assert.equal(workers.started.length, 1);
    workers.started[0]!.answer(answer(1));
    await sleep(5);
    workers.started[1]!.answer(answer(2));
    assert.equal((await next.response).worker, 2);
  });

  it('abandons a queued call with the status given', async () => {
    const workers = new HandWorkers(1);
    const dispatcher = open(workers, LIMITS);
    dispatcher.submit(request(1), LONG());
    const call = dispatcher.submit(request(1), LONG());
    call.abandon('CANCELLED', 'by the test');
    assert.equal((await call.response).status, 'CANCELLED');
    assert.equal(dispatcher.gauges.queuedCalls, 0);
  });

  it('takes a deadline that no timer can hold', async () => {
    const workers = new HandWorkers(1);
    const dispatcher = open(workers, LIMITS);
    const call = dispatcher.submit(request(1), deadlineIn(2 ** 32));
    await sleep(5);
    workers.started[0]!.answer(answer(1));
    assert.equal((await call.response).status, 'OK');
  });

  it('answers TIMEOUT at once when the deadline has passed before the call', async () => {
    const workers = new HandWorkers(1);
    const late = await open(workers, LIMITS).submit(request(1), deadlineIn(-1)).response;
    assert.equal(late.status, 'TIMEOUT');
    assert.equal(workers.started.length, 0);
  });

  it('closes: what waits and what runs is answered SHUTTING_DOWN, and so is what comes after', async () => {
    const workers = new HandWorkers(1);
    const dispatcher = open(workers, LIMITS);
    const calls = [1, 1].map((bytes) => dispatcher.submit(request(bytes), LONG()));
    dispatcher.close();
    for (const call of calls) assert.equal((await call.response).status, 'SHUTTING_DOWN');
    assert.equal((await dispatcher.submit(request(1), LONG()).response).status, 'SHUTTING_DOWN');
    assert.equal(workers.started.length, 1);
  });

  it('adds the time in the queue to the timings', async () => {
    const workers = new HandWorkers(1);
    const dispatcher = open(workers, LIMITS);
    dispatcher.submit(request(1), LONG());
    const call = dispatcher.submit(request(1), LONG());
    await sleep(20);
    workers.started[0]!.answer(answer(1));
    await sleep(1);
    workers.started[1]!.answer({
      ...answer(1),
      timings: { queue: 0, parse: 1, template: 2, encode: 3, total: 10 },
    });
    const { timings } = await call.response;
    assert.ok(timings.queue >= 15_000, `${timings.queue} µs`);
    assert.equal(timings.total, timings.queue + 10);
  });

  it('tells its observer of every answer, with the time that a call given up has taken', async () => {
    const told: Response[] = [];
    const discarded: Response[] = [];
    const workers = new HandWorkers(1);
    const observer = {
      record: (_: Request, response: Response) => void told.push(response),
      recordDiscarded: (response: Response) => void discarded.push(response),
    };
    const dispatcher = open(workers, { maxQueueCalls: 1, maxQueueBytes: 100 }, observer);
    const running = dispatcher.submit(request(1), deadlineIn(200));
    const queued = dispatcher.submit(request(1), deadlineIn(100));
    const refused = dispatcher.submit(request(1), LONG());
    const responses = await Promise.all([refused.response, queued.response, running.response]);
    assert.deepEqual(told, responses);
    assert.deepEqual(
      told.map(({ status }) => status),
      ['BACKPRESSURE', 'TIMEOUT', 'TIMEOUT'],
    );
    const [atOnce, inQueue, inWork] = told.map(({ timings }) => timings);
    assert.equal(atOnce!.total, 0);
    assert.ok(inQueue!.queue >= 95_000 && inQueue!.total === inQueue!.queue, `${inQueue!.queue} µs`);
    assert.ok(inWork!.total - inWork!.queue >= 195_000, `${inWork!.queue}, ${inWork!.total} µs`);
    workers.started[0]!.answer(answer(1));
    await sleep(1);
    assert.deepEqual(discarded, [answer(1)]);
    assert.equal(told.length, 3);
  });
});
