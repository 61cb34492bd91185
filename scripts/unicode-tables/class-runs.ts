import { CODE_POINTS, oracleWith, scalarValues, type TokenizerClass } from './oracle-text.ts';

/** Oniguruma's classes in the order of the numbers in src/tokenizer/engine/classes.ts; 0 is none of these. */
const CLASSES: readonly (readonly [number, string])[] = [
  [1, '\\p{Lu}'],
  [2, '\\p{Ll}'],
  [3, '\\p{Lt}'],
  [4, '\\p{Lm}'],
  [5, '\\p{Lo}'],
  [6, '\\p{M}'],
  [7, '\\p{N}'],
  [8, '\\p{P}'],
  [9, '\\p{S}'],
  [10, '[^\\S\\r\\n]'],
  [11, '[\\r\\n]'],
];
const RUST_WORD = 32;
const RUST_NUMERIC = 64;
const RUST_PUNCTUATION = 128;

/** Marks in `seen` every code point that a pretokenizer takes out of `text`. */
function removedBy(oracle: TokenizerClass, preTokenizer: unknown, text: string): Uint8Array {
  const removed = new Uint8Array(CODE_POINTS).fill(1);
  for (const [piece] of oracleWith(oracle, { pre_tokenizer: preTokenizer })
    .getPreTokenizer()!
    .preTokenizeString(text))
    for (const character of piece) removed[character.codePointAt(0)!] = 0;
  return removed;
}

function split(regex: string): unknown {
  return { type: 'Split', pattern: { Regex: regex }, behavior: 'Removed', invert: false };
}

/** Code points that are `\w` for the Rust regex crate, which judges single_word: ` ` is not one, `_` is. */
function rustWords(oracle: TokenizerClass, text: string): Uint8Array {
  const words = new Uint8Array(CODE_POINTS);
  // Whitespace splits by \w+|[^\w\s]+ : between two spaces, `x_` stays whole exactly when x is \w.
  const spaced = Array.from(text, (character) => `${character}_`).join(' ');
  const preTokenizer = oracleWith(oracle, { pre_tokenizer: { type: 'Whitespace' } }).getPreTokenizer()!;
  for (const [piece] of preTokenizer.preTokenizeString(spaced)) {
    const code = piece.codePointAt(0)!;
    if (piece.length === (code > 0xffff ? 3 : 2)) words[code] = 1;
  }
  return words;
}

/** Code points that are `char::is_numeric` for Rust: the Digits pretokenizer stands each of them alone. */
function rustNumerics(oracle: TokenizerClass, text: string): Uint8Array {
  const numerics = new Uint8Array(CODE_POINTS);
  const paired = Array.from(text, (character) => `a${character}`).join('');
  const digits = oracleWith(oracle, { pre_tokenizer: { type: 'Digits', individual_digits: true } });
  for (const [piece] of digits.getPreTokenizer()!.preTokenizeString(paired))
    if (!piece.startsWith('a')) numerics[piece.codePointAt(0)!] = 1;
  return numerics;
}

/** Code points that the Punctuation pretokenizer takes out; it has older tables than the regex engine. */
function rustPunctuation(oracle: TokenizerClass, text: string): Uint8Array {
  return removedBy(oracle, { type: 'Punctuation', behavior: 'Removed' }, text);
}

/** Runs in code point order, each a letter (value = index in the alphabet below) and a base 36 length. */
export function classRuns(oracle: TokenizerClass): string {
  const text = Array.from(scalarValues(), (code) => String.fromCodePoint(code)).join('');
  const table = new Uint8Array(CODE_POINTS);
  for (const [value, regex] of CLASSES) {
    const members = removedBy(oracle, split(regex), text);
    for (const code of scalarValues()) {
      if (members[code] === 0) continue;
      if (table[code] !== 0)
        throw new Error(`U+${code.toString(16)} is in two classes: ${table[code]} and ${value}`);
      table[code] = value;
    }
  }
  const words = rustWords(oracle, text);
  const numerics = rustNumerics(oracle, text);
  const punctuation = rustPunctuation(oracle, text);
  for (const code of scalarValues())
    table[code] =
      table[code]! |
      (words[code] ? RUST_WORD : 0) |
      (numerics[code] ? RUST_NUMERIC : 0) |
      (punctuation[code] ? RUST_PUNCTUATION : 0);

  const values = [...new Set(table)].sort((a, b) => a - b);
  if (values.length > 26) throw new Error('more kinds of value than letters');
  let runs = `${values.map((value) => value.toString(36)).join(',')};`;
  for (let start = 0; start < CODE_POINTS; ) {
    let end = start;
    while (end < CODE_POINTS && table[end] === table[start]) end++;
    runs += String.fromCharCode(0x41 + values.indexOf(table[start]!)) + (end - start).toString(36);
    start = end;
  }
  return runs;
}
