import type { RuntimeSettings } from './core/runtime.ts';
import { EpptokError } from './errors.ts';
import { NativeHandle } from './ffi/native-handle.ts';
import {
  bodyBytes,
  checkedDetokenize,
  checkedTokenize,
  type DetokenizeOptions,
  requestHook,
  type Settings,
  type TokenizeOptions,
  type TokenizerOptions,
  tokenizerSettings,
} from './options.ts';
import { type Deadline, deadlineIn } from './protocol/deadline.ts';
import { failure, type Request, type Response } from './protocol/messages.ts';
import { RequestTracker } from './request-tracker.ts';
import { type TokenizeResult, textResult, tokenizeResult } from './result.ts';
import { SecondaryRuntime } from './sync/runtime.ts';

/** A call made by C on this thread may be cancelled by another one, which cannot wake Atomics.wait: look this often. */
const ABANDONED_EVERY_MS = 10;

/**
 * The blocking door: the same calls as AsyncTokenizer, for code that cannot await. The calling thread sleeps until the answer
 * is there or the deadline has passed; the work is done by a secondary runtime in threads of its own. Belongs to the thread
 * that made it. Every method that fails throws EpptokError.
 */
export class Tokenizer {
  readonly #settings: Settings;
  readonly #tracker: RequestTracker;
  #runtime: SecondaryRuntime<RuntimeSettings>;
  #native: NativeHandle | undefined;
  #closed = false;

  /** Blocks until the models are warm, at most `openTimeoutMs`. */
  constructor(options: TokenizerOptions) {
    this.#settings = tokenizerSettings(options);
    this.#tracker = new RequestTracker(requestHook(options));
    this.#runtime = new SecondaryRuntime(new URL('./runtime-thread.js', import.meta.url), this.#settings);
    const deadline = deadlineIn(this.#settings.openTimeoutMs);
    const ready = this.#runtime.waitUntilReady(deadline);
    if (ready.ok) return;
    this.close();
    throw new EpptokError(ready.fault);
  }

  tokenize(options: Omit<TokenizeOptions, 'signal'>): TokenizeResult {
    if ('signal' in options) {
      throw new EpptokError({ status: 'INVALID_ARGUMENT', message: 'option signal is for AsyncTokenizer' });
    }
    const { kind, flags, model, timeoutMs = this.#settings.timeoutMs } = checkedTokenize(options);
    const body = bodyBytes(kind, options.body);
    const request: Request = { operation: 'tokenize', kind, flags, model, body };
    const tracked = this.#tracker.begin(request);
    const response = this.#call(request, deadlineIn(timeoutMs));
    return tokenizeResult(response, this.#tracker.end(tracked, response));
  }

  detokenize(options: DetokenizeOptions): string {
    const { ids, flags, model, timeoutMs = this.#settings.timeoutMs } = checkedDetokenize(options);
    const request: Request = { operation: 'detokenize', flags, model, ids };
    const tracked = this.#tracker.begin(request);
    const response = this.#call(request, deadlineIn(timeoutMs));
    this.#tracker.end(tracked, response);
    return textResult(response);
  }

  /** Metrics in Prometheus text format. */
  stats(): string {
    return textResult(this.#stats(deadlineIn(this.#settings.timeoutMs)));
  }

  /**
   * An `epptok *` (include/epptok.h) onto this tokenizer, for plugins in this process: calls on this thread are served through
   * a callback, those of any other thread through a native queue, whose service threads start on first use. Valid until
   * `close`. The same value each time.
   */
  get nativeHandle(): bigint {
    if (this.#closed) throw new EpptokError({ status: 'SHUTTING_DOWN', message: 'the tokenizer was closed' });
    if (this.#native === undefined) {
      const opened = NativeHandle.open(new URL('.', import.meta.url), this.#settings, {
        callWithFrame: (frame, subject, deadline, check) =>
          this.#whileAlive(deadline, (runtime) =>
            runtime.callWithFrame(frame, subject, deadline, { everyMs: ABANDONED_EVERY_MS, check }),
          ),
        stats: (deadline) => this.#stats(deadline),
      });
      if (!opened.ok) throw new EpptokError(opened.fault);
      this.#native = opened.value;
      this.#serve(this.#native, false);
    }
    return this.#native.handle;
  }

  /** Answers calls in flight with SHUTTING_DOWN, ends the runtime. Safe to call twice. */
  close(): void {
    if (this.#closed) return;
    this.#closed = true;
    this.#native?.close();
    this.#runtime.close(deadlineIn(2_000));
  }

  #call(request: Request, deadline: Deadline): Response {
    return this.#whileAlive(deadline, (runtime) => runtime.call(request, deadline));
  }

  #stats(deadline: Deadline): Response {
    return this.#whileAlive(deadline, (runtime) => runtime.stats(deadline));
  }

  #whileAlive<T>(deadline: Deadline, call: (runtime: SecondaryRuntime<RuntimeSettings>) => T): T | Response {
    if (this.#closed) return failure('SHUTTING_DOWN', 'the tokenizer was closed');
    if (this.#runtime.lost) this.#replaceRuntime();
    const ready = this.#runtime.waitUntilReady(deadline);
    if (!ready.ok) return failure(ready.fault.status, ready.fault.message);
    return call(this.#runtime);
  }

  #replaceRuntime(): void {
    this.#runtime = this.#runtime.replace();
    if (this.#native) this.#serve(this.#native, true);
  }

  /** Its service threads die with a lost runtime, and the host, which they served, cannot know: C threads wait in its queue. */
  #serve(native: NativeHandle, startServices: boolean): void {
    this.#runtime.serveHost(native.host, startServices);
    this.#runtime.onLost = () => {
      if (!this.#closed) this.#replaceRuntime();
    };
  }
}
