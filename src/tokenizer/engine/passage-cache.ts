import { powerFor } from './hashing.ts';
import type { TextBuffer } from './text-buffer.ts';

/** Bytes of text that make a key at most, unless told. Longer hits more rarely, shorter takes more lookups. */
export const PASSAGE = 1024;

/** Words of an entry beside its text and its ids. */
const FRAME = 4;
/** Slots looked at for a key. */
const PROBES = 4;
/** Up to so many bytes, or ids, a loop is quicker than a native call. */
const FEW = 48;

/**
 * Remembers the ids of text seen before, many words at a time: what a conversation repeats is not split again. In fixed
 * space and without garbage. An entry is of 32-bit words, the text filled up with zeros to a whole one:
 *
 *     [ hash | length of the text | bytes taken | count of ids | text, up to `longest` bytes | ids ]
 *
 * The text is what stands where a word begins, whatever it is. The ids are those of its first so many bytes, whole words
 * whose ends the text alone decides (see `endIsSettled`). So equal texts have equal ids, whatever follows them. What is
 * left of a section is an entry too, shorter than `longest`: its end is the section's, so all its bytes are taken.
 *
 * Entries are written one after another into one half of the space. When it is full, the other half is emptied and takes
 * its turn; an entry that is found in the older half moves to the newer one. So what is asked for again stays.
 */
export class PassageCache {
  readonly longest: number;
  /** Both halves. */
  readonly #entries: Int32Array;
  /** The same memory, to be compared natively. */
  readonly #buffer: Buffer;
  readonly #half: number;
  /** By half and hash: where an entry begins, plus 1; 0 is empty. */
  readonly #slots: Int32Array;
  readonly #power: number;
  /** 0 or 1: the half that is written to. */
  #newer = 0;
  /** Where in `entries` the next is written. */
  #end = 0;
  #hash = 0;

  /** Takes at most about `budget` bytes, and some kilobytes in any case. */
  constructor(budget: number, longest = PASSAGE) {
    this.longest = longest;
    // For each word of a half there is a sixteenth to an eighth of a slot.
    this.#half = Math.max(FRAME + wordsOf(longest) + longest, Math.floor(budget / 2 / 4.5));
    this.#power = powerFor(this.#half / 16) - 1;
    // Filled, so that the pages are touched now and not in the first prompts.
    this.#entries = new Int32Array(2 * this.#half).fill(0);
    this.#buffer = Buffer.from(this.#entries.buffer);
    this.#slots = new Int32Array(2 << this.#power).fill(0);
  }

  /** Entry of the `length` bytes at `at`, or -1. Valid until the next is stored or looked for. */
  find(text: TextBuffer, at: number, length: number): number {
    const hash = hashOf(text.view, at, length);
    this.#hash = hash;
    const entry = this.#findIn(this.#newer, text, at, length);
    if (entry >= 0) return entry;
    const older = this.#findIn(1 - this.#newer, text, at, length);
    if (older < 0) return -1;
    const size = FRAME + wordsOf(length) + this.countOf(older);
    const renewed = this.#add(size);
    this.#entries.copyWithin(renewed, older, older + size);
    return renewed;
  }

  /** How many bytes the ids of an entry take. */
  takenBy(entry: number): number {
    return this.#entries[entry + 2]!;
  }

  countOf(entry: number): number {
    return this.#entries[entry + 3]!;
  }

  /** Writes the ids of an entry into `ids`, from `to` on. */
  copyIds(entry: number, ids: Uint32Array, to: number): void {
    const entries = this.#entries;
    const count = entries[entry + 3]!;
    const from = entry + FRAME + wordsOf(entries[entry + 1]!);
    if (count > FEW) ids.set(entries.subarray(from, from + count), to);
    else for (let k = 0; k < count; k++) ids[to + k] = entries[from + k]!;
  }

