import { BYTE_CHARACTERS } from '../../../src/tokenizer/engine/decoder.ts';

/** A well-formed file, and the part of it that is changed. */
export interface WellFormed {
  readonly file: Readonly<Record<string, unknown>>;
  readonly part: string;
}

const BYTE_TOKENS = Array.from(
  { length: 256 },
  (_, byte) => `<0x${byte.toString(16).toUpperCase().padStart(2, '0')}>`,
);

function bpe(
  units: readonly string[],
  joined: readonly [string, string][],
  more: object,
): Record<string, unknown> {
  const tokens = new Set(['<s>', '</s>', '<unk>', ...units, ...joined.map((pair) => pair.join(''))]);
  return {
    type: 'BPE',
    dropout: null,
    unk_token: null,
    continuing_subword_prefix: null,
    end_of_word_suffix: null,
    fuse_unk: false,
    byte_fallback: false,
    ignore_merges: false,
    vocab: Object.fromEntries(Array.from(tokens, (token, id) => [token, id])),
    merges: joined.map((pair) => pair.join(' ')),
    ...more,
  };
}

const inBytes = bpe(
  BYTE_CHARACTERS.map((code) => String.fromCharCode(code)),
  [
    ['a', 'b'],
    ['ab', 'c'],
    ['Ġ', 'a'],
    ['1', '2'],
    ['x', 'y'],
  ],
  {},
);
const inCharacters = bpe(
  [...BYTE_TOKENS, ...'▁ abcxyABé12.,-'],
  [
    ['a', 'b'],
    ['ab', 'c'],
    ['▁', 'a'],
    ['x', 'y'],
  ],
  { unk_token: '<unk>', fuse_unk: true, byte_fallback: true },
);
/** Few tokens, for the model itself is changed: every token and every merge. */
const few = {
  ...bpe([...'abcx'], [['a', 'b']], {}),
  unk_token: '<unk>',
};

const { type: _, ...untyped } = { ...few, merges: [['a', 'b']] } as Record<string, unknown>;

const special = (id: number, content: string, more: object = {}) => ({
  id,
  content,
  single_word: false,
  lstrip: false,
  rstrip: false,
  normalized: false,
  special: true,
  ...more,
});
const byteLevel = { type: 'ByteLevel', add_prefix_space: false, trim_offsets: true, use_regex: true };
const metaspace = { type: 'Metaspace', replacement: '▁', prepend_scheme: 'always', split: true };
const oldMetaspace = { type: 'Metaspace', replacement: '▁', str_rep: '▁', add_prefix_space: true };

function withParts(parts: object, model: object = inCharacters): Record<string, unknown> {
  return {
    version: '1.0',
    truncation: null,
    padding: null,
    added_tokens: [special(0, '<s>'), special(1, '</s>')],
    normalizer: null,
    pre_tokenizer: null,
    post_processor: null,
    decoder: null,
    model,
    ...parts,
  };
}

const split = (pattern: object, behavior = 'Isolated', invert = false) => ({
  type: 'Split',
  pattern,
  behavior,
  invert,
});

/** Parts of every type that the engine does, by what they are parts of. */
const PARTS: Readonly<Record<string, readonly unknown[]>> = {
  normalizer: [
    ...['NFC', 'NFD', 'NFKC', 'NFKD', 'Lowercase'].map((type) => ({ type })),
    { type: 'Strip', strip_left: true, strip_right: false },
    { type: 'Prepend', prepend: '▁' },
    { type: 'Replace', pattern: { String: ' ' }, content: '▁' },
    { type: 'Replace', pattern: { Regex: 'a+' }, content: 'x' },
    {
      type: 'Sequence',
      normalizers: [{ type: 'NFC' }, { type: 'Sequence', normalizers: [{ type: 'Lowercase' }] }],
    },
  ],
  pre_tokenizer: [
    byteLevel,
    metaspace,
    oldMetaspace,
    split({ String: ' ' }, 'MergedWithPrevious'),
    split({ Regex: '\\p{L}+|[^a]' }, 'Removed', true),
    ...['Whitespace', 'WhitespaceSplit'].map((type) => ({ type })),
    { type: 'Punctuation', behavior: 'Contiguous' },
    { type: 'Digits', individual_digits: true },
    { type: 'Sequence', pretokenizers: [{ type: 'Digits', individual_digits: false }, byteLevel] },
  ],
  post_processor: [
    byteLevel,
    { type: 'BertProcessing', sep: ['</s>', 1], cls: ['<s>', 0] },
    {
      type: 'RobertaProcessing',
      sep: ['</s>', 1],
      cls: ['<s>', 0],
      trim_offsets: true,
      add_prefix_space: false,
    },
    {
      type: 'TemplateProcessing',
      single: [{ SpecialToken: { id: '<s>', type_id: 0 } }, { Sequence: { id: 'A', type_id: 0 } }],
      pair: [{ Sequence: { id: 'A', type_id: 0 } }, { Sequence: { id: 'B', type_id: 1 } }],
      special_tokens: { '<s>': { id: '<s>', ids: [0], tokens: ['<s>'] } },
    },
    {
      type: 'Sequence',
      processors: [byteLevel, { type: 'BertProcessing', sep: ['</s>', 1], cls: ['<s>', 0] }],
    },
  ],
  decoder: [
    byteLevel,
    metaspace,
    oldMetaspace,
    { type: 'ByteFallback' },
    { type: 'Fuse' },
    { type: 'Replace', pattern: { String: '▁' }, content: ' ' },
    { type: 'Strip', content: ' ', start: 1, stop: 0 },
    { type: 'BPEDecoder', suffix: '</w>' },
    { type: 'Sequence', decoders: [{ type: 'Fuse' }, { type: 'ByteFallback' }] },
  ],
  truncation: [{ direction: 'Right', max_length: 2, strategy: 'LongestFirst', stride: 0 }],
  padding: [
    {
      strategy: { Fixed: 9 },
      direction: 'Left',
      pad_to_multiple_of: null,
      pad_id: 0,
      pad_type_id: 0,
      pad_token: '<s>',
    },
  ],
  added_tokens: [
    [special(0, '<s>'), special(sizeOf(inCharacters), 'Ab', { single_word: true, special: false })],
  ],
};

function sizeOf(model: Readonly<Record<string, unknown>>): number {
  return Object.keys(model.vocab as object).length;
}

/** A well-formed file for every part of every type. */
export const WELL_FORMED: readonly WellFormed[] = [
  ...Object.entries(PARTS).flatMap(([part, values]) =>
    values.map((value) => ({
      part,
      file: withParts({ [part]: value }, isByteLevel(value) ? inBytes : inCharacters),
    })),
  ),
  { part: 'model', file: withParts({}, few) },
  { part: 'model', file: withParts({}, untyped) },
  { part: '', file: withParts({ added_tokens: [] }, few) },
];

function isByteLevel(part: unknown): boolean {
  return JSON.stringify(part).includes('ByteLevel');
}
