import { type Deadline, now, timeLeft } from '../protocol/deadline.ts';
import { failure, type Request, type Response } from '../protocol/messages.ts';
import type { StatusName } from '../protocol/status.ts';

/** What the dispatcher needs of a worker pool: `run` resolves to a response and never rejects. */
export interface Workers {
  readonly size: number;
  run(request: Request): Promise<Response>;
}

export interface Limits {
  /** Calls that may wait for a worker before BACKPRESSURE. */
  readonly maxQueueCalls: number;
  /** Bytes of request bodies that may wait for a worker before BACKPRESSURE. */
  readonly maxQueueBytes: number;
}

/** One call: its answer, and the means to give it up. */
export interface Call {
  readonly response: Promise<Response>;
  /** Answers the call with `status` now. Queued, it leaves the queue; running, its worker's answer is thrown away. */
  abandon(status: StatusName, message: string): void;
}

interface Entry {
  readonly request: Request;
  readonly bytes: number;
  readonly since: number;
  readonly settle: (response: Response) => void;
  timer: NodeJS.Timeout | undefined;
  settled: boolean;
}

export interface DispatcherGauges {
  readonly queuedCalls: number;
  readonly queuedBytes: number;
  readonly busyWorkers: number;
}

/**
 * Requests in, responses out. Owns admission, absolute deadlines and cancellation of what is queued; never parses, renders
 * or encodes. A worker is given one request at a time, so that what leaves the queue unrun never reaches a worker: aborting
 * a task that runs would cost the worker its warm caches.
 */
export class Dispatcher {
  readonly #workers: Workers;
  readonly #limits: Limits;
  readonly #onResponse: (request: Request, response: Response) => void;
  /** A Set keeps arrival order and lets an expired call leave from anywhere in O(1). */
  readonly #queue = new Set<Entry>();
  readonly #running = new Set<Entry>();
  #queuedBytes = 0;
  #busy = 0;
  #closing = false;
  #idle: (() => void) | undefined;

  constructor(
    workers: Workers,
    limits: Limits,
    onResponse: (request: Request, response: Response) => void = () => {},
  ) {
    this.#workers = workers;
    this.#limits = limits;
    this.#onResponse = onResponse;
  }

  get gauges(): DispatcherGauges {
    return { queuedCalls: this.#queue.size, queuedBytes: this.#queuedBytes, busyWorkers: this.#busy };
  }

  /** Never throws; the response never rejects. */
  submit(request: Request, deadline: Deadline): Call {
    let settle!: (response: Response) => void;
    const response = new Promise<Response>((resolve) => {
      settle = resolve;
    });
    const bytes = request.operation === 'tokenize' ? request.body.byteLength : request.ids.byteLength;
    const entry: Entry = { request, bytes, since: now(), settle, timer: undefined, settled: false };
    const refused = this.#refusal(bytes, deadline);
    if (refused) {
      this.#finish(entry, refused);
      return { response, abandon: () => {} };
    }
    const wait = timeLeft(deadline);
    entry.timer = setTimeout(() => {
      const where = this.#queue.has(entry) ? 'in the queue' : 'while its worker was busy with it';
      this.#finish(entry, failure('TIMEOUT', `the deadline passed after ${Math.round(wait)} ms, ${where}`));
    }, wait);
    this.#queue.add(entry);
    this.#queuedBytes += bytes;
    this.#startNext();
    return {
      response,
      abandon: (status, message) => this.#finish(entry, failure(status, message)),
    };
  }

  /** Answers everything with SHUTTING_DOWN; resolves when no worker is busy any more. */
  async close(): Promise<void> {
    this.#closing = true;
    const message = 'the tokenizer is being closed';
    for (const entry of [...this.#queue, ...this.#running])
      this.#finish(entry, failure('SHUTTING_DOWN', message));
    if (this.#busy > 0) {
      await new Promise<void>((resolve) => {
        this.#idle = resolve;
      });
    }
  }

  #refusal(bytes: number, deadline: Deadline): Response | undefined {
    if (this.#closing) return failure('SHUTTING_DOWN', 'the tokenizer is being closed');
    if (timeLeft(deadline) <= 0) return failure('TIMEOUT', 'the deadline had passed when the call was made');
    // With a worker free nothing waits, whatever its size: the limits are on the queue.
    if (this.#busy < this.#workers.size) return undefined;
    const { maxQueueCalls, maxQueueBytes } = this.#limits;
    const calls = this.#queue.size;
    if (calls >= maxQueueCalls) {
      return failure('BACKPRESSURE', `${calls} calls are waiting, the limit is ${maxQueueCalls}`);
    }
    if (this.#queuedBytes + bytes > maxQueueBytes) {
      return failure(
        'BACKPRESSURE',
        `${this.#queuedBytes} bytes are waiting, ${bytes} more exceed the limit of ${maxQueueBytes}`,
      );
    }
    return undefined;
  }

  #startNext(): void {
    while (this.#busy < this.#workers.size) {
      const [entry] = this.#queue;
      if (entry === undefined) return;
      this.#leaveQueue(entry);
      void this.#run(entry);
    }
  }

  async #run(entry: Entry): Promise<void> {
    this.#busy++;
    this.#running.add(entry);
    const queued = now() - entry.since;
    const response = await this.#workers.run(entry.request);
    this.#running.delete(entry);
    this.#busy--;
    if (!entry.settled) {
      const queue = Math.round(queued * 1e3);
      const timings = { ...response.timings, queue, total: queue + response.timings.total };
      this.#finish(entry, { ...response, timings });
    }
    this.#startNext();
    if (this.#busy === 0) this.#idle?.();
  }

  #leaveQueue(entry: Entry): void {
    if (this.#queue.delete(entry)) this.#queuedBytes -= entry.bytes;
  }

  #finish(entry: Entry, response: Response): void {
    if (entry.settled) return;
    entry.settled = true;
    clearTimeout(entry.timer);
    this.#leaveQueue(entry);
    this.#onResponse(entry.request, response);
    entry.settle(response);
  }
}
