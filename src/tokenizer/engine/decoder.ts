/** One step of decoding, over the strings of the tokens. The oracle's `decode_chain`, step for step. */
export type DecoderStep =
  | { readonly kind: 'byteLevel' }
  | { readonly kind: 'byteFallback' }
  | { readonly kind: 'fuse' }
  | { readonly kind: 'replace'; readonly pattern: string; readonly content: string }
  | { readonly kind: 'strip'; readonly content: string; readonly start: number; readonly stop: number }
  | { readonly kind: 'metaspace'; readonly replacement: string; readonly dropsFirst: boolean }
  | { readonly kind: 'suffix'; readonly suffix: string };

/** Token text by id, as UTF-8: `bytes[offsets[id] .. offsets[id + 1]]`; `state` says what an id is. */
export type TokenTexts = {
  readonly bytes: Uint8Array;
  readonly offsets: Uint32Array;
  /** ABSENT, KNOWN or SPECIAL by id. */
  readonly state: Uint8Array;
};

export const ABSENT = 0;
export const KNOWN = 1;
export const SPECIAL = 2;

export type DecoderTables = {
  readonly texts: TokenTexts;
  /**
   * `bytes`: GPT-2's alphabet alone, and `texts` holds the bytes that tokens stand for. `steps`: the steps in order
   * over token strings. Null steps stand for no decoder: tokens are joined by spaces.
   */
  readonly steps: readonly DecoderStep[] | 'bytes' | null;
};

// Neither strips a byte order mark: it is part of the text.
const utf8 = new TextDecoder('utf-8', { ignoreBOM: true });
const strictUtf8 = new TextDecoder('utf-8', { ignoreBOM: true, fatal: true });

/** Text of `ids`. An id within the range that is no token's is left out, as the oracle does; beyond is a RangeError. */
export function decodeIds(tables: DecoderTables, ids: Uint32Array, skipSpecialTokens: boolean): string {
  const { bytes, offsets, state } = tables.texts;
  const kept: number[] = [];
  for (const id of ids) {
    const kind = state[id];
    if (kind === undefined) throw new RangeError(`Token id ${id} is outside the vocabulary`);
    if (kind === KNOWN || (kind === SPECIAL && !skipSpecialTokens)) kept.push(id);
  }
  if (tables.steps === 'bytes') {
    const total = kept.reduce((sum, id) => sum + offsets[id + 1]! - offsets[id]!, 0);
    const joined = new Uint8Array(total);
    let length = 0;
    for (const id of kept) {
      joined.set(bytes.subarray(offsets[id]!, offsets[id + 1]!), length);
      length += offsets[id + 1]! - offsets[id]!;
    }
    return utf8.decode(joined);
  }
  // TextDecoder refuses shared memory, hence the copies.
  const tokens = kept.map((id) => utf8.decode(bytes.slice(offsets[id]!, offsets[id + 1]!)));
  if (tables.steps === null) return tokens.join(' ');
  return tables.steps.reduce<string[]>((chain, step) => decodeStep(step, chain), tokens).join('');
}

function decodeStep(step: DecoderStep, tokens: string[]): string[] {
  switch (step.kind) {
    case 'byteLevel':
      return [utf8.decode(Uint8Array.from(tokens.flatMap((token) => byteLevelBytes(token))))];
    case 'byteFallback':
      return joinFallbackBytes(tokens);
    case 'fuse':
      return [tokens.join('')];
    case 'replace':
      return tokens.map((token) => token.replaceAll(step.pattern, () => step.content));
    case 'strip':
      return tokens.map((token) => stripEnds(token, step.content, step.start, step.stop));
    case 'metaspace':
      return tokens.map((token, k) =>
        token.replaceAll(step.replacement, k === 0 && step.dropsFirst ? '' : ' '),
      );
    case 'suffix':
      return tokens.map((token, k) => token.replaceAll(step.suffix, k === tokens.length - 1 ? '' : ' '));
  }
}

function stripEnds(token: string, content: string, start: number, stop: number): string {
  const characters = Array.from(token);
  let from = 0;
  while (from < start && characters[from] === content) from++;
  let to = characters.length;
  while (characters.length - to < stop && to > from && characters[to - 1] === content) to--;
  return characters.slice(from, to).join('');
}

const BYTE_TOKEN = /^<0x[0-9A-Fa-f]{2}>$/;

/** Runs of `<0xNN>` become the text of their bytes; a run that is not UTF-8 becomes one U+FFFD a byte. */
function joinFallbackBytes(tokens: string[]): string[] {
  const result: string[] = [];
  let run: number[] = [];
  const flush = (): void => {
    if (run.length === 0) return;
    try {
      result.push(strictUtf8.decode(Uint8Array.from(run)));
    } catch {
      for (const _ of run) result.push('\ufffd');
    }
    run = [];
  };
  for (const token of tokens) {
    if (BYTE_TOKEN.test(token)) run.push(Number.parseInt(token.slice(3, 5), 16));
    else {
      flush();
      result.push(token);
    }
  }
  flush();
  return result;
}

/** GPT-2's alphabet: the character that stands for each byte. Printable Latin-1 stands for itself. */
export const BYTE_CHARACTERS: readonly number[] = Array.from({ length: 256 }, (_, byte) => byte);
/** Byte of each character of the alphabet, by code; -1 for others. */
export const CHARACTER_BYTES = new Int16Array(324).fill(-1);
{
  const characters = BYTE_CHARACTERS as number[];
  let spare = 256;
  for (let byte = 0; byte < 256; byte++) {
    const printable = (byte >= 0x21 && byte <= 0x7e) || (byte >= 0xa1 && byte !== 0xad);
    if (!printable) characters[byte] = spare++;
    CHARACTER_BYTES[characters[byte]!] = byte;
  }
}

/** Bytes of a token written in the alphabet; a token with any other character is its own UTF-8. */
export function byteLevelBytes(token: string): number[] {
  const bytes: number[] = [];
  for (let k = 0; k < token.length; k++) {
    const byte = CHARACTER_BYTES[token.charCodeAt(k)] ?? -1;
    if (byte < 0) return [...new TextEncoder().encode(token)];
    bytes.push(byte);
  }
  return bytes;
}
