import {
  type Response as Answer,
  type DetokenizeRequest,
  KINDS,
  PROVENANCES,
  type Request,
} from './messages.ts';
import { fail, type Outcome, STATUS, statusName, succeed } from './status.ts';

/** Frames as docs/protocol.md draws them: bytes <-> messages, no I/O. */
export const HEADER_BYTES = 64;
const ENTRY_BYTES = 16;
const MAX_SECTIONS = 16;
const MAGIC = 0x4b505045; // 'E' 'P' 'P' 'K', little-endian
const VERSION = 1;

export const FRAME_TYPES = { tokenize: 3, detokenize: 4, stats: 5, ready: 6, response: 7 } as const;

const TAG = {
  model: 1,
  body: 2,
  ids: 3,
  counts: 4,
  message: 5,
  prompt: 6,
  text: 7,
  annotations: 8,
  warnings: 9,
};
const LAST_TAG = TAG.warnings;

const utf8 = new TextEncoder();
const strictUtf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

/** What a request frame asks of the runtime. */
export interface RequestFrame {
  readonly callId: bigint;
  /** Milliseconds until the deadline. */
  readonly timeoutMs: number;
  readonly request: Request | { readonly operation: 'stats' } | { readonly operation: 'ready' };
}

const align8 = (n: number): number => (n + 7) & ~7;

/** Texts up to this length are mostly names in ASCII, written quicker than TextEncoder is called. */
const SHORT = 64;

/**
 * Writes frames into one buffer that grows and is used again: what it returns is valid until the next call. One writer belongs
 * to one thread.
 */
export class FrameWriter {
  #buffer = new Uint8Array(4096);
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
    if (bytes <= this.#buffer.length) return;
    this.#buffer = new Uint8Array(2 ** Math.ceil(Math.log2(bytes)));
    this.#view = new DataView(this.#buffer.buffer);
  }
}

/** Bytes that a text takes at most, and the gap behind it. */
function roomFor(text: string): number {
  return align8(3 * text.length);
}

interface ParsedFrame {
  readonly type: number;
  readonly view: DataView;
  readonly callId: bigint;
  /** By tag. */
  readonly sections: readonly (Uint8Array | undefined)[];
}

/** Checks every length before anything is believed. Sections are views into `bytes`. */
function parse(bytes: Uint8Array): Outcome<ParsedFrame> {
  if (bytes.length < HEADER_BYTES)
    return fail('INVALID_REQUEST', `frame of ${bytes.length} bytes has no header`);
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  if (view.getUint32(0, true) !== MAGIC) return fail('INVALID_REQUEST', 'frame has another magic');
  const version = view.getUint16(4, true);
  if (version !== VERSION)
    return fail('ABI_MISMATCH', `frame of protocol version ${version}, not ${VERSION}`);
  const claimed = u64(view, 8);
  if (claimed !== bytes.length) {
    return fail('INVALID_REQUEST', `frame claims ${claimed} bytes and has ${bytes.length}`);
  }
  const count = view.getUint32(24, true);
  let offset = HEADER_BYTES + ENTRY_BYTES * count;
  if (count > MAX_SECTIONS || offset > bytes.length)
    return fail('INVALID_REQUEST', `frame claims ${count} sections`);
  const sections: (Uint8Array | undefined)[] = new Array(LAST_TAG + 1);
  for (let i = 0; i < count; i++) {
    const entry = HEADER_BYTES + ENTRY_BYTES * i;
    const tag = view.getUint32(entry, true);
    const length = u64(view, entry + 8);
    if (view.getUint32(entry + 4, true) !== 0 || length > bytes.length - offset) {
      return fail('INVALID_REQUEST', `section ${tag} of the frame claims ${length} bytes`);
    }
    if (standsBefore(view, tag, entry))
      return fail('INVALID_REQUEST', `section ${tag} stands twice in the frame`);
    if ((tag === TAG.ids || tag === TAG.counts) && length % 4 !== 0) {
      return fail('INVALID_REQUEST', `section ${tag} of ${length} bytes is no array of u32`);
    }
    if (tag <= LAST_TAG) sections[tag] = bytes.subarray(offset, offset + length);
    offset = align8(offset + length);
  }
  if (offset !== bytes.length) return fail('INVALID_REQUEST', 'sections do not add up to the frame');
  return succeed({ type: view.getUint16(6, true), view, callId: view.getBigUint64(16, true), sections });
}

