import { PyFloat } from '../../json/value.ts';
import { compareText, order, truth } from '../values/compare.ts';
import { dictEntries } from '../values/dict.ts';
import { floatRepr } from '../values/float-text.ts';
import { toList } from '../values/iterate.ts';
import { claim, spend } from '../values/limits.ts';
import { type Bound, padding, textArgument } from '../values/native.ts';
import { fail } from '../values/render-error.ts';
import { intText } from '../values/repr.ts';
import {
  type Dict,
  isDict,
  isInt,
  isList,
  isPlainDict,
  Markup,
  type PlainDict,
  Tuple,
  typeName,
  type Value,
} from '../values/types.ts';

interface Style {
  readonly ascii: boolean;
  /** One level of indentation; undefined writes everything on one line. */
  readonly indent: string | undefined;
  readonly itemSeparator: string;
  readonly keySeparator: string;
  readonly sortKeys: boolean;
}

/** The filter tojson as transformers defines it: json.dumps(x, ensure_ascii=False, indent, separators, sort_keys). */
export function toJson(value: Value, [ascii, indent, separators, sortKeys]: Bound): string {
  const step = indentText(indent ?? null);
  const [item, key] = separatorsOf(separators ?? null, step !== undefined);
  const style: Style = {
    ascii: truth(ascii ?? false),
    indent: step,
    itemSeparator: item,
    keySeparator: key,
    sortKeys: truth(sortKeys ?? false),
  };
  const isUsual = step === undefined && item === ', ' && key === ': ' && !style.ascii && !style.sortKeys;
  return isUsual ? writeUsual(value, style) : write(value, style, '\n');
}

/** As `write` in the usual style, of the usual values; it is what most of the time of a render with tools goes into. */
function writeUsual(value: Value, style: Style): string {
  if (typeof value === 'string') return textJson(value, false);
  if (isList(value)) {
    spend(2 + value.length);
    let text = '[';
    for (let index = 0; index < value.length; index++) {
      if (index > 0) text += ', ';
      text += writeUsual(value[index] as Value, style);
    }
    claim(text.length);
    return `${text}]`;
  }
  if (!isPlainDict(value)) return write(value, style, '\n');
  let text = '{';
  let count = 2;
  for (const key in value) {
    if (count > 2) text += ', ';
    count++;
    text += usualKey(key) + writeUsual(value[key] as Value, style);
  }
  spend(count);
  claim(text.length);
  return `${text}}`;
}

/** Schemas say `type` and `description` over and over: the text of a key with its colon, kept for the next time. */
const USUAL_KEYS = new Map<string, string>();
const MAXIMUM_USUAL_KEYS = 1024;
const LONGEST_USUAL_KEY = 64;

function usualKey(key: string): string {
  const known = USUAL_KEYS.get(key);
  if (known !== undefined) return known;
  const text = `${textJson(key, false)}: `;
  if (key.length <= LONGEST_USUAL_KEY) {
    if (USUAL_KEYS.size >= MAXIMUM_USUAL_KEYS) USUAL_KEYS.clear();
    USUAL_KEYS.set(key, text);
  }
  return text;
}

function indentText(indent: Value): string | undefined {
  if (indent === null) return undefined;
  if (typeof indent === 'string') return indent;
  if (typeof indent === 'boolean') return padding(' ', Number(indent));
  if (isInt(indent)) return padding(' ', Number(indent));
  return fail(`an indent cannot be a ${typeName(indent)}`);
}

function separatorsOf(separators: Value, indented: boolean): [string, string] {
  if (separators === null) return [indented ? ',' : ', ', ': '];
  const [item, key, ...rest] = toList(separators);
  if (item === undefined || key === undefined || rest.length > 0) fail('separators must be two');
  return [textArgument(item), textArgument(key)];
}

/** `newline` is the line break and indentation of the level that `value` stands on. */
function write(value: Value, style: Style, newline: string): string {
  spend(2);
  switch (typeof value) {
    case 'string':
      return textJson(value, style.ascii);
    case 'boolean':
      return value ? 'true' : 'false';
    case 'number':
      return Number.isInteger(value) ? String(value) : floatJson(value);
    case 'bigint':
      return intText(value);
  }
  if (value === null) return 'null';
  if (value instanceof PyFloat) return floatJson(value.value);
  if (value instanceof Markup) return textJson(value.text, style.ascii);
  if (isList(value)) return writeList(value, style, newline);
  if (value instanceof Tuple) return writeList(value.items, style, newline);
  if (isDict(value)) return writeDict(value, style, newline);
  return fail(`Object of type ${typeName(value)} is not JSON serializable`);
}

function writeList(items: readonly Value[], style: Style, newline: string): string {
  if (items.length === 0) return '[]';
  const inner = style.indent === undefined ? '' : newline + style.indent;
  let text = `[${inner}`;
  for (let index = 0; index < items.length; index++) {
    if (index > 0) text += style.itemSeparator + inner;
    text += write(items[index] as Value, style, inner);
  }
  claim(text.length);
  return style.indent === undefined ? `${text}]` : `${text}${newline}]`;
}

function writeDict(dict: Dict, style: Style, newline: string): string {
  const inner = style.indent === undefined ? '' : newline + style.indent;
  let text = '';
  if (!(dict instanceof Map) && !style.sortKeys) {
    // for...in over a plain object is what V8 does best: no pairs, no second look-up of the key.
    const plain = dict as PlainDict;
    for (const key in plain) {
      text += text === '' ? `{${inner}` : style.itemSeparator + inner;
      text += textJson(key, style.ascii) + style.keySeparator + write(plain[key] as Value, style, inner);
    }
  } else {
    const entries = dictEntries(dict);
    if (style.sortKeys) entries.sort(([a], [b]) => compareKeys(a, b));
    for (const [key, value] of entries) {
      text += text === '' ? `{${inner}` : style.itemSeparator + inner;
      text += textJson(keyText(key), style.ascii) + style.keySeparator + write(value, style, inner);
    }
  }
  if (text === '') return '{}';
  claim(text.length);
  return style.indent === undefined ? `${text}}` : `${text}${newline}}`;
}

function compareKeys(a: Value, b: Value): number {
  return typeof a === 'string' && typeof b === 'string' ? compareText(a, b) : order(a, b, '<');
}

function keyText(key: Value): string {
  switch (typeof key) {
    case 'string':
      return key;
    case 'boolean':
      return key ? 'true' : 'false';
    case 'number':
      return Number.isInteger(key) ? String(key) : floatJson(key);
    case 'bigint':
      return intText(key);
  }
  if (key === null) return 'null';
  if (key instanceof PyFloat) return floatJson(key.value);
  if (key instanceof Markup) return key.text;
  return fail(`keys must be str, int, float, bool or None, not ${typeName(key)}`);
}

function floatJson(value: number): string {
  if (Number.isNaN(value)) return 'NaN';
  if (!Number.isFinite(value)) return value > 0 ? 'Infinity' : '-Infinity';
  return floatRepr(value);
}

/** JSON.stringify escapes what json.dumps does, and lone surrogates, which no text holds. */
function textJson(text: string, ascii: boolean): string {
  const json = isPlainText(text) ? `"${text}"` : JSON.stringify(text);
  if (!ascii) return json;
  return json.replace(/[^\0-\x7e]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`);
}

/** Whether a short text needs no escape; of a long one JSON.stringify finds that out faster. */
function isPlainText(text: string): boolean {
  if (text.length > 64) return false;
  for (let index = 0; index < text.length; index++) {
    const unit = text.charCodeAt(index);
    if (unit < 32 || unit === 34 || unit === 92) return false;
  }
  return true;
}
