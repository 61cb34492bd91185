/** Requests of at least this many bytes are large. */
export const LARGE_BYTES = 256 * 1024;

/** Large requests leave one worker to the small ones (of several), so that a stream of huge prompts never takes them all. */
export function workersForLarge(workers: number): number {
  return Math.max(1, workers - 1);
}
