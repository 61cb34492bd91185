import type { FileParts, VocabularyShape } from './small-files.ts';

/** Constructs of public files that the five models do not have, each in a file as small as may be. */
export const CONSTRUCTS: Record<string, FileParts> = {};

const BYTES: VocabularyShape = { unit: 'bytes' };
const PAIRS: VocabularyShape = { unit: 'bytes', merges: 'pairs' };
const byteLevel = (options: Record<string, unknown> = {}): Record<string, unknown> => ({
  type: 'ByteLevel',
  add_prefix_space: false,
  trim_offsets: true,
  use_regex: true,
  ...options,
});
const sequence = (...pretokenizers: unknown[]): unknown => ({ type: 'Sequence', pretokenizers });
const normalizers = (...list: unknown[]): unknown => ({ type: 'Sequence', normalizers: list });
const decoders = (...list: unknown[]): unknown => ({ type: 'Sequence', decoders: list });
const split = (regex: string, behavior = 'Isolated', invert = false): unknown => ({
  type: 'Split',
  pattern: { Regex: regex },
  behavior,
  invert,
});
const special = (content: string, flags: Record<string, unknown> = {}): Record<string, unknown> => ({
  content,
  special: true,
  ...flags,
});

// Byte level: the built-in regex, the prefix space, digits before it.
const decoder = byteLevel();
CONSTRUCTS.ByteLevel = { vocabulary: BYTES, preTokenizer: byteLevel(), decoder };
CONSTRUCTS['ByteLevel with add_prefix_space'] = {
  vocabulary: PAIRS,
  preTokenizer: byteLevel({ add_prefix_space: true }),
  added: [special('<s>'), special('<mask>', { lstrip: true })],
  postProcessor: {
    type: 'RobertaProcessing',
    sep: ['</s>', 2],
    cls: ['<s>', 1],
    trim_offsets: true,
    add_prefix_space: true,
  },
  decoder,
};
CONSTRUCTS['a model without a type'] = {
  vocabulary: BYTES,
  preTokenizer: byteLevel(),
  decoder,
  model: { type: undefined },
};
for (const individual of [true, false])
  for (const prefixed of [true, false])
    CONSTRUCTS[
      `Digits ${individual ? 'alone' : 'in runs'} before ByteLevel${prefixed ? ' with add_prefix_space' : ''}`
    ] = {
      vocabulary: BYTES,
      preTokenizer: sequence(
        { type: 'Digits', individual_digits: individual },
        byteLevel({ add_prefix_space: prefixed }),
      ),
      decoder,
    };
CONSTRUCTS['ByteLevel without regex'] = {
  vocabulary: BYTES,
  preTokenizer: byteLevel({ use_regex: false }),
  decoder,
};
CONSTRUCTS['ByteLevel without regex, with add_prefix_space'] = {
  vocabulary: BYTES,
  preTokenizer: byteLevel({ use_regex: false, add_prefix_space: true }),
  decoder,
};

CONSTRUCTS['merges in no order of training'] = {
  vocabulary: { ...BYTES, shuffled: true },
  preTokenizer: byteLevel({ use_regex: false }),
  decoder,
};

// Known patterns.
const contractions = "(?i:'s|'t|'re|'ve|'m|'ll|'d)";
const spaces = '\\s*[\\r\\n]+|\\s+(?!\\S)|\\s+';
const heads = '[\\p{Lu}\\p{Lt}\\p{Lm}\\p{Lo}\\p{M}]';
const tails = '[\\p{Ll}\\p{Lm}\\p{Lo}\\p{M}]';
const leader = '[^\\r\\n\\p{L}\\p{N}]?';
const PATTERNS: Record<string, string> = {
  gpt2: "'s|'t|'re|'ve|'m|'ll|'d| ?\\p{L}+| ?\\p{N}+| ?[^\\s\\p{L}\\p{N}]+|\\s+(?!\\S)|\\s+",
  cl100k: `${contractions}|${leader}\\p{L}+|\\p{N}{1,3}| ?[^\\s\\p{L}\\p{N}]+[\\r\\n]*|${spaces}`,
  'qwen with marks in words': `${contractions}|${leader}[\\p{L}\\p{M}]+|\\p{N}| ?[^\\s\\p{L}\\p{M}\\p{N}]+[\\r\\n]*|${spaces}`,
  o200k: `${leader}${heads}*${tails}+${contractions}?|${leader}${heads}+${tails}*${contractions}?|\\p{N}{1,3}| ?[^\\s\\p{L}\\p{N}]+[\\r\\n/]*|${spaces}`,
  tekken: `${leader}${heads}*${tails}+|${leader}${heads}+${tails}*|\\p{N}| ?[^\\s\\p{L}\\p{N}]+[\\r\\n/]*|${spaces}`,
};
const mapped = byteLevel({ use_regex: false });
for (const [name, regex] of Object.entries(PATTERNS))
  CONSTRUCTS[`Split ${name}`] = { vocabulary: BYTES, preTokenizer: sequence(split(regex), mapped), decoder };
