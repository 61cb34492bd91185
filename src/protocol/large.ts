/** A body, or the frame around it, of more bytes than this is large; src/native/host_state.h says the same. */
export const LARGE_BYTES = 256 * 1024;

export function isLarge(bytes: number): boolean {
  return bytes > LARGE_BYTES;
}

/** Large requests leave one worker to the small ones (of several), so that a stream of huge prompts never takes them all. */
export function workersForLarge(workers: number): number {
  return Math.max(1, workers - 1);
}
