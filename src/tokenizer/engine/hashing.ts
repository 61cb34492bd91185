/** Mixes two 32-bit numbers; every table of the engine finds its entries by this. */
export function mix(left: number, right: number): number {
  const product = Math.imul(left, 0x9e3779b1) ^ Math.imul(right, 0x85ebca6b);
  return Math.imul(product ^ (product >>> 15), 0x2c1b3c6d);
}

/** Smallest power of two that is at least `least`, as its exponent. */
export function powerFor(least: number): number {
  return Math.max(1, 32 - Math.clz32(Math.max(1, Math.ceil(least)) - 1));
}

export function sharedInt32(length: number): Int32Array {
  return new Int32Array(new SharedArrayBuffer(length * 4));
}

export function sharedBytes(length: number): Uint8Array {
  return new Uint8Array(new SharedArrayBuffer(length));
}

/**
 * A Bloom filter with one hash: a bit of `filter` for each member, so a clear bit says "not in the set" for certain.
 * The length of a filter is a power of two.
 */
export function addToFilter(filter: Int32Array, hash: number): void {
  filter[(hash >>> 5) & (filter.length - 1)]! |= 1 << (hash & 31);
}

export function mayHold(filter: Int32Array, hash: number): boolean {
  return ((filter[(hash >>> 5) & (filter.length - 1)]! >>> (hash & 31)) & 1) === 1;
}
