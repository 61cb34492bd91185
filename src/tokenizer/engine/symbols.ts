import { sharedInt32 } from './hashing.ts';

/** What a character becomes before any merge. */
export type SymbolTable = {
  /** `bytes`: GPT-2's alphabet, one symbol a byte; `characters`: one symbol a character. */
  readonly unit: 'bytes' | 'characters';
  /**
   * Id of a unit, by place in its word: [inside or first, last, not first, not first and last]. The last three stand
   * only when the file has an end_of_word_suffix or a continuing_subword_prefix; else all four are the same object.
   */
  readonly byPlace: readonly [CodeMap, CodeMap, CodeMap, CodeMap];
  /** Id of `<0xNN>` by byte, -1 where absent; null without byte_fallback. */
  readonly fallback: Int32Array | null;
  /** Id of the unknown token, -1 for none: then an unknown unit vanishes. */
  readonly unknown: number;
  readonly fuseUnknown: boolean;
  /** No unit is unknown and place does not matter: symbols may be read from byPlace[0] alone. */
  readonly plain: boolean;
};

/**
 * Code point (or byte) to id, -1 where absent, in pages of 256: `ids[(pages[code >> 8] << 8) | (code & 255)]`.
 * Page 0 of `ids` is all -1 and stands for every page without an entry.
 */
export type CodeMap = { readonly pages: Uint16Array; readonly ids: Int32Array };

export function createCodeMap(entries: ReadonlyMap<number, number>): CodeMap {
  const pages = new Uint16Array(new SharedArrayBuffer(0x1100 * 2));
  let count = 1;
  for (const code of entries.keys()) if (pages[code >> 8] === 0) pages[code >> 8] = count++;
  const ids = sharedInt32(count << 8).fill(-1);
  for (const [code, id] of entries) ids[(pages[code >> 8]! << 8) | (code & 255)] = id;
  return { pages, ids };
}

export function idOfCode(map: CodeMap, code: number): number {
  return map.ids[(map.pages[code >> 8]! << 8) | (code & 255)]!;
}

/** Id of the symbol that `byte` is, whatever its place: any byte where bytes are symbols, else ASCII; -1 for none. */
export function idOfByte(table: SymbolTable, byte: number): number {
  return table.unit === 'bytes' || byte < 0x80 ? idOfCode(table.byPlace[0], byte) : -1;
}

/** Length in bytes of the character that starts with `lead`. */
export function lengthOfLead(lead: number): number {
  return lead < 0x80 ? 1 : lead < 0xe0 ? 2 : lead < 0xf0 ? 3 : 4;
}

/** Start of the character that ends before `at`. */
export function previous(bytes: Uint8Array, at: number): number {
  do at--;
  while ((bytes[at]! & 0xc0) === 0x80);
  return at;
}

/** Code point of the character of `length` bytes at `at`. */
export function codeAt(bytes: Uint8Array, at: number, length: number): number {
  const lead = bytes[at]!;
  if (length === 1) return lead;
  if (length === 2) return ((lead & 31) << 6) | (bytes[at + 1]! & 63);
  if (length === 3) return ((lead & 15) << 12) | ((bytes[at + 1]! & 63) << 6) | (bytes[at + 2]! & 63);
  return (
    ((lead & 7) << 18) | ((bytes[at + 1]! & 63) << 12) | ((bytes[at + 2]! & 63) << 6) | (bytes[at + 3]! & 63)
  );
}

/** Writes the symbols of the word `start` to `end` into `into`, and returns how many: never more than bytes. */
export function symbolsOf(
  table: SymbolTable,
  bytes: Uint8Array,
  start: number,
  end: number,
  into: Int32Array,
): number {
  const { byPlace, fallback, unknown, fuseUnknown } = table;
  const byBytes = table.unit === 'bytes';
  let count = 0;
  // An unknown waits until the next known unit: a run of them may become one. The oracle lets bytes of byte_fallback
  // overtake a waiting one.
  let waiting = false;
  for (let at = start; at < end; ) {
    const length = byBytes ? 1 : lengthOfLead(bytes[at]!);
    const place = (at > start ? 2 : 0) | (at + length === end ? 1 : 0);
    const id = idOfCode(byPlace[place as 0 | 1 | 2 | 3], codeAt(bytes, at, length));
    if (id >= 0) {
      if (waiting) into[count++] = unknown;
      waiting = false;
      into[count++] = id;
    } else if (fallback !== null && hasBytes(fallback, bytes, at, at + length)) {
      for (let byte = at; byte < at + length; byte++) into[count++] = fallback[bytes[byte]!]!;
    } else if (unknown >= 0) {
      if (waiting && !fuseUnknown) into[count++] = unknown;
      waiting = true;
    }
    at += length;
  }
  if (waiting) into[count++] = unknown;
  return count;
}

function hasBytes(fallback: Int32Array, bytes: Uint8Array, start: number, end: number): boolean {
  for (let at = start; at < end; at++) if (fallback[bytes[at]!]! < 0) return false;
  return true;
}
