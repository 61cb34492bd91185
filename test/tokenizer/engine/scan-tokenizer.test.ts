import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { MergeSides, type ScannedMerges } from '../../../src/tokenizer/engine/builder/scanned-merges.ts';
import { buildEngine, scanTokenizer, Vocabulary } from '../../../src/tokenizer/engine/index.ts';
import { MODELS, modelFile, SEED } from './oracle.ts';

interface Scanned {
  readonly model: { readonly vocab: Vocabulary; readonly merges: ScannedMerges };
}

/** A scanned file as JSON.parse would have given it, with each merge as a pair. */
function plain(scanned: unknown): unknown {
  const { model, ...rest } = scanned as Scanned;
  const { tokens, ids } = model.vocab;
  const vocab = Object.fromEntries(tokens.map((token, entry) => [token, ids[entry]]));
  const sides = new MergeSides();
  const merges = Array.from({ length: model.merges.length }, (_, index) => {
    model.merges.read(index, sides);
    const { left, leftStart, leftEnd, right, rightStart, rightEnd } = sides;
    return [left.slice(leftStart, leftEnd), right.slice(rightStart, rightEnd)];
  });
  return { ...rest, model: { ...model, vocab, merges } };
}

/** What JSON.parse gives, with each merge as a pair. */
function parsed(text: string): unknown {
  const { model, ...rest } = JSON.parse(text) as { model: { merges: (string | [string, string])[] } };
  const merges = model.merges.map((merge) => (typeof merge === 'string' ? merge.split(' ') : merge));
  return { ...rest, model: { ...model, merges } };
}

const file = (vocab: string, merges: string, rest = '"type":"BPE"') =>
  `{"version":"1.0","model":{${rest},"vocab":${vocab},"merges":${merges}},"decoder":null}`;

