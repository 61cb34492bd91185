import { textOfUtf8 } from '../utf8.ts';
import { locate, pathText } from './locate.ts';
import { MAXIMUM_INTEGER_DIGITS, type Scan, scan } from './scan.ts';
import { type JsonPlainObject, type JsonValue, PyFloat, reorders } from './value.ts';

export interface JsonLimits {
  /** Bytes of a document. */
  readonly maximumBytes: number;
  /** Nesting of arrays and objects. */
  readonly maximumDepth: number;
  /**
   * Members of the outermost object that are read exactly, all unless given. Within the others, which nobody prints,
   * numbers and the order of keys are JavaScript's.
   */
  readonly exactIn?: ReadonlySet<string>;
}

export const JSON_LIMITS: JsonLimits = { maximumBytes: 64 * 1024 * 1024, maximumDepth: 256 };

export type JsonResult =
  | { readonly ok: true; readonly value: JsonValue }
  | { readonly ok: false; readonly message: string; readonly path?: string };

/**
 * Reads a JSON document from UTF-8 bytes or a string, keeping the order of keys and the type of numbers as Python's json
 * does (see JsonValue). JSON.parse does all reading: literals and keys that it would change are first replaced by marked
 * strings, and afterwards turned into what they stand for; a document without any is only scanned between its strings.
 * Refused, with the path or the byte offset and never the text: invalid UTF-8, lone surrogates, NaN and infinities, what
 * is not JSON, and documents beyond `limits`.
 */
export function parseJson(document: Uint8Array | string, limits: JsonLimits = JSON_LIMITS): JsonResult {
  const size = typeof document === 'string' ? Buffer.byteLength(document) : document.byteLength;
  if (size > limits.maximumBytes) {
    return refuse(`the document has ${size} bytes, above the limit of ${limits.maximumBytes}`);
  }
  let text: string;
  if (typeof document === 'string') {
    text = document;
    if (LONE_SURROGATE.test(text)) return refuse('the document holds a lone surrogate');
  } else {
    const decoded = textOfUtf8(document);
    if (decoded === undefined) return refuse('the document is not valid UTF-8');
    text = decoded;
  }
  const found = scan(text, limits.maximumDepth, limits.exactIn);
  if (found.depth > limits.maximumDepth) {
    const { path } = locate(text, text.length, limits.maximumDepth);
    return refuse(`arrays and objects are nested deeper than ${limits.maximumDepth}`, path);
  }

  let value: JsonValue;
  try {
    value = JSON.parse(text) as JsonValue;
  } catch {
    const place = locate(text, text.length, limits.maximumDepth);
    const offset = Buffer.byteLength(text.slice(0, place.offset));
    return refuse(`not JSON at byte ${offset}`, place.path);
  }
  // \ud... in the text is a surrogate's escape (or a backslash before "ud"): only then can a string be ill-formed. Most
  // texts hold no \u at all, which is found out several times as fast as that it is followed by no d.
  if (text.includes('\\u') && /\\u[dD]/.test(text)) {
    const path = illFormed(value);
    if (path !== undefined) return refuse('a string holds the escape of a lone surrogate', pathText(path));
  }
  if (found.numbers.length === 0 && found.keys.length === 0) return { ok: true, value };
  return readMarked(text, found, limits);
}

function refuse(message: string, path?: string): JsonResult {
  return path === undefined ? { ok: false, message } : { ok: false, message, path };
}

/**
 * A lone surrogate begins every mark: the document is known to hold none, so no string of its own looks marked.
 *   U+D800 "i" digits   a big int      U+D800 "f" literal  a float that is whole      U+D800 "k" text  a key
 * The letter belongs to the mark: U+D800 alone is also the first half of the characters U+10000 to U+103FF.
 */
const BIG_INT = '\ud800i';
const WHOLE_FLOAT = '\ud800f';
const KEY = '\ud800k';

function readMarked(text: string, found: Scan, limits: JsonLimits): JsonResult {
  const edits: [start: number, end: number, replacement: string][] = [];
  for (let index = 0; index < found.numbers.length; index += 2) {
    const start = found.numbers[index] as number;
    const end = found.numbers[index + 1] as number;
    const literal = text.slice(start, end);
    const isInt = !/[.eE]/.test(literal);
    if (isInt && literal.replace('-', '').length > MAXIMUM_INTEGER_DIGITS) {
      const { path } = locate(text, start, limits.maximumDepth);
      return refuse(`an integer has more than ${MAXIMUM_INTEGER_DIGITS} digits`, path);
    }
    edits.push([start, end, `"\\ud800${isInt ? 'i' : 'f'}${literal}"`]);
  }
  for (let index = 0; index < found.keys.length; index += 2) {
    const start = found.keys[index] as number;
    const end = found.keys[index + 1] as number;
    const key = JSON.parse(text.slice(start, end)) as string;
    if (reorders(key)) edits.push([start, end, `"\\ud800k${key}"`]);
  }
  edits.sort((a, b) => a[0] - b[0]);
  const parts: string[] = [];
  let position = 0;
  for (const [start, end, replacement] of edits) {
    parts.push(text.slice(position, start), replacement);
    position = end;
  }
  parts.push(text.slice(position));
  return { ok: true, value: unmark(JSON.parse(parts.join('')) as JsonValue) };
}

function unmark(value: JsonValue): JsonValue {
  if (typeof value === 'string') {
    if (value.startsWith(BIG_INT)) return BigInt(value.slice(BIG_INT.length));
    return value.startsWith(WHOLE_FLOAT) ? new PyFloat(Number(value.slice(WHOLE_FLOAT.length))) : value;
  }
  if (typeof value !== 'object' || value === null) return value;
  if (Array.isArray(value)) {
    const items = value as JsonValue[];
    for (let index = 0; index < items.length; index++) items[index] = unmark(items[index] as JsonValue);
    return items;
  }
  const object = value as { [key: string]: JsonValue };
  const keys = Object.keys(object);
  if (keys.some((key) => key.startsWith(KEY))) {
    return new Map(
      keys.map((key) => [
        key.startsWith(KEY) ? key.slice(KEY.length) : key,
        unmark(object[key] as JsonValue),
      ]),
    );
  }
  for (const key of keys) object[key] = unmark(object[key] as JsonValue);
  return object;
}

/** In a regex with the u flag a surrogate that is one of a pair is no character of its own. */
const LONE_SURROGATE = /\p{Cs}/u;

/** Path of the first string or key that is not well-formed; undefined when all are. */
function illFormed(value: JsonValue): (string | number)[] | undefined {
  if (typeof value === 'string') return LONE_SURROGATE.test(value) ? [] : undefined;
  if (typeof value !== 'object' || value === null) return undefined;
  if (Array.isArray(value)) {
    for (let index = 0; index < value.length; index++) {
      const path = illFormed(value[index] as JsonValue);
      if (path !== undefined) return [index, ...path];
    }
    return undefined;
  }
  for (const [key, item] of Object.entries(value as JsonPlainObject)) {
    const path = LONE_SURROGATE.test(key) ? [] : illFormed(item);
    if (path !== undefined) return [key.replace(/\p{Cs}/gu, '\ufffd'), ...path];
  }
  return undefined;
}
