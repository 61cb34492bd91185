import { CACHES, LOOKUP_WORDS } from '../../tokenizer/engine/cache-lookups.ts';

/**
 * What the encoders of one thread have found in their caches, as numbers in shared memory: LOOKUP_WORDS Float64 for each
 * model. Only that thread writes; whoever renders the metrics reads them at any time.
 */
export class CacheCounters {
  readonly models: readonly string[];
  readonly memory: SharedArrayBuffer;
  readonly #words: Float64Array;

  /** Over `memory` that a CacheCounters of the same models has made in another thread, or over its own. */
  constructor(models: readonly string[], memory?: SharedArrayBuffer) {
    this.models = models;
    this.memory = memory ?? new SharedArrayBuffer(models.length * LOOKUP_WORDS * 8);
    this.#words = new Float64Array(this.memory);
  }

  /** The words of the model at `index`, for its encoder. */
  of(index: number): Float64Array {
    return this.#words.subarray(index * LOOKUP_WORDS, (index + 1) * LOOKUP_WORDS);
  }

  /** Forgets what was counted so far, which were no requests. */
  clear(): void {
    this.#words.fill(0);
  }
}

export interface CacheReading {
  readonly model: string;
  readonly cache: (typeof CACHES)[number];
  readonly hits: number;
  readonly misses: number;
}

/** The sums over `counters`, of those caches that were asked at all. */
export function readCaches(counters: readonly CacheCounters[]): readonly CacheReading[] {
  const models = counters[0]?.models ?? [];
  const readings = models.flatMap((model, index) =>
    CACHES.map((cache, place): CacheReading => {
      const sum = (word: number) => counters.reduce((total, one) => total + one.of(index)[word]!, 0);
      return { model, cache, hits: sum(2 * place), misses: sum(2 * place + 1) };
    }),
  );
  return readings.filter(({ hits, misses }) => hits + misses > 0);
}
