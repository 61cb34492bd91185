import { SENTINEL } from './classes.ts';
import { addToFilter, mayHold, mix, sharedBytes, sharedInt32 } from './hashing.ts';
import { codeAt, lengthOfLead } from './symbols.ts';

/**
 * Where a word may be cut for certain. A merge (a, b) joins two symbols across a boundary only when `a` ends in what
 * stands before it and `b` begins with what stands after it. So the pairs (end of a, beginning of b) of all merges are
 * collected, and a boundary whose pair is not among them is never merged across: both sides can be encoded alone.
 *
 * `bytes`: the context is up to three bytes on each side, fewer only where the whole of `a` or `b` is shorter.
 * `characters`: one character on each side; pairs of ASCII are also in `ascii`, by `left << 7 | right`.
 */
export type Crossings = {
  readonly unit: 'bytes' | 'characters';
  readonly filter: Int32Array;
  readonly ascii: Uint8Array;
  /** A run of two spaces to so many is a token by itself wherever it stands, and may be cut behind; 0: none is. */
  readonly longestRun: number;
};

const FILTER_WORDS = 1 << 17;
const CONTEXT = 3;
const SPACE = 0x20;

export function createCrossings(unit: 'bytes' | 'characters'): Crossings {
  return { unit, filter: sharedInt32(FILTER_WORDS), ascii: sharedBytes(1 << 14), longestRun: 0 };
}

/** One side of a boundary: up to three bytes and, in the high byte, how many they are. */
function context(packed: number, length: number): number {
  return packed | (length << 24);
}

/** Records a merge by the packed last bytes of its left side and first bytes of its right side, first byte highest. */
export function addByteCrossing(
  crossings: Crossings,
  left: number,
  leftLength: number,
  right: number,
  rightLength: number,
): void {
  addToFilter(crossings.filter, mix(context(left, leftLength), context(right, rightLength)));
}

/** Records a merge by the last character of its left side and the first of its right side. */
export function addCharacterCrossing(crossings: Crossings, left: number, right: number): void {
  if (left < 0x80 && right < 0x80) crossings.ascii[(left << 7) | right] = 1;
  addToFilter(crossings.filter, mix(left, right));
}

/** First certain cut after `start` in a word that ends at `end`; `end` itself when there is none. */
export function nextCut(crossings: Crossings, bytes: Uint8Array, start: number, end: number): number {
  return crossings.unit === 'bytes'
    ? nextByteCut(crossings.filter, bytes, start, end)
    : nextCharacterCut(crossings, bytes, start, end);
}

function nextByteCut(filter: Int32Array, bytes: Uint8Array, start: number, end: number): number {
  let at = start + 1;
  while (at < end && byteCrossable(filter, bytes, start, at, end)) at++;
  return Math.min(at, end);
}

function byteCrossable(
  filter: Int32Array,
  bytes: Uint8Array,
  start: number,
  at: number,
  end: number,
): boolean {
  let left = 0;
  for (let before = 1; before <= CONTEXT && at - before >= start; before++) {
    left |= bytes[at - before]! << (8 * (before - 1));
    let right = 0;
    for (let after = 1; after <= CONTEXT && at + after <= end; after++) {
      right = (right << 8) | bytes[at + after - 1]!;
      if (mayHold(filter, mix(context(left, before), context(right, after)))) return true;
    }
  }
  return false;
}

/** The same for characters; stops at SENTINEL too. */
export function nextCharacterCut(
  crossings: Crossings,
  bytes: Uint8Array,
  start: number,
  end: number,
): number {
  const { ascii, filter, longestRun } = crossings;
  let at = start;
  if (bytes[start] === SPACE && longestRun > 0) {
    at = runEnd(bytes, start, end);
    if (at === end || bytes[at] === SENTINEL || (at - start > 1 && at - start <= longestRun)) return at;
    at--;
  }
  let length = lengthOfLead(bytes[at]!);
  let left = codeAt(bytes, at, length);
  for (at += length; at < end; at += length) {
    const byte = bytes[at]!;
    if (byte < 0x80 && left < 0x80) {
      if (ascii[(left << 7) | byte] === 0) return at;
      left = byte;
      length = 1;
    } else {
      if (byte === SENTINEL) return at;
      length = lengthOfLead(byte);
      const right = codeAt(bytes, at, length);
      if (!mayHold(filter, mix(left, right))) return at;
      left = right;
    }
  }
  return end;
}

function runEnd(bytes: Uint8Array, at: number, end: number): number {
  while (at < end && bytes[at] === SPACE) at++;
  return at;
}
