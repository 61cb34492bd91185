import type { FileParts, VocabularyShape } from '../small-files.ts';
import { decoders, normalizers, special } from './parts.ts';

/** Files in the manner of sentencepiece: characters, U+2581 for spaces, bytes as a fallback. */
export const SENTENCEPIECE: Record<string, FileParts> = {};

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
SENTENCEPIECE.llama2 = {
  ...llama2,
  vocabulary: spm,
  added: sTokens,
  model: { unk_token: '<unk>', fuse_unk: true, byte_fallback: true },
};
SENTENCEPIECE['llama2 without some byte tokens'] = {
  ...llama2,
  vocabulary: { ...spm, byteTokens: 'some' },
  added: sTokens,
  model: { unk_token: '<unk>', fuse_unk: true, byte_fallback: true },
};
SENTENCEPIECE['llama2 without some byte tokens, unfused'] = {
  ...llama2,
  vocabulary: { ...spm, byteTokens: 'some' },
  model: { unk_token: '<unk>', byte_fallback: true },
};
SENTENCEPIECE['characters without byte_fallback'] = {
  ...llama2,
  vocabulary: { unit: 'characters' },
  model: { unk_token: '<unk>' },
};
SENTENCEPIECE['characters without byte_fallback, fused'] = {
  ...llama2,
  vocabulary: { unit: 'characters' },
  model: { unk_token: '<unk>', fuse_unk: true },
};
SENTENCEPIECE['characters that vanish'] = { ...llama2, vocabulary: { unit: 'characters', merges: 'pairs' } };
SENTENCEPIECE['ignore_merges over characters'] = {
  ...llama2,
  vocabulary: { ...spm, extra: ['▁quick▁brown', '▁th', '▁the▁quick', '▁abracadabra▁abra'] },
  model: { ignore_merges: true, byte_fallback: true },
};
for (const scheme of ['always', 'first', 'never'])
  for (const splits of [true, false])
    SENTENCEPIECE[`Metaspace ${scheme}${splits ? '' : ' without split'}`] = {
      vocabulary: spm,
      added: sTokens,
      preTokenizer: { type: 'Metaspace', replacement: '▁', prepend_scheme: scheme, split: splits },
      decoder: { type: 'Metaspace', replacement: '▁', prepend_scheme: scheme, split: splits },
      model: { unk_token: '<unk>', byte_fallback: true },
    };
SENTENCEPIECE['Metaspace as old files write it'] = {
  vocabulary: spm,
  preTokenizer: { type: 'Metaspace', replacement: '▁', add_prefix_space: true },
  decoder: { type: 'Metaspace', replacement: '▁', add_prefix_space: true },
  model: { unk_token: '<unk>', byte_fallback: true, fuse_unk: true },
};
SENTENCEPIECE['Strip before Metaspace first'] = {
  vocabulary: spm,
  added: sTokens,
  normalizer: { type: 'Strip', strip_left: true, strip_right: false },
  preTokenizer: { type: 'Metaspace', replacement: '▁', prepend_scheme: 'first', split: true },
  model: { byte_fallback: true },
};
SENTENCEPIECE['spaces replaced before the end of the normalizer'] = {
  ...llama2,
  vocabulary: spm,
  normalizer: normalizers({ type: 'Replace', pattern: { String: ' ' }, content: '▁' }, { type: 'NFKC' }),
  model: { byte_fallback: true },
};

// Affixes of words.
SENTENCEPIECE.continuing_subword_prefix = {
  vocabulary: { unit: 'characters', prefix: '##' },
  preTokenizer: { type: 'Metaspace', replacement: '▁', prepend_scheme: 'always', split: true },
  model: { continuing_subword_prefix: '##', unk_token: '<unk>' },
};
SENTENCEPIECE['both affixes'] = {
  vocabulary: { unit: 'characters', prefix: '##', suffix: '</w>' },
  preTokenizer: { type: 'Metaspace', replacement: '▁', prepend_scheme: 'never', split: true },
  model: { continuing_subword_prefix: '##', end_of_word_suffix: '</w>', unk_token: '<unk>', fuse_unk: true },
};
