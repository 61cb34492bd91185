import type { Kind } from '../protocol/messages.ts';
import { type Fault, fail, type Outcome, succeed } from '../protocol/status.ts';
import { decodeText, field, isList, parseBody } from './body.ts';
import { type ChatRequest, readChat } from './chat.ts';
import { isJsonObject, type JsonObject, type JsonValue } from './json/value.ts';
import { type IdRange, readIds, readPrompts } from './prompts.ts';

/** Annotations that are known; Dynamo asks for others of its own stages, which are not ours to answer. */
const ANNOTATIONS = ['formatted_prompt', 'token_ids'] as const;
export type Annotation = (typeof ANNOTATIONS)[number];

/** Where the prompt comes from. */
export type Source =
  | { readonly from: 'chat'; readonly chat: ChatRequest }
  | { readonly from: 'texts'; readonly texts: readonly string[] }
  | { readonly from: 'ids'; readonly sequences: readonly Uint32Array[] };

/** What a request asks for, read and checked; not yet rendered or encoded. */
export interface ParsedRequest {
  readonly kind: Exclude<Kind, 'auto'>;
  readonly source: Source;
  /** nvext.token_data: the ids, computed earlier by someone else. */
  readonly precomputed: Uint32Array | undefined;
  /** The body's add_special_tokens. */
  readonly addSpecialTokens: boolean | undefined;
  readonly annotations: readonly Annotation[];
  readonly warnings: readonly string[];
}

/** A body whose JSON is read and whose meaning is not; its model decides on the vocabulary that ids are checked against. */
export interface RequestBody {
  /** The body's `model`; '' if it has none. */
  readonly model: string;
  readonly content: string | JsonObject;
}

const KIND_FIELDS = { chat: 'messages', completion: 'prompt', embedding: 'input' } as const;
type BodyKind = keyof typeof KIND_FIELDS;
const BODY_KINDS = Object.keys(KIND_FIELDS) as BodyKind[];

/** Reads the bytes: text for kind `text`, a JSON object for all others. */
export function readBody(kind: Kind, bytes: Uint8Array): Outcome<RequestBody> {
  if (kind === 'text') {
    const text = decodeText(bytes);
    return text.ok ? succeed({ model: '', content: text.value }) : text;
  }
  const body = parseBody(bytes);
  if (!body.ok) return body;
  const model = field(body.value, 'model') ?? '';
  if (typeof model !== 'string') return fail('INVALID_REQUEST', 'model must be a string');
  return succeed({ model, content: body.value });
}

/** Reads what the body asks for. Ids must lie in 0 .. vocabularySize - 1. Failures name the field, never its content. */
export function readRequest(kind: Kind, body: RequestBody, vocabularySize: number): Outcome<ParsedRequest> {
  const { content } = body;
  if (typeof content === 'string') {
    return succeed({
      kind: 'text',
      source: { from: 'texts', texts: [content] },
      precomputed: undefined,
      addSpecialTokens: undefined,
      annotations: [],
      warnings: [],
    });
  }
  const extension = readExtension(content, vocabularySize);
  if (!extension.ok) return extension;
  const { rawPrompt, precomputed, annotations } = extension.value;
  const warnings = [...extension.value.warnings];

  const bodyKind = kind === 'auto' ? tellKind(content, rawPrompt) : succeed(kind as BodyKind);
  if (!bodyKind.ok) {
    // Ids that were computed earlier answer the call whatever the body is.
    if (precomputed === undefined) return bodyKind;
    const source: Source = { from: 'ids', sequences: [] };
    return succeed({
      kind: 'completion',
      source,
      precomputed,
      addSpecialTokens: undefined,
      annotations: [],
      warnings,
    });
  }
  const refused = refuseUnsupported(content);
  if (refused !== undefined) return { ok: false, fault: refused };
  const addSpecialTokens = field(content, 'add_special_tokens');
  if (addSpecialTokens !== undefined && typeof addSpecialTokens !== 'boolean') {
    return fail('INVALID_REQUEST', 'add_special_tokens must be a boolean');
  }
  const source = readSource(bodyKind.value, content, { rawPrompt, vocabularySize, warnings });
  if (!source.ok) return source;
  return succeed({
    kind: bodyKind.value,
    source: source.value,
    precomputed,
    addSpecialTokens,
    annotations,
    warnings,
  });
}

