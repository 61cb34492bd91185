import { addByteCrossing, addCharacterCrossing, type Crossings, createCrossings } from '../crossings.ts';
import { CHARACTER_BYTES } from '../decoder.ts';
import { addPair, createPairTable, MOST_MERGES, type PairTable } from '../pair-table.ts';
import { Refusal } from './json-shape.ts';
import { MergeSides, ScannedMerges } from './scanned-merges.ts';
import type { Vocabulary } from './vocabulary.ts';

export type MergeShape = {
  readonly unit: 'bytes' | 'characters';
  readonly folded: boolean;
  /** continuing_subword_prefix: the right side loses it in the merged token. */
  readonly prefix: string;
  /** Ids that stand for text other than their own string. */
  readonly opaque: ReadonlySet<number>;
};

export type Merges = {
  readonly pairs: PairTable;
  /** Null when some merge does not say between which characters it works. */
  readonly crossings: Crossings | null;
};

const MARKER = 0x2581;
const VERSION_LINE = '#version';

/** Reads `merges`, strings `a b` or pairs `[a, b]` or what a scan of the file has made of them, in order of rank. */
export function readMerges(merges: unknown, vocabulary: Vocabulary, shape: MergeShape): Merges | Refusal {
  if (!Array.isArray(merges) && !(merges instanceof ScannedMerges))
    return new Refusal('a BPE model without merges');
  if (merges.length > MOST_MERGES) return new Refusal(`${merges.length} merges`);
  const pairs = createPairTable(merges.length);
  const crossings = createCrossings(shape.unit);
  const sides = new MergeSides();
  const asLines = Array.isArray(merges) && typeof merges[0] === 'string';
  const prefixLength = shape.prefix.length;
  let exact = true;
  let rank = 0;
  for (let index = 0; index < merges.length; index++) {
    if (merges instanceof ScannedMerges) merges.read(index, sides);
    else if (asLines && isVersionLine(merges[index])) continue;
    else if (!readMerge(merges[index], asLines, sides))
      return new Refusal(`merge ${JSON.stringify(merges[index])}`);

    const { left, leftStart, leftEnd, right, rightStart, rightEnd } = sides;
    const leftId = vocabulary.find(left, leftStart, leftEnd, '', 0, 0);
    const rightId = vocabulary.find(right, rightStart, rightEnd, '', 0, 0);
    if (prefixLength > 0 && !right.slice(rightStart, rightEnd).startsWith(shape.prefix))
      return new Refusal(`merge ${sides} without the continuing_subword_prefix`);
    const merged = vocabulary.find(left, leftStart, leftEnd, right, rightStart + prefixLength, rightEnd);
    if (leftId < 0 || rightId < 0 || merged < 0)
      return new Refusal(`merge ${sides} of tokens outside the vocabulary`);
    addPair(pairs, leftId, rightId, rank++, merged);

    if (shape.opaque.has(leftId) || shape.opaque.has(rightId)) exact = false;
    if (!exact) continue;
    if (shape.unit === 'bytes') addByteContext(crossings, sides);
    else addCharacterContext(crossings, shape.folded, sides);
  }
  return { pairs, crossings: exact ? crossings : null };
}

function isVersionLine(merge: unknown): boolean {
  return typeof merge === 'string' && merge.startsWith(VERSION_LINE);
}

/** False for what is no merge. */
function readMerge(merge: unknown, asLine: boolean, sides: MergeSides): boolean {
  if (asLine) {
    const space = typeof merge === 'string' ? merge.indexOf(' ') : -1;
    if (typeof merge !== 'string' || space < 0 || merge.indexOf(' ', space + 1) >= 0) return false;
    sides.set(merge, 0, space, merge, space + 1, merge.length);
    return true;
  }
  if (!isPair(merge)) return false;
  sides.set(merge[0], 0, merge[0].length, merge[1], 0, merge[1].length);
  return true;
}

function isPair(merge: unknown): merge is [string, string] {
  return (
    Array.isArray(merge) && merge.length === 2 && typeof merge[0] === 'string' && typeof merge[1] === 'string'
  );
}

const CONTEXT = 3;

function byteOf(character: number): number {
  return CHARACTER_BYTES[character] ?? -1;
}

/** A side with a character that stands for no byte is never reached by merging bytes, and needs no crossing. */
function addByteContext(
  crossings: Crossings,
  { left, leftStart, leftEnd, right, rightStart, rightEnd }: MergeSides,
): void {
  const leftLength = Math.min(CONTEXT, leftEnd - leftStart);
  const rightLength = Math.min(CONTEXT, rightEnd - rightStart);
  let before = 0;
  let after = 0;
  for (let k = leftEnd - leftLength; k < leftEnd; k++) {
    const byte = byteOf(left.charCodeAt(k));
    if (byte < 0) return;
    before = (before << 8) | byte;
  }
  for (let k = rightStart; k < rightStart + rightLength; k++) {
    const byte = byteOf(right.charCodeAt(k));
    if (byte < 0) return;
    after = (after << 8) | byte;
  }
  addByteCrossing(crossings, before, leftLength, after, rightLength);
}

function addCharacterContext(
  crossings: Crossings,
  folded: boolean,
  { left, leftStart, leftEnd, right, rightStart }: MergeSides,
): void {
  let before = left.charCodeAt(leftEnd - 1);
  if (before >= 0xdc00 && before < 0xe000 && leftEnd > leftStart + 1) before = left.codePointAt(leftEnd - 2)!;
  let after = right.codePointAt(rightStart)!;
  if (folded && before === MARKER) before = 0x20;
  if (folded && after === MARKER) after = 0x20;
  addCharacterCrossing(crossings, before, after);
}
