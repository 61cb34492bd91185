import { stallThreshold } from './core/event-loop/threshold.ts';
import { modelSpecs } from './core/model-names.ts';
import type { RuntimeSettings } from './core/runtime.ts';
import { EpptokError } from './errors.ts';
import { FLAGS, KINDS, type Kind } from './protocol/messages.ts';
import type { RequestHook } from './request-tracker.ts';

/** How a tokenizer is made. */
export interface TokenizerOptions {
  /**
   * Model directory, with tokenizer.json and what comes beside it. The name of the model is the directory's, unless given:
   * `'qwen3=/models/qwen3'`. An array, or an object of names and directories, for several models.
   */
  model: string | readonly string[] | Readonly<Record<string, string>>;
  /** Worker threads. Default: the cores available. */
  threads?: number;
  /** Deadline of calls that name none, in ms. Default 30,000. */
  timeoutMs?: number;
  /** Deadline of making the tokenizer, models included, in ms. Default 30,000. */
  openTimeoutMs?: number;
  /** Calls that may wait for a worker before BACKPRESSURE. Default 1,024. */
  maxQueueCalls?: number;
  /** Bytes of request bodies that may wait for a worker before BACKPRESSURE. Default 256 MiB. */
  maxQueueBytes?: number;
  /** Context length in tokens, instead of the model's own. */
  contextLength?: number;
  /** Whose special tokens completions, embeddings and texts get: as vLLM (default), or none, as Dynamo. */
  engine?: 'vllm' | 'dynamo';
  /**
   * Major version of `transformers` that the engine runs on, where its versions differ: 5 ignores add_bos_token and
   * add_eos_token beside a tokenizer.json, and so gives DeepSeek V3 no BOS; and it gives templates a message's reasoning as
   * `thinking` too, and no nulls (as of 5.24). Default 4.
   */
  transformers?: 4 | 5;
  /**
   * `compiled` (default): our own engine. `library`: `@huggingface/tokenizers`, several times slower, and right only where
   * its Unicode version is the tokenizer's; for comparison.
   */
  encoder?: 'compiled' | 'library';
  /**
   * Take a `chat_template` from requests, as vLLM does with --trust-request-chat-template. It costs its compilation, and runs
   * in a sandbox of bounded work and memory. Default false: such requests are UNSUPPORTED.
   */
  allowChatTemplate?: boolean;
  /**
   * Event-loop stalls of at least so many ms are logged on standard error, with what the loop was at; 0: none. Of the loop
   * that drives the workers: for AsyncTokenizer the caller's own. Default: the environment variable EPPTOK_STALL_TRACE_MS.
   */
  stallTraceMs?: number;
  /**
   * Is told of every call of `tokenize` and `detokenize`, failures too, but for those whose options are refused; what it throws
   * harms no call. Not of a plugin's calls through `nativeHandle`, whose results have their timings in `epptok_result_timings`.
   */
  onRequest?: RequestHook;
}

/** One call. */
export interface TokenizeOptions {
  /** What `body` is: told by its fields (`auto`, the default), or said. */
  kind?: Kind;
  /** The raw request body; a plain object is serialised here. For kind `text`, the text itself. */
  body: string | Uint8Array | object;
  /** Name of a loaded model. Default: the only one, or the body's `model` if several are loaded. */
  model?: string;
  /** Deadline in ms. Default: the tokenizer's. */
  timeoutMs?: number;
  /** Return the rendered prompt. */
  prompt?: boolean;
  /** Override the kind's default for special tokens. */
  addSpecialTokens?: boolean;
  /** Gives the call up with CANCELLED. AsyncTokenizer only. */
  signal?: AbortSignal;
}

export interface DetokenizeOptions {
  ids: Uint32Array | readonly number[];
  model?: string;
  timeoutMs?: number;
  /** Leave special tokens out of the text. */
  skipSpecialTokens?: boolean;
}

export interface Settings extends RuntimeSettings {
  readonly timeoutMs: number;
  readonly openTimeoutMs: number;
}

const DEFAULTS = {
  threads: 0,
  timeoutMs: 30_000,
  openTimeoutMs: 30_000,
  maxQueueCalls: 1024,
  maxQueueBytes: 256 * 1024 * 1024,
} as const;

const MAX_TIMEOUT_MS = 2 ** 31 - 1;
/** The native host counts calls in 32 bits. */
export const MAX_QUEUE_CALLS = 2 ** 32 - 1;
export const MAX_THREADS = 1024;

