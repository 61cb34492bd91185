import { PyFloat } from '../../json/value.ts';
import { escapeHtml } from './html.ts';
import { boundInteger, claim, claimIntegerBits } from './limits.ts';
import { powerDouble } from './power.ts';
import { fail } from './render-error.ts';
import { float, int, isList, Markup, Tuple, typeName, Undefined, type Value } from './types.ts';

type Numeric = number | bigint | PyFloat;
type IntOperation = (a: bigint, b: bigint) => Value;
type FloatOperation = (a: number, b: number) => number;

/** A number, a bool being one too; undefined for other types. */
export function numeric(value: Value): Numeric | undefined {
  if (typeof value === 'number' || typeof value === 'bigint' || value instanceof PyFloat) return value;
  return typeof value === 'boolean' ? Number(value) : undefined;
}

function isIntNumeric(value: Numeric): value is number | bigint {
  return typeof value === 'number' ? Number.isInteger(value) : typeof value === 'bigint';
}

/** float(value) of a number; an int too large for it is Python's OverflowError. */
export function toDouble(value: Numeric): number {
  if (value instanceof PyFloat) return value.value;
  if (typeof value === 'number') return value;
  const double = Number(value);
  if (!Number.isFinite(double)) fail('int too large to convert to float');
  return double;
}

function operandError(operator: string, left: Value, right: Value): never {
  if (left instanceof Undefined) fail(left.message);
  if (right instanceof Undefined) fail(right.message);
  return fail(`unsupported operand type(s) for ${operator}: '${typeName(left)}' and '${typeName(right)}'`);
}

function apply(
  operator: string,
  left: Value,
  right: Value,
  ints: IntOperation,
  floats: FloatOperation,
): Value {
  const a = numeric(left);
  const b = numeric(right);
  if (a === undefined || b === undefined) return operandError(operator, left, right);
  if (isIntNumeric(a) && isIntNumeric(b)) return ints(BigInt(a), BigInt(b));
  return float(floats(toDouble(a), toDouble(b)));
}

export function add(left: Value, right: Value): Value {
  if (typeof left === 'string' && typeof right === 'string') {
    claim(left.length + right.length);
    return left + right;
  }
  if (
    typeof left === 'number' &&
    typeof right === 'number' &&
    Number.isInteger(left) &&
    Number.isInteger(right)
  ) {
    const sum = left + right;
    if (Number.isSafeInteger(sum)) return sum;
  }
  if (isList(left) && isList(right)) {
    claim((left.length + right.length) << 3);
    return [...left, ...right];
  }
  if (left instanceof Tuple && right instanceof Tuple) {
    claim((left.items.length + right.items.length) << 3);
    return new Tuple([...left.items, ...right.items]);
  }
  const markup = addMarkup(left, right);
  if (markup !== undefined) return markup;
  return apply(
    '+',
    left,
    right,
    (a, b) => int(boundInteger(a + b)),
    (a, b) => a + b,
  );
}

/** Markup escapes what is added to it. */
function addMarkup(left: Value, right: Value): Value | undefined {
  const leftText =
    left instanceof Markup ? left.text : typeof left === 'string' ? escapeHtml(left) : undefined;
  const rightText =
    right instanceof Markup ? right.text : typeof right === 'string' ? escapeHtml(right) : undefined;
  if (leftText === undefined || rightText === undefined) return undefined;
  claim(leftText.length + rightText.length);
  return new Markup(leftText + rightText);
}

export function subtract(left: Value, right: Value): Value {
  if (
    typeof left === 'number' &&
    typeof right === 'number' &&
    Number.isInteger(left) &&
    Number.isInteger(right)
  ) {
    const difference = left - right;
    if (Number.isSafeInteger(difference)) return difference;
  }
  return apply(
    '-',
    left,
    right,
    (a, b) => int(boundInteger(a - b)),
    (a, b) => a - b,
  );
}

export function multiply(left: Value, right: Value): Value {
  const repeated = repeat(left, right) ?? repeat(right, left);
  if (repeated !== undefined) return repeated;
  return apply(
    '*',
    left,
    right,
    (a, b) => int(boundInteger(a * b)),
    (a, b) => a * b,
  );
}

function repeat(sequence: Value, count: Value): Value | undefined {
  const isSequence =
    typeof sequence === 'string' ||
    isList(sequence) ||
    sequence instanceof Tuple ||
    sequence instanceof Markup;
  if (!isSequence) return undefined;
  const times = numeric(count);
  if (times === undefined || !isIntNumeric(times)) {
    if (count instanceof Undefined) fail(count.message);
    return fail(`can't multiply sequence by non-int of type '${typeName(count)}'`);
  }
  const n = times < 0 ? 0 : Number(times);
  if (typeof sequence === 'string') {
    claim(sequence.length * n);
    return sequence.repeat(n);
  }
  if (sequence instanceof Markup) {
    claim(sequence.text.length * n);
    return new Markup(sequence.text.repeat(n));
  }
  const items = isList(sequence) ? sequence : sequence.items;
  claim(items.length * n * 8);
  const all = Array.from({ length: items.length * n }, (_, index) => items[index % items.length] as Value);
  return isList(sequence) ? all : new Tuple(all);
}