  /** Notes, for the key last looked for, that the first `taken` of its bytes are the `count` ids at `from`. */
  store(
    text: TextBuffer,
    at: number,
    length: number,
    taken: number,
    ids: Uint32Array,
    from: number,
    count: number,
  ): void {
    const entries = this.#entries;
    const words = wordsOf(length);
    const entry = this.#add(FRAME + words + count);
    entries[entry] = this.#hash;
    entries[entry + 1] = length;
    entries[entry + 2] = taken;
    entries[entry + 3] = count;
    let to = entry + FRAME;
    for (let k = 0; k < words; k++) entries[to++] = wordAt(text.view, at, length, k);
    for (let k = 0; k < count; k++) entries[to++] = ids[from + k]!;
  }

  #findIn(half: number, text: TextBuffer, at: number, length: number): number {
    const entries = this.#entries;
    const slots = this.#slots;
    const hash = this.#hash;
    const mask = (1 << this.#power) - 1;
    const base = half << this.#power;
    for (let probe = 0; probe < PROBES; probe++) {
      const entry = slots[base + ((hash + probe) & mask)]! - 1;
      if (entry < 0) return -1;
      if (entries[entry] === hash && entries[entry + 1] === length && this.#holds(entry, text, at, length))
        return entry;
    }
    return -1;
  }

  #holds(entry: number, text: TextBuffer, at: number, length: number): boolean {
    const own = entry + FRAME;
    if (length > FEW)
      return text.buffer.compare(this.#buffer, own * 4, own * 4 + length, at, at + length) === 0;
    for (let k = 0; 4 * k < length; k++)
      if (this.#entries[own + k] !== wordAt(text.view, at, length, k)) return false;
    return true;
  }

  /** Makes room for an entry of `size` words under the hash at hand, and returns where. */
  #add(size: number): number {
    const slots = this.#slots;
    if (this.#end + size > this.#half * (this.#newer + 1)) {
      this.#newer = 1 - this.#newer;
      this.#end = this.#half * this.#newer;
      slots.fill(0, this.#newer << this.#power, (this.#newer + 1) << this.#power);
    }
    const mask = (1 << this.#power) - 1;
    const base = this.#newer << this.#power;
    let slot = base + (this.#hash & mask);
    // Where all are taken the first gives way.
    for (let probe = 0; probe < PROBES; probe++)
      if (slots[base + ((this.#hash + probe) & mask)] === 0) {
        slot = base + ((this.#hash + probe) & mask);
        break;
      }
    const entry = this.#end;
    slots[slot] = entry + 1;
    this.#end += size;
    return entry;
  }
}

function wordsOf(length: number): number {
  return (length + 3) >> 2;
}

/** Word `k` of the `length` bytes at `at`; bytes beyond them count as 0. */
function wordAt(view: DataView, at: number, length: number, k: number): number {
  const word = view.getInt32(at + 4 * k, true);
  const left = length - 4 * k;
  return left < 4 ? word & ~(-1 << (8 * left)) : word;
}

function hashOf(view: DataView, at: number, length: number): number {
  // Four lanes, so that a multiplication need not wait for the one before.
  let hash0 = length;
  let hash1 = 0;
  let hash2 = 0;
  let hash3 = 0;
  const lanes = length & -16;
  for (let k = 0; k < lanes; k += 16) {
    hash0 = Math.imul(hash0 ^ (hash0 >>> 15) ^ view.getInt32(at + k, true), 0x9e3779b1);
    hash1 = Math.imul(hash1 ^ (hash1 >>> 15) ^ view.getInt32(at + k + 4, true), 0x85ebca6b);
    hash2 = Math.imul(hash2 ^ (hash2 >>> 15) ^ view.getInt32(at + k + 8, true), 0xc2b2ae35);
    hash3 = Math.imul(hash3 ^ (hash3 >>> 15) ^ view.getInt32(at + k + 12, true), 0x27d4eb2f);
  }
  for (let k = lanes >> 2; 4 * k < length; k++)
    hash0 = Math.imul(hash0 ^ (hash0 >>> 15) ^ wordAt(view, at, length, k), 0x9e3779b1);
  const hash = hash0 ^ (hash1 >>> 7) ^ (hash2 >>> 13) ^ hash3;
  const mixed = Math.imul(hash ^ (hash >>> 15), 0x2c1b3c6d);
  return mixed ^ (mixed >>> 16);
}
