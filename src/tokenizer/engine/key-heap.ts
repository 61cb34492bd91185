/** A binary heap of numbers, the lowest first. */
export class HeapOfKeys {
  size = 0;
  #keys = new Float64Array(64);

  push(key: number): void {
    if (this.size === this.#keys.length) {
      const grown = new Float64Array(this.size * 2);
      grown.set(this.#keys);
      this.#keys = grown;
    }
    const keys = this.#keys;
    let at = this.size++;
    while (at > 0) {
      const parent = (at - 1) >> 1;
      if (keys[parent]! <= key) break;
      keys[at] = keys[parent]!;
      at = parent;
    }
    keys[at] = key;
  }

  /** Takes out the lowest. The heap must not be empty. */
  pop(): number {
    const keys = this.#keys;
    const lowest = keys[0]!;
    const size = --this.size;
    const key = keys[size]!;
    let at = 0;
    for (;;) {
      let child = 2 * at + 1;
      if (child >= size) break;
      if (child + 1 < size && keys[child + 1]! < keys[child]!) child++;
      if (keys[child]! >= key) break;
      keys[at] = keys[child]!;
      at = child;
    }
    keys[at] = key;
    return lowest;
  }
}
