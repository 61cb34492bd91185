import { PyFloat } from '../../json/value.ts';
import { numeric, toDouble } from '../values/arithmetic.ts';
import { dictGet } from '../values/dict.ts';
import { exponential, fixed, general } from '../values/float-text.ts';
import { textLength } from '../values/iterate.ts';
import { claim } from '../values/limits.ts';
import { intArgument, padding } from '../values/native.ts';
import { Range } from '../values/range.ts';
import { fail } from '../values/render-error.ts';
import { asciiRepr, intText, repr, str } from '../values/repr.ts';
import {
  type Dict,
  int,
  isDict,
  isInt,
  isList,
  Markup,
  Tuple,
  typeName,
  Undefined,
  type Value,
} from '../values/types.ts';

const DIRECTIVE = /%(?:\(([^()]*)\))?([-+ #0]*)(\*|\d+)?(?:\.(\*|\d+)?)?[hlL]?([\s\S])?/g;

/** `template % values`: values is a tuple, a mapping or one value. */
export function percentFormat(template: string, values: Value): string {
  const mapping = isDict(values) ? values : undefined;
  const items: readonly Value[] = values instanceof Tuple ? values.items : [values];
  let used = 0;
  let named = false;
  const next = (): Value => {
    const item = items[used++];
    return item === undefined ? fail('not enough arguments for format string') : item;
  };
  const text = template.replace(
    DIRECTIVE,
    (whole: string, key: string | undefined, flags: string, width, precision, type) => {
      if (type === undefined) fail('incomplete format');
      if (type === '%' && whole === '%%') return '%';
      if (key !== undefined) {
        named = true;
        if (mapping === undefined) fail('format requires a mapping');
      }
      const wide = width === '*' ? intArgument(next()) : Number(width ?? 0);
      const hasPoint = /\.(?:\*|\d*)[hlL]?[\s\S]$/.test(whole);
      const exact = precision === '*' ? intArgument(next()) : hasPoint ? Number(precision ?? 0) : undefined;
      claim(Math.abs(wide));
      claim(exact ?? 0);
      const value = type === '%' ? null : key !== undefined ? lookUp(mapping as Dict, key) : next();
      return pad(convert(type, value, flags, exact), wide, wide < 0 ? `${flags}-` : flags, type);
    },
  );
  if (!named && !hasSubscripts(values) && used < items.length) {
    fail('not all arguments converted during string formatting');
  }
  claim(text.length);
  return text;
}

/** What Python takes for a mapping: it may be left unused. */
function hasSubscripts(values: Value): boolean {
  return isDict(values) || isList(values) || values instanceof Range || values instanceof Undefined;
}

function lookUp(mapping: Dict, key: string): Value {
  const value = dictGet(mapping, key);
  return value !== undefined ? value : fail(`KeyError: ${repr(key)}`);
}

/** The converted text; of a number, its sign or prefix apart from its digits. */
interface Converted {
  readonly head: string;
  readonly body: string;
}

function convert(type: string, value: Value, flags: string, precision: number | undefined): Converted {
  switch (type) {
    case '%':
      return { head: '', body: '%' };
    case 's':
      return { head: '', body: cut(str(value), precision) };
    case 'r':
      return { head: '', body: cut(repr(value), precision) };
    case 'a':
      return { head: '', body: cut(asciiRepr(value), precision) };
    case 'c':
      return { head: '', body: character(value) };
    case 'd':
    case 'i':
    case 'u':
      return whole(truncated(value, type), 10, '', flags, precision);
    case 'x':
      return whole(integer(value, type), 16, '0x', flags, precision);
    case 'X': {
      const { head, body } = whole(integer(value, type), 16, '0x', flags, precision);
      return { head: head.toUpperCase(), body: body.toUpperCase() };
    }
    case 'o':
      return whole(integer(value, type), 8, '0o', flags, precision);
    case 'e':
    case 'E':
    case 'f':
    case 'F':
    case 'g':
    case 'G':
      return double(type, value, flags, precision ?? 6);
  }
  return fail(`unsupported format character '${type}'`);
}

function cut(text: string, precision: number | undefined): string {
  return precision === undefined ? text : Array.from(text).slice(0, precision).join('');
}

function character(value: Value): string {
  const text = value instanceof Markup ? value.text : value;
  if (typeof text === 'string') return textLength(text) === 1 ? text : fail('%c requires int or char');
  if (!isInt(value) && typeof value !== 'boolean') fail('%c requires int or char');
  const code = intArgument(value);
  if (code < 0 || code > 0x10ffff) fail('%c arg not in range(0x110000)');
  return String.fromCodePoint(code);
}

function truncated(value: Value, type: string): bigint {
  const number = numeric(value);
  if (number === undefined) return numberError(value, type, 'a real number');
  if (typeof number === 'bigint') return number;
  const size = number instanceof PyFloat ? number.value : number;
  if (!Number.isFinite(size)) fail('cannot convert float infinity or NaN to integer');
  return BigInt(Math.trunc(size));
}

function integer(value: Value, type: string): bigint {
  const number = numeric(value);
  if (number === undefined || !isInt(number)) return numberError(value, type, 'an integer');
  return BigInt(number);
}

function numberError(value: Value, type: string, wanted: string): never {
  if (value instanceof Undefined) fail(value.message);
  return fail(`%${type} format: ${wanted} is required, not ${typeName(value)}`);
}

function whole(
  value: bigint,
  radix: number,
  prefix: string,
  flags: string,
  precision: number | undefined,
): Converted {
  const size = value < 0n ? -value : value;
  const digits = (radix === 10 ? intText(int(size) as bigint) : size.toString(radix)).padStart(
    precision ?? 0,
    '0',
  );
  return { head: sign(value < 0n, flags) + (flags.includes('#') ? prefix : ''), body: digits };
}

function double(type: string, value: Value, flags: string, precision: number): Converted {
  const number = numeric(value);
  if (number === undefined) {
    if (value instanceof Undefined) fail(value.message);
    return fail(`must be real number, not ${typeName(value)}`);
  }
  const real = toDouble(number);
  const size = Math.abs(real);
  let body: string;
  if (!Number.isFinite(size)) body = Number.isNaN(size) ? 'nan' : 'inf';
  else if (type === 'f' || type === 'F') body = fixed(size, precision);
  else if (type === 'e' || type === 'E') body = exponential(size, precision);
  else body = general(size, precision, flags.includes('#'));
  if (flags.includes('#') && !body.includes('.') && Number.isFinite(size)) {
    body = body.includes('e') ? body.replace('e', '.e') : `${body}.`;
  }
  if (type !== type.toLowerCase()) body = body.toUpperCase();
  return { head: sign((real < 0 || Object.is(real, -0)) && !Number.isNaN(real), flags), body };
}

function sign(negative: boolean, flags: string): string {
  return negative ? '-' : flags.includes('+') ? '+' : flags.includes(' ') ? ' ' : '';
}

function pad({ head, body }: Converted, width: number, flags: string, type: string): string {
  const missing = Math.abs(width) - textLength(head + body);
  if (flags.includes('-')) return head + body + padding(' ', missing);
  if (flags.includes('0') && !'srac%'.includes(type)) return head + padding('0', missing) + body;
  return padding(' ', missing) + head + body;
}
