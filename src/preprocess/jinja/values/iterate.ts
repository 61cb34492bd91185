import { DictView, dictKeys, dictSize } from './dict.ts';
import { claim, spend } from './limits.ts';
import { fail } from './render-error.ts';
import { isDict, isList, Markup, PyObject, Tuple, typeName, type Value } from './types.ts';

const SURROGATE = /[\ud800-\udfff]/;

/** The characters of a text as Python counts them. */
function characters(text: string): string[] {
  claim(text.length);
  return SURROGATE.test(text) ? Array.from(text) : text.split('');
}

/** Whether UTF-16 units and code points are the same in `text`. */
export function isBasic(text: string): boolean {
  return !SURROGATE.test(text);
}

/** len() of a text. */
export function textLength(text: string): number {
  if (!SURROGATE.test(text)) return text.length;
  let count = 0;
  for (let index = 0; index < text.length; index++) {
    const unit = text.charCodeAt(index);
    if (unit < 0xdc00 || unit > 0xdfff) count++;
  }
  return count;
}

/** The items of `value` where it is one that iterating does not use up, undefined for generators and for what has none. */
export function sequence(value: Value): readonly Value[] | undefined {
  if (isList(value)) return value;
  if (typeof value === 'string') return characters(value);
  if (value instanceof Tuple) return value.items;
  if (value instanceof Markup) return characters(value.text);
  if (value instanceof DictView) return value.list();
  return isDict(value) ? dictKeys(value) : undefined;
}

/** iter(value). `complaint` begins the TypeError of what cannot be iterated. */
export function iterator(value: Value, complaint = 'object'): Iterator<Value> {
  const items = sequence(value);
  if (items !== undefined) return items[Symbol.iterator]();
  const found = value instanceof PyObject ? value.iterate() : undefined;
  if (found !== undefined) return found;
  if (complaint !== 'object') return fail(`${complaint} '${typeName(value)}' is not iterable`);
  return fail(`'${typeName(value)}' object is not iterable`);
}

export function iterate(value: Value, complaint = 'object'): Iterable<Value> {
  const items = sequence(value);
  if (items !== undefined) return items;
  const found = iterator(value, complaint);
  return { [Symbol.iterator]: () => found };
}

/** list(value), a new list. */
export function toList(value: Value): Value[] {
  const items: Value[] = [];
  const source = sequence(value);
  if (source !== undefined) {
    claim(source.length * 8);
    return source.slice();
  }
  for (const item of iterate(value)) {
    items.push(item);
    spend(1);
  }
  return items;
}

/** len(value), undefined where Python raises a TypeError. */
export function lengthOf(value: Value): number | undefined {
  if (typeof value === 'string') return textLength(value);
  if (isList(value)) return value.length;
  if (value instanceof Markup) return textLength(value.text);
  if (value instanceof PyObject) return value.length();
  return isDict(value) ? dictSize(value) : undefined;
}

/** len(value) */
export function len(value: Value): number {
  return lengthOf(value) ?? fail(`object of type '${typeName(value)}' has no len()`);
}
