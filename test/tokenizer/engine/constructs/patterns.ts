import type { FileParts } from '../small-files.ts';
import { BYTES, byteLevel, decoder, mapped, normalizers, PATTERNS, sequence, split } from './parts.ts';

/** Split by the regexes that public files hold, by others, and pretokenizers that split by class. */
export const SPLITS: Record<string, FileParts> = {};

for (const [name, regex] of Object.entries(PATTERNS))
  SPLITS[`Split ${name}`] = { vocabulary: BYTES, preTokenizer: sequence(split(regex), mapped), decoder };
for (const name of ['gpt2', 'o200k'])
  SPLITS[`Split ${name}, Removed and inverted`] = {
    vocabulary: BYTES,
    preTokenizer: sequence(split(PATTERNS[name]!, 'Removed', true), mapped),
    decoder,
  };
SPLITS['numbers cut before gpt2'] = {
  vocabulary: BYTES,
  preTokenizer: sequence(split('\\p{N}{1,3}'), split('\\p{N}'), split(PATTERNS.gpt2!), mapped),
  decoder,
};
SPLITS['the third pattern of deepseek alone'] = {
  vocabulary: BYTES,
  preTokenizer: sequence(
    split(
      '[!"#$%&\'()*+,\\-./:;<=>?@\\[\\\\\\]^_`{|}~][A-Za-z]+|[^\r\n\\p{L}\\p{P}\\p{S}]?[\\p{L}\\p{M}]+| ?[\\p{P}\\p{S}]+[\r\n]*|\\s*[\r\n]+|\\s+(?!\\S)|\\s+',
    ),
    mapped,
  ),
  decoder,
};

// Patterns without a scanner of their own.
const UNKNOWN_PATTERNS: Record<string, string> = {
  'cl100k of tiktoken':
    "'(?i:[sdmt]|ll|ve|re)|[^\\r\\n\\p{L}\\p{N}]?+\\p{L}+|\\p{N}{1,3}| ?[^\\s\\p{L}\\p{N}]++[\\r\\n]*|\\s*[\\r\\n]|\\s+(?!\\S)|\\s+",
  'ends of lines': '\\s+$|^[a-zA-Z]+|\\s?[!-/:-~！-／：-～‘-‟　-。]+|\\P{L}\\p{M}*?|.',
  'lazy and counted': '[^\\s]{2,4}|(\\p{Lu}|\\p{Ll})+?\\p{Nd}?'.replace('\\p{Nd}', '\\p{N}'),
  'letters of any case': '(?i:the|k|quick|s)|[a-z]{3,}|\\-+|(?=\\S)\\p{S}+|\\p{Lt}|(?:\\p{P}\\s)+',
};
const BEHAVIORS = ['Isolated', 'Removed', 'MergedWithPrevious', 'MergedWithNext', 'Contiguous'];
for (const [k, [name, regex]] of Object.entries(UNKNOWN_PATTERNS).entries())
  for (const invert of [false, true])
    for (const behavior of k === 0 ? BEHAVIORS : ['Isolated'])
      SPLITS[`Split ${name}, ${behavior}${invert ? ' inverted' : ''}`] = {
        vocabulary: BYTES,
        preTokenizer: sequence(split(regex, behavior, invert), mapped),
        decoder,
      };
for (const behavior of BEHAVIORS) {
  SPLITS[`Punctuation ${behavior}`] = {
    vocabulary: BYTES,
    preTokenizer: sequence({ type: 'Punctuation', behavior }, byteLevel()),
    decoder,
  };
  SPLITS[`Split of a literal, ${behavior}`] = {
    vocabulary: { unit: 'characters', byteTokens: 'all' },
    preTokenizer: { type: 'Split', pattern: { String: ' ' }, behavior, invert: false },
    model: { byte_fallback: true },
  };
}
SPLITS.Whitespace = {
  vocabulary: BYTES,
  preTokenizer: sequence({ type: 'Whitespace' }, mapped),
  decoder,
};
SPLITS.WhitespaceSplit = {
  vocabulary: { unit: 'characters', byteTokens: 'all' },
  preTokenizer: sequence(
    { type: 'WhitespaceSplit' },
    { type: 'Metaspace', replacement: '▁', prepend_scheme: 'first', split: true },
  ),
  model: { byte_fallback: true },
};
SPLITS['normalizer Replace with a regex'] = {
  vocabulary: BYTES,
  normalizer: normalizers(
    { type: 'Replace', pattern: { Regex: '\\s+' }, content: ' ' },
    { type: 'Replace', pattern: { Regex: '[a-c]{2}|\\p{Lu}' }, content: '$1x' },
  ),
  preTokenizer: byteLevel(),
  decoder,
};
