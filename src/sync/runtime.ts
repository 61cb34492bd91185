import { MessageChannel, type MessagePort, receiveMessageOnPort, Worker } from 'node:worker_threads';
import { type Deadline, timeLeft } from '../protocol/deadline.ts';
import { failure, type Request, type Response } from '../protocol/messages.ts';
import { moved } from '../protocol/moved.ts';
import { fail, type Outcome, succeed } from '../protocol/status.ts';
import { type Abandonment, blockOn } from './block-on.ts';
import { Latch, STATES } from './latch.ts';
import type { FromRuntime, ToRuntime } from './messages.ts';

/** Its event loop beats from the first moment on, but the messages that bring the models are large. */
const SILENCE_AT_START_MS = 5_000;

/** What a runtime thread is given when it starts. `settings` is the business of the one who assembles it. */
export interface RuntimeSeed<Settings> {
  readonly settings: Settings;
  readonly latch: SharedArrayBuffer;
  readonly port: MessagePort;
  /** Runtimes that were lost before this one. */
  readonly restarts: number;
}

/**
 * The parent's side of a secondary runtime: a worker_thread that owns a dispatcher and its pool, so that the thread that
 * waits is never the thread that works. Blocking calls of one thread; a runtime that has died is replaced by the next call.
 */
export class SecondaryRuntime<Settings> {
  readonly #file: URL;
  readonly #settings: Settings;
  readonly #latch = new Latch();
  readonly #worker: Worker;
  readonly #port: MessagePort;
  readonly #restarts: number;
  #lastId = 0;
  #lost = false;

  constructor(file: URL, settings: Settings, restarts = 0) {
    this.#file = file;
    this.#settings = settings;
    this.#restarts = restarts;
    const { port1, port2 } = new MessageChannel();
    const seed: RuntimeSeed<Settings> = { settings, latch: this.#latch.memory, port: port2, restarts };
    this.#worker = new Worker(file, { workerData: seed, transferList: [port2], execArgv: [] });
    this.#port = port1;
    // The host process may end while the runtime idles, and a lost runtime must not take it down.
    this.#worker.unref();
    this.#port.unref();
    this.#worker.on('error', () => {
      this.#lost = true;
    });
  }

  /** Waits until the runtime has its models warm. */
  waitUntilReady(deadline: Deadline): Outcome<void> {
    let heartbeat = this.#latch.heartbeat;
    let silence = 0;
    for (;;) {
      const seen = this.#latch.signals;
      const { state } = this.#latch;
      if (state === STATES.ready) return succeed(undefined);
      if (state === STATES.failed) return this.#whyItFailed();
      if (state === STATES.closed) return fail('SHUTTING_DOWN', 'the tokenizer was closed');
      const left = timeLeft(deadline);
      if (left === 0) return fail('TIMEOUT', 'the models were not warm before the deadline');
      const slice = Math.min(left, 100);
      this.#latch.sleep(seen, slice);
      // This thread, which waits, gets no 'error' event of one that dies while it starts.
      silence = this.#latch.heartbeat === heartbeat ? silence + slice : 0;
      heartbeat = this.#latch.heartbeat;
      if (silence > SILENCE_AT_START_MS)
        return fail('INIT_FAILED', 'the runtime thread died while it started');
    }
  }

  get lost(): boolean {
    return this.#lost;
  }

  /** A runtime with the same settings, for one that was lost. */
  replace(): SecondaryRuntime<Settings> {
    void this.#worker.terminate();
    this.#port.close();
    return new SecondaryRuntime(this.#file, this.#settings, this.#restarts + 1);
  }

  call(request: Request, deadline: Deadline, abandonment?: Abandonment): Response {
    const id = this.#nextId();
    const transfer = request.operation === 'tokenize' ? moved(request.body.buffer) : [];
    this.#port.postMessage({ type: 'call', id, request, deadline } satisfies ToRuntime, transfer);
    return this.#await(id, deadline, abandonment);
  }

  /** Prometheus text, in `text`. */
  stats(deadline: Deadline): Response {
    const id = this.#nextId();
    this.#port.postMessage({ type: 'stats', id } satisfies ToRuntime);
    return this.#await(id, deadline);
  }

  serveHost(host: number, startServices: boolean): void {
    this.#port.postMessage({ type: 'serve-host', host, startServices } satisfies ToRuntime);
  }

  /**
   * Asks the runtime to close and waits until it has, at most until `deadline`; then its thread is ended. One that is still
   * starting, or has failed to, would not listen and has no call in hand: it is ended at once.
   */
  close(deadline: Deadline): void {
    this.#port.postMessage({ type: 'close' } satisfies ToRuntime);
    while (!this.#lost && this.#latch.state === STATES.ready && timeLeft(deadline) > 0) {
      this.#latch.sleep(this.#latch.signals, Math.min(timeLeft(deadline), 20));
    }
    void this.#worker.terminate();
    this.#port.close();
  }

  #await(id: number, deadline: Deadline, abandonment?: Abandonment): Response {
    const response = blockOn(this.#latch, this.#port, id, deadline, abandonment);
    if (response === 'runtime lost') {
      this.#lost = true;
      return failure('UNAVAILABLE', 'the runtime thread has died; the next call starts another');
    }
    // Nobody waits any more: what is still queued leaves the queue. Harmless when the reply is on its way.
    const { status } = response;
    if (status === 'TIMEOUT' || status === 'CANCELLED') {
      this.#port.postMessage({ type: 'abandon', id, status } satisfies ToRuntime);
    }
    return response;
  }

  #nextId(): number {
    this.#lastId = (this.#lastId + 1) % Number.MAX_SAFE_INTEGER;
    return this.#lastId;
  }

  #whyItFailed(): Outcome<void> {
    for (
      let received = receiveMessageOnPort(this.#port);
      received;
      received = receiveMessageOnPort(this.#port)
    ) {
      const message = received.message as FromRuntime;
      if (message.type === 'failed') return { ok: false, fault: message.fault };
    }
    return fail('INIT_FAILED', 'the runtime failed without a reason');
  }
}
