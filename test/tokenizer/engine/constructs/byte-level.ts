import type { FileParts, VocabularyShape } from '../small-files.ts';
import { BYTES, byteLevel, decoder, decoders, mapped, PATTERNS, sequence, special, split } from './parts.ts';

/** ByteLevel with its built-in regex, the prefix space, digits before it; bytes that a vocabulary lacks; ignore_merges. */
export const BYTE_LEVEL: Record<string, FileParts> = {};

const PAIRS: VocabularyShape = { unit: 'bytes', merges: 'pairs' };
BYTE_LEVEL.ByteLevel = { vocabulary: BYTES, preTokenizer: byteLevel(), decoder };
BYTE_LEVEL['ByteLevel with add_prefix_space'] = {
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
BYTE_LEVEL['a model without a type'] = {
  vocabulary: BYTES,
  preTokenizer: byteLevel(),
  decoder,
  model: { type: undefined },
};
for (const individual of [true, false])
  for (const prefixed of [true, false])
    BYTE_LEVEL[
      `Digits ${individual ? 'alone' : 'in runs'} before ByteLevel${prefixed ? ' with add_prefix_space' : ''}`
    ] = {
      vocabulary: BYTES,
      preTokenizer: sequence(
        { type: 'Digits', individual_digits: individual },
        byteLevel({ add_prefix_space: prefixed }),
      ),
      decoder,
    };
BYTE_LEVEL['ByteLevel without regex'] = {
  vocabulary: BYTES,
  preTokenizer: byteLevel({ use_regex: false }),
  decoder,
};
BYTE_LEVEL['ByteLevel without regex, with add_prefix_space'] = {
  vocabulary: BYTES,
  preTokenizer: byteLevel({ use_regex: false, add_prefix_space: true }),
  decoder,
};

BYTE_LEVEL['merges in no order of training'] = {
  vocabulary: { ...BYTES, shuffled: true },
  preTokenizer: byteLevel({ use_regex: false }),
  decoder,
};

// Bytes that the vocabulary lacks: they vanish, or are unknown, one by one or fused.
const lacking: VocabularyShape = { unit: 'bytes', without: (byte) => byte % 5 === 0 };
BYTE_LEVEL['missing bytes'] = { vocabulary: lacking, preTokenizer: byteLevel(), decoder };
BYTE_LEVEL['missing bytes and unk_token'] = {
  vocabulary: lacking,
  preTokenizer: byteLevel(),
  decoder,
  model: { unk_token: '<unk>' },
};
BYTE_LEVEL['missing bytes and fused unk_token'] = {
  vocabulary: lacking,
  preTokenizer: byteLevel({ use_regex: false }),
  decoder,
  model: { unk_token: '<unk>', fuse_unk: true },
};

// Nothing is unknown where every byte has a token.
BYTE_LEVEL['an unk_token outside the vocabulary'] = {
  vocabulary: BYTES,
  preTokenizer: byteLevel(),
  decoder,
  model: { unk_token: '<none>' },
};

// Whole words first, pieces that no merge makes.
BYTE_LEVEL.ignore_merges = {
  vocabulary: {
    ...BYTES,
    extra: ['quick', 'Ġquick', 'the', 'Ġjumpsoverthelazydogs', 'HTTPServergetValueset', 'æĸĩæĸĩ', 'xyzzy'],
  },
  preTokenizer: sequence(split(PATTERNS.cl100k!), mapped),
  decoder,
  model: { ignore_merges: true },
};

// Affixes of words.
BYTE_LEVEL.end_of_word_suffix = {
  vocabulary: { ...BYTES, suffix: '</w>' },
  normalizer: { type: 'Lowercase' },
  preTokenizer: sequence(split(PATTERNS.gpt2!, 'Removed', true), mapped),
  decoder: { type: 'BPEDecoder', suffix: '</w>' },
  model: { end_of_word_suffix: '</w>', unk_token: '<unk>' },
};

// Post-processors.
BYTE_LEVEL['BertProcessing after ByteLevel in a Sequence'] = {
  vocabulary: BYTES,
  preTokenizer: byteLevel(),
  decoder: decoders(byteLevel()),
  postProcessor: {
    type: 'Sequence',
    processors: [byteLevel(), { type: 'BertProcessing', sep: ['</s>', 2], cls: ['<s>', 1] }],
  },
};
BYTE_LEVEL['decoder of two steps after ByteLevel'] = {
  vocabulary: BYTES,
  preTokenizer: byteLevel(),
  decoder: decoders(byteLevel(), { type: 'Strip', content: ' ', start: 2, stop: 0 }),
};