function tellKind(body: JsonObject, rawPrompt: boolean): Outcome<BodyKind> {
  const kinds = BODY_KINDS.filter((kind) => field(body, KIND_FIELDS[kind]) !== undefined);
  const [only] = kinds;
  if (only === undefined) {
    return fail(
      'INVALID_REQUEST',
      'the body has none of messages, prompt and input: its kind cannot be told',
    );
  }
  if (kinds.length === 1 || (rawPrompt && kinds.join() === 'chat,completion')) return succeed(only);
  const names = kinds.map((kind) => KIND_FIELDS[kind]).join(' and ');
  return fail('INVALID_REQUEST', `the body has ${names}: its kind cannot be told`);
}

function readSource(
  kind: BodyKind,
  body: JsonObject,
  context: { rawPrompt: boolean; vocabularySize: number; warnings: string[] },
): Outcome<Source> {
  const name = KIND_FIELDS[kind];
  const { vocabularySize } = context;
  if (kind === 'chat') {
    if (context.rawPrompt) {
      // Dynamo renders all the same when there is no raw prompt beside the messages.
      const prompt = field(body, 'prompt');
      if (typeof prompt === 'string') return succeed({ from: 'texts', texts: [prompt] });
      context.warnings.push('nvext.use_raw_prompt without a prompt; the chat template was applied');
    }
    const chat = readChat(body);
    return chat.ok ? succeed({ from: 'chat', chat: chat.value }) : chat;
  }
  const value = field(body, name);
  if (value === undefined) return fail('INVALID_REQUEST', `${name} is missing`);
  return readPrompts(value, name, { vocabularySize });
}

/** Fields that change the prompt in ways that are not reproduced here: refused rather than ignored. */
function refuseUnsupported(body: JsonObject): Fault | undefined {
  for (const name of ['prompt_embeds', 'truncate_prompt_tokens', 'suffix']) {
    const value = field(body, name);
    if (value !== undefined) return { status: 'UNSUPPORTED', message: `${name} is not supported` };
  }
  return undefined;
}

interface Extension {
  readonly rawPrompt: boolean;
  readonly precomputed: Uint32Array | undefined;
  readonly annotations: readonly Annotation[];
  readonly warnings: readonly string[];
}

/** Dynamo's `nvext`. */
function readExtension(body: JsonObject, vocabularySize: number): Outcome<Extension> {
  const nvext = field(body, 'nvext') ?? {};
  if (!isJsonObject(nvext)) return fail('INVALID_REQUEST', 'nvext must be an object');
  const rawPrompt = field(nvext, 'use_raw_prompt') ?? false;
  if (typeof rawPrompt !== 'boolean')
    return fail('INVALID_REQUEST', 'nvext.use_raw_prompt must be a boolean');
  const range: IdRange = { vocabularySize };
  const data = field(nvext, 'token_data');
  const precomputed = data === undefined ? succeed(undefined) : readIds(data, 'nvext.token_data', range);
  if (!precomputed.ok) return precomputed;
  const annotations = readAnnotations(field(nvext, 'annotations'));
  if (!annotations.ok) return annotations;
  const warnings: string[] = [];
  if (field(nvext, 'backend_instance_id') !== undefined && precomputed.value === undefined) {
    warnings.push('nvext.backend_instance_id without nvext.token_data; the prompt was tokenized');
  }
  return succeed({
    rawPrompt,
    precomputed: precomputed.value,
    annotations: annotations.value,
    warnings,
  });
}

function readAnnotations(value: JsonValue | undefined): Outcome<readonly Annotation[]> {
  if (value === undefined) return succeed([]);
  if (!isList(value) || !value.every((name) => typeof name === 'string')) {
    return fail('INVALID_REQUEST', 'nvext.annotations must be an array of strings');
  }
  return succeed(ANNOTATIONS.filter((name) => value.includes(name)));
}