describe('a scan of tokenizer.json', () => {
  for (const model of MODELS)
    it(`gives the engine of JSON.parse with ${model}`, () => {
      const text = modelFile(model);
      const scanned = scanTokenizer(text);
      assert.ok((scanned as Scanned).model.vocab instanceof Vocabulary, 'it was not scanned');
      assert.deepEqual(buildEngine(scanned), buildEngine(JSON.parse(text)));
    });

  it(`reads what JSON.parse reads: any strings, white space and order (seed ${SEED})`, () => {
    const space = fc.constantFrom('', '', ' ', '\n', '\t\r\n ');
    // Escaped in ways of which JSON.stringify knows one.
    const literal = fc.tuple(fc.string({ unit: 'binary', maxLength: 6 }), fc.boolean()).map(([text, all]) => {
      const escaped = (unit: string) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`;
      return all ? `"${text.split('').map(escaped).join('')}"` : JSON.stringify(text);
    });
    const side = literal.filter((text) => !JSON.parse(text).includes(' '));
    const merges = fc.boolean().chain((asPairs) =>
      fc.array(
        fc
          .tuple(side, side, space)
          .map(([left, right, gap]) =>
            asPairs ? `[${gap}${left}${gap},${right}${gap}]` : `${left.slice(0, -1)} ${right.slice(1)}`,
          ),
        { minLength: 1, maxLength: 5 },
      ),
    );
    const vocab = fc.uniqueArray(literal, {
      minLength: 1,
      maxLength: 6,
      selector: (text) => JSON.parse(text) as string,
    });
    const member = fc
      .tuple(fc.constantFrom('"a"', '"b\\"{"', '"type"'), fc.json())
      .map((pair) => pair.join(':'));
    const files = fc.tuple(vocab, merges, member, member, space, fc.boolean(), fc.boolean());
    let read = 0;
    fc.assert(
      fc.property(files, ([tokens, list, first, last, gap, swapped, front]) => {
        const entries = tokens.map((token, id) => `${gap}${token}${gap}:${gap}${id * 7}${gap}`);
        const big = [
          `"vocab"${gap}:${gap}{${entries.join()}}`,
          `${gap}"merges":${gap}[${list.join(`${gap},${gap}`)}${gap}]`,
        ];
        const members = [first, ...(swapped ? big.reverse() : big), last.replace('type', 'last')];
        const model = `"model":${gap}{${members.join()}}`;
        const text = `${gap}{${front ? `${model},${first}` : `${first}${gap},${model}`}}${gap}`;
        const scanned = scanTokenizer(text);
        if (scanned === undefined) return;
        read++;
        assert.deepEqual(plain(scanned), parsed(text));
      }),
      { seed: SEED, numRuns: 2000 },
    );
    assert.ok(read > 1000, `only ${read} of 2000 were scanned`);
  });

  it('is not led astray by what looks like a vocabulary elsewhere', () => {
    const text = `{"added_tokens":[{"content":"\\"model\\":{\\"vocab\\":{","vocab":{"x":1},"merges":[]}],${file(
      '{"a":0,"\\u0062":1,"ab":2,"\\"}":3}',
      '["a b","\\u0061 \\u0062"]',
      '"type":"BPE","of":{"vocab":{"y":[[]]},"merges":["z"],"model":{}},"n":-1.5e3',
    ).slice(1)}`;
    const scanned = scanTokenizer(text);
    assert.ok((scanned as Scanned).model.vocab instanceof Vocabulary);
    assert.deepEqual(plain(scanned), parsed(text));
  });

  const usual = file('{"a":0,"b":1,"ab":2}', '["a b"]');
  const unusual = {
    'a token twice': file('{"a":0,"b":1,"a":2}', '["a b"]'),
    'a token twice, once with an escape': file('{"a":0,"\\u0061":1}', '["a b"]'),
    'two tokens with one id': file('{"a":0,"b":0}', '["a b"]'),
    'a vocabulary twice': file('{"a":0}', '["a b"],"vocab":{"b":1}'),
    'merges twice, once with an escape': file('{"a":0}', '["a b"],"\\u006derges":["b a"]'),
    'two models': `{"model":{"vocab":{"b":7}},${usual.slice(1)}`,
    'an id that is no integer': file('{"a":1.5}', '["a b"]'),
    'an id with an exponent': file('{"a":1e2}', '["a b"]'),
    'a negative id': file('{"a":-1}', '["a b"]'),
    'an id with a leading zero': file('{"a":01}', '["a b"]'),
    'an id beyond all ids': file('{"a":123456789}', '["a b"]'),
    'an id that is a string': file('{"a":"1"}', '["a b"]'),
    'a list of tokens': file('[["a",0.5]]', '["a b"]'),
    'no tokens': file('{}', '["a b"]'),
    'no merges': file('{"a":0}', '[]'),
    'merges without a space': file('{"a":0}', '["ab"]'),
    'merges with two spaces': file('{"a":0}', '["a b c"]'),
    'a version line': file('{"a":0}', '["#version: 0.2","a b"]'),
    'both forms of merges': file('{"a":0}', '["a b",["a","b"]]'),
    'a merge of three': file('{"a":0}', '[["a","b","c"]]'),
    'a comma too many': file('{"a":0,}', '["a b"]'),
    'a comma too many in the rest': usual.replace('null}', 'null,}'),
    'a wrong word in the rest': usual.replace('null}', 'nul}'),
    'a line feed in a string': file('{"a\n":0}', '["a b"]'),
    'an unknown escape': file('{"\\x":0}', '["a b"]'),
    'something behind it': `${usual}}`,
    'a byte order mark': `\ufeff${usual}`,
    'no model': '{"version":"1.0"}',
    'a list': '[]',
    nothing: '',
  };
  it('reads the file that the next ones are made of', () => {
    assert.deepEqual(plain(scanTokenizer(usual)), parsed(usual));
  });
  for (const [what, text] of Object.entries(unusual))
    it(`leaves to JSON.parse: ${what}`, () => {
      assert.notEqual(text, usual);
      assert.equal(scanTokenizer(text), undefined);
    });

  it('leaves to JSON.parse whatever ends too early', () => {
    for (let end = 0; end < usual.length; end++) assert.equal(scanTokenizer(usual.slice(0, end)), undefined);
  });
});
