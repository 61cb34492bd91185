import { powerFor } from './hashing.ts';

/** Bytes of text that make a key. Longer hits more rarely, shorter takes more lookups. */
export const PASSAGE = 64;
/** Ids of a line at most; a passage that has more ends sooner. */
export const PASSAGE_IDS = 31;

const KEY_WORDS = PASSAGE >> 2;
const HEAD = KEY_WORDS;
const STRIDE = HEAD + 1 + PASSAGE_IDS;
const WAYS = 2;

/**
 * Remembers the ids of text seen before, many words at a time: what a conversation repeats is not split again. Two ways,
 * the older is replaced; in fixed space and without garbage. Text seen once leaves no more than its hash, and a line is
 * written the second time: most text never comes back, and lines cost time and push others out. A line is 192 bytes:
 *
 *     [ 64 bytes of text | bytes taken + count of ids << 8 | ids ]
 *
 * The key is the 64 bytes that stand where a word begins, whatever they are. The ids are those of the first so many of
 * these bytes, whole words whose ends the 64 bytes alone decide (see `endIsSettled`). So equal bytes have equal ids,
 * whatever follows them. What is left of a section is a key too, filled up with 0xFF, which is in no text: its end is
 * the section's, so all its bytes are taken. An empty line takes none.
 */
export class PassageCache {
  readonly lines: Int32Array;
  readonly #shift: number;
  /** By line: the hash of the key last seen there, whether its line has been written yet or not. */
  readonly #seen: Int32Array;
  /** By set: the way to replace next. */
  readonly #oldest: Uint8Array;
  readonly #key = new Int32Array(KEY_WORDS);
  #hash = 0;
  /** Number of the line whose hash is that of `#key`, or -1. */
  #number = -1;

  /** Takes at most about `budget` bytes. */
  constructor(budget: number) {
    const power = Math.max(5, powerFor(budget / (WAYS * STRIDE * 4) + 1) - 1);
    // Filled, so that the pages are touched now and not in the first prompts.
    this.lines = new Int32Array((WAYS * STRIDE) << power).fill(0);
    this.#seen = new Int32Array(WAYS << power);
    this.#oldest = new Uint8Array(1 << power);
    this.#shift = 32 - power;
  }

  /** Index in `lines` of what is known of the `length` bytes at `at`, 64 at most, or -1: a head, then the ids. */
  find(view: DataView, at: number, length: number): number {
    const key = this.#key;
    const used = length < PASSAGE / 2 ? KEY_WORDS / 2 : KEY_WORDS;
    if (length === PASSAGE) for (let k = 0; k < KEY_WORDS; k++) key[k] = view.getInt32(at + 4 * k, true);
    else {
      const whole = length >> 2;
      for (let k = 0; k < whole; k++) key[k] = view.getInt32(at + 4 * k, true);
      key.fill(-1, whole);
      if (length & 3) key[whole] = view.getInt32(at + 4 * whole, true) | (-1 << (8 * (length & 3)));
    }
    // Four lanes, so that a multiplication need not wait for the one before.
    let hash0 = 0;
    let hash1 = 0;
    let hash2 = 0;
    let hash3 = 0;
    for (let k = 0; k < used; k += 4) {
      hash0 = Math.imul(hash0 ^ (hash0 >>> 15) ^ key[k]!, 0x9e3779b1);
      hash1 = Math.imul(hash1 ^ (hash1 >>> 15) ^ key[k + 1]!, 0x85ebca6b);
      hash2 = Math.imul(hash2 ^ (hash2 >>> 15) ^ key[k + 2]!, 0xc2b2ae35);
      hash3 = Math.imul(hash3 ^ (hash3 >>> 15) ^ key[k + 3]!, 0x27d4eb2f);
    }
    const hash = hash0 ^ (hash1 >>> 7) ^ (hash2 >>> 13) ^ hash3;
    this.#hash = Math.imul(hash ^ (hash >>> 15), 0x2c1b3c6d);
    const first = (this.#hash >>> this.#shift) * WAYS;
    const seen = this.#seen;
    this.#number = seen[first] === this.#hash ? first : seen[first + 1] === this.#hash ? first + 1 : -1;
    if (this.#number < 0) return -1;
    const line = this.#number * STRIDE;
    return this.#holdsKey(line, used) ? line + HEAD : -1;
  }

  /** Notes, for the key last looked for, that the first `taken` bytes are the `count` ids at `from`. */
  store(taken: number, ids: Uint32Array, from: number, count: number): void {
    if (this.#number < 0) {
      const set = this.#hash >>> this.#shift;
      const way = this.#oldest[set]!;
      this.#oldest[set] = way ^ 1;
      this.#seen[set * WAYS + way] = this.#hash;
      return;
    }
    const { lines } = this;
    const line = this.#number * STRIDE;
    lines.set(this.#key, line);
    lines[line + HEAD] = taken | (count << 8);
    for (let k = 0; k < count; k++) lines[line + HEAD + 1 + k] = ids[from + k]!;
  }

  /** `used`: half the words are enough where 0xFF begins in them, for then the rest is 0xFF on both sides. */
  #holdsKey(line: number, used: number): boolean {
    const { lines } = this;
    const key = this.#key;
    for (let k = 0; k < used; k++) if (lines[line + k] !== key[k]) return false;
    return lines[line + HEAD] !== 0;
  }
}
