import { setMaxListeners } from 'node:events';
import type { Call } from './core/dispatcher.ts';
import { within } from './core/event-loop/operations.ts';
import { LoopWatch } from './core/event-loop/watch.ts';
import { renderMetrics } from './core/metrics/exposition.ts';
import { prepareModels } from './core/prepare-models.ts';
import { openRuntime, type Runtime } from './core/runtime.ts';
import { EpptokError } from './errors.ts';
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
import { deadlineIn } from './protocol/deadline.ts';
import type { Request } from './protocol/messages.ts';
import { RequestTracker } from './request-tracker.ts';
import { type TokenizeResult, textResult, tokenizeResult } from './result.ts';

/**
 * The async door: tokenizes in worker threads, never on the caller's event loop. Any number of calls may be in flight.
 * Every method that fails throws (rejects with) EpptokError.
 */
export class AsyncTokenizer {
  readonly #settings: Settings;
  readonly #runtime: Runtime;
  readonly #loop: LoopWatch;
  readonly #tracker: RequestTracker;

  private constructor(settings: Settings, runtime: Runtime, loop: LoopWatch, tracker: RequestTracker) {
    this.#settings = settings;
    this.#runtime = runtime;
    this.#loop = loop;
    this.#tracker = tracker;
  }

  /** Loads the models and resolves when every worker is warm. */
  static async create(options: TokenizerOptions): Promise<AsyncTokenizer> {
    const settings = tokenizerSettings(options);
    const tracker = new RequestTracker(requestHook(options));
    const preparing = prepareModels(settings.models, new URL('./model-reader.js', import.meta.url));
    const loop = await watchOf(settings);
    const opening = openRuntime(settings, preparing, new URL('./pool-worker.js', import.meta.url), loop);
    const opened = await withDeadline(opening, settings.openTimeoutMs);
    if (opened?.ok) return new AsyncTokenizer(settings, opened.value, loop, tracker);
    loop.stop();
    if (opened) throw new EpptokError(opened.fault);
    void opening.then((late) => (late.ok ? late.value.close() : undefined));
    throw new EpptokError({
      status: 'TIMEOUT',
      message: `the models were not warm within ${settings.openTimeoutMs} ms`,
    });
  }

  async tokenize(options: TokenizeOptions): Promise<TokenizeResult> {
    const { clock } = this.#loop;
    const [request, timeoutMs] = within(clock, 'accept', () => {
      const { kind, flags, model, timeoutMs = this.#settings.timeoutMs } = checkedTokenize(options);
      const body = bodyBytes(kind, options.body);
      const request: Request = { operation: 'tokenize', kind, flags, model, body };
      return [request, timeoutMs] as const;
    });
    const tracked = this.#tracker.begin(request);
    const call = this.#runtime.dispatcher.submit(request, deadlineIn(timeoutMs));
    const forget = abandonOn(options.signal, call);
    const response = await call.response;
    forget();
    const record = this.#tracker.end(tracked, response);
    return within(clock, 'decode', () => tokenizeResult(response, record));
  }

  async detokenize(options: DetokenizeOptions): Promise<string> {
    const { clock } = this.#loop;
    const [request, timeoutMs] = within(clock, 'accept', () => {
      const { ids, flags, model, timeoutMs = this.#settings.timeoutMs } = checkedDetokenize(options);
      const request: Request = { operation: 'detokenize', flags, model, ids };
      return [request, timeoutMs] as const;
    });
    const tracked = this.#tracker.begin(request);
    const response = await this.#runtime.dispatcher.submit(request, deadlineIn(timeoutMs)).response;
    this.#tracker.end(tracked, response);
    return within(clock, 'decode', () => textResult(response));
  }

  /** Metrics in Prometheus text format. */
  stats(): Promise<string> {
    return renderMetrics(this.#runtime.read());
  }

  /** Answers calls in flight with SHUTTING_DOWN and ends the workers. Safe to call twice. */
  async close(): Promise<void> {
    this.#loop.stop();
    await this.#runtime.close();
  }
}

/** Without a trace there is no log to open. */
async function watchOf({ stallTraceMs }: Settings): Promise<LoopWatch> {
  if (stallTraceMs === 0) return new LoopWatch('host');
  const { openLog, watchLoop } = await import('./entry/log.ts');
  return watchLoop('host', stallTraceMs, openLog(process.env.EPPTOK_LOG));
}

function abandonOn(signal: AbortSignal | undefined, call: Call): () => void {
  if (signal === undefined) return () => {};
  // One signal may stand for many calls, such as a shutdown: that is no leak to warn of.
  setMaxListeners(0, signal);
  const abandon = () => call.abandon('CANCELLED', 'the call was cancelled by its signal');
  if (signal.aborted) abandon();
  signal.addEventListener('abort', abandon, { once: true });
  return () => signal.removeEventListener('abort', abandon);
}

/** undefined when `promise` has not settled within `milliseconds`. */
async function withDeadline<T>(promise: Promise<T>, milliseconds: number): Promise<T | undefined> {
  let timer: NodeJS.Timeout | undefined;
  const expired = new Promise<undefined>((resolve) => {
    timer = setTimeout(resolve, milliseconds, undefined);
  });
  const outcome = await Promise.race([promise, expired]);
  clearTimeout(timer);
  return outcome;
}
