/** Marks a merge whose sides are not parts of the text. */
const ELSEWHERE = -1;

/**
 * `model.merges` as places in the text of the file, so that a million merges leave no string behind. A merge with an escape in
 * it has strings of its own.
 */
export class ScannedMerges {
  readonly #text: string;
  /** Four words a merge: start and end of the left side, start and end of the right one; or ELSEWHERE and an index. */
  #places = new Int32Array(1 << 16);
  #used = 0;
  readonly #texts: [string, string][] = [];

  constructor(text: string) {
    this.#text = text;
  }

  get length(): number {
    return this.#used >> 2;
  }

  add(leftStart: number, leftEnd: number, rightStart: number, rightEnd: number): void {
    if (this.#used === this.#places.length) {
      const grown = new Int32Array(this.#used * 2);
      grown.set(this.#places);
      this.#places = grown;
    }
    const places = this.#places;
    const at = this.#used;
    places[at] = leftStart;
    places[at + 1] = leftEnd;
    places[at + 2] = rightStart;
    places[at + 3] = rightEnd;
    this.#used = at + 4;
  }

  addTexts(left: string, right: string): void {
    this.add(ELSEWHERE, this.#texts.length, 0, 0);
    this.#texts.push([left, right]);
  }

  /** Puts the merge at `index` into `sides`. */
  read(index: number, sides: MergeSides): void {
    const places = this.#places;
    const at = index * 4;
    if (places[at] !== ELSEWHERE) {
      sides.left = sides.right = this.#text;
      sides.leftStart = places[at]!;
      sides.leftEnd = places[at + 1]!;
      sides.rightStart = places[at + 2]!;
      sides.rightEnd = places[at + 3]!;
      return;
    }
    const [left, right] = this.#texts[places[at + 1]!]!;
    sides.set(left, 0, left.length, right, 0, right.length);
  }
}

/** The sides of one merge, as parts of strings. */
export class MergeSides {
  left = '';
  leftStart = 0;
  leftEnd = 0;
  right = '';
  rightStart = 0;
  rightEnd = 0;

  set(
    left: string,
    leftStart: number,
    leftEnd: number,
    right: string,
    rightStart: number,
    rightEnd: number,
  ): void {
    this.left = left;
    this.leftStart = leftStart;
    this.leftEnd = leftEnd;
    this.right = right;
    this.rightStart = rightStart;
    this.rightEnd = rightEnd;
  }

  toString(): string {
    const left = this.left.slice(this.leftStart, this.leftEnd);
    return JSON.stringify(`${left} ${this.right.slice(this.rightStart, this.rightEnd)}`);
  }
}
