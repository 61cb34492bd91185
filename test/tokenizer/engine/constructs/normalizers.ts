import type { FileParts } from '../small-files.ts';
import { BYTES, byteLevel, decoder, normalizers, special } from './parts.ts';

/** Every normalizer before byte level, and added tokens that match normalized text. */
export const NORMALIZED: Record<string, FileParts> = {};

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
  NORMALIZED[`normalizer ${name}`] = {
    vocabulary: BYTES,
    normalizer,
    preTokenizer: byteLevel(),
    decoder,
    added: name.includes('nothing') ? [] : someAdded,
  };
