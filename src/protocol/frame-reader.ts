import {
  align8,
  ENTRY_BYTES,
  FRAME_TYPES,
  HEADER_BYTES,
  LAST_TAG,
  MAGIC,
  MAX_SECTIONS,
  type RequestFrame,
  TAG,
  VERSION,
} from './frame-layout.ts';
import { type Response as Answer, type DetokenizeRequest, KINDS, PROVENANCES } from './messages.ts';
import { fail, type Outcome, statusName, succeed } from './status.ts';

const strictUtf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

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
