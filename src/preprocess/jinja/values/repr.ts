import { PyFloat } from '../../json/value.ts';
import { DictView, dictEntries } from './dict.ts';
import { floatRepr } from './float-text.ts';
import { claim, spend } from './limits.ts';
import { fail, unsupported } from './render-error.ts';
import { type Dict, isList, Markup, type PyObject, Tuple, Undefined, type Value } from './types.ts';

/** Python will not print an int of more digits. */
const MAXIMUM_INTEGER_DIGITS = 4300;

/** str(value) */
export function str(value: Value): string {
  if (typeof value === 'string') return value;
  if (value instanceof Undefined) return '';
  if (value instanceof Markup) return value.text;
  return repr(value);
}

/** repr(value) */
export function repr(value: Value): string {
  spend(4);
  switch (typeof value) {
    case 'string':
      return textRepr(value);
    case 'boolean':
      return value ? 'True' : 'False';
    case 'bigint':
      return intText(value);
    case 'number':
      return Number.isInteger(value) ? String(value) : floatRepr(value);
  }
  if (value === null) return 'None';
  if (value instanceof PyFloat) return floatRepr(value.value);
  if (isList(value)) return `[${joined(value)}]`;
  if (value instanceof Tuple) return tupleRepr(value);
  if (value instanceof Undefined) return 'Undefined';
  if (value instanceof Markup) return `Markup(${textRepr(value.text)})`;
  if (value instanceof DictView) {
    return `${value.typeName}([${joined(value.list())}])`;
  }
  if (
    value instanceof Map ||
    Object.getPrototypeOf(value) === Object.prototype ||
    Object.getPrototypeOf(value) === null
  ) {
    return dictRepr(value as Dict);
  }
  const object = value as PyObject;
  return object.repr() ?? unsupported(`printing a ${object.typeName}, which shows its address,`);
}

export function intText(value: bigint): string {
  const text = value.toString();
  if (text.length > MAXIMUM_INTEGER_DIGITS + (value < 0n ? 1 : 0)) {
    fail(`Exceeds the limit (${MAXIMUM_INTEGER_DIGITS} digits) for integer string conversion`);
  }
  return text;
}

function joined(items: readonly Value[]): string {
  let text = '';
  for (let index = 0; index < items.length; index++) {
    text += index > 0 ? `, ${repr(items[index] as Value)}` : repr(items[index] as Value);
  }
  claim(text.length);
  return text;
}

function tupleRepr({ items }: Tuple): string {
  return items.length === 1 ? `(${joined(items)},)` : `(${joined(items)})`;
}

/** `{'a': 1}` */
export function dictRepr(dict: Dict): string {
  let text = '{';
  for (const [key, value] of dictEntries(dict)) {
    text += `${text.length > 1 ? ', ' : ''}${repr(key)}: ${repr(value)}`;
  }
  claim(text.length);
  return `${text}}`;
}

const NEEDS_ESCAPE = /[\\\x00-\x1f\x7f-\u{10ffff}]/u;
const ESCAPED = /[\\'\n\r\t]|[^\x20-\x7e]/gu;
const UNPRINTABLE = /[\p{C}\p{Z}]/u;
const SHORT: Readonly<Record<string, string>> = { '\\': '\\\\', '\n': '\\n', '\r': '\\r', '\t': '\\t' };

/** repr() of a str: single quotes unless only those occur in it, and escapes for what Python holds unprintable. */
function textRepr(text: string): string {
  claim(text.length);
  const quote = text.includes("'") && !text.includes('"') ? '"' : "'";
  if (!NEEDS_ESCAPE.test(text) && !text.includes(quote)) return quote + text + quote;
  const body = text.replace(ESCAPED, (character) => {
    if (character === "'") return quote === "'" ? "\\'" : "'";
    const short = SHORT[character];
    if (short !== undefined) return short;
    return isPrintable(character) ? character : codeEscape(character);
  });
  return quote + body + quote;
}

export function isPrintable(character: string): boolean {
  return character === ' ' || !UNPRINTABLE.test(character);
}

/** `\x1f`, `\u2028` or `\U000e0001` */
function codeEscape(character: string): string {
  const code = character.codePointAt(0) as number;
  const digits = code.toString(16);
  if (code < 0x100) return `\\x${digits.padStart(2, '0')}`;
  return code < 0x10000 ? `\\u${digits.padStart(4, '0')}` : `\\U${digits.padStart(8, '0')}`;
}

/** ascii(): repr with every character above U+007E escaped. */
export function asciiRepr(value: Value): string {
  return repr(value).replace(/[^\x00-\x7e]/gu, codeEscape);
}
