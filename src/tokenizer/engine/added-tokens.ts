import { EncodeError } from '../encode-error.ts';
import { type ByteSet, createByteSet, nextMember } from './byte-set.ts';
import { classAt, IN_SPACES, RUST_WORD } from './classes.ts';
import { mix, powerFor, sharedBytes, sharedInt32 } from './hashing.ts';
import { lengthOfLead, previous } from './symbols.ts';
import type { TextBuffer } from './text-buffer.ts';

/** One added token as it is matched: `bytes` is its content, normalized for those that match normalized text. */
export type AddedToken = {
  readonly id: number;
  readonly bytes: Uint8Array;
  readonly singleWord: boolean;
  readonly leftStrip: boolean;
  readonly rightStrip: boolean;
};

const SINGLE_WORD = 1;
const LEFT_STRIP = 2;
const RIGHT_STRIP = 4;

/**
 * A trie over bytes. Edges are open addressing, two words each: `node << 8 | byte` plus 1 (0 is empty), and the child.
 * `tokenIds` and `flags` are by node; a node without a token has id -1.
 */
export type TokenTrie = {
  readonly edges: Int32Array;
  readonly shift: number;
  readonly tokenIds: Int32Array;
  readonly flags: Uint8Array;
  /** The bytes that some token starts with. */
  readonly starts: ByteSet;
  /** The only such byte, or -1 when there are several: then the search for it may run natively. */
  readonly soleStart: number;
  /** For each two bytes (the first the lower), 1 where a token may start with them. */
  readonly beginnings: Uint8Array;
  /** Each space in the text stands for a U+2581, which is no white space that a token strips. */
  readonly folded: boolean;
};

/** No two tokens may have the same bytes. Null for no tokens. `folded`: so is the text that they are matched in. */
export function createTrie(tokens: readonly AddedToken[], folded: boolean): TokenTrie | null {
  if (tokens.length === 0) return null;
  const total = tokens.reduce((sum, token) => sum + token.bytes.length, 0);
  const exponent = powerFor(total * 2 + 1);
  const edges = sharedInt32(2 << exponent);
  const tokenIds = sharedInt32(total + 1).fill(-1);
  const flags = sharedBytes(total + 1);
  const beginnings = sharedBytes(1 << 16);
  const shift = 32 - exponent;
  let nodes = 1;
  for (const token of tokens) {
    const [start, second] = token.bytes;
    if (second !== undefined) beginnings[(second << 8) | start!] = 1;
    else for (let any = 0; any < 256; any++) beginnings[(any << 8) | start!] = 1;
    let node = 0;
    for (const byte of token.bytes) {
      const slot = edgeSlot(edges, shift, node, byte);
      if (edges[slot] === 0) {
        edges[slot] = ((node << 8) | byte) + 1;
        edges[slot + 1] = nodes++;
      }
      node = edges[slot + 1]!;
    }
    tokenIds[node] = token.id;
    flags[node] =
      (token.singleWord ? SINGLE_WORD : 0) |
      (token.leftStrip ? LEFT_STRIP : 0) |
      (token.rightStrip ? RIGHT_STRIP : 0);
  }
  const starts = createByteSet(tokens.map(({ bytes }) => bytes[0]!));
  const first = starts.members.indexOf(1);
  return {
    edges,
    shift,
    tokenIds,
    flags,
    starts,
    soleStart: starts.members.indexOf(1, first + 1) < 0 ? first : -1,
    beginnings,
    folded,
  };
}

function edgeSlot(edges: Int32Array, shift: number, node: number, byte: number): number {
  const key = ((node << 8) | byte) + 1;
  const mask = edges.length - 1;
  let slot = (mix(node, byte) >>> shift) << 1;
  while (edges[slot] !== 0 && edges[slot] !== key) slot = (slot + 2) & mask;
  return slot;
}

/** Takes the sections and tokens of a text, from left to right. */
export type SectionSink = {
  section(start: number, end: number): void;
  token(id: number): void;
};

