import type { FileParts } from '../small-files.ts';
import { BYTES, byteLevel, decoder, special } from './parts.ts';

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
