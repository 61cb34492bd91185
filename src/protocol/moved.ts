/** Moving costs the same whatever the size, and more than copying up to about here. */
const MOVED_FROM_BYTES = 16 * 1024;

/** The transfer list for a message to another thread that holds `buffer`: a large one moves, a small one is copied. */
export function moved(buffer: ArrayBufferLike): ArrayBuffer[] {
  return buffer instanceof ArrayBuffer && buffer.byteLength >= MOVED_FROM_BYTES ? [buffer] : [];
}
