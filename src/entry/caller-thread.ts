import { CallCounters } from '../core/metrics/call-counters.ts';
import type { Models } from '../core/model.ts';
import { serve } from '../core/serve.ts';
import { decodeRequest } from '../protocol/frame-reader.ts';
import { FrameWriter } from '../protocol/frame-writer.ts';
import { failure, type Request, type Response } from '../protocol/messages.ts';
import { Latch } from '../sync/latch.ts';
import { type Answer, type LineEnd, WorkerEnd } from '../sync/line.ts';

/** What a resident task is given. */
export interface CallerTask {
  readonly line: LineEnd;
  /** Memory of the caller's Latch. */
  readonly latch: SharedArrayBuffer;
  /** Memory of the worker's CallCounters. */
  readonly counters: SharedArrayBuffer;
}

/** A resident piscina task: answers what a blocked caller posts on its line, for as long as the thread lives. */
export class CallerThread {
  readonly #models: Models;
  readonly #worker: number;
  readonly #line: WorkerEnd;
  readonly #counters: CallCounters;
  readonly #writer = new FrameWriter();

  constructor({ line, latch, counters }: CallerTask, models: Models, worker: number) {
    this.#models = models;
    this.#worker = worker;
    this.#line = new WorkerEnd(line, new Latch(latch));
    this.#counters = new CallCounters([...models.keys()], counters);
  }

  run(): never {
    this.#counters.start();
    for (;;) {
      const { call, queueMicroseconds } = this.#line.next();
      if (call instanceof Uint8Array) this.#answerFrame(call, queueMicroseconds);
      else this.#answer(call, queueMicroseconds, (response) => response);
    }
  }

  #answerFrame(bytes: Uint8Array, queue: number): void {
    const frame = decodeRequest(bytes);
    if (!frame.ok) {
      this.#line.answer(this.#framed(failure(frame.fault.status, frame.fault.message), 0n));
      return;
    }
    const { request, callId } = frame.value;
    if (request.operation === 'stats' || request.operation === 'ready') {
      const refused = failure('INTERNAL', `${request.operation} is not for a worker`);
      this.#line.answer(this.#framed(refused, callId));
      return;
    }
    this.#answer(request, queue, (response) => this.#framed(response, callId));
  }

  #answer(request: Request, queue: number, inKind: (response: Response) => Answer): void {
    const response = serve(request, this.#models, this.#worker, queue);
    const answer = inKind(response);
    this.#counters.settle(request, response, () => this.#line.answer(answer));
  }

  #framed(response: Response, callId: bigint): Uint8Array {
    return this.#writer.response(response, callId);
  }
}
