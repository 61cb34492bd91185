const MARGIN = 32;
const encoder = new TextEncoder();
/** Shorter pieces that are ASCII are copied here: a call of the native encoder costs more. */
const SHORT_PIECE = 24;

/** In fewer bytes than this a search by hand is quicker than a call of the native one. */
const SHORT_SEARCH = 256;

/** Where `pattern`, a byte at least, first stands whole in `start` to `end`, or -1. */
export function findBytes(text: TextBuffer, pattern: Uint8Array, start: number, end: number): number {
  if (end - start >= SHORT_SEARCH) {
    const found = text.buffer.subarray(start, end).indexOf(pattern);
    return found < 0 ? -1 : start + found;
  }
  const { bytes } = text;
  const { length } = pattern;
  const first = pattern[0];
  for (let at = start; at + length <= end; at++) {
    if (bytes[at] !== first) continue;
    let same = 1;
    while (same < length && bytes[at + same] === pattern[same]) same++;
    if (same === length) return at;
  }
  return -1;
}

/** UTF-8 bytes that grow as needed. A margin after the text takes the end sentinel and reads of whole words. */
export class TextBuffer {
  bytes: Uint8Array;
  view: DataView;
  /** The same memory, for what only Buffer has: toString, a search that runs natively. */
  buffer: Buffer;
  length = 0;

  constructor(capacity: number) {
    const memory = new ArrayBuffer(capacity + MARGIN);
    this.bytes = new Uint8Array(memory);
    this.view = new DataView(memory);
    this.buffer = Buffer.from(memory);
  }

  /** Makes room for `capacity` bytes, keeping the first `length`. */
  reserve(capacity: number): void {
    if (capacity + MARGIN <= this.bytes.length) return;
    const grown = new TextBuffer(Math.max(capacity, this.bytes.length * 2));
    grown.bytes.set(this.bytes.subarray(0, this.length));
    this.bytes = grown.bytes;
    this.view = grown.view;
    this.buffer = grown.buffer;
  }

  appendBytes(bytes: Uint8Array): void {
    this.reserve(this.length + bytes.length);
    this.bytes.set(bytes, this.length);
    this.length += bytes.length;
  }

  appendText(text: string): void {
    this.reserve(this.length + text.length * 3);
    const { bytes } = this;
    if (text.length <= SHORT_PIECE) {
      let at = this.length;
      let k = 0;
      for (; k < text.length; k++) {
        const code = text.charCodeAt(k);
        if (code >= 0x80) break;
        bytes[at++] = code;
      }
      if (k === text.length) {
        this.length = at;
        return;
      }
    }
    this.length += encoder.encodeInto(text, this.length === 0 ? bytes : bytes.subarray(this.length)).written;
  }
}
