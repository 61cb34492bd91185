import { isLarge, workersForLarge } from '../protocol/large.ts';

interface Sized {
  readonly bytes: number;
  /** When it came, by a clock that all share. */
  readonly since: number;
}

/**
 * What waits for a worker: first come, first served, but for one thing. Large requests leave one worker to the small ones,
 * and one that waits for its turn holds up none behind it.
 * Sets keep the order of arrival and let an expired call leave from anywhere in O(1).
 */
export class Lanes<T extends Sized> {
  readonly #small = new Set<T>();
  readonly #large = new Set<T>();
  readonly #workersForLarge: number;
  #bytes = 0;

  constructor(workers: number) {
    this.#workersForLarge = workersForLarge(workers);
  }

  get calls(): number {
    return this.#small.size + this.#large.size;
  }

  get bytes(): number {
    return this.#bytes;
  }

  has(item: T): boolean {
    return this.#lane(item).has(item);
  }

  add(item: T): void {
    this.#lane(item).add(item);
    this.#bytes += item.bytes;
  }

  delete(item: T): void {
    if (this.#lane(item).delete(item)) this.#bytes -= item.bytes;
  }

  /** Takes what a free worker should do next, with `running` being done; undefined if nothing may start now. */
  take(running: Iterable<T>): T | undefined {
    const [small] = this.#small;
    const [large] = this.#large;
    const next =
      large !== undefined && this.#mayStartLarge(running) && !(small && small.since < large.since)
        ? large
        : small;
    if (next !== undefined) this.delete(next);
    return next;
  }

  all(): T[] {
    return [...this.#small, ...this.#large];
  }

  #lane(item: T): Set<T> {
    return isLarge(item.bytes) ? this.#large : this.#small;
  }

  #mayStartLarge(running: Iterable<T>): boolean {
    let large = 0;
    for (const { bytes } of running) if (isLarge(bytes)) large++;
    return large < this.#workersForLarge;
  }
}
