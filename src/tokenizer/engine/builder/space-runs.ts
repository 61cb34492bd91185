import type { MergeSides } from './scanned-merges.ts';

/** Longer runs are not looked for. */
const MOST = 63;

/**
 * Finds out, from all merges, up to what length a run of spaces inside a word is certain to become one token and to stay
 * it. In files that were made so, the merges of spaces with spaces
 *
 * - are there for every two runs that make up one of that length or less,
 * - come before any merge of a space with something else, so that a run is one symbol before such a merge has its turn,
 * - and nothing begins or ends with two spaces but runs of spaces: no merge takes that symbol further.
 *
 * So a word may be cut where such a run ends: code is full of them.
 */
export class SpaceRuns {
  readonly #space: number;
  /** By `left * (MOST + 1) + right`: 1 where the runs of these lengths merge. */
  readonly #joined = new Uint8Array((MOST + 1) ** 2);
  #lastOfRuns = -1;
  #firstOfOthers = Number.POSITIVE_INFINITY;
  #broken = false;

  /** `space`: the UTF-16 unit that tokens write a space with. */
  constructor(space: number) {
    this.#space = space;
  }

  /** Must be called for every merge, with its rank. */
  add(rank: number, { left, leftStart, leftEnd, right, rightStart, rightEnd }: MergeSides): void {
    const space = this.#space;
    const touches =
      left.charCodeAt(leftStart) === space ||
      left.charCodeAt(leftEnd - 1) === space ||
      right.charCodeAt(rightStart) === space ||
      right.charCodeAt(rightEnd - 1) === space;
    if (!touches) return;
    const before = this.#runLength(left, leftStart, leftEnd);
    const after = this.#runLength(right, rightStart, rightEnd);
    if (before > 0 && after > 0) {
      this.#lastOfRuns = Math.max(this.#lastOfRuns, rank);
      if (before <= MOST && after <= MOST) this.#joined[before * (MOST + 1) + after] = 1;
      return;
    }
    this.#firstOfOthers = Math.min(this.#firstOfOthers, rank);
    const twoBefore = leftEnd - leftStart > 1 && this.#runLength(left, leftEnd - 2, leftEnd) > 0;
    const twoAfter = rightEnd - rightStart > 1 && this.#runLength(right, rightStart, rightStart + 2) > 0;
    if (twoBefore || twoAfter) this.#broken = true;
  }

  /** Length of the longest such run, or 0: then no run may be cut behind. */
  longest(): number {
    if (this.#broken || this.#lastOfRuns > this.#firstOfOthers) return 0;
    for (let length = 2; length <= MOST; length++)
      for (let left = 1; left < length; left++)
        if (this.#joined[left * (MOST + 1) + length - left] === 0) return length > 2 ? length - 1 : 0;
    return MOST;
  }

  /** Length of `text` from `start` to `end` if it is all spaces, else 0. */
  #runLength(text: string, start: number, end: number): number {
    for (let k = start; k < end; k++) if (text.charCodeAt(k) !== this.#space) return 0;
    return end - start;
  }
}
