import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { buildEngine, openEngine } from '../../../src/tokenizer/engine/index.ts';
import { MODELS, modelFile, Oracle } from './oracle.ts';

const LENGTH = 1_000_000;
/** A quadratic step on a million characters takes minutes; the slowest of these takes half a second. */
const LIMIT_MS = 10_000;

/** Whole repetitions only, so that no surrogate pair is cut. */
function repeated(text: string): string {
  return text.repeat(Math.floor(LENGTH / text.length));
}

function pseudorandom(first: number, count: number): string {
  let state = 1;
  let text = '';
  for (let k = 0; k < LENGTH / 4; k++) {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    text += String.fromCodePoint(first + ((state >>> 8) % count));
  }
  return text;
}

const INPUTS: Record<string, string> = {
  'one letter': repeated('a'),
  spaces: repeated(' '),
  'spaces before a letter': `${repeated(' ')}x`,
  newlines: repeated('\n'),
  tabs: repeated('\t'),
  digits: repeated('7'),
  'equals signs': repeated('='),
  apostrophes: repeated("'"),
  kana: repeated('あ'),
  'letters without a vocabulary entry': pseudorandom(0x61, 26),
  'characters of Chinese at random': pseudorandom(0x4e00, 20_000),
  'marks out of order': `e${repeated('\u0301\u0316\u0345')}`,
  emoji: repeated('👩‍👩‍👧'),
  'capital letters': repeated('ABCXYZ'),
  'beginnings of tokens': repeated('<|'),
  'the sentencepiece space': repeated('▁'),
  'unassigned code points': '\u{e0fff}'.repeat(LENGTH / 4),
};

for (const model of MODELS) {
  describe(`${model} on a million characters without a break`, async () => {
    const text = modelFile(model);
    const verdict = buildEngine(JSON.parse(text));
    assert.ok(verdict.ok);
    const engine = openEngine(verdict.tables);
    const oracle = new Oracle(text);
    for (const [name, input] of Object.entries(INPUTS)) {
      it(name, async () => {
        const started = performance.now();
        const ids = engine.encode([input], false);
        const elapsed = performance.now() - started;
        const [expected] = await oracle.encode([input], false);
        assert.equal(ids.length, expected!.length);
        assert.ok(expected!.every((id, k) => id === ids[k]));
        assert.equal(engine.decode(ids, false).normalize('NFC'), input.normalize('NFC'));
        assert.ok(elapsed < LIMIT_MS, `${elapsed} ms`);
      });
    }
  });
}
