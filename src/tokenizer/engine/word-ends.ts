import { PASSAGE } from './passage-cache.ts';

/** Ends of the words encoded since some place: as an offset in the text, and as the number of ids up to it. */
export class WordEnds {
  /** A passage's worth, for a word has a byte at least. */
  readonly at = new Int32Array(PASSAGE);
  readonly count = new Int32Array(PASSAGE);
  length = 0;

  /** Leaves out the first `words`. */
  drop(words: number): void {
    this.at.copyWithin(0, words, this.length);
    this.count.copyWithin(0, words, this.length);
    this.length -= words;
  }
}
