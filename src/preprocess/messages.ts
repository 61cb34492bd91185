import { fail, type Outcome, succeed } from '../protocol/status.ts';
import { field, isList } from './body.ts';
import { type Modality, type Part, partObject, readContent } from './content.ts';
import { parseJson } from './json/parse.ts';
import {
  isJsonObject,
  type JsonObject,
  type JsonPlainObject,
  type JsonValue,
  member,
  members,
  objectFrom,
} from './json/value.ts';

/** How a template wants the content of a message: as one string, or as a list of parts. */
export type ContentFormat = 'string' | 'parts';

/** A part that is no text, and where it stands in the request. */
export interface Media {
  readonly modality: Modality;
  readonly type: string;
  readonly path: string;
}

/** Messages as a template is given them, and the first part of each modality among them. */
export interface TemplateMessages {
  readonly messages: readonly JsonObject[];
  readonly media: readonly Media[];
}

interface MessageForm {
  readonly format: ContentFormat;
  /** Version 5 gives a template the reasoning as `thinking` too, and takes what is null out of messages. */
  readonly transformers: 4 | 5;
}

/**
 * Messages as vLLM hands them to a template: only the fields that it passes on, content flattened or kept as parts, tool
 * calls as its request types order them and their arguments parsed, reasoning under its names.
 */
export function templateMessages(
  messages: readonly JsonObject[],
  form: MessageForm,
): Outcome<TemplateMessages> {
  const normal: JsonObject[] = [];
  const media = new Map<Modality, Media>();
  for (const [index, message] of messages.entries()) {
    const path = `messages[${index}]`;
    const parts = readContent(field(message, 'content'), `${path}.content`);
    if (!parts.ok) return parts;
    for (const part of parts.value) {
      if ('modality' in part && !media.has(part.modality)) media.set(part.modality, part);
    }
    const result = templateMessage(message, parts.value, form, path);
    if (!result.ok) return result;
    normal.push(result.value);
  }
  return succeed({ messages: normal, media: [...media.values()] });
}

/** `messages` without their parts of one modality. */
export function withoutModality(messages: readonly JsonObject[], modality: Modality): readonly JsonObject[] {
  return messages.map((message) => {
    const content = (message as Record<string, JsonValue>).content;
    if (!isList(content)) return message;
    const others = content.filter((part) => field(part as JsonObject, 'type') !== modality);
    return { ...message, content: others };
  });
}

function templateMessage(
  message: JsonObject,
  parts: readonly Part[],
  form: MessageForm,
  path: string,
): Outcome<JsonObject> {
  const role = field(message, 'role') as string;
  const result: Record<string, JsonValue> = { role, content: contentOf(parts, role, form.format) };
  if (role === 'assistant') {
    const calls = readToolCalls(field(message, 'tool_calls'), `${path}.tool_calls`);
    if (!calls.ok) return calls;
    if (calls.value.length > 0) result.tool_calls = calls.value;
    const reasoning = field(message, 'reasoning') ?? field(message, 'reasoning_content');
    if (reasoning !== undefined) {
      if (typeof reasoning !== 'string') return fail('INVALID_REQUEST', `${path}.reasoning must be a string`);
      result.reasoning = reasoning;
      result.reasoning_content = reasoning;
    }
  }
  const callId = member(message, 'tool_call_id');
  if (role === 'tool' && callId !== undefined) result.tool_call_id = callId;
  for (const name of ['name', 'task']) {
    const value = field(message, name);
    if (typeof value === 'string') result[name] = value;
  }
  if (role === 'developer') result.tools = field(message, 'tools') ?? null;
  return succeed(form.transformers === 5 ? normalizedBy5(result) : result);
}

function normalizedBy5(message: JsonPlainObject): JsonObject {
  const { reasoning } = message;
  const others = Object.entries(message).filter(([, value]) => value !== null);
  return Object.fromEntries(reasoning === undefined ? others : [['thinking', reasoning], ...others]);
}

/** A tool's content is a string for every template, unless it holds more than text. */
function contentOf(parts: readonly Part[], role: string, format: ContentFormat): JsonValue {
  const texts = parts.flatMap((part) => ('text' in part ? [part.text] : []));
  if (format === 'string' || (role === 'tool' && texts.length === parts.length)) return texts.join('\n');
  return parts.map(partObject);
}

/** vLLM's request types put the fields that they declare first, in this order, which templates that print a call show. */
function readToolCalls(value: JsonValue | undefined, path: string): Outcome<readonly JsonObject[]> {
  if (value === undefined) return succeed([]);
  if (!isList(value)) return fail('INVALID_REQUEST', `${path} must be an array`);
  const calls: JsonObject[] = [];
  for (const [index, call] of value.entries()) {
    const called = isJsonObject(call) ? field(call, 'function') : undefined;
    if (!isJsonObject(call) || !isJsonObject(called)) {
      return fail('INVALID_REQUEST', `${path}[${index}].function must be an object`);
    }
    if ((field(call, 'type') ?? 'function') !== 'function') {
      return fail('INVALID_REQUEST', `${path}[${index}].type must be "function"`);
    }
    const args = callArguments(field(called, 'arguments'));
    const named = inOrder(called, ['arguments', 'name'], { arguments: args });
    calls.push(inOrder(call, ['id', 'function', 'type'], { function: named }));
  }
  return succeed(calls);
}

/** The members of an object, `first` ones in front, some with other values. */
function inOrder(
  object: JsonObject,
  first: readonly string[],
  values: Readonly<Record<string, JsonValue>>,
): JsonObject {
  const declared = first.flatMap((name): [string, JsonValue][] => {
    const value = values[name] ?? member(object, name);
    return value === undefined ? [] : [[name, value]];
  });
  return objectFrom([...declared, ...members(object).filter(([name]) => !first.includes(name))]);
}

/** Arguments come as JSON text; templates want an object. What is none becomes {}, as in vLLM. */
function callArguments(value: JsonValue | undefined): JsonValue {
  if (typeof value !== 'string') return isJsonObject(value) ? value : {};
  const parsed = parseJson(value);
  return parsed.ok && isJsonObject(parsed.value) ? parsed.value : {};
}
