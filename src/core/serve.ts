import { renderChat } from '../preprocess/prompt.ts';
import { type ParsedRequest, readBody, readRequest, type Source } from '../preprocess/request.ts';
import {
  type DetokenizeRequest,
  FLAGS,
  failure,
  KINDS,
  type Provenance,
  type Request,
  type Response,
  type Timings,
  type TokenizeRequest,
} from '../protocol/messages.ts';
import { type Fault, fail, type Outcome, succeed } from '../protocol/status.ts';
import { EncodeError } from '../tokenizer/encode-error.ts';
import type { Model, Models } from './model.ts';

/**
 * The one place where a request becomes ids. Pure: it reads nothing but its arguments and the clock, and never throws.
 * `worker` is the number of the calling worker, which the response names; `queue` the microseconds that the call has waited for it.
 */
export function serve(request: Request, models: Models, worker: number, queue = 0): Response {
  const clock = new Clock(request.operation === 'tokenize' ? 'parse' : undefined);
  let response: Response;
  try {
    response =
      request.operation === 'tokenize' ? tokenize(request, models, clock) : detokenize(request, models);
  } catch (error) {
    response = failureOf(faultOf(error));
  }
  return { ...response, worker, timings: clock.timings(queue) };
}

type Stage = 'parse' | 'template' | 'encode';

/** Microseconds spent in each stage, and in all. They are whole from the start, so that no sum of stages is more than all. */
class Clock {
  readonly #start = microseconds();
  #stage: Stage | undefined;
  #since = this.#start;
  #parse = 0;
  #template = 0;
  #encode = 0;

  constructor(first: Stage | undefined) {
    this.#stage = first;
  }

