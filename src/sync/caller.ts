import { type Deadline, now } from '../protocol/deadline.ts';
import { type CallSubject, failure, NO_TIMINGS, type Response } from '../protocol/messages.ts';
import { type Fault, fail, type Outcome, succeed } from '../protocol/status.ts';
import type { Abandonment } from './block-on.ts';
import type { Latch } from './latch.ts';
import type { Answer, Call, CallerEnd } from './line.ts';
import type { News } from './news.ts';

/** What the calls of a blocked thread need of its runtime. */
export interface CallerRuntime {
  readonly latch: Latch;
  readonly news: News;
  /** Bytes of a call that may wait for a worker. */
  readonly maxQueueBytes: number;
  /** Blocks until `look` finds something; a runtime that is lost is UNAVAILABLE. */
  blockOn<T>(look: () => T | undefined, deadline: Deadline, abandonment?: Abandonment): Outcome<T>;
  /** Is told of a call that no worker has answered. */
  unserved(call: CallSubject, response: Response): void;
}

/**
 * The calls of one blocked thread, one at a time: each goes straight to a worker that is free, and the worker's answer straight
 * back. No event loop stands in between, which would cost two more handoffs between threads, each of some 60 us where it
 * crosses cores. There is a queue all the same, of this one call, while workers are at those that were abandoned before it.
 */
export class Caller {
  readonly #runtime: CallerRuntime;

  constructor(runtime: CallerRuntime) {
    this.#runtime = runtime;
  }

  /** `posted` of `bytes`, which `subject` says the kind of, is answered in kind, or with the response that says why not. */
  call(
    posted: Call,
    subject: CallSubject,
    bytes: number,
    deadline: Deadline,
    abandonment?: Abandonment,
  ): Answer {
    const { news } = this.#runtime;
    const since = now();
    news.read();
    const refused = deadline <= since ? PAST : undefined;
    const line = refused ?? news.lines.free(bytes) ?? this.#waitForLine(bytes, deadline, abandonment);
    const started = now();
    if ('status' in line) return this.#unserved(subject, line, since, started, 'in the queue');
    line.post(posted, bytes, microseconds(started - since));
    const answer = this.#waitForAnswer(line, deadline, abandonment);
    return answer.ok
      ? answer.value
      : this.#unserved(subject, answer.fault, since, started, 'while its worker was busy with it');
  }

  #waitForLine(bytes: number, deadline: Deadline, abandonment: Abandonment | undefined): CallerEnd | Fault {
    const { latch, news, maxQueueBytes } = this.#runtime;
    if (bytes > maxQueueBytes) {
      const message = `0 bytes are waiting, ${bytes} more exceed the limit of ${maxQueueBytes}`;
      return { status: 'BACKPRESSURE', message };
    }
    const look = () => {
      news.read();
      return news.lines.free(bytes);
    };
    latch.queued = bytes;
    const line = this.#runtime.blockOn(look, deadline, abandonment);
    latch.queued = undefined;
    return line.ok ? line.value : line.fault;
  }

  #waitForAnswer(line: CallerEnd, deadline: Deadline, abandonment: Abandonment | undefined): Outcome<Answer> {
    const look = (): Outcome<Answer> | undefined => {
      const answer = line.take();
      if (answer !== undefined) return succeed(answer);
      this.#runtime.news.read();
      return line.lost === undefined ? undefined : fail('UNAVAILABLE', `the worker was lost: ${line.lost}`);
    };
    const found = this.#runtime.blockOn(look, deadline, abandonment);
    if (found.ok) return found.value;
    if (line.abandon()) return found;
    // The answer came after the last look, and is there.
    return look() ?? found;
  }

  #unserved(subject: CallSubject, fault: Fault, since: number, started: number, where: string): Response {
    const total = microseconds(now() - since);
    const { status } = fault;
    const message =
      status === 'TIMEOUT' && fault !== PAST
        ? `the deadline passed after ${Math.round(total / 1e3)} ms, ${where}`
        : fault.message;
    const admitted = status !== 'BACKPRESSURE' && fault !== PAST;
    const timings = admitted ? { ...NO_TIMINGS, queue: microseconds(started - since), total } : NO_TIMINGS;
    const response = failure(status, message, timings);
    this.#runtime.unserved(subject, response);
    return response;
  }
}

const PAST: Fault = { status: 'TIMEOUT', message: 'the deadline had passed when the call was made' };

function microseconds(milliseconds: number): number {
  return Math.round(milliseconds * 1e3);
}
