import type { FileParts } from '../small-files.ts';
import { BYTES, byteLevel, decoder, decoders, special } from './parts.ts';

/** Added tokens with every flag, alone and together. */
export const ADDED_TOKENS: Record<string, FileParts> = {};

ADDED_TOKENS['added tokens with every flag'] = {
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
ADDED_TOKENS['added tokens in lowercased text'] = {
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
const strips = { lstrip: true, rstrip: true };
// A line feed that one token has stripped is no token any more.
ADDED_TOKENS['added tokens of white space that strip white space'] = {
  vocabulary: BYTES,
  preTokenizer: byteLevel(),
  decoder,
  added: [{ content: '\n', ...strips }, { content: ' ', ...strips }, special('[A]', strips)],
};
ADDED_TOKENS['added tokens of white space that strip white space of normalized text'] = {
  vocabulary: BYTES,
  normalizer: { type: 'NFC' },
  preTokenizer: byteLevel(),
  decoder,
  added: [
    { content: ' ', normalized: true, ...strips },
    { content: '\n', normalized: true, ...strips },
    special('[A]', { normalized: true, ...strips }),
  ],
};
ADDED_TOKENS['added tokens that strip white space where spaces are U+2581'] = {
  vocabulary: { unit: 'characters', byteTokens: 'all' },
  normalizer: { type: 'Replace', pattern: { String: ' ' }, content: '\u2581' },
  decoder: decoders(
    { type: 'Replace', pattern: { String: '\u2581' }, content: ' ' },
    { type: 'ByteFallback' },
    { type: 'Fuse' },
  ),
  model: { unk_token: '<unk>', byte_fallback: true },
  added: [
    { content: 'fox', normalized: true, ...strips },
    special('[A]', { normalized: true, lstrip: true }),
    special('[B]', { normalized: true, rstrip: true }),
    special('[C]', strips),
  ],
};
