/** What remembers the ids of text seen before: of single words, and of passages of several. */
export const CACHES = ['word', 'passage'] as const;

/**
 * Counts of an encoder's lookups, as a Float64Array that it alone writes and others may read at any time:
 *
 *     [ word hits | word misses | passage hits | passage misses ]
 *
 * A word is a miss when it had to be merged, and a hit otherwise: one whose bytes tell its id at once is a hit.
 */
export const LOOKUP_WORDS = 2 * CACHES.length;
export const WORD_HITS = 0;
export const WORD_MISSES = 1;
export const PASSAGE_HITS = 2;
export const PASSAGE_MISSES = 3;

export function cacheLookups(): Float64Array {
  return new Float64Array(LOOKUP_WORDS);
}
