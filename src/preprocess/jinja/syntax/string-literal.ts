import { TemplateSyntaxError } from './syntax-error.ts';

const SIMPLE: Readonly<Record<string, string>> = {
  '\n': '',
  '\\': '\\',
  "'": "'",
  '"': '"',
  a: '\x07',
  b: '\b',
  f: '\f',
  n: '\n',
  r: '\r',
  t: '\t',
  v: '\v',
};
const ESCAPE = /\\(?:([0-7]{1,3})|x([\da-fA-F]{2})|u([\da-fA-F]{4})|U([\da-fA-F]{8})|([\s\S]))/g;

/** The value of the inside of a string literal, by Python's `unicode-escape` codec. Unknown escapes stay as written. */
export function unescapeLiteral(inside: string, line: number): string {
  if (!inside.includes('\\')) return inside;
  const value = inside.replace(ESCAPE, (whole, octal, hex, short, long, other: string | undefined) => {
    if (octal !== undefined) return String.fromCodePoint(Number.parseInt(octal, 8));
    const digits = hex ?? short ?? long;
    if (digits !== undefined) {
      const code = Number.parseInt(digits, 16);
      if (code > 0x10ffff) throw new TemplateSyntaxError('string escape', 'illegal Unicode character', line);
      // Two escaped halves of a pair are two characters in Python, and no text that could be encoded.
      if (code >= 0xd800 && code <= 0xdfff) {
        throw new TemplateSyntaxError('string escape', 'a string literal holds a surrogate', line);
      }
      return String.fromCodePoint(code);
    }
    if (other === 'x' || other === 'u' || other === 'U') {
      throw new TemplateSyntaxError('string escape', `truncated \\${other} escape`, line);
    }
    if (other === 'N') {
      throw new TemplateSyntaxError('string escape', '\\N{...} is not supported', line);
    }
    return SIMPLE[other as string] ?? whole;
  });
  return value;
}
