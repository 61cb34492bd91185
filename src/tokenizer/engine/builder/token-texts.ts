import { CHARACTER_BYTES, KNOWN, SPECIAL, type TokenTexts } from '../decoder.ts';
import { sharedBytes } from '../hashing.ts';
import type { AddedEntry } from './added-list.ts';
import type { Vocabulary } from './vocabulary.ts';

/**
 * How a token string becomes bytes. `plain`: its UTF-8; `mapped`: the bytes that GPT-2's alphabet stands for, or its
 * UTF-8 where some character is not of it; `folded`: its UTF-8 with a space for each U+2581.
 */
export type TextForm = 'plain' | 'mapped' | 'folded';

export type PackedTexts = {
  readonly bytes: Uint8Array;
  readonly offsets: Uint32Array;
  /** Ids of the tokens that text can be equal to: with `mapped`, those wholly in the alphabet. */
  readonly faithful: Int32Array;
};

const utf8 = new TextEncoder();

/** Texts of the model's vocabulary by id, and of added tokens too where given. */
export function packTexts(
  vocabulary: Vocabulary,
  form: TextForm,
  added: readonly AddedEntry[] = [],
): PackedTexts {
  const { tokens, ids } = vocabulary;
  let size = 0;
  let units = 0;
  for (let entry = 0; entry < tokens.length; entry++) {
    size = Math.max(size, ids[entry]! + 1);
    units += tokens[entry]!.length;
  }
  const byId: (string | undefined)[] = new Array(size);
  for (let entry = 0; entry < tokens.length; entry++) byId[ids[entry]!] = tokens[entry]!;
  for (const { id, content } of added) {
    byId[id] = content;
    units += content.length;
    size = Math.max(size, id + 1);
  }

  const scratch = new Uint8Array(units * 3);
  const offsets = new Uint32Array(new SharedArrayBuffer((size + 1) * 4));
  const faithful = new Int32Array(tokens.length + added.length);
  let count = 0;
  let length = 0;
  for (let id = 0; id < size; id++) {
    offsets[id] = length;
    const token = byId[id];
    if (token === undefined) continue;
    const mapped = form === 'mapped' ? mapInto(token, scratch, length) : -1;
    if (mapped >= 0) length = mapped;
    else
      length += utf8.encodeInto(
        form === 'folded' ? token.replaceAll('\u2581', ' ') : token,
        scratch.subarray(length),
      ).written;
    if (mapped >= 0 || form !== 'mapped') faithful[count++] = id;
  }
  offsets[size] = length;
  const bytes = sharedBytes(length);
  bytes.set(scratch.subarray(0, length));
  return { bytes, offsets, faithful: faithful.subarray(0, count) };
}

/** Writes the bytes that `token` stands for at `at` and returns their end; -1 when a character stands for none. */
function mapInto(token: string, bytes: Uint8Array, at: number): number {
  for (let k = 0; k < token.length; k++) {
    const byte = CHARACTER_BYTES[token.charCodeAt(k)] ?? -1;
    if (byte < 0) return -1;
    bytes[at++] = byte;
  }
  return at;
}

/** What decoding needs: texts of all tokens, and which ids there are. */
export function buildTokenTexts(
  vocabulary: Vocabulary,
  added: readonly AddedEntry[],
  form: TextForm,
): TokenTexts {
  const { bytes, offsets } = packTexts(vocabulary, form, added);
  const state = sharedBytes(offsets.length - 1);
  for (const id of vocabulary.ids) state[id] = KNOWN;
  for (const entry of added) state[entry.id] = entry.special ? SPECIAL : KNOWN;
  return { bytes, offsets, state };
}
