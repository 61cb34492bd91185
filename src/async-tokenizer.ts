import type { Call } from './core/dispatcher.ts';
import { openRuntime, type Runtime } from './core/runtime.ts';
import { renderStats } from './core/stats.ts';
import { EpptokError } from './errors.ts';
import {
  bodyBytes,
  checkedDetokenize,
  checkedTokenize,
  type DetokenizeOptions,
  type Settings,
  type TokenizeOptions,
  type TokenizerOptions,
  tokenizerSettings,
} from './options.ts';
import { deadlineIn } from './protocol/deadline.ts';
import { type TokenizeResult, textResult, tokenizeResult } from './result.ts';

/**
 * The async door: tokenizes in worker threads, never on the caller's event loop. Any number of calls may be in flight.
 * Every method that fails throws (rejects with) EpptokError.
 */
export class AsyncTokenizer {
  readonly #settings: Settings;
  readonly #runtime: Runtime;

  private constructor(settings: Settings, runtime: Runtime) {
    this.#settings = settings;
    this.#runtime = runtime;
  }

  /** Loads the models and resolves when every worker is warm. */
  static async create(options: TokenizerOptions): Promise<AsyncTokenizer> {
    const settings = tokenizerSettings(options);
    const opening = openRuntime(settings, new URL('./pool-worker.js', import.meta.url));
    const opened = await withDeadline(opening, settings.openTimeoutMs);
    if (opened === undefined) {
      void opening.then((late) => (late.ok ? late.value.close() : undefined));
      throw new EpptokError({
        status: 'TIMEOUT',
        message: `the models were not warm within ${settings.openTimeoutMs} ms`,
      });
    }
    if (!opened.ok) throw new EpptokError(opened.fault);
    return new AsyncTokenizer(settings, opened.value);
  }

  async tokenize(options: TokenizeOptions): Promise<TokenizeResult> {
    const { kind, flags, model, timeoutMs = this.#settings.timeoutMs } = checkedTokenize(options);
    const body = bodyBytes(options.body);
    const request = { operation: 'tokenize', kind, flags, model, body } as const;
    const call = this.#runtime.dispatcher.submit(request, deadlineIn(timeoutMs));
    const forget = abandonOn(options.signal, call);
    const response = await call.response;
    forget();
    return tokenizeResult(response);
  }

  async detokenize(options: DetokenizeOptions): Promise<string> {
    const { ids, flags, model, timeoutMs = this.#settings.timeoutMs } = checkedDetokenize(options);
    const request = { operation: 'detokenize', flags, model, ids } as const;
    return textResult(await this.#runtime.dispatcher.submit(request, deadlineIn(timeoutMs)).response);
  }

  /** Metrics in Prometheus text format. */
  stats(): Promise<string> {
    const { queuedCalls, queuedBytes, busyWorkers } = this.#runtime.dispatcher.gauges;
    return renderStats([this.#runtime.stats], {
      workers: this.#runtime.threads,
      workers_busy: busyWorkers,
      queued_calls: queuedCalls,
      queued_bytes: queuedBytes,
    });
  }

  /** Answers calls in flight with SHUTTING_DOWN and ends the workers. Safe to call twice. */
  async close(): Promise<void> {
    await this.#runtime.close();
  }
}

function abandonOn(signal: AbortSignal | undefined, call: Call): () => void {
  if (signal === undefined) return () => {};
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
