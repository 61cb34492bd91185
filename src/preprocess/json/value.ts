/**
 * A float whose value is a whole number, an infinity or -0: what a plain JavaScript number cannot be told from an int.
 * Every other float is a plain number; a plain number that is whole is an int.
 */
export class PyFloat {
  readonly value: number;

  constructor(value: number) {
    this.value = value;
  }
}

/**
 * A JSON document with Python's distinctions kept at no cost to the common one, which is what JSON.parse returns:
 * - int: a number that is whole and at most 2^53 - 1 in size, or a bigint beyond that;
 * - float: a number with a fraction, or a PyFloat;
 * - object: a plain object, or a Map when a key looks like an integer (JavaScript would move that key to the front).
 * Strings are well-formed: no lone surrogates.
 */
export type JsonValue =
  | null
  | boolean
  | number
  | bigint
  | string
  | PyFloat
  | readonly JsonValue[]
  | JsonPlainObject
  | ReadonlyMap<string, JsonValue>;

export interface JsonPlainObject {
  readonly [key: string]: JsonValue;
}

export type JsonObject = JsonPlainObject | ReadonlyMap<string, JsonValue>;

export function isJsonObject(value: JsonValue | undefined): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value) && !(value instanceof PyFloat);
}

/** Member `key` of an object in either form; undefined when absent (a JSON null is null). */
export function member(object: JsonObject, key: string): JsonValue | undefined {
  if (object instanceof Map) return object.get(key);
  return Object.hasOwn(object, key) ? (object as JsonPlainObject)[key] : undefined;
}

/** Key and value pairs in the order of the document. */
export function members(object: JsonObject): [string, JsonValue][] {
  return object instanceof Map ? [...object] : Object.entries(object);
}

/** An object from pairs in order; the last of equal keys wins, at the place of the first, as in a Python dict. */
export function objectFrom(pairs: Iterable<readonly [string, JsonValue]>): JsonObject {
  const map = new Map(pairs);
  for (const key of map.keys()) if (reorders(key)) return map;
  return Object.fromEntries(map);
}

/** A copy with more members: in place where the key is there, at the end where it is not, as `{**object, **more}` in Python. */
export function withMembers(object: JsonObject, more: JsonPlainObject): JsonObject {
  if (!(object instanceof Map)) return { ...object, ...more };
  return new Map([...object, ...Object.entries(more)]);
}

/** Whether JavaScript would move this key of an object out of its place, or, for `__proto__`, lose it. */
export function reorders(key: string): boolean {
  const first = key.charCodeAt(0);
  if (first > 57) return key === '__proto__';
  return first >= 48 && /^\d+$/.test(key);
}
