import { type Deadline, now, timeLeft } from '../protocol/deadline.ts';
import { failure, type Request, type Response } from '../protocol/messages.ts';
import type { StatusName } from '../protocol/status.ts';
import { Lanes } from './lanes.ts';

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
  readonly #queue: Lanes<Entry>;
  /** What workers are at, answered or not: an abandoned call keeps its worker until that is done. */
  readonly #running = new Set<Entry>();
  #closing = false;
  #idle: (() => void) | undefined;

  constructor(
    workers: Workers,
    limits: Limits,
    onResponse: (request: Request, response: Response) => void = () => {},
  ) {
    this.#workers = workers;
    this.#queue = new Lanes(workers.size);
    this.#limits = limits;
    this.#onResponse = onResponse;
  }

  get gauges(): DispatcherGauges {
    return {
      queuedCalls: this.#queue.calls,
      queuedBytes: this.#queue.bytes,
      busyWorkers: this.#running.size,
    };
  }

  /** Never throws; the response never rejects. */
  submit(request: Request, deadline: Deadline): Call {
    let settle!: (response: Response) => void;
    const response = new Promise<Response>((resolve) => {
      settle = resolve;
    });
    const bytes = request.operation === 'tokenize' ? request.body.byteLength : request.ids.byteLength;
    const entry: Entry = { request, bytes, since: now(), settle, timer: undefined, settled: false };
    const { calls: waitingCalls, bytes: waitingBytes } = this.#queue;
    const left = timeLeft(deadline);
    if (this.#closing) {
      this.#finish(entry, failure('SHUTTING_DOWN', 'the tokenizer is being closed'));
    } else if (left === 0) {
      this.#finish(entry, failure('TIMEOUT', 'the deadline had passed when the call was made'));
    } else {
      this.#queue.add(entry);
      this.#startNext();
      // What starts at once waits for nothing, whatever its size: the limits are on the queue.
      const refused = this.#queue.has(entry) && this.#refusal(bytes, waitingCalls, waitingBytes);
      if (refused) this.#finish(entry, refused);
      else this.#expireAfter(entry, left);
    }
    return {
      response,
      abandon: (status, message) => this.#finish(entry, failure(status, message)),
    };
  }

  /** Answers everything with SHUTTING_DOWN; resolves when no worker is busy any more. */
  async close(): Promise<void> {
    this.#closing = true;
    const message = 'the tokenizer is being closed';
    for (const entry of [...this.#queue.all(), ...this.#running])
      this.#finish(entry, failure('SHUTTING_DOWN', message));
    if (this.#running.size > 0) {
      await new Promise<void>((resolve) => {
        this.#idle = resolve;
      });
    }
  }

  #expireAfter(entry: Entry, milliseconds: number): void {
    entry.timer = setTimeout(() => {
      const where = this.#queue.has(entry) ? 'in the queue' : 'while its worker was busy with it';
      const message = `the deadline passed after ${Math.round(milliseconds)} ms, ${where}`;
      this.#finish(entry, failure('TIMEOUT', message));
    }, milliseconds);
  }

  #refusal(bytes: number, waitingCalls: number, waitingBytes: number): Response | undefined {
    const { maxQueueCalls, maxQueueBytes } = this.#limits;
    if (waitingCalls >= maxQueueCalls) {
      return failure('BACKPRESSURE', `${waitingCalls} calls are waiting, the limit is ${maxQueueCalls}`);
    }
    if (waitingBytes + bytes > maxQueueBytes) {
      return failure(
        'BACKPRESSURE',
        `${waitingBytes} bytes are waiting, ${bytes} more exceed the limit of ${maxQueueBytes}`,
      );
    }
    return undefined;
  }

  #startNext(): void {
    while (this.#running.size < this.#workers.size) {
      const entry = this.#queue.take(this.#running);
      if (entry === undefined) return;
      void this.#run(entry);
    }
  }

  async #run(entry: Entry): Promise<void> {
    this.#running.add(entry);
    const queued = now() - entry.since;
    const response = await this.#workers.run(entry.request);
    this.#running.delete(entry);
    if (!entry.settled) {
      const queue = Math.round(queued * 1e3);
      const timings = { ...response.timings, queue, total: queue + response.timings.total };
      this.#finish(entry, { ...response, timings });
    }
    this.#startNext();
    if (this.#running.size === 0) this.#idle?.();
  }

  #finish(entry: Entry, response: Response): void {
    if (entry.settled) return;
    entry.settled = true;
    clearTimeout(entry.timer);
    this.#queue.delete(entry);
    this.#onResponse(entry.request, response);
    entry.settle(response);
  }
}
