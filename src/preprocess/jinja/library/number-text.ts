import { strip } from '../text/whitespace.ts';
import { int } from '../values/types.ts';

/** Decimal digits of other scripts, which Python reads as digits, as ASCII ones. */
function asciiDigits(text: string): string {
  if (!/[^\0-\x7f]/.test(text)) return text;
  return text.replace(/(?![0-9])\p{Nd}/gu, (digit) => {
    // Each script's ten digits stand together in order, at the end of a run whose first is its zero.
    let code = digit.codePointAt(0) as number;
    let value = 0;
    while (/\p{Nd}/u.test(String.fromCodePoint(code - 1)) && value < 9) {
      code--;
      value++;
    }
    return String(value);
  });
}

const INT = /^([+-]?)(?:0([xob]))?(_?[0-9a-z]+(?:_[0-9a-z]+)*)$/i;

/** int(text, base); undefined where Python raises a ValueError. */
export function parseInt10(text: string, base: number): number | bigint | undefined {
  const match = INT.exec(asciiDigits(strip(text, 'both')));
  if (match === null) return undefined;
  const [, sign, letter, rest = ''] = match;
  const prefixBase =
    letter === undefined ? undefined : { x: 16, o: 8, b: 2 }[letter.toLowerCase() as 'x' | 'o' | 'b'];
  let radix = base;
  let digits = rest;
  if (prefixBase !== undefined && (base === 0 || base === prefixBase)) radix = prefixBase;
  else {
    if (prefixBase !== undefined) digits = `0${letter}${rest}`;
    if (rest.startsWith('_')) return undefined;
    if (radix === 0) {
      radix = 10;
      if (/^0[0_]*[1-9]/.test(digits)) return undefined;
    }
  }
  digits = digits.replaceAll('_', '').toLowerCase();
  if (digits.length > 4300 && (radix & (radix - 1)) !== 0) return undefined;
  let value = 0n;
  for (const digit of digits) {
    const worth = Number.parseInt(digit, 36);
    if (Number.isNaN(worth) || worth >= radix) return undefined;
    value = value * BigInt(radix) + BigInt(worth);
  }
  return int(sign === '-' ? -value : value);
}

const FLOAT = /^[+-]?(?:(?:\d+(?:_\d+)*)?\.?(?:\d+(?:_\d+)*)?(?:e[+-]?\d+(?:_\d+)*)?|inf|infinity|nan)$/i;

/** float(text); undefined where Python raises a ValueError. */
export function parseFloatText(text: string): number | undefined {
  const trimmed = asciiDigits(strip(text, 'both'));
  if (
    !FLOAT.test(trimmed) ||
    !/[\dfn]/i.test(trimmed.replace(/e.*/i, (tail) => (/^e/i.test(tail) ? '' : tail)))
  )
    return undefined;
  const lower = trimmed.toLowerCase();
  if (lower.includes('inf')) return lower.startsWith('-') ? -Infinity : Infinity;
  if (lower.includes('nan')) return Number.NaN;
  const value = Number(lower.replaceAll('_', ''));
  return Number.isNaN(value) ? undefined : value;
}

/** int() of a finite float. */
export function truncate(value: number): number | bigint {
  return int(BigInt(Math.trunc(value)));
}