for (const name of ['gpt2', 'o200k'])
  CONSTRUCTS[`Split ${name}, Removed and inverted`] = {
    vocabulary: BYTES,
    preTokenizer: sequence(split(PATTERNS[name]!, 'Removed', true), mapped),
    decoder,
  };
CONSTRUCTS['numbers cut before gpt2'] = {
  vocabulary: BYTES,
  preTokenizer: sequence(split('\\p{N}{1,3}'), split('\\p{N}'), split(PATTERNS.gpt2!), mapped),
  decoder,
};
CONSTRUCTS['the third pattern of deepseek alone'] = {
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
      CONSTRUCTS[`Split ${name}, ${behavior}${invert ? ' inverted' : ''}`] = {
        vocabulary: BYTES,
        preTokenizer: sequence(split(regex, behavior, invert), mapped),
        decoder,
      };
for (const behavior of BEHAVIORS) {
  CONSTRUCTS[`Punctuation ${behavior}`] = {
    vocabulary: BYTES,
    preTokenizer: sequence({ type: 'Punctuation', behavior }, byteLevel()),
    decoder,
  };
  CONSTRUCTS[`Split of a literal, ${behavior}`] = {
    vocabulary: { unit: 'characters', byteTokens: 'all' },
    preTokenizer: { type: 'Split', pattern: { String: ' ' }, behavior, invert: false },
    model: { byte_fallback: true },
  };
}
CONSTRUCTS.Whitespace = {
  vocabulary: BYTES,
  preTokenizer: sequence({ type: 'Whitespace' }, mapped),
  decoder,
};
CONSTRUCTS.WhitespaceSplit = {
  vocabulary: { unit: 'characters', byteTokens: 'all' },
  preTokenizer: sequence(
    { type: 'WhitespaceSplit' },
    { type: 'Metaspace', replacement: '▁', prepend_scheme: 'first', split: true },
  ),
  model: { byte_fallback: true },
};
CONSTRUCTS['normalizer Replace with a regex'] = {
  vocabulary: BYTES,
  normalizer: normalizers(
    { type: 'Replace', pattern: { Regex: '\\s+' }, content: ' ' },
    { type: 'Replace', pattern: { Regex: '[a-c]{2}|\\p{Lu}' }, content: '$1x' },
  ),
  preTokenizer: byteLevel(),
  decoder,
};

// Bytes that the vocabulary lacks: they vanish, or are unknown, one by one or fused.
const lacking: VocabularyShape = { unit: 'bytes', without: (byte) => byte % 5 === 0 };
CONSTRUCTS['missing bytes'] = { vocabulary: lacking, preTokenizer: byteLevel(), decoder };
CONSTRUCTS['missing bytes and unk_token'] = {
  vocabulary: lacking,
  preTokenizer: byteLevel(),
  decoder,
  model: { unk_token: '<unk>' },
};
CONSTRUCTS['missing bytes and fused unk_token'] = {
  vocabulary: lacking,
  preTokenizer: byteLevel({ use_regex: false }),
  decoder,
  model: { unk_token: '<unk>', fuse_unk: true },
};

// Whole words first, pieces that no merge makes.
CONSTRUCTS.ignore_merges = {
  vocabulary: {
    ...BYTES,
    extra: ['quick', 'Ġquick', 'the', 'Ġjumpsoverthelazydogs', 'HTTPServergetValueset', 'æĸĩæĸĩ', 'xyzzy'],
  },
  preTokenizer: sequence(split(PATTERNS.cl100k!), mapped),
  decoder,
  model: { ignore_merges: true },
};

// Sentencepiece style.
const llama2: Omit<FileParts, 'vocabulary'> = {
  normalizer: normalizers(
    { type: 'Prepend', prepend: '▁' },
    { type: 'Replace', pattern: { String: ' ' }, content: '▁' },
  ),
  decoder: decoders(
    { type: 'Replace', pattern: { String: '▁' }, content: ' ' },
    { type: 'ByteFallback' },
    { type: 'Fuse' },
    { type: 'Strip', content: ' ', start: 1, stop: 0 },
  ),
  postProcessor: {
    type: 'TemplateProcessing',
    single: [
      { SpecialToken: { id: '<s>', type_id: 0 } },
      { Sequence: { id: 'A', type_id: 0 } },
      { SpecialToken: { id: 'end', type_id: 0 } },
    ],
    pair: [{ Sequence: { id: 'A', type_id: 0 } }, { Sequence: { id: 'B', type_id: 1 } }],
    special_tokens: {
      '<s>': { id: '<s>', ids: [1], tokens: ['<s>'] },
      end: { id: 'end', ids: [2, 1], tokens: ['</s>', '<s>'] },
    },
  },
};
const spm: VocabularyShape = { unit: 'characters', byteTokens: 'all' };
const sTokens = [special('<unk>'), special('<s>'), special('</s>'), special('<|end|>', { rstrip: true })];
CONSTRUCTS.llama2 = {
  ...llama2,
  vocabulary: spm,
  added: sTokens,
  model: { unk_token: '<unk>', fuse_unk: true, byte_fallback: true },
};
CONSTRUCTS['llama2 without some byte tokens'] = {
  ...llama2,
  vocabulary: { ...spm, byteTokens: 'some' },
  added: sTokens,
  model: { unk_token: '<unk>', fuse_unk: true, byte_fallback: true },
};
CONSTRUCTS['llama2 without some byte tokens, unfused'] = {
  ...llama2,
  vocabulary: { ...spm, byteTokens: 'some' },
  model: { unk_token: '<unk>', byte_fallback: true },
};
CONSTRUCTS['characters without byte_fallback'] = {
  ...llama2,
  vocabulary: { unit: 'characters' },
  model: { unk_token: '<unk>' },
};
CONSTRUCTS['characters without byte_fallback, fused'] = {
  ...llama2,
  vocabulary: { unit: 'characters' },
  model: { unk_token: '<unk>', fuse_unk: true },
};
CONSTRUCTS['characters that vanish'] = { ...llama2, vocabulary: { unit: 'characters', merges: 'pairs' } };
CONSTRUCTS['ignore_merges over characters'] = {
  ...llama2,
  vocabulary: { ...spm, extra: ['▁quick▁brown', '▁th', '▁the▁quick', '▁abracadabra▁abra'] },
  model: { ignore_merges: true, byte_fallback: true },
};
for (const scheme of ['always', 'first', 'never'])
  for (const splits of [true, false])
    CONSTRUCTS[`Metaspace ${scheme}${splits ? '' : ' without split'}`] = {
      vocabulary: spm,
      added: sTokens,
      preTokenizer: { type: 'Metaspace', replacement: '▁', prepend_scheme: scheme, split: splits },
      decoder: { type: 'Metaspace', replacement: '▁', prepend_scheme: scheme, split: splits },
      model: { unk_token: '<unk>', byte_fallback: true },
    };
CONSTRUCTS['Metaspace as old files write it'] = {
  vocabulary: spm,
  preTokenizer: { type: 'Metaspace', replacement: '▁', add_prefix_space: true },
  decoder: { type: 'Metaspace', replacement: '▁', add_prefix_space: true },
  model: { unk_token: '<unk>', byte_fallback: true, fuse_unk: true },
};
CONSTRUCTS['Strip before Metaspace first'] = {
  vocabulary: spm,
  added: sTokens,
  normalizer: { type: 'Strip', strip_left: true, strip_right: false },
  preTokenizer: { type: 'Metaspace', replacement: '▁', prepend_scheme: 'first', split: true },
  model: { byte_fallback: true },
};
CONSTRUCTS['spaces replaced before the end of the normalizer'] = {
  ...llama2,
  vocabulary: spm,
  normalizer: normalizers({ type: 'Replace', pattern: { String: ' ' }, content: '▁' }, { type: 'NFKC' }),
  model: { byte_fallback: true },
};

// Normalizers, before byte level. Added tokens that match normalized text come along.
const someAdded = [
  special('<|X|>'),
  { content: 'Token', normalized: true },
  { content: 'é\u0301x', normalized: true },
  { content: 'ﬁn', normalized: true, rstrip: true },
];
const NORMALIZERS: Record<string, unknown> = {
  NFC: { type: 'NFC' },
  NFD: { type: 'NFD' },
  NFKC: { type: 'NFKC' },
  NFKD: { type: 'NFKD' },
  Lowercase: { type: 'Lowercase' },
  'Strip both': { type: 'Strip', strip_left: true, strip_right: true },
  'Strip left': { type: 'Strip', strip_left: true, strip_right: false },
  'Strip right': { type: 'Strip', strip_left: false, strip_right: true },
  Replace: { type: 'Replace', pattern: { String: 'aa' }, content: 'é ' },
  'Replace by nothing': { type: 'Replace', pattern: { String: ' ' }, content: '' },
  Prepend: { type: 'Prepend', prepend: ' x' },
  'NFD, Lowercase, Replace, NFC': normalizers(
    { type: 'NFD' },
    { type: 'Lowercase' },
    { type: 'Replace', pattern: { String: '\u0301' }, content: '\u0300' },
    normalizers({ type: 'NFC' }),
  ),
  'NFKC, Strip, Prepend': normalizers(
    { type: 'NFKC' },
    { type: 'Strip', strip_left: true, strip_right: true },
    { type: 'Prepend', prepend: '>' },
  ),
};
for (const [name, normalizer] of Object.entries(NORMALIZERS))
  CONSTRUCTS[`normalizer ${name}`] = {
    vocabulary: BYTES,
    normalizer,
    preTokenizer: byteLevel(),
    decoder,
    added: name.includes('nothing') ? [] : someAdded,
  };

// Added tokens.
CONSTRUCTS['added tokens with every flag'] = {
  vocabulary: BYTES,
  preTokenizer: byteLevel({ add_prefix_space: true }),
  decoder,
  added: [
    special('<s>'),
    special('[A]', { lstrip: true }),
    special('[B]', { rstrip: true }),
    special('[C]', { lstrip: true, rstrip: true }),
    { content: 'word', single_word: true },
    { content: 'wor' },
    { content: 'words more', single_word: true, lstrip: true },
    { content: '  ', normalized: true },
    { content: ' [' },
    { content: 'é', single_word: true, normalized: true },
    { content: '\u00a0x', rstrip: true },
    { content: 'fox', normalized: true, single_word: true, lstrip: true, rstrip: true },
    special('<s', { normalized: true }),
  ],
};
CONSTRUCTS['added tokens in lowercased text'] = {
  vocabulary: BYTES,
  normalizer: { type: 'Lowercase' },
  preTokenizer: byteLevel(),
  decoder,
  added: [
    special('ABC', { normalized: true }),
    special('abcd', { normalized: true }),
    { content: 'ABCdE', normalized: true, single_word: true },
    { content: 'ABCDEF', normalized: false },
  ],
};

// Affixes of words.
CONSTRUCTS.end_of_word_suffix = {
  vocabulary: { ...BYTES, suffix: '</w>' },
  normalizer: { type: 'Lowercase' },
  preTokenizer: sequence(split(PATTERNS.gpt2!, 'Removed', true), mapped),
  decoder: { type: 'BPEDecoder', suffix: '</w>' },
  model: { end_of_word_suffix: '</w>', unk_token: '<unk>' },
};
CONSTRUCTS.continuing_subword_prefix = {
  vocabulary: { unit: 'characters', prefix: '##' },
  preTokenizer: { type: 'Metaspace', replacement: '▁', prepend_scheme: 'always', split: true },
  model: { continuing_subword_prefix: '##', unk_token: '<unk>' },
};
CONSTRUCTS['both affixes'] = {
  vocabulary: { unit: 'characters', prefix: '##', suffix: '</w>' },
  preTokenizer: { type: 'Metaspace', replacement: '▁', prepend_scheme: 'never', split: true },
  model: { continuing_subword_prefix: '##', end_of_word_suffix: '</w>', unk_token: '<unk>', fuse_unk: true },
};

// Post-processors.
CONSTRUCTS['BertProcessing after ByteLevel in a Sequence'] = {
  vocabulary: BYTES,
  preTokenizer: byteLevel(),
  decoder: decoders(byteLevel()),
  postProcessor: {
    type: 'Sequence',
    processors: [byteLevel(), { type: 'BertProcessing', sep: ['</s>', 2], cls: ['<s>', 1] }],
  },
};
CONSTRUCTS['decoder of two steps after ByteLevel'] = {
  vocabulary: BYTES,
  preTokenizer: byteLevel(),
  decoder: decoders(byteLevel(), { type: 'Strip', content: ' ', start: 2, stop: 0 }),
};
