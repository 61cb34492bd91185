import { PyFloat } from '../../json/value.ts';
import { divide, multiply, negate, numeric, power, toDouble } from '../values/arithmetic.ts';
import { truth } from '../values/compare.ts';
import { fixed, roundFloat } from '../values/float-text.ts';
import { intArgument, type Native, named, positional } from '../values/native.ts';
import { fail } from '../values/render-error.ts';
import { float, int, isInt, Markup, typeName, Undefined, type Value } from '../values/types.ts';
import { parseFloatText, parseInt10, truncate } from './number-text.ts';

/** A number's double, a text's value; undefined for what float() does not take. */
function doubleOf(value: Value): number | undefined {
  if (value instanceof Undefined) return fail(value.message);
  const number = numeric(value);
  if (number !== undefined) return toDouble(number);
  const text = value instanceof Markup ? value.text : value;
  return typeof text === 'string' ? parseFloatText(text) : undefined;
}

function toInt(value: Value, absent: Value, base: number): Value {
  if (value instanceof Undefined) return fail(value.message);
  const text = value instanceof Markup ? value.text : value;
  if (typeof text === 'string') {
    if (base !== 0 && (base < 2 || base > 36)) return absent;
    const parsed = parseInt10(text, base);
    if (parsed !== undefined) return parsed;
    const double = parseFloatText(text);
    return double === undefined || !Number.isFinite(double) ? absent : truncate(double);
  }
  const number = numeric(value);
  if (number === undefined) return absent;
  if (isInt(number)) return number;
  const double = toDouble(number);
  if (Number.isNaN(double)) return absent;
  if (!Number.isFinite(double)) return fail('cannot convert float infinity to integer');
  return truncate(double);
}

function absolute(value: Value): Value {
  const number = numeric(value);
  if (number === undefined) {
    if (value instanceof Undefined) return fail(`bad operand type for abs(): 'Undefined'`);
    return fail(`bad operand type for abs(): '${typeName(value)}'`);
  }
  const double = number instanceof PyFloat ? number.value : number;
  return double < 0 || Object.is(double, -0) ? negate(number) : number;
}

function round(value: Value, precision: Value, method: Value): Value {
  const how = method instanceof Markup ? method.text : method;
  if (how !== 'common' && how !== 'ceil' && how !== 'floor')
    return fail('method must be common, ceil or floor');
  const number = numeric(value);
  if (number === undefined) {
    if (value instanceof Undefined) fail(value.message);
    return fail(`type ${typeName(value)} doesn't define __round__ method`);
  }
  if (how === 'common') {
    if (precision === null) return isInt(number) ? number : roundToInt(toDouble(number));
    const digits = intArgument(precision);
    return isInt(number) ? roundInt(number, digits) : float(roundFloat(toDouble(number), digits));
  }
  const factor = power(10, precision);
  const scaled = multiply(number, factor);
  const stepped = isInt(scaled) ? scaled : wholeOf(toDouble(scaled as PyFloat | number), how);
  return divide(stepped, power(10, precision));
}

function wholeOf(double: number, how: 'ceil' | 'floor'): Value {
  if (!Number.isFinite(double)) return fail('cannot convert float infinity or NaN to integer');
  return truncate(how === 'ceil' ? Math.ceil(double) : Math.floor(double));
}

function roundToInt(double: number): Value {
  if (!Number.isFinite(double)) return fail('cannot convert float infinity or NaN to integer');
  return truncate(roundFloat(double, 0));
}

/** round(int, digits): itself, unless digits are dropped, then halves to even. */
function roundInt(value: number | bigint, digits: number): Value {
  if (digits >= 0) return value;
  if (digits < -4300) return 0;
  const unit = 10n ** BigInt(-digits);
  const size = BigInt(value) < 0n ? -BigInt(value) : BigInt(value);
  let quotient = size / unit;
  const twice = 2n * (size % unit);
  if (twice > unit || (twice === unit && quotient % 2n === 1n)) quotient++;
  return int(BigInt(value) < 0n ? -quotient * unit : quotient * unit);
}

const PREFIXES = ['k', 'M', 'G', 'T', 'P', 'E', 'Z', 'Y'];

function fileSize(value: Value, binary: boolean): string {
  const bytes = doubleOf(value);
  if (bytes === undefined) return fail(`could not convert ${typeName(value)} to float`);
  const base = binary ? 1024 : 1000;
  if (bytes === 1) return '1 Byte';
  if (bytes < base)
    return `${Number.isFinite(bytes) ? Math.trunc(bytes) : fail('cannot convert float infinity to integer')} Bytes`;
  if (!Number.isFinite(bytes))
    return Number.isNaN(bytes) ? `nan ${binary ? 'YiB' : 'YB'}` : `inf ${binary ? 'YiB' : 'YB'}`;
  for (let index = 0; ; index++) {
    const unit = Number(BigInt(base) ** BigInt(index + 2));
    if (bytes < unit || index === PREFIXES.length - 1) {
      const prefix = binary ? `${(PREFIXES[index] as string).toUpperCase()}iB` : `${PREFIXES[index]}B`;
      return `${fixed((base * bytes) / unit, 1)} ${prefix}`;
    }
  }
}

export const NUMBER_FILTERS: readonly (readonly [string, Native])[] = [
  ['abs', positional(0, 0, absolute)],
  [
    'int',
    named('default base', 0, (value, [absent, base]) =>
      toInt(value, absent === undefined ? 0 : absent, base === undefined ? 10 : intArgument(base)),
    ),
  ],
  [
    'float',
    named('default', 0, (value, [absent]) => {
      const double = doubleOf(value);
      if (double !== undefined) return float(double);
      return absent === undefined ? new PyFloat(0) : absent;
    }),
  ],
  [
    'round',
    named('precision method', 0, (value, [precision, method]) =>
      round(value, precision === undefined ? 0 : precision, method ?? 'common'),
    ),
  ],
  ['filesizeformat', named('binary', 0, (value, [binary]) => fileSize(value, truth(binary ?? false)))],
];
