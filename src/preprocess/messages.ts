import { fail, type Outcome, succeed } from '../protocol/status.ts';
import { field, isList } from './body.ts';
import { parseJson } from './json/parse.ts';
import { isJsonObject, type JsonObject, type JsonValue, withMembers } from './json/value.ts';

/** How a template wants the content of a message: as one string, or as a list of parts. */
export type ContentFormat = 'string' | 'parts';

/** Types of content parts that carry text, and the field that does. */
const TEXT_PARTS: Readonly<Record<string, string>> = {
  text: 'text',
  input_text: 'text',
  output_text: 'text',
  refusal: 'refusal',
  thinking: 'thinking',
};

const OTHER_PARTS = [
  'image_url',
  'input_image',
  'image_embeds',
  'image',
  'audio_url',
  'input_audio',
  'audio_embeds',
  'audio',
  'video_url',
  'video',
  'file',
  'prompt_embeds',
  'tool_reference',
];

/**
 * Messages as vLLM hands them to a template: only the fields that it passes on, content flattened or kept as parts, tool
 * call arguments parsed, reasoning under both of its names.
 */
export function templateMessages(
  messages: readonly JsonObject[],
  format: ContentFormat,
): Outcome<readonly JsonObject[]> {
  const normal: JsonObject[] = [];
  for (const [index, message] of messages.entries()) {
    const result = templateMessage(message, format, `messages[${index}]`);
    if (!result.ok) return result;
    normal.push(result.value);
  }
  return succeed(normal);
}

function templateMessage(message: JsonObject, format: ContentFormat, path: string): Outcome<JsonObject> {
  const role = field(message, 'role') as string;
  const texts = readTexts(field(message, 'content'), `${path}.content`);
  if (!texts.ok) return texts;
  const result: Record<string, JsonValue> = {
    role,
    content:
      format === 'parts' && role !== 'tool'
        ? texts.value.map((text) => ({ type: 'text', text }))
        : texts.value.join('\n'),
  };
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
  const copied = { tool: 'tool_call_id', developer: 'tools' }[role];
  const copy = copied === undefined ? undefined : field(message, copied);
  if (copied !== undefined && copy !== undefined) result[copied] = copy;
  for (const name of ['name', 'task']) {
    const value = field(message, name);
    if (typeof value === 'string') result[name] = value;
  }
  return succeed(result);
}

/** The texts of a content: none, one string, or parts. */
function readTexts(content: JsonValue | undefined, path: string): Outcome<readonly string[]> {
  if (content === undefined) return succeed([]);
  if (typeof content === 'string') return succeed([content]);
  if (!isList(content)) return fail('INVALID_REQUEST', `${path} must be a string or an array of parts`);
  const texts: string[] = [];
  for (const [index, part] of content.entries()) {
    const text = readPart(part, `${path}[${index}]`);
    if (!text.ok) return text;
    if (text.value !== undefined) texts.push(text.value);
  }
  return succeed(texts);
}

function readPart(part: JsonValue, path: string): Outcome<string | undefined> {
  if (typeof part === 'string') return succeed(part);
  if (!isJsonObject(part)) return fail('INVALID_REQUEST', `${path} must be a string or an object`);
  const type = field(part, 'type');
  const other = OTHER_PARTS.find(
    (name) => name === type || (type === undefined && field(part, name) !== undefined),
  );
  if (other !== undefined)
    return fail('UNSUPPORTED', `${path} is a part of type ${other}, which is not supported`);
  if (typeof type !== 'string') return fail('INVALID_REQUEST', `${path}.type must be a string`);
  const name = Object.hasOwn(TEXT_PARTS, type) ? TEXT_PARTS[type] : undefined;
  if (name === undefined) return fail('INVALID_REQUEST', `${path}.type is not a known type of part`);
  const text = field(part, name);
  if (text === undefined && (type === 'text' || type === 'refusal')) return succeed(undefined);
  if (typeof text !== 'string') return fail('INVALID_REQUEST', `${path}.${name} must be a string`);
  return succeed(text);
}

function readToolCalls(value: JsonValue | undefined, path: string): Outcome<readonly JsonObject[]> {
  if (value === undefined) return succeed([]);
  if (!isList(value)) return fail('INVALID_REQUEST', `${path} must be an array`);
  const calls: JsonObject[] = [];
  for (const [index, call] of value.entries()) {
    const called = isJsonObject(call) ? field(call, 'function') : undefined;
    if (!isJsonObject(call) || !isJsonObject(called)) {
      return fail('INVALID_REQUEST', `${path}[${index}].function must be an object`);
    }
    const named = withMembers(called, { arguments: callArguments(field(called, 'arguments')) });
    calls.push(withMembers(call, { function: named }));
  }
  return succeed(calls);
}

/** Arguments come as JSON text; templates want the value. What is neither becomes {}, as in vLLM. */
function callArguments(value: JsonValue | undefined): JsonValue {
  if (typeof value !== 'string') return isJsonObject(value) || isList(value) ? value : {};
  const parsed = parseJson(value);
  return parsed.ok ? parsed.value : {};
}