/** Finds added tokens in `start` to `end`, leftmost first and longest among those, and hands all on in order. */
export function splitAtTokens(
  trie: TokenTrie,
  classes: Uint8Array,
  text: TextBuffer,
  start: number,
  end: number,
  sink: SectionSink,
): void {
  const { edges, shift, tokenIds, flags, beginnings, folded } = trie;
  const { bytes } = text;
  let plain = start;
  let at = start;
  while (at < end) {
    at = nextStart(trie, text, at, end);
    if (at === end) break;
    if (beginnings[(bytes[at + 1]! << 8) | bytes[at]!] === 0) {
      at++;
      continue;
    }
    let longest = 0;
    let found = 0;
    for (let next = at, node = 0; next < end; ) {
      const slot = edgeSlot(edges, shift, node, bytes[next]!);
      if (edges[slot] === 0) break;
      node = edges[slot + 1]!;
      next++;
      if (tokenIds[node]! >= 0) {
        longest = next;
        found = node;
      }
    }
    if (longest === 0) {
      at++;
      continue;
    }
    const flag = flags[found]!;
    let from = at;
    let to = longest;
    // The search goes on after the token itself, even where it is passed over or its strip reaches further.
    at = longest;
    if (
      flag & SINGLE_WORD &&
      (isWordBefore(classes, bytes, start, from) || isWordAt(classes, bytes, to, end))
    )
      continue;
    if (flag & LEFT_STRIP) from = Math.max(plain, spacesBefore(classes, bytes, start, from, folded));
    if (flag & RIGHT_STRIP) to = spacesAfter(classes, bytes, to, end, folded);
    // The token before this one has stripped some of it, or all.
    if (from > to) throw new EncodeError('two added tokens overlap so that the Rust library fails');
    if (plain < from) sink.section(plain, from);
    if (from < to) sink.token(tokenIds[found]!);
    plain = to;
  }
  if (plain < end) sink.section(plain, end);
}

/** Bytes searched in JavaScript before a native search takes over, which has to be called but then is quicker. */
const NEAR = 256;

/** Where a token may start, in `at` to `end`, or `end`. */
function nextStart(trie: TokenTrie, text: TextBuffer, at: number, end: number): number {
  const near = trie.soleStart >= 0 ? Math.min(at + NEAR, end) : end;
  const found = nextMember(trie.starts, text, at, near);
  return found < near || near === end ? found : nextByte(text, trie.soleStart, near, end);
}

/** First `byte` in `at` to `end`, or `end`. The byte is put at the end, so that the search does not run on. */
function nextByte(text: TextBuffer, byte: number, at: number, end: number): number {
  const { bytes } = text;
  const saved = bytes[end]!;
  bytes[end] = byte;
  const found = text.buffer.indexOf(byte, at);
  bytes[end] = saved;
  return found;
}

function isWordAt(classes: Uint8Array, bytes: Uint8Array, at: number, end: number): boolean {
  return at < end && (classAt(classes, bytes, at) & RUST_WORD) !== 0;
}

function isWordBefore(classes: Uint8Array, bytes: Uint8Array, start: number, at: number): boolean {
  return at > start && (classAt(classes, bytes, previous(bytes, at)) & RUST_WORD) !== 0;
}

const FOLDED_SPACE = 0x20;

/** Start of the run of whitespace that ends at `at`; in folded text a space is none. */
export function spacesBefore(
  classes: Uint8Array,
  bytes: Uint8Array,
  start: number,
  at: number,
  folded = false,
): number {
  while (at > start) {
    const before = previous(bytes, at);
    if (((1 << classAt(classes, bytes, before)) & IN_SPACES) === 0) break;
    if (folded && bytes[before] === FOLDED_SPACE) break;
    at = before;
  }
  return at;
}

/** End of the run of whitespace that starts at `at`; in folded text a space is none. */
export function spacesAfter(
  classes: Uint8Array,
  bytes: Uint8Array,
  at: number,
  end: number,
  folded = false,
): number {
  while (at < end && ((1 << classAt(classes, bytes, at)) & IN_SPACES) !== 0) {
    if (folded && bytes[at] === FOLDED_SPACE) break;
    at += lengthOfLead(bytes[at]!);
  }
  return at;
}
