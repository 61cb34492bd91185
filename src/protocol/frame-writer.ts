import {
  align8,
  ENTRY_BYTES,
  FRAME_TYPES,
  HEADER_BYTES,
  MAGIC,
  type RequestFrame,
  TAG,
  VERSION,
} from './frame-layout.ts';
import { type Response as Answer, KINDS, PROVENANCES } from './messages.ts';
import { STATUS } from './status.ts';

const utf8 = new TextEncoder();

/** Texts up to this length are mostly names in ASCII, written quicker than TextEncoder is called. */
const SHORT = 64;

const FIRST_BYTES = 4096;
/** What one long prompt made grow beyond this is given back with the next frame. */
const KEPT_BYTES = 1 << 20;

/**
 * Writes frames into one buffer that grows and is used again: what it returns is valid until the next call. One writer belongs
 * to one thread.
 */
export class FrameWriter {
  #buffer = new Uint8Array(FIRST_BYTES);
  #view = new DataView(this.#buffer.buffer);
  /** Where the next section goes, and its entry in the table. */
  #offset = 0;
  #entry = 0;
  readonly #tags: number[] = [];
  readonly #texts: string[] = [];

  request(frame: RequestFrame): Uint8Array {
    const { request, callId, timeoutMs } = frame;
    const type = FRAME_TYPES[request.operation];
    let kind = 0;
    let flags = 0;
    if (request.operation === 'tokenize' || request.operation === 'detokenize') {
      const tokenizes = request.operation === 'tokenize';
      const content = tokenizes ? request.body : bytesOf(request.ids);
      if (tokenizes) kind = KINDS.indexOf(request.kind);
      flags = request.flags;
      this.#begin(type, callId, 2, roomFor(request.model) + align8(content.length));
      this.#putText(TAG.model, request.model);
      this.#putBytes(tokenizes ? TAG.body : TAG.ids, content);
    } else {
      this.#begin(type, callId, 0, 0);
    }
    this.#view.setUint32(28, kind, true);
    this.#view.setUint32(32, flags, true);
    this.#view.setUint32(36, timeoutMs, true);
    return this.#end(0);
  }

  response(response: Answer, callId: bigint): Uint8Array {
    this.#writeHead(response, callId, response.ids.byteLength);
    if (response.counts.length > 0) this.#putBytes(TAG.ids, bytesOf(response.ids));
    return this.#end(0);
  }

  /** The same without the bytes of the ids, which end the frame: they follow as they are, and four zero bytes if their number is odd. */
  responseBeforeIds(response: Answer, callId: bigint): Uint8Array {
    this.#writeHead(response, callId, 0);
    if (response.counts.length === 0) return this.#end(0);
    this.#putEntry(TAG.ids, response.ids.byteLength);
    return this.#end(align8(response.ids.byteLength));
  }

  /** All but the ids, of which `room` bytes are to follow in this buffer. */
  #writeHead(response: Answer, callId: bigint, room: number): void {
    const { counts, message, model, prompt, text, annotations, warnings, timings } = response;
    const texts = this.#texts;
    texts.length = this.#tags.length = 0;
    if (message !== '') this.#collect(TAG.message, message);
    if (model !== '') this.#collect(TAG.model, model);
    if (prompt !== undefined) this.#collect(TAG.prompt, prompt);
    if (text !== undefined) this.#collect(TAG.text, text);
    if (annotations !== undefined) this.#collect(TAG.annotations, annotations);
    if (warnings?.length) this.#collect(TAG.warnings, warnings.join('\n'));
    let bound = align8(4 * counts.length) + align8(room);
    for (const each of texts) bound += roomFor(each);
    this.#begin(FRAME_TYPES.response, callId, texts.length + (counts.length > 0 ? 2 : 0), bound);
    for (let i = 0; i < texts.length; i++) this.#putText(this.#tags[i]!, texts[i]!);
    if (counts.length > 0) this.#putNumbers(TAG.counts, counts);
    const view = this.#view;
    view.setUint32(28, STATUS[response.status], true);
    view.setUint32(32, response.worker, true);
    view.setUint32(36, PROVENANCES.indexOf(response.provenance), true);
    view.setUint32(40, timings.queue, true);
    view.setUint32(44, timings.parse, true);
    view.setUint32(48, timings.template, true);
    view.setUint32(52, timings.encode, true);
    view.setUint32(56, timings.total, true);
  }

  #collect(tag: number, text: string): void {
    this.#tags.push(tag);
    this.#texts.push(text);
  }

  #begin(type: number, callId: bigint, sections: number, bound: number): void {
    const contents = HEADER_BYTES + ENTRY_BYTES * sections;
    this.#reserve(contents + bound);
    this.#buffer.fill(0, 0, contents);
    this.#offset = contents;
    this.#entry = HEADER_BYTES;
    const view = this.#view;
    view.setUint32(0, MAGIC, true);
    view.setUint16(4, VERSION, true);
    view.setUint16(6, type, true);
    view.setBigUint64(16, callId, true);
    view.setUint32(24, sections, true);
  }

  /** Of `following` bytes more that are not in this buffer. */
  #end(following: number): Uint8Array {
    this.#view.setUint32(8, this.#offset + following, true);
    return this.#buffer.subarray(0, this.#offset);
  }

  #putEntry(tag: number, length: number): void {
    this.#view.setUint32(this.#entry, tag, true);
    this.#view.setUint32(this.#entry + 8, length, true);
    this.#entry += ENTRY_BYTES;
  }

  /** A section of that length stands at the offset: enters it, and passes over it and the gap behind it. */
  #close(tag: number, length: number): void {
    this.#putEntry(tag, length);
    const end = this.#offset + length;
    this.#offset = align8(end);
    for (let i = end; i < this.#offset; i++) this.#buffer[i] = 0;
  }

  #putText(tag: number, text: string): void {
    this.#close(tag, this.#writeShort(text) ?? this.#writeText(text));
  }

  /** undefined: not short, or not ASCII. */
  #writeShort(text: string): number | undefined {
    if (text.length > SHORT) return undefined;
    const buffer = this.#buffer;
    const offset = this.#offset;
    for (let i = 0; i < text.length; i++) {
      const code = text.charCodeAt(i);
      if (code > 127) return undefined;
      buffer[offset + i] = code;
    }
    return text.length;
  }

  #writeText(text: string): number {
    return utf8.encodeInto(text, this.#buffer.subarray(this.#offset)).written;
  }

  #putBytes(tag: number, bytes: Uint8Array): void {
    this.#buffer.set(bytes, this.#offset);
    this.#close(tag, bytes.length);
  }

  #putNumbers(tag: number, numbers: readonly number[]): void {
    let offset = this.#offset;
    for (const number of numbers) {
      this.#view.setUint32(offset, number, true);
      offset += 4;
    }
    this.#close(tag, 4 * numbers.length);
  }

  #reserve(bytes: number): void {
    const { length } = this.#buffer;
    if (bytes <= length && (length <= KEPT_BYTES || bytes > KEPT_BYTES)) return;
    this.#buffer = new Uint8Array(Math.max(FIRST_BYTES, 2 ** Math.ceil(Math.log2(bytes))));
    this.#view = new DataView(this.#buffer.buffer);
  }
}

/** Bytes that a text takes at most, and the gap behind it. */
function roomFor(text: string): number {
  return align8(3 * text.length);
}

function bytesOf(array: Uint32Array): Uint8Array {
  return new Uint8Array(array.buffer, array.byteOffset, array.byteLength);
}
