/**
 * Loaded into every thread beside native-test/count_copies.c, which counts copies that go through libc. V8 copies from and to
 * shared memory in a loop of its own: here each such copy is made once more between private buffers, where it is counted.
 */
const LEAST = 4096;
const typedArray = Object.getPrototypeOf(Uint8Array.prototype);
const { set, slice } = typedArray;
let from = new Uint8Array(0);
let to = from;

function copyOnceMore(bytes) {
  if (bytes < LEAST) return;
  if (from.length < bytes) {
    from = new Uint8Array(bytes);
    to = new Uint8Array(bytes);
  }
  set.call(to, from.length === bytes ? from : from.subarray(0, bytes));
}

const isShared = (array) => array?.buffer instanceof SharedArrayBuffer;

typedArray.set = function countedSet(source, offset) {
  set.call(this, source, offset);
  if (isShared(this) || isShared(source)) copyOnceMore(source.byteLength ?? 0);
};
typedArray.slice = function countedSlice(start, end) {
  const copy = slice.call(this, start, end);
  if (isShared(this)) copyOnceMore(copy.byteLength);
  return copy;
};