function standsBefore(view: DataView, tag: number, entry: number): boolean {
  for (let earlier = HEADER_BYTES; earlier < entry; earlier += ENTRY_BYTES) {
    if (view.getUint32(earlier, true) === tag) return true;
  }
  return false;
}

/** Exact up to 2^53, and beyond that still more than any frame has. */
function u64(view: DataView, offset: number): number {
  return view.getUint32(offset + 4, true) * 2 ** 32 + view.getUint32(offset, true);
}

/** The body and the ids of the request are views into `bytes` where they can be. */
export function decodeRequest(bytes: Uint8Array): Outcome<RequestFrame> {
  const parsed = parse(bytes);
  if (!parsed.ok) return parsed;
  const { type, view, callId, sections } = parsed.value;
  const frame = (request: RequestFrame['request']) =>
    succeed({ callId, timeoutMs: view.getUint32(36, true), request });
  if (type === FRAME_TYPES.stats) return frame({ operation: 'stats' });
  if (type === FRAME_TYPES.ready) return frame({ operation: 'ready' });
  const model = text(sections[TAG.model]);
  if (model === undefined) return fail('INVALID_REQUEST', 'the model name is not UTF-8');
  const flags = view.getUint32(32, true);
  if (type === FRAME_TYPES.detokenize) {
    const request: DetokenizeRequest = {
      operation: 'detokenize',
      flags,
      model,
      ids: u32s(sections[TAG.ids]),
    };
    return frame(request);
  }
  if (type !== FRAME_TYPES.tokenize) return fail('INVALID_REQUEST', `frame of unknown type ${type}`);
  const kind = KINDS[view.getUint32(28, true)];
  if (kind === undefined) return fail('INVALID_ARGUMENT', `unknown kind ${view.getUint32(28, true)}`);
  return frame({ operation: 'tokenize', kind, flags, model, body: sections[TAG.body] ?? new Uint8Array(0) });
}

/** Copies the ids out of `bytes`, so that the buffer can be used again. */
export function decodeResponse(bytes: Uint8Array): Outcome<{ callId: bigint; response: Answer }> {
  const parsed = parse(bytes);
  if (!parsed.ok) return parsed;
  const { type, view, callId, sections } = parsed.value;
  if (type !== FRAME_TYPES.response)
    return fail('INTERNAL', `frame of type ${type} where a response was due`);
  const u32 = (offset: number) => view.getUint32(offset, true);
  const counts = [...u32s(sections[TAG.counts])];
  const ids = u32s(sections[TAG.ids]).slice();
  if (counts.reduce((sum, n) => sum + n, 0) !== ids.length)
    return fail('INTERNAL', 'counts do not add up to the ids');
  const optional = (name: 'prompt' | 'text' | 'annotations') => {
    const content = sections[TAG[name]];
    return content === undefined ? {} : { [name]: text(content) ?? '' };
  };
  const warnings = text(sections[TAG.warnings]);
  const response: Answer = {
    status: statusName(u32(28)),
    message: text(sections[TAG.message]) ?? '',
    model: text(sections[TAG.model]) ?? '',
    provenance: PROVENANCES[u32(36)] ?? 'none',
    worker: u32(32),
    ids,
    counts,
    timings: { queue: u32(40), parse: u32(44), template: u32(48), encode: u32(52), total: u32(56) },
    ...optional('prompt'),
    ...optional('text'),
    ...optional('annotations'),
    ...(warnings ? { warnings: warnings.split('\n') } : {}),
  };
  return succeed({ callId, response });
}

function bytesOf(array: Uint32Array): Uint8Array {
  return new Uint8Array(array.buffer, array.byteOffset, array.byteLength);
}

/** Sections are aligned to 8 within the frame, but the frame may begin anywhere: copy when its start is not aligned. */
function u32s(bytes: Uint8Array | undefined): Uint32Array {
  if (bytes === undefined) return new Uint32Array(0);
  const aligned = bytes.byteOffset % 4 === 0 ? bytes : bytes.slice();
  return new Uint32Array(aligned.buffer, aligned.byteOffset, aligned.length / 4);
}

/** '' when absent, undefined when not UTF-8. */
function text(bytes: Uint8Array | undefined): string | undefined {
  if (bytes === undefined || bytes.length === 0) return '';
  try {
    return strictUtf8.decode(bytes);
  } catch {
    return undefined;
  }
}
