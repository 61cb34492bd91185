import { PyFloat } from '../../json/value.ts';
import { numeric } from './arithmetic.ts';
import { DictView, dictEntries, dictGet, dictSize } from './dict.ts';
import { iterate } from './iterate.ts';
import { spend } from './limits.ts';
import { Range } from './range.ts';
import { fail } from './render-error.ts';
import { type Dict, isDict, isList, Markup, Tuple, typeName, Undefined, type Value } from './types.ts';

/** bool(value) */
export function truth(value: Value): boolean {
  switch (typeof value) {
    case 'boolean':
      return value;
    case 'string':
      return value !== '';
    case 'number':
      return value !== 0;
    case 'bigint':
      return true;
  }
  if (value === null) return false;
  if (isList(value)) return value.length > 0;
  if (value instanceof PyFloat) return value.value !== 0;
  if (value instanceof Map) return value.size > 0;
  if (isDict(value)) {
    for (const _ in value) return true;
    return false;
  }
  return (value as Exclude<typeof value, Dict>).truth();
}

/** left == right */
export function equal(left: Value, right: Value): boolean {
  const type = typeof left;
  if (type === typeof right && type !== 'object') return left === right;
  const a = numeric(left);
  if (a !== undefined) {
    const b = numeric(right);
    // Mixed numbers and bigints are compared by their exact value, as in Python.
    return b !== undefined && equalNumbers(doubleOrBig(a), doubleOrBig(b));
  }
  if (left === right) return true;
  if (left === null || right === null) return false;
  spend(1);
  if (isList(left)) return isList(right) && equalItems(left, right);
  if (left instanceof Tuple) return right instanceof Tuple && equalItems(left.items, right.items);
  if (left instanceof Undefined) return right instanceof Undefined;
  if (left instanceof Markup) return equal(left.text, right);
  if (right instanceof Markup) return equal(left, right.text);
  if (left instanceof Range) return right instanceof Range && equalRanges(left, right);
  if (left instanceof DictView || right instanceof DictView) return equalViews(left, right);
  return isDict(left) && isDict(right) && equalDicts(left, right);
}

function doubleOrBig(value: number | bigint | PyFloat): number | bigint {
  return value instanceof PyFloat ? value.value : value;
}

function equalNumbers(a: number | bigint, b: number | bigint): boolean {
  return typeof a === typeof b ? a === b : a <= b && a >= b;
}

/** The same object, or equal: what Python's containers compare by. */
function same(left: Value, right: Value): boolean {
  return left === right || equal(left, right);
}

function equalItems(left: readonly Value[], right: readonly Value[]): boolean {
  if (left.length !== right.length) return false;
  spend(left.length);
  return left.every((item, index) => same(item, right[index] as Value));
}

function equalDicts(left: Dict, right: Dict): boolean {
  if (dictSize(left) !== dictSize(right)) return false;
  return dictEntries(left).every(([key, value]) => {
    const other = dictGet(right, key);
    return other !== undefined && same(value, other);
  });
}

function equalRanges(left: Range, right: Range): boolean {
  if (left.size !== right.size) return false;
  return left.size === 0 || (left.start === right.start && (left.size === 1 || left.step === right.step));
}

function equalViews(left: Value, right: Value): boolean {
  if (!(left instanceof DictView && right instanceof DictView)) return false;
  if (left.kind === 'values' || right.kind === 'values') return false;
  const items = left.list();
  return items.length === dictSize(right.dict) && items.every((item) => contains(right, item));
}

/** item in container */
function contains(container: Value, item: Value): boolean {
  if (typeof container === 'string') return textContains(container, item);
  if (container instanceof Markup) return textContains(container.text, item);
  if (isDict(container)) return dictGet(container, item) !== undefined;
  if (container instanceof DictView && container.kind === 'keys')
    return dictGet(container.dict, item) !== undefined;
  if (container instanceof Range && typeof item === 'number' && Number.isInteger(item))
    return container.indexOf(item) >= 0;
  const items = isList(container) ? container : iterate(container, 'argument of type');
  for (const other of items) {
    spend(1);
    if (same(other, item)) return true;
  }
  return false;
}

function textContains(text: string, item: Value): boolean {
  const needle = item instanceof Markup ? item.text : item;
  if (typeof needle !== 'string') {
    return fail(`'in <string>' requires string as left operand, not ${typeName(item)}`);
  }
  spend(1 + (text.length >>> 6));
  return text.includes(needle);
}

/** Below 0, 0 or above: the order of two values. Python's TypeError where they have none; NaN where a float is one. */
export function order(left: Value, right: Value, operator: string): number {
  if (typeof left === 'string' && typeof right === 'string') return compareText(left, right);
  const a = numeric(left);
  const b = numeric(right);
  if (a !== undefined && b !== undefined) {
    const x = doubleOrBig(a);
    const y = doubleOrBig(b);
    return x < y ? -1 : x > y ? 1 : equalNumbers(x, y) ? 0 : Number.NaN;
  }
  if (isList(left) && isList(right)) return orderItems(left, right, operator);
  if (left instanceof Tuple && right instanceof Tuple) return orderItems(left.items, right.items, operator);
  if (left instanceof Markup) return order(left.text, right, operator);
  if (right instanceof Markup) return order(left, right.text, operator);
  if (left instanceof Undefined) return fail(left.message);
  if (right instanceof Undefined) return fail(right.message);
  return fail(
    `'${operator}' not supported between instances of '${typeName(left)}' and '${typeName(right)}'`,
  );
}

function orderItems(left: readonly Value[], right: readonly Value[], operator: string): number {
  const shorter = Math.min(left.length, right.length);
  for (let index = 0; index < shorter; index++) {
    const a = left[index] as Value;
    const b = right[index] as Value;
    spend(1);
    if (!same(a, b)) return order(a, b, operator);
  }
  return left.length - right.length;
}

/** By code point: in UTF-16 a surrogate sorts below U+E000 to U+FFFF, in Python above. */
export function compareText(left: string, right: string): number {
  if (left === right) return 0;
  spend(1 + (Math.min(left.length, right.length) >>> 6));
  const shorter = Math.min(left.length, right.length);
  for (let index = 0; index < shorter; index++) {
    const a = left.charCodeAt(index);
    const b = right.charCodeAt(index);
    if (a !== b) return rank(a) - rank(b);
  }
  return left.length - right.length;
}

function rank(unit: number): number {
  return unit >= 0xd800 && unit <= 0xdfff ? unit + 0x10000 : unit;
}

/** Comparison operators, and the tests that are called as they are. */
export const COMPARISONS = {
  '==': equal,
  '!=': (left: Value, right: Value) => !equal(left, right),
  '<': (left: Value, right: Value) => order(left, right, '<') < 0,
  '<=': (left: Value, right: Value) => order(left, right, '<=') <= 0,
  '>': (left: Value, right: Value) => order(left, right, '>') > 0,
  '>=': (left: Value, right: Value) => order(left, right, '>=') >= 0,
  in: (left: Value, right: Value) => contains(right, left),
  'not in': (left: Value, right: Value) => !contains(right, left),
} as const;
