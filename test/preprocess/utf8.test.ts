import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import fc from 'fast-check';
import { textOfUtf8 } from '../../src/preprocess/utf8.ts';

describe('text of UTF-8', () => {
  test('is what it encodes, a byte order mark included', () => {
    for (const text of [
      '',
      'ascii',
      'é',
      '\ufeffx',
      '日本語 👍🏽 \u{10ffff}\0',
      'x'.repeat(70_000),
      '—'.repeat(70_000),
    ])
      assert.equal(textOfUtf8(Buffer.from(text)), text);
  });

  test('of shared memory, and of a part of a buffer', () => {
    const shared = new Uint8Array(new SharedArrayBuffer(8));
    shared.set(Buffer.from('a—é'), 1);
    assert.equal(textOfUtf8(shared.subarray(1, 7)), 'a—é');
  });

  test('that is not valid is none', () => {
    for (const bytes of [[0x80], [0xc3], [0xed, 0xa0, 0x80], [0xc0, 0x80], [0xf4, 0x90, 0x80, 0x80]])
      assert.equal(textOfUtf8(Uint8Array.from(bytes)), undefined);
  });

  test('agrees with TextDecoder on any bytes', () => {
    const decoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });
    const pieces = fc.oneof(
      fc.uint8Array({ maxLength: 4 }),
      fc.string({ unit: 'binary', maxLength: 9 }).map((text) => Buffer.from(text)),
    );
    fc.assert(
      fc.property(fc.array(pieces, { maxLength: 4 }), (parts) => {
        const bytes = Buffer.concat(parts);
        let expected: string | undefined;
        try {
          expected = decoder.decode(bytes);
        } catch {}
        assert.equal(textOfUtf8(bytes), expected);
      }),
      { numRuns: 2000 },
    );
  });
});
