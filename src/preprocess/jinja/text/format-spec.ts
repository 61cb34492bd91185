import { PyFloat } from '../../json/value.ts';
import { numeric, toDouble } from '../values/arithmetic.ts';
import { exponential, fixed, floatRepr, general } from '../values/float-text.ts';
import { textLength } from '../values/iterate.ts';
import { claim } from '../values/limits.ts';
import { padding } from '../values/native.ts';
import { fail } from '../values/render-error.ts';
import { intText, str } from '../values/repr.ts';
import { Markup, typeName, type Value } from '../values/types.ts';

interface Spec {
  fill: string;
  align: string;
  sign: string;
  negativeZero: boolean;
  alternate: boolean;
  width: number;
  grouping: string;
  precision: number | undefined;
  type: string;
}

const SPEC = /^(?:([\s\S])?([<>=^]))?([-+ ])?(z)?(#)?(0)?(\d+)?([,_])?(?:\.(\d+))?([bcdeEfFgGnosxX%])?$/u;

/** format(value, spec): Python's format specification mini-language. */
export function formatValue(value: Value, spec: string): string {
  if (spec === '') return str(value);
  const isText = typeof value === 'string' || value instanceof Markup;
  const number = numeric(value);
  if (!isText && number === undefined) {
    return fail(`unsupported format string passed to ${typeName(value)}.__format__`);
  }
  const parsed = parseSpec(spec);
  if (isText) return formatText(str(value), parsed);
  const isFloat = number instanceof PyFloat || (typeof number === 'number' && !Number.isInteger(number));
  if (!isFloat && 'bcdnoxX'.includes(parsed.type || 'd'))
    return formatInt(BigInt(number as number | bigint), parsed);
  if (isFloat && 'bcdoxXs'.includes(parsed.type) && parsed.type !== '')
    unknownCode(parsed.type, typeName(value));
  if (parsed.type === 's') unknownCode('s', typeName(value));
  return formatFloat(toDouble(number as number | bigint | PyFloat), parsed);
}

function parseSpec(spec: string): Spec {
  const match = SPEC.exec(spec);
  if (match === null) return fail('Invalid format specifier');
  const [, fill, align, sign, z, alternate, zero, width, grouping, precision, type] = match;
  const size = Number(width ?? 0);
  claim(size);
  if (precision !== undefined) claim(Number(precision));
  return {
    fill:
      fill ??
      (zero !== undefined && align === undefined
        ? '0'
        : align === undefined || zero === undefined
          ? ' '
          : '0'),
    align: align ?? (zero !== undefined ? '=' : ''),
    sign: sign ?? '',
    negativeZero: z !== undefined,
    alternate: alternate !== undefined,
    width: size,
    grouping: grouping ?? '',
    precision: precision === undefined ? undefined : Number(precision),
    type: type ?? '',
  };
}

function unknownCode(code: string, type: string): never {
  return fail(`Unknown format code '${code}' for object of type '${type}'`);
}

function pad(text: string, spec: Spec, defaultAlign: string): string {
  const missing = spec.width - textLength(text);
  const align = spec.align === '' ? defaultAlign : spec.align;
  if (align === '<') return text + padding(spec.fill, missing);
  if (align === '>') return padding(spec.fill, missing) + text;
  const left = Math.floor(missing / 2);
  return padding(spec.fill, left) + text + padding(spec.fill, missing - left);
}

function formatText(text: string, spec: Spec): string {
  if (spec.type !== '' && spec.type !== 's') unknownCode(spec.type, 'str');
  if (spec.sign !== '') fail('Sign not allowed in string format specifier');
  if (spec.alternate) fail('Alternate form (#) not allowed in string format specifier');
  if (spec.align === '=') {
    if (spec.fill !== '0') fail("'=' alignment not allowed in string format specifier");
    // A width that begins with 0 fills on the right.
    return pad(cut(text, spec), { ...spec, align: '<' }, '<');
  }
  if (spec.grouping !== '') fail(`Cannot specify '${spec.grouping}' with 's'.`);
  return pad(cut(text, spec), spec, '<');
}

function cut(text: string, { precision }: Spec): string {
  return precision === undefined ? text : Array.from(text).slice(0, precision).join('');
}

function formatInt(value: bigint, spec: Spec): string {
  if (spec.precision !== undefined) fail('Precision not allowed in integer format specifier');
  const size = value < 0n ? -value : value;
  // 'n' is for the locale, which is C's.
  const type = spec.type === '' || spec.type === 'n' ? 'd' : spec.type;
  if (type === 'c') {
    if (spec.sign !== '') fail("Sign not allowed with integer format specifier 'c'");
    if (size !== value || size > 0x10ffffn) fail('%c arg not in range(0x110000)');
    return pad(String.fromCodePoint(Number(size)), spec, '>');
  }
  const radix = type === 'd' ? 10 : type === 'b' ? 2 : type === 'o' ? 8 : 16;
  let digits = radix === 10 ? intText(size) : size.toString(radix);
  let prefix = spec.alternate && radix !== 10 ? `0${type}` : '';
  if (type === 'X') {
    digits = digits.toUpperCase();
    prefix = prefix.toUpperCase();
  }
  if (spec.grouping === ',' && radix !== 10) fail(`Cannot specify ',' with '${type}'.`);
  return signed(value < 0n, prefix, digits, '', spec, radix === 10 ? 3 : 4);
}

function formatFloat(value: number, spec: Spec): string {
  const negative = value < 0 || Object.is(value, -0);
  const size = Math.abs(value);
  const type = spec.type === 'n' ? 'g' : spec.type;
  let text = Number.isFinite(size) ? floatDigits(size, type, spec) : Number.isNaN(size) ? 'nan' : 'inf';
  if (type === '%') text += '%';
  if (type === 'E' || type === 'F' || type === 'G') text = text.toUpperCase();
  const isZero = !/[1-9a-df-z]/i.test(text.replace(/e.*/i, ''));
  const dropsSign = spec.negativeZero && isZero;
  const [, whole = '', rest = ''] = /^(\d*)([\s\S]*)$/.exec(text) ?? [];
  if (whole === '')
    return signed(negative && !Number.isNaN(value), '', rest, '', { ...spec, grouping: '' }, 3);
  return signed(negative && !dropsSign, '', whole, rest, spec, 3);
}

function floatDigits(size: number, type: string, spec: Spec): string {
  const precision = spec.precision ?? 6;
  switch (type) {
    case 'e':
    case 'E':
      return withPoint(exponential(size, precision), spec);
    case 'f':
    case 'F':
      return withPoint(fixed(size, precision), spec);
    case '%':
      return withPoint(fixed(size * 100, precision), spec);
    case 'g':
    case 'G':
      return general(size, precision, spec.alternate);
  }
  if (spec.precision === undefined) return floatRepr(size);
  return generalWithFraction(size, spec);
}

/** No type, a precision: as `g`, but never without a fraction, so one power of ten earlier in scientific notation. */
function generalWithFraction(size: number, spec: Spec): string {
  const precision = spec.precision === 0 ? 1 : (spec.precision as number);
  const exponent = Number(exponential(size, precision - 1).split('e')[1]);
  const text = general(size, precision, spec.alternate);
  if (exponent < -4 || exponent >= precision) return text;
  if (exponent === precision - 1) {
    const [mantissa = '', power] = exponential(size, precision - 1).split('e');
    return `${mantissa.includes('.') ? mantissa.replace(/\.?0+$/, '') : mantissa}e${power}`;
  }
  return text.includes('.') ? text : `${text}.0`;
}

function withPoint(text: string, spec: Spec): string {
  if (!spec.alternate || text.includes('.')) return text;
  return text.includes('e') ? text.replace('e', '.e') : `${text}.`;
}

/** A sign, `digits` in groups, `tail`, padded; zeros that fill up stand between sign and digits, and are grouped too. */
function signed(
  negative: boolean,
  prefix: string,
  digits: string,
  tail: string,
  spec: Spec,
  group: number,
): string {
  const sign = negative ? '-' : spec.sign === '+' || spec.sign === ' ' ? spec.sign : '';
  const head = sign + prefix;
  if (spec.align !== '=') return pad(head + grouped(digits, spec.grouping, group) + tail, spec, '>');
  const room = spec.width - head.length - tail.length;
  if (spec.grouping === '' || spec.fill !== '0') {
    const body = grouped(digits, spec.grouping, group);
    return head + padding(spec.fill, room - body.length) + body + tail;
  }
  let filled = digits;
  while (grouped(filled, spec.grouping, group).length < room) filled = `0${filled}`;
  return head + grouped(filled, spec.grouping, group) + tail;
}

function grouped(digits: string, separator: string, group: number): string {
  if (separator === '') return digits;
  const parts: string[] = [];
  for (let end = digits.length; end > 0; end -= group)
    parts.unshift(digits.slice(Math.max(0, end - group), end));
  return parts.join(separator);
}
