import { fail, type Outcome, succeed } from '../protocol/status.ts';
import { type JsonLimits, parseJson } from './json/parse.ts';
import { isJsonObject, type JsonObject, type JsonValue, member } from './json/value.ts';
import { textOfUtf8 } from './utf8.ts';

/** As the frames; and as deep as serde_json reads, by which the engines' own front doors are bounded. */
const LIMITS: JsonLimits = {
  maximumBytes: 64 * 1024 * 1024,
  maximumDepth: 128,
  // What templates print, and what must be told from a float to be a token id. A temperature of 1.0 is neither.
  exactIn: new Set([
    'messages',
    'tools',
    'documents',
    'chat_template_kwargs',
    'chat_template_args',
    'prompt',
    'input',
    'nvext',
  ]),
};

/** Text of a body; INVALID_REQUEST if it is not UTF-8. */
export function decodeText(bytes: Uint8Array): Outcome<string> {
  const text = textOfUtf8(bytes);
  return text === undefined ? fail('INVALID_REQUEST', 'the body is not valid UTF-8') : succeed(text);
}

/** The JSON object that a body holds. Lone surrogate escapes are refused: no UTF-8 text, and so no engine, can hold one. */
export function parseBody(bytes: Uint8Array): Outcome<JsonObject> {
  const parsed = parseJson(bytes, LIMITS);
  if (!parsed.ok) {
    // "$.messages[0]" is "messages[0]" in all other failures.
    const where = parsed.path?.replace(/^\$\.?/, '') || 'the body';
    return fail('INVALID_REQUEST', `${where}: ${parsed.message}`);
  }
  return isJsonObject(parsed.value)
    ? succeed(parsed.value)
    : fail('INVALID_REQUEST', 'the body must be a JSON object');
}

export function isList(value: JsonValue | undefined): value is readonly JsonValue[] {
  return Array.isArray(value);
}

/** A field that is there and not null. */
export function field(object: JsonObject, name: string): JsonValue | undefined {
  return member(object, name) ?? undefined;
}
