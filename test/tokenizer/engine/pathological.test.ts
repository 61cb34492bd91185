import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { buildEngine, openEngine } from '../../../src/tokenizer/engine/index.ts';
import { MODELS, modelFile, Oracle } from './oracle.ts';

/** A quadratic step on a million characters takes minutes; the slowest of these takes about a second. */
const LIMIT_MS = 20_000;

/** Whole repetitions only, so that no surrogate pair is cut. */
const repeated = (text: string) => (length: number) => text.repeat(Math.floor(length / text.length));

const pseudorandom = (first: number, count: number) => (length: number) => {
  let state = 1;
  let text = '';
  for (let k = 0; k < length / 2; k++) {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    text += String.fromCodePoint(first + ((state >>> 8) % count));
  }
  return text;
};

type Input = readonly [name: string, text: (length: number) => string];

/** One million characters of these for a model of each kind: merges of bytes, and merges of characters. */
const LONG: readonly Input[] = [
  ['one letter', repeated('a')],
  ['spaces before a letter', (length) => `${' '.repeat(length)}x`],
  ['equals signs', repeated('=')],
  ['Chinese characters at random', pseudorandom(0x4e00, 20_000)],
  // Node's own normalize takes quadratic time on these: minutes for a million.
  ['marks out of order', (length) => `e${repeated('\u0301\u0316\u0345')(length)}`],
];

const SHORTER: readonly Input[] = [
  ['spaces', repeated(' ')],
  ['newlines', repeated('\n')],
  ['tabs', repeated('\t')],
  ['digits', repeated('7')],
  ['apostrophes', repeated("'")],
  ['kana', repeated('あ')],
  ['letters at random', pseudorandom(0x61, 26)],
  ['emoji', repeated('👩‍👩‍👧')],
  ['capital letters', repeated('ABCXYZ')],
  ['beginnings of tokens', repeated('<|')],
  ['sentencepiece spaces', repeated('▁')],
  ['unassigned code points', repeated('\u{e0fff}')],
];

for (const model of MODELS) {
  const long = model === 'qwen3' || model === 'gemma3' ? 1_000_000 : 50_000;
  describe(`${model} on text without a break`, async () => {
    const text = modelFile(model);
    const verdict = buildEngine(JSON.parse(text));
    assert.ok(verdict.ok);
    const engine = openEngine(verdict.tables);
    const oracle = new Oracle(text);
    for (const [inputs, length] of [[LONG, long] as const, [SHORTER, 50_000] as const])
      for (const [name, make] of inputs) {
        it(`${length} of ${name}`, async () => {
          const input = make(length);
          const before = process.cpuUsage();
          const ids = engine.encode([input], false);
          const elapsed = process.cpuUsage(before).user / 1000;
          const expected = await oracle.encode([input], false);
          assert.equal(ids.length, expected[0]!.length);
          assert.ok(expected[0]!.every((id, k) => id === ids[k]));
          const [decoded] = await oracle.decode(expected, false);
          assert.ok(engine.decode(ids, false) === decoded, 'decoded text differs');
          assert.ok(elapsed < LIMIT_MS, `${elapsed} ms on a core`);
        });
      }
  });
}