  /** The stage before ends, and `stage` begins; undefined: none does. */
  enter(stage: Stage | undefined): void {
    const now = microseconds();
    const spent = now - this.#since;
    if (this.#stage === 'parse') this.#parse = spent;
    else if (this.#stage === 'template') this.#template = spent;
    else if (this.#stage === 'encode') this.#encode = spent;
    this.#stage = stage;
    this.#since = now;
  }

  timings(queue: number): Timings {
    this.enter(undefined);
    return {
      queue,
      parse: this.#parse,
      template: this.#template,
      encode: this.#encode,
      total: queue + this.#since - this.#start,
    };
  }
}

function microseconds(): number {
  return Math.round(performance.now() * 1000);
}

/** What becomes of a prompt: its sequences, and the text of the first if there is one. */
interface Answer {
  readonly sequences: readonly Uint32Array[];
  readonly provenance: Provenance;
  readonly prompt: string | undefined;
  readonly warnings?: readonly string[];
}

function tokenize(request: TokenizeRequest, models: Models, clock: Clock): Response {
  if (!KINDS.includes(request.kind))
    return failure('INVALID_ARGUMENT', `unknown kind; known: ${KINDS.join(', ')}`);
  const both = FLAGS.addSpecialTokens | FLAGS.noSpecialTokens;
  if ((request.flags & both) === both) {
    return failure('INVALID_ARGUMENT', 'flags: special tokens cannot be both added and left out');
  }
  const body = readBody(request.kind, request.body);
  if (!body.ok) return failureOf(body.fault);
  const model = chooseModel(models, request.model, body.value.model);
  if (!model.ok) return failureOf(model.fault);
  const parsed = readRequest(request.kind, body.value, model.value.idLimit);
  if (!parsed.ok) return failureOf(parsed.fault, model.value);
  clock.enter(undefined);
  const answer = answerOf(parsed.value, request.flags, model.value, clock);
  if (!answer.ok) return failureOf(answer.fault, model.value);
  const tooLong = refuseLength(parsed.value.kind, answer.value.sequences, model.value);
  if (tooLong !== undefined) return failureOf(tooLong, model.value);
  return success(answer.value, parsed.value, request.flags, model.value);
}

/** An explicit name must be loaded; without one the only model serves all, and of several the body must name one. */
function chooseModel(models: Models, explicit: string, ofBody: string): Outcome<Model> {
  if (explicit === '' && models.size === 1) {
    const [only] = models.values();
    if (only !== undefined) return succeed(only);
  }
  const name = explicit || ofBody;
  const model = models.get(name);
  if (model !== undefined) return succeed(model);
  const loaded = [...models.keys()].join(', ') || 'none';
  const asked =
    name === ''
      ? 'the request names no model'
      : `no model named ${JSON.stringify(name.slice(0, 200))} is loaded`;
  return fail('UNKNOWN_MODEL', `${asked}; loaded: ${loaded}`);
}

function answerOf(parsed: ParsedRequest, flags: number, model: Model, clock: Clock): Outcome<Answer> {
  const { precomputed, source } = parsed;
  const wantsPrompt = (flags & FLAGS.wantPrompt) !== 0 || parsed.annotations.includes('formatted_prompt');
  if (precomputed !== undefined && !wantsPrompt) {
    return succeed({ sequences: [precomputed], provenance: 'precomputed', prompt: undefined });
  }
  if (source.from === 'ids') {
    const sequences = precomputed === undefined ? source.sequences : [precomputed];
    const provenance = precomputed === undefined ? 'passthrough' : 'precomputed';
    return succeed({ sequences, provenance, prompt: undefined });
  }
  clock.enter('template');
  const prompts = promptsOf(source, model);
  if (!prompts.ok) return prompts;
  const { pieces: ofPrompts, warnings } = prompts.value;
  const prompt = wantsPrompt ? ofPrompts[0]?.join('') : undefined;
  if (precomputed !== undefined)
    return succeed({ sequences: [precomputed], provenance: 'precomputed', prompt });
  const special = addsSpecialTokens(parsed, flags, model);
  clock.enter('encode');
  const sequences = ofPrompts.map((pieces) => model.encoder.encode(pieces, special));
  clock.enter(undefined);
  return succeed({ sequences, provenance: 'tokenized', prompt, warnings });
}

interface Prompts {
  /** Of each prompt. */
  readonly pieces: readonly (readonly string[])[];
  readonly warnings: readonly string[];
}

/** Prompts in pieces, without NUL: engines drop it, and it inflates counts. */
function promptsOf(source: Exclude<Source, { from: 'ids' }>, model: Model): Outcome<Prompts> {
  if (source.from === 'texts') {
    return succeed({ pieces: source.texts.map((text) => [withoutNul(text)]), warnings: [] });
  }
  const rendered = renderChat(model.templates, source.chat);
  if (!rendered.ok) return rendered;
  const { pieces, warnings } = rendered.value;
  return succeed({ pieces: [pieces.map(withoutNul)], warnings });
}

function withoutNul(text: string): string {
  return text.includes('\0') ? text.replaceAll('\0', '') : text;
}

/** The flags win, then the body's add_special_tokens (vLLM's, which Dynamo does not read), then the kind's default. */
function addsSpecialTokens(parsed: ParsedRequest, flags: number, model: Model): boolean {
  if (flags & FLAGS.addSpecialTokens) return true;
  if (flags & FLAGS.noSpecialTokens || model.engine === 'dynamo') return false;
  return parsed.addSpecialTokens ?? parsed.kind !== 'chat';
}

/** A prompt must leave room for output; what is embedded gives none, and may fill the context. */
function refuseLength(
  kind: ParsedRequest['kind'],
  sequences: readonly Uint32Array[],
  model: Model,
): Fault | undefined {
  const { contextLength } = model;
  if (contextLength === undefined) return undefined;
  const most = kind === 'embedding' ? contextLength : contextLength - 1;
  const index = sequences.findIndex((ids) => ids.length > most);
  if (index === -1) return undefined;
  const which = sequences.length === 1 ? 'the prompt' : `prompt ${index} of the batch`;
  const count = sequences[index]?.length;
  return {
    status: 'CONTEXT_TOO_LONG',
    message:
      kind === 'embedding'
        ? `${which} has ${count} tokens, and the context holds ${contextLength}`
        : `${which} has ${count} tokens, and the context of ${contextLength} must also hold output`,
  };
}

function success(answer: Answer, parsed: ParsedRequest, flags: number, model: Model): Response {
  const { sequences, provenance, prompt } = answer;
  const warnings = [...parsed.warnings, ...(answer.warnings ?? [])];
  const annotations: Record<string, unknown> = {};
  if (parsed.annotations.includes('formatted_prompt') && prompt !== undefined)
    annotations.formatted_prompt = prompt;
  if (parsed.annotations.includes('token_ids') && provenance !== 'precomputed') {
    const [first] = sequences;
    annotations.token_ids = sequences.length === 1 ? [...(first ?? [])] : sequences.map((ids) => [...ids]);
  }
  const response: Mutable<Response> = {
    ...failure('OK', ''),
    model: model.name,
    provenance,
    ids: concatenate(sequences),
    counts: sequences.map((ids) => ids.length),
  };
  if (flags & FLAGS.wantPrompt && prompt !== undefined) response.prompt = prompt;
  if (Object.keys(annotations).length > 0) response.annotations = JSON.stringify(annotations);
  if (warnings.length > 0) response.warnings = warnings;
  return response;
}

type Mutable<T> = { -readonly [K in keyof T]: T[K] };

function concatenate(sequences: readonly Uint32Array[]): Uint32Array {
  const [first] = sequences;
  if (sequences.length === 1 && first !== undefined) return first;
  const all = new Uint32Array(sequences.reduce((sum, ids) => sum + ids.length, 0));
  let at = 0;
  for (const ids of sequences) {
    all.set(ids, at);
    at += ids.length;
  }
  return all;
}

function detokenize(request: DetokenizeRequest, models: Models): Response {
  const model = chooseModel(models, request.model, '');
  if (!model.ok) return failureOf(model.fault);
  const { encoder, name } = model.value;
  const wrong = request.ids.findIndex((id) => id >= encoder.vocabularySize);
  if (wrong !== -1) {
    const last = encoder.vocabularySize - 1;
    const message = `ids[${wrong}] is none: ids go from 0 to ${last}`;
    return failureOf({ status: 'INVALID_ARGUMENT', message }, model.value);
  }
  const text = encoder.decode(request.ids, (request.flags & FLAGS.skipSpecialTokens) !== 0);
  return { ...failure('OK', ''), model: name, text };
}

function failureOf(fault: Fault, model?: Model): Response {
  return { ...failure(fault.status, fault.message), model: model?.name ?? '' };
}

/** Only a defect gets here, or an encoder that refuses. Other errors' messages may quote the text, so they stay here. */
function faultOf(error: unknown): Fault {
  if (error instanceof EncodeError) return { status: error.status, message: error.message };
  const name = error instanceof Error ? error.name : 'unknown error';
  return { status: 'INTERNAL', message: `serving the request failed (${name})` };
}
