import type { ScannerName } from '../splitter.ts';

/** A regex that has a scanner. `covers`: it matches every character, so matches alone are the same as all pieces. */
export type KnownPattern = { readonly scanner: ScannerName; readonly covers: boolean };

const CONTRACTIONS = "(?i:'s|'t|'re|'ve|'m|'ll|'d)";
const SPACES = '\\s*[\\r\\n]+|\\s+(?!\\S)|\\s+';
const HEADS = '[\\p{Lu}\\p{Lt}\\p{Lm}\\p{Lo}\\p{M}]';
const TAILS = '[\\p{Ll}\\p{Lm}\\p{Lo}\\p{M}]';
const LEADER = '[^\\r\\n\\p{L}\\p{N}]?';

function cl100k(digits: 1 | 3, marksInWords: boolean): [string, KnownPattern] {
  const numbers = digits === 1 ? '\\p{N}' : '\\p{N}{1,3}';
  const letters = marksInWords ? '[\\p{L}\\p{M}]+' : '\\p{L}+';
  const rest = marksInWords ? '[^\\s\\p{L}\\p{M}\\p{N}]+' : '[^\\s\\p{L}\\p{N}]+';
  return [
    `${CONTRACTIONS}|${LEADER}${letters}|${numbers}| ?${rest}[\\r\\n]*|${SPACES}`,
    { scanner: { scan: 'cl100k', digits, marksInWords }, covers: true },
  ];
}

function o200k(digits: 1 | 3, contractions: boolean): [string, KnownPattern] {
  const numbers = digits === 1 ? '\\p{N}' : '\\p{N}{1,3}';
  const ending = contractions ? `${CONTRACTIONS}?` : '';
  return [
    `${LEADER}${HEADS}*${TAILS}+${ending}|${LEADER}${HEADS}+${TAILS}*${ending}|${numbers}| ?[^\\s\\p{L}\\p{N}]+[\\r\\n/]*|${SPACES}`,
    { scanner: { scan: 'o200k', digits, contractions }, covers: true },
  ];
}

/** Regexes by their text in tokenizer.json. Most public files of byte-level models hold one of these, to the letter. */
export const KNOWN_PATTERNS: ReadonlyMap<string, KnownPattern> = new Map<string, KnownPattern>([
  [
    "'s|'t|'re|'ve|'m|'ll|'d| ?\\p{L}+| ?\\p{N}+| ?[^\\s\\p{L}\\p{N}]+|\\s+(?!\\S)|\\s+",
    { scanner: { scan: 'gpt2' }, covers: true },
  ],
  cl100k(3, false),
  cl100k(1, false),
  cl100k(1, true),
  o200k(3, true),
  o200k(1, false),
  ['\\p{N}{1,3}', { scanner: { scan: 'numbers', most: 3 }, covers: false }],
  ['\\p{N}', { scanner: { scan: 'numbers', most: 1 }, covers: false }],
  ['[一-龥\u3040-ゟ゠-ヿ]+', { scanner: { scan: 'han' }, covers: false }],
  [
    '[!"#$%&\'()*+,\\-./:;<=>?@\\[\\\\\\]^_`{|}~][A-Za-z]+|[^\r\n\\p{L}\\p{P}\\p{S}]?[\\p{L}\\p{M}]+| ?[\\p{P}\\p{S}]+[\r\n]*|\\s*[\r\n]+|\\s+(?!\\S)|\\s+',
    { scanner: { scan: 'deepseek', digits: 0 }, covers: false },
  ],
]);
