import { claim } from '../values/limits.ts';
import { fail } from '../values/render-error.ts';
import { asciiRepr, repr, str } from '../values/repr.ts';
import type { Value } from '../values/types.ts';
import { formatValue } from './format-spec.ts';

export interface FormatArguments {
  readonly args: readonly Value[];
  /** A field by name, undefined when there is none. */
  readonly named: (name: string) => Value | undefined;
  readonly getAttribute: (object: Value, name: string) => Value;
  readonly getItem: (object: Value, key: Value) => Value;
}

interface Numbering {
  next: number;
  /** Whether fields number themselves (`{}`) or are numbered (`{0}`); both in one string are an error. */
  mode: 'automatic' | 'manual' | undefined;
}

/** str.format and str.format_map, as Jinja2's sandbox does them: fields are looked up by the template's rules. */
export function formatFields(template: string, given: FormatArguments): string {
  return expand(template, given, { next: 0, mode: undefined }, 2);
}

function expand(template: string, given: FormatArguments, numbering: Numbering, depth: number): string {
  if (depth < 0) fail('Max string recursion exceeded');
  let result = '';
  let index = 0;
  while (index < template.length) {
    const brace = nextBrace(template, index);
    result += template.slice(index, brace);
    if (brace === template.length) break;
    const character = template.charAt(brace);
    if (template.charAt(brace + 1) === character) {
      result += character;
      index = brace + 2;
      continue;
    }
    if (character === '}') fail("Single '}' encountered in format string");
    const end = fieldEnd(template, brace + 1);
    result += field(template.slice(brace + 1, end), given, numbering, depth);
    claim(result.length);
    index = end + 1;
  }
  return result;
}

function nextBrace(template: string, from: number): number {
  for (let index = from; index < template.length; index++) {
    const character = template.charAt(index);
    if (character === '{' || character === '}') return index;
  }
  return template.length;
}

function fieldEnd(template: string, from: number): number {
  let depth = 1;
  for (let index = from; index < template.length; index++) {
    const character = template.charAt(index);
    if (character === '[' && depth === 1) {
      // Within an index braces mean nothing.
      const close = template.indexOf(']', index);
      if (close > 0 && !/[:!]/.test(template.slice(from, index))) index = close;
    } else if (character === '{') depth++;
    else if (character === '}' && --depth === 0) return index;
  }
  return fail(
    from >= template.length ? "Single '{' encountered in format string" : "expected '}' before end of string",
  );
}

const FIELD = /^((?:[^[:!]|\[[^\]]*\])*)(?:!([\s\S])?)?(?::([\s\S]*))?$/;

function field(source: string, given: FormatArguments, numbering: Numbering, depth: number): string {
  const match = FIELD.exec(source);
  if (match === null) return fail('malformed field in format string');
  const [, name = '', conversion, spec = ''] = match;
  const hasConversion = source.slice(name.length).startsWith('!');
  if (hasConversion && conversion === undefined) fail('end of string while looking for conversion specifier');
  const value = lookUp(name, given, numbering);
  const nested = spec === '' ? '' : expand(spec, given, numbering, depth - 1);
  switch (conversion) {
    case undefined:
      return formatValue(value, nested);
    case 's':
      return formatValue(str(value), nested);
    case 'r':
      return formatValue(repr(value), nested);
    case 'a':
      return formatValue(asciiRepr(value), nested);
  }
  return fail(`Unknown conversion specifier ${conversion}`);
}

function lookUp(name: string, given: FormatArguments, numbering: Numbering): Value {
  const first = /^[^.[]*/.exec(name)?.[0] ?? '';
  let value = start(first, given, numbering);
  let rest = name.slice(first.length);
  while (rest !== '') {
    const step = /^\.([^.[]+)|^\[([^\]]+)\]/.exec(rest);
    if (step === null) return fail('Empty attribute in format string');
    const [whole, attribute, index] = step;
    if (attribute !== undefined) value = given.getAttribute(value, attribute);
    else value = given.getItem(value, /^\d+$/.test(index as string) ? Number(index) : (index as string));
    rest = rest.slice(whole.length);
  }
  return value;
}

function start(first: string, given: FormatArguments, numbering: Numbering): Value {
  const isNumber = /^\d+$/.test(first);
  if (first === '' || isNumber) {
    const mode = first === '' ? 'automatic' : 'manual';
    if (numbering.mode !== undefined && numbering.mode !== mode) {
      fail('cannot switch between manual field specification and automatic field numbering');
    }
    numbering.mode = mode;
    const index = first === '' ? numbering.next++ : Number(first);
    const value = given.args[index];
    return value === undefined ? fail('Replacement index out of range for positional args tuple') : value;
  }
  const value = given.named(first);
  return value === undefined ? fail(`KeyError: ${repr(first)}`) : value;
}
