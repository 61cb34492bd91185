import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { PASSAGE, PassageCache } from '../../../src/tokenizer/engine/passage-cache.ts';
import { TextBuffer } from '../../../src/tokenizer/engine/text-buffer.ts';

const IDS = Uint32Array.from({ length: 200 }, (_, k) => k * 3);
/** From the ids that stand for a passage; the second number is how many they are. */
const FROM = 1;

function bufferOf(text: string): TextBuffer {
  const buffer = new TextBuffer(PASSAGE);
  buffer.appendText(text);
  return buffer;
}

/** Sees the first `length` bytes of `text`, and says whether they were known. */
function sees(cache: PassageCache, text: string, length: number, count = 2): boolean {
  const buffer = bufferOf(text);
  const entry = cache.find(buffer, 0, length);
  if (entry < 0) cache.store(buffer, 0, length, length - 1, IDS, FROM, count);
  else {
    const ids = new Uint32Array(count + 2);
    cache.copyIds(entry, ids, 1);
    assert.equal(cache.takenBy(entry), length - 1);
    assert.equal(cache.countOf(entry), count);
    assert.deepEqual([...ids], [0, ...IDS.subarray(FROM, FROM + count), 0]);
  }
  return entry >= 0;
}

describe('the passage cache', () => {
  const text = 'abcdefgh'.repeat(PASSAGE / 8);

  it('knows a passage the second time, of any length and with many ids or few', () => {
    for (const length of [1, 3, 4, 5, 7, 8, 47, 48, 49, 50, 51, 52, 255, PASSAGE - 1, PASSAGE])
      for (const count of [0, 1, 2, 48, 49, 150]) {
        const cache = new PassageCache(1 << 16);
        assert.deepEqual(
          [1, 2, 3].map(() => sees(cache, text, length, count)),
          [false, true, true],
        );
      }
  });

  it('tells passages apart by every byte, and by their length', () => {
    const cache = new PassageCache(1 << 26);
    for (const length of [PASSAGE, 100, 40, 39]) {
      assert.ok(!sees(cache, text, length), `length ${length}`);
      for (let k = 0; k < length; k++) {
        const other = `${text.slice(0, k)}z${text.slice(k + 1)}`;
        assert.ok(!sees(cache, other, length), `byte ${k} of ${length}`);
        assert.ok(sees(cache, other, length), `byte ${k} of ${length}`);
      }
    }
    for (let length = 1; length < PASSAGE; length++)
      if (![100, 40, 39].includes(length)) assert.ok(!sees(cache, text, length), `length ${length}`);
    assert.ok(sees(cache, text, PASSAGE));
  });

  it('does not look at what stands behind the end of a section', () => {
    const cache = new PassageCache(1 << 16);
    for (const length of [7, 50]) {
      assert.ok(!sees(cache, `${text.slice(0, length)}x`, length));
      for (const behind of ['yy', 'zzz', '']) assert.ok(sees(cache, text.slice(0, length) + behind, length));
    }
  });

  it('forgets what was not asked for, and keeps what was', () => {
    const cache = new PassageCache(1 << 16);
    const numbered = (k: number): string => `${k} `.padEnd(PASSAGE, '-');
    assert.ok(!sees(cache, text, PASSAGE));
    let known = 0;
    for (let k = 0; k < 2000; k++) {
      if (sees(cache, numbered(k), PASSAGE)) known++;
      assert.ok(sees(cache, text, PASSAGE), `after ${k} others`);
    }
    for (let k = 0; k < 1900; k++) if (sees(cache, numbered(k), PASSAGE)) known++;
    assert.equal(known, 0);
  });
});
