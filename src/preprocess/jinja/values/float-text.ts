/** repr() of a float: the shortest digits that read back the same, in Python's notation. */
export function floatRepr(value: number): string {
  if (Number.isNaN(value)) return 'nan';
  if (!Number.isFinite(value)) return value > 0 ? 'inf' : '-inf';
  if (Object.is(value, -0)) return '-0.0';
  const size = Math.abs(value);
  // Between these bounds Python and JavaScript both write digits only.
  if (value === 0 || (size >= 1e-4 && size < 1e16)) {
    const text = String(value);
    return text.includes('.') ? text : `${text}.0`;
  }
  return pythonExponent(value.toExponential());
}

/** JavaScript's `1e+5` as `1e+05`. */
function pythonExponent(text: string): string {
  return text.replace(/e([+-])(\d)$/, 'e$10$2');
}

/** The exact value of a finite float as numerator / 2^shift. */
export function exact(value: number): { numerator: bigint; shift: bigint } {
  const bits = new DataView(new ArrayBuffer(8));
  bits.setFloat64(0, value);
  const word = bits.getBigUint64(0);
  const exponent = Number((word >> 52n) & 0x7ffn);
  const fraction = word & 0xfffffffffffffn;
  const mantissa = exponent === 0 ? fraction : fraction | (1n << 52n);
  const power = (exponent === 0 ? 1 : exponent) - 1075;
  const signed = value < 0 ? -mantissa : mantissa;
  return power >= 0
    ? { numerator: signed << BigInt(power), shift: 0n }
    : { numerator: signed, shift: BigInt(-power) };
}

/** numerator / denominator (> 0) to the nearest integer, halves to even. */
function divideHalfEven(numerator: bigint, denominator: bigint): bigint {
  const negative = numerator < 0n;
  const size = negative ? -numerator : numerator;
  let quotient = size / denominator;
  const twice = 2n * (size % denominator);
  if (twice > denominator || (twice === denominator && quotient % 2n === 1n)) quotient++;
  return negative ? -quotient : quotient;
}

/** round(value * 10^digits), of the exact value, halves to even. */
function scaledHalfEven(value: number, digits: number): bigint {
  const { numerator, shift } = exact(value);
  const ten = 10n ** BigInt(Math.abs(digits));
  return digits >= 0
    ? divideHalfEven(numerator * ten, 1n << shift)
    : divideHalfEven(numerator, (1n << shift) * ten);
}

/** The `%.{digits}f` of a finite size (no sign), correctly rounded with halves to even. */
export function fixed(size: number, digits: number): string {
  const scaled = scaledHalfEven(size, digits)
    .toString()
    .padStart(digits + 1, '0');
  if (digits === 0) return scaled;
  return `${scaled.slice(0, -digits)}.${scaled.slice(-digits)}`;
}

/** `count` significant digits of a finite size, and the power of ten of the first one. */
function significant(size: number, count: number): { digits: string; exponent: number } {
  if (size === 0) return { digits: '0'.repeat(count), exponent: 0 };
  let exponent = Number(/e([+-]\d+)/.exec(size.toExponential())?.[1]);
  let digits = scaledHalfEven(size, count - 1 - exponent).toString();
  // The shortest digits may round to another power of ten than `count` digits do.
  if (digits.length !== count) {
    exponent += digits.length > count ? 1 : -1;
    digits = scaledHalfEven(size, count - 1 - exponent).toString();
  }
  return { digits, exponent };
}

/** The `%.{digits}e` of a finite size. */
export function exponential(size: number, digits: number): string {
  const { digits: text, exponent } = significant(size, digits + 1);
  const sign = exponent < 0 ? '-' : '+';
  const power = String(Math.abs(exponent)).padStart(2, '0');
  return `${text[0]}${digits > 0 ? `.${text.slice(1)}` : ''}e${sign}${power}`;
}

/** The `%.{precision}g` of a finite size; `keepZeros` is the `#` flag. */
export function general(size: number, precision: number, keepZeros: boolean): string {
  const count = precision === 0 ? 1 : precision;
  const { exponent } = significant(size, count);
  let text: string;
  let tail = '';
  if (exponent < -4 || exponent >= count) {
    [text, tail] = exponential(size, count - 1).split('e') as [string, string];
    tail = `e${tail}`;
  } else {
    text = fixed(size, count - 1 - exponent);
  }
  if (!keepZeros && text.includes('.')) text = text.replace(/\.?0+$/, '');
  if (keepZeros && !text.includes('.')) text += '.';
  return text + tail;
}

/** round(value, digits) of a float. */
export function roundFloat(value: number, digits: number): number {
  if (!Number.isFinite(value) || value === 0) return value;
  // Beyond these, a double has no such digit, or nothing but it.
  if (digits > 323) return value;
  if (digits < -308) return value < 0 ? -0 : 0;
  const scaled = scaledHalfEven(value, digits);
  if (scaled === 0n) return value < 0 ? -0 : 0;
  return Number(`${scaled}e${-digits}`);
}
