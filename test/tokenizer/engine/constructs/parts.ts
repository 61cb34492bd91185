import type { VocabularyShape } from '../small-files.ts';

// Parts of a tokenizer.json that many files of the tests have.

export const BYTES: VocabularyShape = { unit: 'bytes' };
export const byteLevel = (options: Record<string, unknown> = {}): Record<string, unknown> => ({
  type: 'ByteLevel',
  add_prefix_space: false,
  trim_offsets: true,
  use_regex: true,
  ...options,
});
export const sequence = (...pretokenizers: unknown[]): unknown => ({ type: 'Sequence', pretokenizers });
export const normalizers = (...list: unknown[]): unknown => ({ type: 'Sequence', normalizers: list });
export const decoders = (...list: unknown[]): unknown => ({ type: 'Sequence', decoders: list });
export const split = (regex: string, behavior = 'Isolated', invert = false): unknown => ({
  type: 'Split',
  pattern: { Regex: regex },
  behavior,
  invert,
});
export const special = (content: string, flags: Record<string, unknown> = {}): Record<string, unknown> => ({
  content,
  special: true,
  ...flags,
});

/** What ByteLevel is as a decoder. */
export const decoder = byteLevel();
/** ByteLevel after a Split: bytes to characters, and no regex of its own. */
export const mapped = byteLevel({ use_regex: false });

const contractions = "(?i:'s|'t|'re|'ve|'m|'ll|'d)";
const spaces = '\\s*[\\r\\n]+|\\s+(?!\\S)|\\s+';
const heads = '[\\p{Lu}\\p{Lt}\\p{Lm}\\p{Lo}\\p{M}]';
const tails = '[\\p{Ll}\\p{Lm}\\p{Lo}\\p{M}]';
const leader = '[^\\r\\n\\p{L}\\p{N}]?';
export const PATTERNS: Record<string, string> = {
  gpt2: "'s|'t|'re|'ve|'m|'ll|'d| ?\\p{L}+| ?\\p{N}+| ?[^\\s\\p{L}\\p{N}]+|\\s+(?!\\S)|\\s+",
  cl100k: `${contractions}|${leader}\\p{L}+|\\p{N}{1,3}| ?[^\\s\\p{L}\\p{N}]+[\\r\\n]*|${spaces}`,
  'qwen with marks in words': `${contractions}|${leader}[\\p{L}\\p{M}]+|\\p{N}| ?[^\\s\\p{L}\\p{M}\\p{N}]+[\\r\\n]*|${spaces}`,
  o200k: `${leader}${heads}*${tails}+${contractions}?|${leader}${heads}+${tails}*${contractions}?|\\p{N}{1,3}| ?[^\\s\\p{L}\\p{N}]+[\\r\\n/]*|${spaces}`,
  tekken: `${leader}${heads}*${tails}+|${leader}${heads}+${tails}*|\\p{N}| ?[^\\s\\p{L}\\p{N}]+[\\r\\n/]*|${spaces}`,
};
