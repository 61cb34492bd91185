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

type Section = readonly [tag: number, content: string | Uint8Array];

/** What a request frame asks of the runtime. */
export interface RequestFrame {
  readonly callId: bigint;
  /** Milliseconds until the deadline. */
  readonly timeoutMs: number;
  readonly request: Request | { readonly operation: 'stats' } | { readonly operation: 'ready' };
}

const align8 = (n: number): number => (n + 7) & ~7;

/**
 * Writes frames into one buffer that grows and is used again: what `write` returns is valid until the next call.
 * One writer belongs to one thread.
 */
export class FrameWriter {
  #buffer = new Uint8Array(4096);
  #view = new DataView(this.#buffer.buffer);

  request(frame: RequestFrame): Uint8Array {
    const { request } = frame;
    const sections: Section[] = [];
    let kind = 0;
    let flags = 0;
    if (request.operation === 'tokenize') {
      kind = KINDS.indexOf(request.kind);
      sections.push([TAG.model, request.model], [TAG.body, request.body]);
    } else if (request.operation === 'detokenize') {
      sections.push([TAG.model, request.model], [TAG.ids, bytesOf(request.ids)]);
    }
    if ('flags' in request) flags = request.flags;
    const length = this.#write(FRAME_TYPES[request.operation], frame.callId, sections);
    this.#fields([kind, flags, frame.timeoutMs]);
    return this.#buffer.subarray(0, length);
  }

  response(response: Answer, callId: bigint): Uint8Array {
    const sections: Section[] = [];
    if (response.counts.length > 0) {
      sections.push(
        [TAG.ids, bytesOf(response.ids)],
        [TAG.counts, bytesOf(Uint32Array.from(response.counts))],
      );
    }
    if (response.message !== '') sections.push([TAG.message, response.message]);
    if (response.model !== '') sections.push([TAG.model, response.model]);
    if (response.prompt !== undefined) sections.push([TAG.prompt, response.prompt]);
    if (response.text !== undefined) sections.push([TAG.text, response.text]);
    if (response.annotations !== undefined) sections.push([TAG.annotations, response.annotations]);
    if (response.warnings?.length) sections.push([TAG.warnings, response.warnings.join('\n')]);
    const length = this.#write(FRAME_TYPES.response, callId, sections);
    const { queue, parse, template, encode, total } = response.timings;
    const provenance = PROVENANCES.indexOf(response.provenance);
    this.#fields([
      STATUS[response.status],
      response.worker,
      provenance,
      queue,
      parse,
      template,
      encode,
      total,
    ]);
    return this.#buffer.subarray(0, length);
  }

  #write(type: number, callId: bigint, sections: readonly Section[]): number {
    const contents = align8(HEADER_BYTES + ENTRY_BYTES * sections.length);
    let bound = contents;
    for (const [, content] of sections)
      bound += align8(content.length * (typeof content === 'string' ? 3 : 1));
    this.#reserve(bound);
    const view = this.#view;
    this.#buffer.fill(0, 0, contents);
    view.setUint32(0, MAGIC, true);
    view.setUint16(4, VERSION, true);
    view.setUint16(6, type, true);
    view.setBigUint64(16, callId, true);
    view.setUint32(24, sections.length, true);
    let offset = contents;
    let entry = HEADER_BYTES;
    for (const [tag, content] of sections) {
      const written = this.#put(content, offset);
      view.setUint32(entry, tag, true);
      view.setUint32(entry + 8, written, true);
      entry += ENTRY_BYTES;
      const end = offset + written;
      offset = align8(end);
      this.#buffer.fill(0, end, offset);
    }
    view.setUint32(8, offset, true);
    return offset;
  }

  #put(content: string | Uint8Array, offset: number): number {
    if (typeof content === 'string') return utf8.encodeInto(content, this.#buffer.subarray(offset)).written;
    this.#buffer.set(content, offset);
    return content.length;
  }

  #fields(values: readonly number[]): void {
    let offset = 28;
    for (const value of values) {
      this.#view.setUint32(offset, value, true);
      offset += 4;
    }
  }

  #reserve(bytes: number): void {
    if (bytes <= this.#buffer.length) return;
    this.#buffer = new Uint8Array(2 ** Math.ceil(Math.log2(bytes)));
    this.#view = new DataView(this.#buffer.buffer);
  }
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
  if (bytes === undefined) return '';
  try {
    return strictUtf8.decode(bytes);
  } catch {
    return undefined;
  }
}
