import { MessageChannel, type MessagePort, Worker } from 'node:worker_threads';
import { type Deadline, timeLeft } from '../protocol/deadline.ts';
import { decodeResponse } from '../protocol/frame-reader.ts';
import { FrameWriter } from '../protocol/frame-writer.ts';
import { type CallSubject, failure, type Request, type Response } from '../protocol/messages.ts';
import { fail, type Outcome, succeed } from '../protocol/status.ts';
import { type Abandonment, blockOn } from './block-on.ts';
import { Caller } from './caller.ts';
import { Latch, STATES } from './latch.ts';
import type { Answer } from './line.ts';
import type { ToRuntime } from './messages.ts';
import { News } from './news.ts';

/** Its event loop beats from the first moment on, but the messages that bring the models are large. */
const SILENCE_AT_START_MS = 5_000;

/** A frame is cheaper than a clone, until a body costs more to copy than to move. */
const FRAMED_BYTES = 32 * 1024;

/** What a runtime thread is given when it starts. `settings` is the business of the one who assembles it. */
export interface RuntimeSeed<Settings> {
  readonly settings: Settings;
  readonly latch: SharedArrayBuffer;
  readonly port: MessagePort;
  /** Runtimes that were lost before this one. */
  readonly restarts: number;
}

/**
 * The parent's side of a secondary runtime: a worker_thread that owns the pool of workers, so that the thread that waits is
 * never the thread that works. Blocking calls of one thread; a runtime that has died is replaced by the next call.
 */
export class SecondaryRuntime<Settings extends { readonly maxQueueBytes: number }> {
  readonly #file: URL;
  readonly #settings: Settings;
  readonly #latch = new Latch();
  readonly #worker: Worker;
  readonly #port: MessagePort;
  readonly #news: News;
  readonly #caller: Caller;
  readonly #writer = new FrameWriter();
  readonly #restarts: number;
  #lastStats = 0;
  /** A caller found it silent. */
  #lost = false;
  /** Its thread has ended, or is being ended by us. */
  #ended = false;
  /** Called from the event loop of this thread when the runtime has ended by itself, if nobody has replaced or closed it. */
  onLost: (() => void) | undefined;

  constructor(file: URL, settings: Settings, restarts = 0) {
    this.#file = file;
    this.#settings = settings;
    this.#restarts = restarts;
    const { port1, port2 } = new MessageChannel();
    const seed: RuntimeSeed<Settings> = { settings, latch: this.#latch.memory, port: port2, restarts };
    this.#worker = new Worker(file, { workerData: seed, transferList: [port2], execArgv: [] });
    this.#port = port1;
    this.#news = new News(this.#latch, port1);
    this.#caller = new Caller({
      latch: this.#latch,
      news: this.#news,
      maxQueueBytes: settings.maxQueueBytes,
      blockOn: (look, deadline, abandonment) => this.#blockOn(look, deadline, abandonment),
      unserved: (call, response) => this.#tell({ type: 'unserved', call, response }),
    });
    // The host process may end while the runtime idles, and a lost runtime must not take it down.
    this.#worker.unref();
    this.#port.unref();
    this.#worker.on('error', () => {});
    this.#worker.on('exit', () => {
      const known = this.#ended;
      this.#ended = true;
      // One that ends while it starts would end again.
      if (!known && this.#latch.state === STATES.ready) this.onLost?.();
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
    return this.#lost || this.#ended;
  }

  /** A runtime with the same settings, for one that was lost. */
  replace(): SecondaryRuntime<Settings> {
    this.#end();
    return new SecondaryRuntime(this.#file, this.#settings, this.#restarts + 1);
  }

  call(request: Request, deadline: Deadline, abandonment?: Abandonment): Response {
    const tokenize = request.operation === 'tokenize';
    const bytes = tokenize ? request.body.byteLength : request.ids.byteLength;
    const posted = bytes <= FRAMED_BYTES ? this.#framed(request) : request;
    const answer = this.#caller.call(posted, subjectOf(request), bytes, deadline, abandonment);
    if (!(answer instanceof Uint8Array)) return answer;
    const decoded = decodeResponse(answer);
    return decoded.ok ? decoded.value.response : failure(decoded.fault.status, decoded.fault.message);
  }

  /**
   * A request frame as it is, which has its buffer to itself, and what it is of by its header. The answer is the worker's
   * response frame, or a response that says why there is none.
   */
  callWithFrame(
    frame: Uint8Array,
    subject: CallSubject,
    deadline: Deadline,
    abandonment?: Abandonment,
  ): Answer {
    return this.#caller.call(frame, subject, frame.length, deadline, abandonment);
  }

  /** Prometheus text, in `text`. */
  stats(deadline: Deadline): Response {
    const id = ++this.#lastStats;
    this.#tell({ type: 'stats', id });
    const look = () => {
      this.#news.read();
      // That of a call that gave up may come late.
      return this.#news.stats?.id === id ? this.#news.stats : undefined;
    };
    const stats = this.#blockOn(look, deadline);
    return stats.ok
      ? { ...failure('OK', ''), text: stats.value.text }
      : failure(stats.fault.status, stats.fault.message);
  }

  serveHost(host: number, startServices: boolean): void {
    this.#tell({ type: 'serve-host', host, startServices });
  }

  /**
   * Asks the runtime to close and waits until it has, at most until `deadline`; then its thread is ended. One that is still
   * starting, or has failed to, would not listen and has no call in hand: it is ended at once.
   */
  close(deadline: Deadline): void {
    this.#tell({ type: 'close' });
    while (!this.lost && this.#latch.state === STATES.ready && timeLeft(deadline) > 0) {
      this.#latch.sleep(this.#latch.signals, Math.min(timeLeft(deadline), 20));
    }
    this.#end();
  }

  #framed(request: Request): Uint8Array {
    return this.#writer.request({ callId: 0n, timeoutMs: 0, request });
  }

  #end(): void {
    this.#ended = true;
    void this.#worker.terminate();
    this.#port.close();
    this.#news.lines.close();
  }

  #tell(message: ToRuntime): void {
    this.#port.postMessage(message);
  }

  #blockOn<T>(look: () => T | undefined, deadline: Deadline, abandonment?: Abandonment): Outcome<T> {
    const found = blockOn(this.#latch, look, deadline, abandonment);
    if (found !== 'runtime lost') return found;
    this.#lost = true;
    return fail('UNAVAILABLE', 'the runtime thread has died; the next call starts another');
  }

  #whyItFailed(): Outcome<void> {
    this.#news.read();
    return this.#news.fault
      ? { ok: false, fault: this.#news.fault }
      : fail('INIT_FAILED', 'the runtime failed without a reason');
  }
}

/** Plain, as it crosses threads without the body. */
function subjectOf(request: Request): CallSubject {
  const { operation } = request;
  return operation === 'tokenize' ? { operation, kind: request.kind } : { operation };
}
