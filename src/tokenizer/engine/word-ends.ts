/** Ends of the words encoded since some place: as an offset in the text, and as the number of ids up to it. */
export class WordEnds {
  readonly at: Int32Array;
  readonly count: Int32Array;
  length = 0;

  constructor(most: number) {
    this.at = new Int32Array(most);
    this.count = new Int32Array(most);
  }

  /** Leaves out the first `words`. */
  drop(words: number): void {
    this.at.copyWithin(0, words, this.length);
    this.count.copyWithin(0, words, this.length);
    this.length -= words;
  }
}