const TOKENIZER_KEYS = [
  ...Object.keys(DEFAULTS),
  'model',
  'contextLength',
  'engine',
  'transformers',
  'encoder',
  'allowChatTemplate',
  'stallTraceMs',
  'onRequest',
];
const TOKENIZE_KEYS = ['kind', 'body', 'model', 'timeoutMs', 'prompt', 'addSpecialTokens', 'signal'];
const DETOKENIZE_KEYS = ['ids', 'model', 'timeoutMs', 'skipSpecialTokens'];

/** Throws EpptokError INVALID_ARGUMENT, naming the option. */
export function tokenizerSettings(options: TokenizerOptions): Settings {
  requireKnownKeys('option', options, TOKENIZER_KEYS);
  const given = { ...DEFAULTS, ...withoutUndefined(options) };
  const { engine = 'vllm', transformers = 4, encoder = 'compiled', contextLength } = options;
  const { allowChatTemplate = false } = options;
  if (engine !== 'vllm' && engine !== 'dynamo') refuse(`option engine must be 'vllm' or 'dynamo'`);
  if (encoder !== 'compiled' && encoder !== 'library')
    refuse(`option encoder must be 'compiled' or 'library'`);
  if (transformers !== 4 && transformers !== 5) refuse('option transformers must be 4 or 5');
  if (typeof allowChatTemplate !== 'boolean') refuse('option allowChatTemplate must be a boolean');
  if (contextLength !== undefined) requireInteger('option contextLength', contextLength, 1);
  const models = modelSpecs(modelArguments(options.model), {
    engine,
    transformers,
    encoder,
    allowChatTemplate,
    ...(contextLength === undefined ? {} : { contextLength }),
  });
  if (!models.ok) return refuse(`option model: ${models.fault.message}`);
  return {
    models: models.value,
    threads: requireInteger('option threads', given.threads, 0, MAX_THREADS),
    timeoutMs: requireInteger('option timeoutMs', given.timeoutMs, 1, MAX_TIMEOUT_MS),
    openTimeoutMs: requireInteger('option openTimeoutMs', given.openTimeoutMs, 1, MAX_TIMEOUT_MS),
    maxQueueCalls: requireInteger('option maxQueueCalls', given.maxQueueCalls, 1, MAX_QUEUE_CALLS),
    maxQueueBytes: requireInteger('option maxQueueBytes', given.maxQueueBytes, 1),
    stallTraceMs: stallTraceMs(options.stallTraceMs),
  };
}

/** Apart from the settings, which cross threads. Throws EpptokError INVALID_ARGUMENT. */
export function requestHook({ onRequest }: TokenizerOptions): RequestHook | undefined {
  if (onRequest !== undefined && typeof onRequest !== 'function')
    refuse('option onRequest must be a function');
  return onRequest;
}

function stallTraceMs(option: number | undefined): number {
  if (option !== undefined) return requireInteger('option stallTraceMs', option, 0, MAX_TIMEOUT_MS);
  const environment = stallThreshold(process.env);
  return environment.ok ? environment.value : refuse(environment.fault.message);
}

export interface CheckedCall {
  readonly kind: Kind;
  readonly model: string;
  readonly flags: number;
  readonly timeoutMs: number | undefined;
}

/** Throws EpptokError INVALID_ARGUMENT, naming the option. */
export function checkedTokenize(options: TokenizeOptions): CheckedCall {
  requireKnownKeys('option', options, TOKENIZE_KEYS);
  const { kind = 'auto', addSpecialTokens, prompt } = options;
  if (!KINDS.includes(kind)) refuse(`option kind must be one of ${KINDS.join(', ')}`);
  requireBoolean('option addSpecialTokens', addSpecialTokens);
  requireBoolean('option prompt', prompt);
  if (options.signal !== undefined && !(options.signal instanceof AbortSignal)) {
    refuse('option signal must be an AbortSignal');
  }
  let flags = prompt ? FLAGS.wantPrompt : 0;
  if (addSpecialTokens === true) flags |= FLAGS.addSpecialTokens;
  if (addSpecialTokens === false) flags |= FLAGS.noSpecialTokens;
  return { kind, flags, ...checkedTarget(options) };
}

