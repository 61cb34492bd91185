import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { PASSAGE, PassageCache } from '../../../src/tokenizer/engine/passage-cache.ts';

const IDS = Uint32Array.of(7, 8, 9);

function viewOf(text: string): DataView {
  const bytes = new Uint8Array(PASSAGE + 4);
  bytes.set(Buffer.from(text));
  return new DataView(bytes.buffer);
}

/** Sees the first `length` bytes of `text` once, and says whether they were known. */
function sees(cache: PassageCache, text: string, length: number): boolean {
  const line = cache.find(viewOf(text), 0, length);
  if (line < 0) cache.store(length, IDS, 1, 2);
  else assert.deepEqual([...cache.lines.subarray(line, line + 3)], [length | (2 << 8), 8, 9]);
  return line >= 0;
}

describe('the passage cache', () => {
  const text = 'a'.repeat(PASSAGE);

  it('knows a passage from the third time on, for it keeps it the second time', () => {
    const cache = new PassageCache(1 << 16);
    assert.deepEqual(
      [1, 2, 3, 4].map(() => sees(cache, text, PASSAGE)),
      [false, false, true, true],
    );
  });

  it('tells passages apart by every byte, and what is left of a section by its length too', () => {
    const cache = new PassageCache(1 << 20);
    for (let round = 0; round < 3; round++) sees(cache, text, PASSAGE);
    for (let k = 0; k < PASSAGE; k++)
      for (let round = 0; round < 3; round++)
        assert.equal(
          sees(cache, `${text.slice(0, k)}b${text.slice(k + 1)}`, PASSAGE),
          round === 2,
          `byte ${k}`,
        );
    for (let length = 1; length < PASSAGE; length++)
      for (let round = 0; round < 3; round++)
        assert.equal(sees(cache, text, length), round === 2, `length ${length}`);
    assert.ok(sees(cache, text, PASSAGE));
  });

  it('does not look at what stands behind the end of a section', () => {
    const cache = new PassageCache(1 << 16);
    for (const behind of ['x', 'yy', 'zzz']) sees(cache, `section${behind}`, 7);
    assert.ok(sees(cache, 'section and more', 7));
  });

  it('takes no more memory than it was given, and forgets what does not fit', () => {
    const cache = new PassageCache(1 << 16);
    assert.ok(cache.lines.byteLength <= 1 << 16);
    let known = 0;
    for (let round = 0; round < 3; round++)
      for (let k = 0; k < 5000; k++) if (sees(cache, `${k} `.padEnd(PASSAGE, '-'), PASSAGE)) known++;
    assert.ok(known < 500);
  });
});