export function divide(left: Value, right: Value): Value {
  const a = numeric(left);
  const b = numeric(right);
  if (a === undefined || b === undefined) return operandError('/', left, right);
  const isZero = b instanceof PyFloat ? b.value === 0 : b === 0 || b === 0n;
  if (isZero) fail(isIntNumeric(a) && isIntNumeric(b) ? 'division by zero' : 'float division by zero');
  if (typeof a === 'bigint' || typeof b === 'bigint') {
    if (isIntNumeric(a) && isIntNumeric(b)) return float(divideLarge(BigInt(a), BigInt(b)));
  }
  return float(toDouble(a) / toDouble(b));
}

/** a / b correctly rounded: a quotient of 64 bits or more, its lost tail kept as a sticky bit. */
function divideLarge(a: bigint, b: bigint): number {
  const negative = a < 0n !== b < 0n;
  const dividend = a < 0n ? -a : a;
  const divisor = b < 0n ? -b : b;
  const shift = Math.max(0, divisor.toString(2).length - dividend.toString(2).length + 66);
  const scaled = dividend << BigInt(shift);
  const quotient = scaled / divisor;
  const sticky = quotient * divisor === scaled ? quotient : quotient | 1n;
  const double = Number(sticky) / 2 ** shift;
  if (!Number.isFinite(double)) fail('integer division result too large for a float');
  return negative ? -double : double;
}

function floorDouble(a: number, b: number): number {
  // As CPython: from the remainder, so that the quotient and it agree.
  const remainder = moduloDouble(a, b);
  const quotient = (a - remainder) / b;
  if (quotient === 0) return Object.is(a / b, -0) || a / b < 0 ? -0 : 0;
  const floor = Math.floor(quotient);
  return quotient - floor > 0.5 ? floor + 1 : floor;
}

function moduloDouble(a: number, b: number): number {
  const remainder = a % b;
  if (remainder !== 0) return remainder < 0 !== b < 0 ? remainder + b : remainder;
  return b < 0 ? -0 : 0;
}

function floorBig(a: bigint, b: bigint): bigint {
  const quotient = a / b;
  return a % b !== 0n && a < 0n !== b < 0n ? quotient - 1n : quotient;
}

export function floorDivide(left: Value, right: Value): Value {
  return apply(
    '//',
    left,
    right,
    (a, b) => (b === 0n ? fail('integer division or modulo by zero') : int(floorBig(a, b))),
    (a, b) => (b === 0 ? fail('float floor division by zero') : floorDouble(a, b)),
  );
}

/** % of two numbers; a string on the left formats, which the caller does. */
export function modulo(left: Value, right: Value): Value {
  if (
    typeof left === 'number' &&
    typeof right === 'number' &&
    right > 0 &&
    Number.isInteger(left) &&
    Number.isInteger(right)
  ) {
    const remainder = left % right;
    return remainder < 0 ? remainder + right : remainder + 0;
  }
  return apply(
    '%',
    left,
    right,
    (a, b) => (b === 0n ? fail('integer division or modulo by zero') : int(a - floorBig(a, b) * b)),
    (a, b) => (b === 0 ? fail('float modulo') : moduloDouble(a, b)),
  );
}

export function power(left: Value, right: Value): Value {
  return apply(
    '**',
    left,
    right,
    (a, b) => {
      if (b < 0n) {
        if (a === 0n) fail('0.0 cannot be raised to a negative power');
        return float(powerDouble(toDouble(a), toDouble(b)));
      }
      const bits = (a < 0n ? -a : a).toString(2).length;
      if (a !== 0n && a !== 1n && a !== -1n) claimIntegerBits(bits * Number(b));
      return int(a ** (a === -1n || a === 0n || a === 1n ? (b === 0n ? 0n : 2n - (b % 2n)) : b));
    },
    powerDouble,
  );
}

export function negate(value: Value): Value {
  const number = numeric(value);
  if (number === undefined) return unaryError('-', value);
  if (number instanceof PyFloat) return float(-number.value);
  return typeof number === 'bigint' ? int(-number) : Number.isInteger(number) ? 0 - number : -number;
}

export function positive(value: Value): Value {
  return numeric(value) ?? unaryError('+', value);
}

function unaryError(operator: string, value: Value): never {
  if (value instanceof Undefined) fail(value.message);
  return fail(`bad operand type for unary ${operator}: '${typeName(value)}'`);
}