/** Throws EpptokError INVALID_ARGUMENT, naming the option. */
export function checkedDetokenize(
  options: DetokenizeOptions,
): Omit<CheckedCall, 'kind'> & { ids: Uint32Array } {
  requireKnownKeys('option', options, DETOKENIZE_KEYS);
  const { ids, skipSpecialTokens } = options;
  requireBoolean('option skipSpecialTokens', skipSpecialTokens);
  if (!(ids instanceof Uint32Array) && !Array.isArray(ids))
    refuse('option ids must be a Uint32Array or an array');
  for (let i = 0; i < ids.length; i++) requireInteger(`option ids[${i}]`, ids[i], 0, 2 ** 32 - 1);
  return {
    ids: ids instanceof Uint32Array ? ids : Uint32Array.from(ids),
    flags: skipSpecialTokens ? FLAGS.skipSpecialTokens : 0,
    ...checkedTarget(options),
  };
}

/** The body's bytes, in a buffer of their own that may be moved to another thread. Throws EpptokError, naming the culprit. */
export function bodyBytes(kind: Kind, body: TokenizeOptions['body']): Uint8Array {
  if (body instanceof Uint8Array) return new Uint8Array(body);
  const text = typeof body === 'string' ? body : serialised(kind, body);
  // TextEncoder would make U+FFFD of it, and other ids.
  if (!text.isWellFormed()) {
    throw new EpptokError({ status: 'INVALID_REQUEST', message: 'the body holds a lone surrogate' });
  }
  return new TextEncoder().encode(text);
}

function serialised(kind: Kind, body: unknown): string {
  if (kind === 'text') return refuse('option body must be a string or a Uint8Array for kind text');
  if (!isPlainObject(body)) return refuse('option body must be a string, a Uint8Array or a plain object');
  try {
    return JSON.stringify(body);
  } catch (error) {
    return refuse(
      `option body cannot be serialised (${error instanceof Error ? error.name : 'unknown error'})`,
    );
  }
}

function isPlainObject(value: unknown): boolean {
  if (typeof value !== 'object' || value === null) return false;
  const prototype = Object.getPrototypeOf(value);
  // An object of another realm has another Object.prototype, whose own prototype is null all the same.
  return prototype === null || Object.getPrototypeOf(prototype) === null;
}

function requireBoolean(what: string, value: unknown): void {
  if (value !== undefined && typeof value !== 'boolean') refuse(`${what} must be a boolean`);
}

function checkedTarget(options: { model?: string; timeoutMs?: number }) {
  const { model = '', timeoutMs } = options;
  if (typeof model !== 'string') refuse('option model must be a string');
  if (timeoutMs !== undefined) requireInteger('option timeoutMs', timeoutMs, 1, MAX_TIMEOUT_MS);
  return { model, timeoutMs };
}

function modelArguments(model: TokenizerOptions['model']): readonly string[] {
  if (typeof model === 'string') return [model];
  if (Array.isArray(model) && model.length > 0 && model.every((one) => typeof one === 'string')) return model;
  if (typeof model === 'object' && model !== null && !Array.isArray(model) && Object.keys(model).length > 0) {
    return Object.entries(model).map(([name, directory]) => {
      if (name === '' || name.includes('=')) refuse(`option model: "${name}" is no name of a model`);
      if (typeof directory !== 'string') refuse(`option model: the directory of "${name}" must be a string`);
      return `${name}=${directory}`;
    });
  }
  return refuse(
    'option model must be a directory, an array of directories, or an object of names and directories',
  );
}

function requireKnownKeys(what: string, options: object, known: readonly string[]): void {
  if (typeof options !== 'object' || options === null) refuse('options must be an object');
  for (const key of Object.keys(options)) {
    if (!known.includes(key)) refuse(`unknown ${what} ${key}; known are ${known.join(', ')}`);
  }
}

function requireInteger(what: string, value: unknown, min: number, max = Number.MAX_SAFE_INTEGER): number {
  if (typeof value !== 'number' || !Number.isInteger(value) || value < min || value > max) {
    const range = max === Number.MAX_SAFE_INTEGER ? `of at least ${min}` : `from ${min} to ${max}`;
    return refuse(`${what} must be an integer ${range}`);
  }
  return value;
}

function withoutUndefined<T extends object>(options: T): Partial<T> {
  return Object.fromEntries(Object.entries(options).filter(([, value]) => value !== undefined)) as Partial<T>;
}

function refuse(message: string): never {
  throw new EpptokError({ status: 'INVALID_ARGUMENT', message });
}
