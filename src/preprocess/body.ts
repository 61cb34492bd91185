import { fail, type Outcome, succeed } from '../protocol/status.ts';
import { type JsonLimits, parseJson } from './json/parse.ts';
import { isJsonObject, type JsonObject, type JsonValue, member } from './json/value.ts';

/** As the frames; and as deep as serde_json reads, by which the engines' own front doors are bounded. */
const LIMITS: JsonLimits = { maximumBytes: 64 * 1024 * 1024, maximumDepth: 128 };

// ignoreBOM keeps a byte order mark as the text that it is.
const strictUtf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

/** Text of a body; INVALID_REQUEST if it is not UTF-8. */
export function decodeText(bytes: Uint8Array): Outcome<string> {
  try {
    // TextDecoder takes no view of shared memory.
    const own = bytes.buffer instanceof SharedArrayBuffer ? bytes.slice() : bytes;
    return succeed(strictUtf8.decode(own));
  } catch {
    return fail('INVALID_REQUEST', 'the body is not valid UTF-8');
  }
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
