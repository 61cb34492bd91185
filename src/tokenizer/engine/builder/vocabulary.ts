import { powerFor } from '../hashing.ts';
import { MOST_IDS } from '../pair-table.ts';
import { isObject, Refusal } from './json-shape.ts';

/**
 * Vocabulary of the model by token string, found by parts: `find(a, ..., b, ...)` looks up the two strings joined
 * without joining them, so that half a million merges leave no string behind. UTF-16 units of all tokens lie in one
 * array; `slots` is open addressing over entries, -1 when empty.
 */
export class Vocabulary {
  readonly tokens: readonly string[];
  readonly ids: Int32Array;
  readonly #units: Uint16Array;
  readonly #starts: Uint32Array;
  readonly #slots: Int32Array;
  readonly #shift: number;
  /** Whether there is a token that is there twice. */
  readonly repeats: boolean;

  private constructor(tokens: readonly string[], ids: Int32Array) {
    this.tokens = tokens;
    this.ids = ids;
    let total = 0;
    for (const token of tokens) total += token.length;
    const units = new Uint16Array(total);
    const starts = new Uint32Array(tokens.length + 1);
    const exponent = powerFor(tokens.length * 2 + 1);
    const slots = new Int32Array(1 << exponent).fill(-1);
    const mask = slots.length - 1;
    const hashes = new Int32Array(tokens.length);
    let length = 0;
    let repeats = false;
    for (let entry = 0; entry < tokens.length; entry++) {
      const token = tokens[entry]!;
      starts[entry] = length;
      for (let k = 0; k < token.length; k++) units[length++] = token.charCodeAt(k);
      const hash = finish(extend(SEED, token, 0, token.length));
      let slot = hash >>> (32 - exponent);
      for (let other = slots[slot]!; other !== -1; other = slots[slot]!) {
        if (hashes[other] === hash && tokens[other] === token) repeats = true;
        slot = (slot + 1) & mask;
      }
      slots[slot] = entry;
      hashes[entry] = hash;
    }
    starts[tokens.length] = length;
    this.#units = units;
    this.#starts = starts;
    this.#slots = slots;
    this.#shift = 32 - exponent;
    this.repeats = repeats;
  }

  /** Of an object of ids by token, or of what a scan of the file has made of that. */
  static of(vocab: unknown): Vocabulary | Refusal {
    if (vocab instanceof Vocabulary) return vocab;
    if (!isObject(vocab)) return new Refusal('a vocabulary that is no object');
    const tokens = Object.keys(vocab);
    return Vocabulary.from(
      tokens,
      tokens.map((token) => vocab[token]),
    );
  }

  /** Refuses ids that are no small integers, and two tokens with one id: which of them decodes is chance. */
  static from(tokens: readonly string[], given: readonly unknown[]): Vocabulary | Refusal {
    const ids = new Int32Array(tokens.length);
    const taken = new Uint8Array(MOST_IDS);
    for (let entry = 0; entry < tokens.length; entry++) {
      const id = given[entry];
      if (typeof id !== 'number' || !Number.isInteger(id) || id < 0 || id >= MOST_IDS)
        return new Refusal(`vocabulary id ${String(id)} of ${JSON.stringify(tokens[entry])}`);
      if (taken[id] === 1) return new Refusal(`vocabulary with two tokens of id ${id}`);
      taken[id] = 1;
      ids[entry] = id;
    }
    return new Vocabulary(tokens, ids);
  }

  /** Id of `token`, or -1. */
  idOf(token: string): number {
    return this.find(token, 0, token.length, '', 0, 0);
  }

  /** Id of `first[firstStart..firstEnd]` followed by `second[secondStart..secondEnd]`, or -1. */
  find(
    first: string,
    firstStart: number,
    firstEnd: number,
    second: string,
    secondStart: number,
    secondEnd: number,
  ): number {
    const slots = this.#slots;
    const starts = this.#starts;
    const mask = slots.length - 1;
    const firstLength = firstEnd - firstStart;
    const length = firstLength + secondEnd - secondStart;
    const hash = finish(extend(extend(SEED, first, firstStart, firstEnd), second, secondStart, secondEnd));
    for (let slot = hash >>> this.#shift; ; slot = (slot + 1) & mask) {
      const entry = slots[slot]!;
      if (entry === -1) return -1;
      const start = starts[entry]!;
      if (
        starts[entry + 1]! - start === length &&
        this.#matches(start, first, firstStart, firstEnd) &&
        this.#matches(start + firstLength, second, secondStart, secondEnd)
      )
        return this.ids[entry]!;
    }
  }

  #matches(at: number, text: string, start: number, end: number): boolean {
    const units = this.#units;
    for (let k = start; k < end; k++) if (units[at++] !== text.charCodeAt(k)) return false;
    return true;
  }
}

const SEED = 0x811c9dc5 | 0;

function extend(hash: number, text: string, start: number, end: number): number {
  for (let k = start; k < end; k++) hash = Math.imul(hash ^ text.charCodeAt(k), 0x01000193);
  return hash;
}

function finish(hash: number): number {
  return Math.imul(hash ^ (hash >>> 15), 0x2c1b3c6d);
}
