import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { createByteSet, nextMember } from '../../../src/tokenizer/engine/byte-set.ts';
import { TextBuffer } from '../../../src/tokenizer/engine/text-buffer.ts';

/** Runs of one byte each: ASCII, or above it, members or not, some longer than what is looked at natively. */
const runs = fc.array(
  fc.tuple(fc.constantFrom(0x20, 0x61, 0x7f, 0x80, 0xc3, 0xcc, 0xe4, 0xff), fc.nat({ max: 5000 })),
  { maxLength: 8 },
);

function bufferOf(stretches: readonly (readonly [number, number])[]): TextBuffer {
  const text = new TextBuffer(stretches.reduce((sum, [, count]) => sum + count, 0));
  for (const [byte, count] of stretches) text.appendBytes(new Uint8Array(count).fill(byte));
  return text;
}

describe('the next member of a byte set', () => {
  for (const [name, members] of [
    ['above ASCII', [0xcc, 0xff]],
    ['in ASCII and above', [0x7f, 0xcc]],
    ['none', []],
  ] as const) {
    it(`${name}: is what a look at each byte finds, from any place to any other`, () => {
      const set = createByteSet(members);
      fc.assert(
        fc.property(runs, fc.nat(), fc.nat(), (stretches, a, b) => {
          const text = bufferOf(stretches);
          const start = a % (text.length + 1);
          const end = start + (b % (text.length - start + 1));
          let expected = start;
          while (expected < end && set.members[text.bytes[expected]!] === 0) expected++;
          assert.equal(nextMember(set, text, start, end), expected);
        }),
        { numRuns: 300 },
      );
    });
  }
});
