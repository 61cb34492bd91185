import { type Deadline, now, timeLeft } from '../protocol/deadline.ts';
import { failure, NO_TIMINGS, type Request, type Response, type Timings } from '../protocol/messages.ts';
import type { StatusName } from '../protocol/status.ts';
import { type OperationClock, within } from './event-loop/operations.ts';
import { Lanes } from './lanes.ts';

/** What the dispatcher needs of a worker pool: `run` resolves to a response and never rejects. */
export interface Workers {
  readonly size: number;
  run(request: Request): Promise<Response>;
}

/** A timer of more would fire at once: 25 days are long enough for a call. */
const LONGEST_TIMER_MS = 2 ** 31 - 1;

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
  /** When a worker was given it. */
  started: number | undefined;
  readonly settle: (response: Response) => void;
  timer: NodeJS.Timeout | undefined;
  settled: boolean;
}

/** Is told of every answer, in the order in which they are given. */
export interface Observer {
  record(request: Request, response: Response): void;
  /** A worker's answer that came when its call had been answered already. */
  recordDiscarded(response: Response): void;
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
  readonly #observer: Observer | undefined;
  readonly #clock: OperationClock | undefined;
  readonly #queue: Lanes<Entry>;
  /** What workers are at, answered or not: an abandoned call keeps its worker until that is done. */
  readonly #running = new Set<Entry>();
  #closing = false;

  constructor(workers: Workers, limits: Limits, observer?: Observer, clock?: OperationClock) {
    this.#workers = workers;
    this.#queue = new Lanes(workers.size);
    this.#limits = limits;
    this.#observer = observer;
    this.#clock = clock;
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
    return within(this.#clock, 'dispatch', () => this.#submit(request, deadline));
  }

  /** Answers everything with SHUTTING_DOWN. Workers may still be at what they were given. */
  close(): void {
    this.#closing = true;
    const message = 'the tokenizer is being closed';
    for (const entry of [...this.#queue.all(), ...this.#running])
      this.#giveUp(entry, 'SHUTTING_DOWN', message);
  }

  #submit(request: Request, deadline: Deadline): Call {
    let settle!: (response: Response) => void;
    const response = new Promise<Response>((resolve) => {
      settle = resolve;
    });
    const bytes = request.operation === 'tokenize' ? request.body.byteLength : request.ids.byteLength;
    const entry: Entry = {
      request,
      bytes,
      since: now(),
      started: undefined,
      settle,
      timer: undefined,
      settled: false,
    };
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
      abandon: (status, message) => this.#giveUp(entry, status, message),
    };
  }

  #expireAfter(entry: Entry, milliseconds: number): void {
    entry.timer = setTimeout(
      () => {
        const where = this.#queue.has(entry) ? 'in the queue' : 'while its worker was busy with it';
        this.#giveUp(entry, 'TIMEOUT', `the deadline passed after ${Math.round(milliseconds)} ms, ${where}`);
      },
      Math.min(milliseconds, LONGEST_TIMER_MS),
    );
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
    entry.started = now();
    const response = await this.#workers.run(entry.request);
    within(this.#clock, 'reply', () => {
      this.#running.delete(entry);
      if (entry.settled) this.#observer?.recordDiscarded(response);
      else this.#finish(entry, { ...response, timings: waited(entry, response.timings) });
    });
    within(this.#clock, 'dispatch', () => this.#startNext());
  }

  /** Answers for a call that was admitted, with the time that it has taken so far. */
  #giveUp(entry: Entry, status: StatusName, message: string): void {
    if (!entry.settled) this.#finish(entry, failure(status, message, waited(entry, NO_TIMINGS)));
  }

  #finish(entry: Entry, response: Response): void {
    if (entry.settled) return;
    entry.settled = true;
    clearTimeout(entry.timer);
    this.#queue.delete(entry);
    this.#observer?.record(entry.request, response);
    entry.settle(response);
  }
}

/** The worker's timings with the time in the queue; without any, all of the time since the call came in. */
function waited({ since, started }: Entry, timings: Timings): Timings {
  const ended = now();
  const queue = Math.round(((started ?? ended) - since) * 1e3);
  const total = timings.total > 0 ? queue + timings.total : Math.round((ended - since) * 1e3);
  return { ...timings, queue, total };
}
