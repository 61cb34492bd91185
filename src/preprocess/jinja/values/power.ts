import { exact } from './float-text.ts';
import { fail, unsupported } from './render-error.ts';

/**
 * a ** b of floats. C's pow, which Python calls, and JavaScript's differ in the last digit, and neither always rounds
 * correctly: what is not exact is refused, but for powers of ten, which pow does round correctly.
 */
export function powerDouble(a: number, b: number): number {
  if (a === 0 && b < 0) return fail('0.0 cannot be raised to a negative power');
  if (!Number.isFinite(a) || !Number.isFinite(b) || a === 0 || b === 0 || a === 1) return special(a, b);
  if (!Number.isInteger(b)) {
    if (a < 0) return unsupported('a complex number');
    const root = Math.sqrt(a);
    return b === 0.5 && exactPower(root, 2) === a ? root : inexact();
  }
  if (a === -1) return b % 2 === 0 ? 1 : -1;
  const estimate = a ** b;
  if (!Number.isFinite(estimate)) return fail('Numerical result out of range');
  if (a === 10 && Math.abs(b) <= 300) return Number(`1e${b}`);
  // Only powers of two have a finite reciprocal in binary.
  if (b < 0) return exactPower(estimate, 1) === estimate && isPowerOfTwo(a) ? estimate : inexact();
  return exactPower(a, b) ?? inexact();
}

/** JavaScript says NaN for powers of 1, and of -1 to an infinity; C and Python say 1. */
function special(a: number, b: number): number {
  if (a === 1 || (a === -1 && (b === Infinity || b === -Infinity))) return 1;
  return a ** b;
}

function isPowerOfTwo(value: number): boolean {
  const { numerator } = exact(value);
  const size = numerator < 0n ? -numerator : numerator;
  return (size & (size - 1n)) === 0n;
}

/** a ** b for a whole b > 0, undefined when no double is exactly that. */
function exactPower(a: number, b: number): number | undefined {
  if (b > 1100) return undefined;
  let { numerator, shift } = exact(a);
  if (numerator === 0n) return 0;
  while (numerator % 2n === 0n && shift > 0n) {
    numerator /= 2n;
    shift -= 1n;
  }
  const power = numerator ** BigInt(b);
  const down = shift * BigInt(b);
  const odd = power.toString(2).replace(/0+$/, '');
  if (odd.replace('-', '').length > 53 || down > 1022n) return undefined;
  const value = Number(power) / 2 ** Number(down);
  return Number.isFinite(value) ? value : undefined;
}

function inexact(): never {
  return unsupported('a power of floats that is not exact');
}
