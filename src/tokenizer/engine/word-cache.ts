import { powerFor } from './hashing.ts';

/** Words up to this many bytes are kept by value, as four little-endian Int32. */
export const SHORT_WORD = 16;
/** Longer words than this are not remembered. */
const LONGEST = 1024;

const FRONT_STRIDE = 8;
const BACK_STRIDE = 16;
const FRONT_IDS = 3;
const BACK_IDS = 10;
/** What a Map entry costs beside its bytes and ids, roughly. */
const ENTRY_BYTES = 150;

/** Clears the bytes of the last key word that are beyond the end of the word: by how many bytes it holds. */
const KEEP = new Int32Array([0, 0xff, 0xffff, 0xffffff, -1]);

/**
 * Remembers the ids of words, in fixed space and without garbage. Three stores:
 *
 *     front   direct mapped, a line of 32 bytes    [ key 0..3 | tag + count << 8 | id 0..2 ]
 *     back    two ways, a line of 64 bytes each    [ key 0..3 | tag | count | id 0..9 ]; the newest goes to way 0
 *     long    a Map by the bytes as a latin1 string, emptied when full
 *
 * The tag is the length of the word; PIECE is added to it for a piece of a longer word where the whole word and the
 * piece may differ. A tag of 0 is an empty line. Callers write the key with `load` and read it back from `key*`.
 */
export class WordCache {
  readonly front: Int32Array;
  readonly frontShift: number;
  readonly back: Int32Array;
  readonly backShift: number;
  key0 = 0;
  key1 = 0;
  key2 = 0;
  key3 = 0;
  readonly #long = new Map<string, Uint32Array>();
  readonly #longLimit: number;
  #longBytes = 0;

  /** Takes about `budget` bytes: an eighth for the front, half for the back, the rest at most for long words. */
  constructor(budget: number) {
    const frontPower = powerFor(Math.max(256, budget / 8 / (FRONT_STRIDE * 4)));
    const backPower = powerFor(Math.max(256, budget / 2 / (BACK_STRIDE * 4)));
    // Filled, so that the pages are touched now and not in the first prompts.
    this.front = new Int32Array(FRONT_STRIDE << frontPower).fill(0);
    this.frontShift = 32 - frontPower;
    this.back = new Int32Array(BACK_STRIDE << backPower).fill(0);
    this.backShift = 32 - (backPower - 1);
    this.#longLimit = (budget * 3) / 8;
  }

  /** Reads the key of the word of `length` bytes at `at`, and returns its hash with `tag`. */
  load(view: DataView, at: number, length: number, tag: number): number {
    let key0 = view.getInt32(at, true);
    let key1 = 0;
    let key2 = 0;
    let key3 = 0;
    if (length < 4) key0 &= KEEP[length]!;
    else if (length > 4) {
      key1 = view.getInt32(at + 4, true);
      if (length < 8) key1 &= KEEP[length - 4]!;
      else if (length > 8) {
        key2 = view.getInt32(at + 8, true);
        if (length < 12) key2 &= KEEP[length - 8]!;
        else if (length > 12) {
          key3 = view.getInt32(at + 12, true);
          if (length < 16) key3 &= KEEP[length - 12]!;
        }
      }
    }
    this.key0 = key0;
    this.key1 = key1;
    this.key2 = key2;
    this.key3 = key3;
    const hash =
      Math.imul(key0, 0x9e3779b1) ^
      Math.imul(key1, 0x85ebca6b) ^
      Math.imul(key2, 0xc2b2ae35) ^
      Math.imul(key3, 0x27d4eb2f) ^
      tag;
    return Math.imul(hash ^ (hash >>> 15), 0x2c1b3c6d);
  }

  /** Line of the loaded key in the back, or -1. */
  findInBack(hash: number, tag: number): number {
    const { back, key0, key1, key2, key3 } = this;
    let line = (hash >>> this.backShift) * BACK_STRIDE * 2;
    for (let way = 0; way < 2; way++, line += BACK_STRIDE)
      if (
        back[line + 4] === tag &&
        back[line] === key0 &&
        back[line + 1] === key1 &&
        back[line + 2] === key2 &&
        back[line + 3] === key3
      )
        return line;
    return -1;
  }

  /** Remembers the ids of the loaded key in the back, if they fit a line. */
  storeInBack(hash: number, tag: number, ids: Int32Array, count: number): void {
    if (count > BACK_IDS) return;
    const { back } = this;
    const line = (hash >>> this.backShift) * BACK_STRIDE * 2;
    if (back[line + 4] !== 0) back.copyWithin(line + BACK_STRIDE, line, line + BACK_STRIDE);
    back[line] = this.key0;
    back[line + 1] = this.key1;
    back[line + 2] = this.key2;
    back[line + 3] = this.key3;
    back[line + 4] = tag;
    back[line + 5] = count;
    for (let k = 0; k < count; k++) back[line + 6 + k] = ids[k]!;
  }

  /** Remembers `count` ids of the loaded key from `ids[from]` on in the front, if they fit a line. */
  storeInFront(hash: number, tag: number, ids: Uint32Array, from: number, count: number): void {
    if (count > FRONT_IDS) return;
    const { front } = this;
    const line = (hash >>> this.frontShift) * FRONT_STRIDE;
    front[line] = this.key0;
    front[line + 1] = this.key1;
    front[line + 2] = this.key2;
    front[line + 3] = this.key3;
    front[line + 4] = tag | (count << 8);
    for (let k = 0; k < count; k++) front[line + 5 + k] = ids[from + k]!;
  }

  /** Key of a long word for `findLong` and `storeLong`, or undefined when it is too long to be remembered. */
  longKey(buffer: Buffer, start: number, end: number): string | undefined {
    return end - start <= LONGEST ? buffer.toString('latin1', start, end) : undefined;
  }

  findLong(key: string): Uint32Array | undefined {
    return this.#long.get(key);
  }

  storeLong(key: string, ids: Uint32Array): void {
    const cost = key.length + ids.length * 4 + ENTRY_BYTES;
    if (this.#longBytes + cost > this.#longLimit) {
      this.#long.clear();
      this.#longBytes = 0;
    }
    this.#longBytes += cost;
    this.#long.set(key, ids);
  }

  /** Forgets everything. */
  clear(): void {
    this.front.fill(0);
    this.back.fill(0);
    this.#long.clear();
    this.#longBytes = 0;
  }
}
