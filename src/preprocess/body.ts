import { fail, type Outcome, succeed } from '../protocol/status.ts';

/** A parsed JSON value of a request body. */
export type Json = null | boolean | number | string | readonly Json[] | JsonFields;
export interface JsonFields {
  readonly [key: string]: Json;
}

/** Levels of arrays and objects; what reads the values recurses. serde_json has the same bound. */
const MAX_DEPTH = 128;
const LONE_SURROGATE = /\p{Cs}/u;
const SURROGATE_ESCAPE = /\\u[dD][89a-fA-F]/;

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
export function parseBody(bytes: Uint8Array): Outcome<JsonFields> {
  const text = decodeText(bytes);
  if (!text.ok) return text;
  const parsed = parseJson(text.value);
  if (!parsed.ok) return parsed;
  if (!isFields(parsed.value)) return fail('INVALID_REQUEST', 'the body must be a JSON object');
  const flaw = findFlaw(parsed.value, '', 1, SURROGATE_ESCAPE.test(text.value));
  return flaw === undefined ? succeed(parsed.value) : fail('INVALID_REQUEST', flaw);
}

/** The one place where request JSON is parsed. V8's error messages quote the text, so they stay here. */
export function parseJson(text: string): Outcome<Json> {
  try {
    return succeed(JSON.parse(text) as Json);
  } catch (error) {
    const position = /at position (\d+)/.exec(String(error))?.[1];
    const where = position === undefined ? '' : ` (at character ${position})`;
    return fail('INVALID_REQUEST', `the body is not valid JSON${where}`);
  }
}

export function isFields(value: Json | undefined): value is JsonFields {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

export function isList(value: Json | undefined): value is readonly Json[] {
  return Array.isArray(value);
}

/** A field that is there and not null. */
export function field(fields: JsonFields, name: string): Json | undefined {
  return Object.hasOwn(fields, name) ? (fields[name] ?? undefined) : undefined;
}

/** What is wrong with a value, and where. Scalars are looked at only when the body has a surrogate escape at all. */
function findFlaw(value: Json, path: string, depth: number, escapes: boolean): string | undefined {
  if (typeof value === 'string') {
    return escapes && LONE_SURROGATE.test(value) ? `${path} holds a lone surrogate escape` : undefined;
  }
  if (typeof value !== 'object' || value === null) return undefined;
  if (depth > MAX_DEPTH) return `the body is nested deeper than ${MAX_DEPTH} levels`;
  if (Array.isArray(value)) {
    for (let i = 0; i < value.length; i++) {
      const item: Json = value[i];
      if (typeof item === 'number') continue;
      const flaw = findFlaw(item, `${path}[${i}]`, depth + 1, escapes);
      if (flaw !== undefined) return flaw;
    }
    return undefined;
  }
  for (const [key, item] of Object.entries(value)) {
    if (escapes && LONE_SURROGATE.test(key))
      return `a key of ${path || 'the body'} holds a lone surrogate escape`;
    const flaw = findFlaw(item, path === '' ? key : `${path}.${key}`, depth + 1, escapes);
    if (flaw !== undefined) return flaw;
  }
  return undefined;
}
