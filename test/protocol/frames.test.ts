import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { HEADER_BYTES } from '../../src/protocol/frame-layout.ts';
import { decodeRequest, decodeResponse } from '../../src/protocol/frame-reader.ts';
import { FrameWriter } from '../../src/protocol/frame-writer.ts';
import { KINDS, PROVENANCES } from '../../src/protocol/messages.ts';
import { STATUS_TABLE } from '../../src/protocol/status.ts';
import { GOLDEN_REQUESTS, GOLDEN_RESPONSES } from './golden-frames.ts';

const golden = (name: string) =>
  new Uint8Array(readFileSync(new URL(`../../native-test/golden/${name}.bin`, import.meta.url)));
/** fast-check's records have no prototype unless told; deepEqual minds. */
const record = <T>(model: { [K in keyof T]: fc.Arbitrary<T[K]> }) =>
  fc.record(model, { noNullPrototype: true });
const u32 = fc.nat({ max: 0xffffffff });
const callId = fc.bigInt({ min: 0n, max: 2n ** 64n - 1n });

describe('golden frames, which the C tests read too', () => {
  for (const [name, frame] of Object.entries(GOLDEN_REQUESTS)) {
    it(`${name} is written as in the file and read back`, () => {
      assert.deepEqual(new FrameWriter().request(frame), golden(name));
      assert.deepEqual(decodeRequest(golden(name)), { ok: true, value: frame });
    });
  }
  for (const [name, expected] of Object.entries(GOLDEN_RESPONSES)) {
    it(`${name} is written as in the file and read back`, () => {
      assert.deepEqual(new FrameWriter().response(expected.response, expected.callId), golden(name));
      assert.deepEqual(decodeResponse(golden(name)), { ok: true, value: expected });
    });
  }
});

describe('a writer that has written a long frame', () => {
  it('gives its memory back with the next frame', () => {
    const writer = new FrameWriter();
    const { response } = GOLDEN_RESPONSES['response-failure']!;
    const long = writer.response({ ...response, text: 'x'.repeat(4_000_000) }, 1n);
    assert.equal(decodeResponse(long).ok, true);
    assert.ok(writer.response(response, 2n).buffer.byteLength < 1_000_000);
  });
});

describe('any message', () => {
  const writer = new FrameWriter();

  it('request survives the wire, wherever the frame begins in its buffer', () => {
    const request = record({
      callId,
      timeoutMs: u32,
      request: fc.oneof(
        record({
          operation: fc.constant('tokenize' as const),
          kind: fc.constantFrom(...KINDS),
          flags: u32,
          model: fc.string({ unit: 'grapheme' }),
          body: fc.uint8Array({ maxLength: 300 }),
        }),
        record({
          operation: fc.constant('detokenize' as const),
          flags: u32,
          model: fc.string({ unit: 'grapheme' }),
          ids: fc.uint32Array(),
        }),
      ),
    });
    fc.assert(
      fc.property(request, fc.nat({ max: 9 }), (frame, offset) => {
        const bytes = writer.request(frame);
        const moved = new Uint8Array(offset + bytes.length);
        moved.set(bytes, offset);
        assert.deepEqual(decodeRequest(moved.subarray(offset)), { ok: true, value: frame });
      }),
    );
  });

  it('response survives the wire', () => {
    const response = record({
      status: fc.constantFrom(...STATUS_TABLE.map(([name]) => name)),
      message: fc.string({ unit: 'grapheme' }),
      model: fc.string({ unit: 'grapheme' }),
      provenance: fc.constantFrom(...PROVENANCES),
      worker: u32,
      sequences: fc.array(fc.array(u32, { maxLength: 20 }), { maxLength: 5 }),
      timings: record({ queue: u32, parse: u32, template: u32, encode: u32, total: u32 }),
      prompt: fc.string({ unit: 'grapheme' }),
    }).map(({ sequences, ...rest }) => ({
      ...rest,
      ids: Uint32Array.from(sequences.flat()),
      counts: sequences.map((sequence) => sequence.length),
    }));
    fc.assert(
      fc.property(response, callId, (sent, id) => {
        const bytes = writer.response(sent, id).slice();
        assert.deepEqual(decodeResponse(bytes), { ok: true, value: { callId: id, response: sent } });
      }),
    );
  });
});

describe('hostile bytes', () => {
  const seeds = [...Object.keys(GOLDEN_REQUESTS), ...Object.keys(GOLDEN_RESPONSES)].map(golden);

  it('are refused with a code, or read, but never throw', () => {
    fc.assert(
      fc.property(
        fc.constantFrom(...seeds),
        fc.array(fc.tuple(fc.nat({ max: 400 }), fc.nat({ max: 255 })), { maxLength: 8 }),
        fc.nat({ max: 400 }),
        (seed, edits, length) => {
          const bytes = seed.slice(0, Math.max(length, 1));
          for (const [at, value] of edits) if (at < bytes.length) bytes[at] = value;
          for (const outcome of [decodeRequest(bytes), decodeResponse(bytes)]) {
            if (!outcome.ok) assert.notEqual(outcome.fault.message, '');
          }
        },
      ),
      { numRuns: 2000 },
    );
  });

  const chat = golden('request-chat');
  const edited = (edit: (view: DataView) => void) => {
    const bytes = chat.slice();
    edit(new DataView(bytes.buffer));
    return decodeRequest(bytes);
  };
  const cases: Record<string, (view: DataView) => void> = {
    'another magic': (view) => view.setUint32(0, 0, true),
    'another version': (view) => view.setUint16(4, 2, true),
    'an unknown type': (view) => view.setUint16(6, 99, true),
    'a length beyond the bytes': (view) => view.setUint32(8, chat.length + 8, true),
    'a length of 2^63': (view) => view.setBigUint64(8, 2n ** 63n, true),
    '17 sections': (view) => view.setUint32(24, 17, true),
    '2^32-1 sections': (view) => view.setUint32(24, 0xffffffff, true),
    'a section of 2^64-1 bytes': (view) => view.setBigUint64(HEADER_BYTES + 8, 2n ** 64n - 1n, true),
    'a section one byte beyond the end': (view) => view.setUint32(HEADER_BYTES + 24, 0xffff, true),
    'the same section twice': (view) => view.setUint32(HEADER_BYTES + 16, 1, true),
    'ids of 3 bytes': (view) => view.setUint32(HEADER_BYTES, 3, true),
    'an unknown kind': (view) => view.setUint32(28, 5, true),
  };
  for (const [name, edit] of Object.entries(cases)) {
    it(`${name}: refused`, () => assert.equal(edited(edit).ok, false));
  }
});
