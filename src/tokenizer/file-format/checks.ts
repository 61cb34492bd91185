import type { JsonReading } from '../json-reader.ts';
import { isObject, type JsonObject } from '../tokenizer-json.ts';

/** What is wrong with a value of a file, and where it stands below the value that was checked. */
export interface FormatFault {
  readonly path: readonly (string | number)[];
  readonly what: string;
}

/** Finds what is wrong with a value; undefined if nothing is. `float`: it is a number, and was not written as an integer. */
export type Check = (
  value: unknown,
  float: boolean,
  floats: JsonReading['floats'],
) => FormatFault | undefined;

export function fault(what: string, ...path: (string | number)[]): FormatFault {
  return { path, what };
}

function expecting(what: string, holds: (value: unknown, float: boolean) => boolean): Check {
  const wrong = fault(`is not ${what}`);
  return (value, float) => (holds(value, float) ? undefined : wrong);
}

export const boolean = expecting('true or false', (value) => typeof value === 'boolean');
export const string = expecting('a string', (value) => typeof value === 'string');
export const character = expecting(
  'a single character',
  (value) =>
    typeof value === 'string' && value !== '' && value.length === (value.codePointAt(0)! > 0xffff ? 2 : 1),
);
export const id = integer(2 ** 32 - 1);
export const count = integer(Number.MAX_SAFE_INTEGER);
export const fraction = expecting(
  'a number from 0 to 1',
  (value) => typeof value === 'number' && value >= 0 && value <= 1,
);

function integer(most: number): Check {
  return expecting(
    `an integer from 0 to ${most}`,
    (value, float) =>
      typeof value === 'number' && !float && Number.isInteger(value) && value >= 0 && value <= most,
  );
}

export function oneOf(...values: readonly string[]): Check {
  return expecting(values.map((value) => JSON.stringify(value)).join(' or '), (value) =>
    values.includes(value as string),
  );
}

export function orNull(check: Check): Check {
  return (value, float, floats) => (value === null ? undefined : check(value, float, floats));
}

/** The member `key` of `holder`, checked. */
export function checkMember(
  holder: object,
  key: string | number,
  check: Check,
  floats: JsonReading['floats'],
): FormatFault | undefined {
  const value = (holder as Readonly<Record<string | number, unknown>>)[key];
  const float = floats.size > 0 && floats.get(holder)?.has(key) === true;
  const found = check(value, float, floats);
  return found && { path: [key, ...found.path], what: found.what };
}

export function list(check: Check): Check {
  return (value, _float, floats) => {
    if (!Array.isArray(value)) return fault('is not a list');
    for (let index = 0; index < value.length; index++) {
      const found = checkMember(value, index, check, floats);
      if (found !== undefined) return found;
    }
    return undefined;
  };
}

/** A list of so many values. */
export function tuple(...checks: readonly Check[]): Check {
  return (value, _float, floats) => {
    if (!Array.isArray(value) || value.length !== checks.length)
      return fault(`is not a list of ${checks.length}`);
    return first(checks, (check, index) => checkMember(value, index, check, floats));
  };
}

/** An object with any keys. */
export function table(check: Check): Check {
  return (value, _float, floats) => {
    if (!isObject(value)) return fault('is not an object');
    for (const key in value) {
      const found = checkMember(value, key, check, floats);
      if (found !== undefined) return found;
    }
    return undefined;
  };
}

/** An object with all of `required` and any of `optional`; other keys are nobody's, unless it is `closed`. */
export function fields(
  required: Readonly<Record<string, Check>>,
  optional: Readonly<Record<string, Check>> = {},
  closed = false,
): Check {
  const all = new Map(Object.entries({ ...required, ...optional }));
  const needed = Object.keys(required);
  return (value, _float, floats) => {
    if (!isObject(value)) return fault('is not an object');
    const missing = needed.find((key) => !Object.hasOwn(value, key));
    if (missing !== undefined) return fault('is missing', missing);
    for (const [key, check] of all) {
      const found = Object.hasOwn(value, key) ? checkMember(value, key, check, floats) : undefined;
      if (found !== undefined) return found;
    }
    const unknown = closed ? Object.keys(value).find((key) => !all.has(key)) : undefined;
    return unknown === undefined ? undefined : fault('is not a part of this file', unknown);
  };
}

/** An object with exactly one of `kinds` as its only key. */
export function exactlyOne(kinds: Readonly<Record<string, Check>>): Check {
  const named = Object.keys(kinds).join(' or ');
  return (value, _float, floats) => {
    const keys = isObject(value) ? Object.keys(value) : [];
    const key = keys.length === 1 ? keys[0]! : '';
    const check = Object.hasOwn(kinds, key) ? kinds[key] : undefined;
    if (check === undefined) return fault(`is not an object of ${named}`);
    return checkMember(value as JsonObject, key, check, floats);
  };
}

/** An object that is told by its `type` from others. */
export function byType(types: ReadonlyMap<string, Check>): Check {
  return (value, float, floats) => {
    if (!isObject(value)) return fault('is not an object');
    const { type } = value;
    if (typeof type !== 'string') return fault('is missing or not a string', 'type');
    const check = types.get(type);
    return check === undefined
      ? fault(`is the unknown ${JSON.stringify(type)}`, 'type')
      : check(value, float, floats);
  };
}

export function all(...checks: readonly Check[]): Check {
  return (value, float, floats) => first(checks, (check) => check(value, float, floats));
}

function first<T>(
  items: readonly T[],
  check: (item: T, index: number) => FormatFault | undefined,
): FormatFault | undefined {
  for (const [index, item] of items.entries()) {
    const found = check(item, index);
    if (found !== undefined) return found;
  }
  return undefined;
}
