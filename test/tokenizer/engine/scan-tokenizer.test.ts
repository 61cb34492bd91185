import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { MergeSides, ScannedMerges } from '../../../src/tokenizer/engine/builder/scanned-merges.ts';
import { buildEngine, scanTokenizer, Vocabulary } from '../../../src/tokenizer/engine/index.ts';
import { JsonFault } from '../../../src/tokenizer/json-reader.ts';
import { MODELS, modelFile, SEED } from './oracle.ts';

interface Scanned {
  readonly model: { readonly vocab: Vocabulary; readonly merges: ScannedMerges };
}

/** A scanned file as JSON.parse would have given it, with each merge that was scanned as a pair. */
function plain(scanned: unknown): unknown {
  if (typeof scanned !== 'object' || scanned === null || !('model' in scanned)) return scanned;
  const { vocab, merges, ...model } = (scanned as { model: Record<string, unknown> }).model;
  if (vocab instanceof Vocabulary)
    model.vocab = Object.fromEntries(vocab.tokens.map((token, entry) => [token, vocab.ids[entry]]));
  else if (vocab !== undefined) model.vocab = vocab;
  if (merges instanceof ScannedMerges) {
    const sides = new MergeSides();
    model.merges = Array.from({ length: merges.length }, (_, index) => {
      merges.read(index, sides);
      const { left, leftStart, leftEnd, right, rightStart, rightEnd } = sides;
      return [left.slice(leftStart, leftEnd), right.slice(rightStart, rightEnd)];
    });
  } else if (merges !== undefined) model.merges = merges;
  return { ...scanned, model: Array.isArray((scanned as Scanned).model) ? [] : model };
}

/** What JSON.parse gives, with each merge as a pair if all of them are lines of two tokens. */
function parsed(text: string): unknown {
  const file = JSON.parse(text) as { model?: { merges?: unknown } };
  const merges = file.model?.merges;
  const usual = (merge: unknown) => typeof merge === 'string' && /^(?!#version)[^ ]* [^ ]*$/.test(merge);
  if (!Array.isArray(merges) || merges.length === 0 || !merges.every(usual)) return file;
  return { ...file, model: { ...file.model, merges: merges.map((merge: string) => merge.split(' ')) } };
}

const scan = (text: string): unknown => scanTokenizer(text).value;

function isScanned(scanned: unknown): boolean {
  const { model } = scanned as Scanned;
  return model.vocab instanceof Vocabulary && model.merges instanceof ScannedMerges;
}

/** What it is refused for; undefined if it is not. */
function refusal(text: string): string | undefined {
  try {
    scanTokenizer(text);
    return undefined;
  } catch (error) {
    assert.ok(error instanceof JsonFault);
    return error.path === undefined ? error.message : `${error.path.join('.')} ${error.message}`;
  }
}

/** All strings and keys in `value`. */
function strings(value: unknown): string[] {
  if (typeof value === 'string') return [value];
  if (typeof value !== 'object' || value === null) return [];
  return Object.entries(value).flatMap(([key, member]) => [key, ...strings(member)]);
}

function isRepeated(...members: string[]): boolean {
  return Object.keys(JSON.parse(`{${members.join()}}`)).length < members.length;
}

const file = (vocab: string, merges: string, rest = '"type":"BPE"') =>
  `{"version":"1.0","model":{${rest},"vocab":${vocab},"merges":${merges}},"decoder":null}`;

describe('a scan of tokenizer.json', () => {
  for (const model of MODELS)
    it(`gives the engine of JSON.parse with ${model}`, () => {
      const text = modelFile(model);
      const scanned = scan(text);
      assert.ok(isScanned(scanned));
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
        const fault = refusal(text);
        if (fault !== undefined) {
          const halves = strings(JSON.parse(text)).some((string) => !string.isWellFormed());
          const repeated = isRepeated(first, last.replace('type', 'last'));
          assert.ok(halves ? /lone surrogate$|twice$/.test(fault) : fault.endsWith('twice'), fault);
          assert.ok(fault.endsWith('twice') ? repeated : halves, fault);
          return;
        }
        const scanned = scan(text);
        if (!isScanned(scanned)) return;
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
    const scanned = scan(text);
    assert.ok(isScanned(scanned));
    assert.deepEqual(plain(scanned), parsed(text));
  });

  const usual = file('{"a":0,"b":1,"ab":2}', '["a b"]');
  const unusual = {
    'a token twice': file('{"a":0,"b":1,"a":2}', '["a b"]'),
    'a token twice, once with an escape': file('{"a":0,"\\u0061":1}', '["a b"]'),
    'two tokens with one id': file('{"a":0,"b":0}', '["a b"]'),
    'an id that is no integer': file('{"a":1.5}', '["a b"]'),
    'an id with an exponent': file('{"a":1e2}', '["a b"]'),
    'a negative id': file('{"a":-1}', '["a b"]'),
    'an id beyond all ids': file('{"a":123456789}', '["a b"]'),
    'an id that is a string': file('{"a":"1"}', '["a b"]'),
    'a token of the name __proto__, twice': file('{"__proto__":1,"__proto__":{"x":1}}', '["a b"]'),
    'a list of tokens': file('[["a",0.5]]', '["a b"]'),
    'no tokens': file('{}', '["a b"]'),
    'no vocabulary': file('null', '["a b"]'),
    'no merges': file('{"a":0}', '[]'),
    'merges without a space': file('{"a":0}', '["ab"]'),
    'merges with two spaces': file('{"a":0}', '["a b c"]'),
    'a version line': file('{"a":0}', '["#version: 0.2","a b"]'),
    'both forms of merges': file('{"a":0}', '["a b",["a","b"]]'),
    'the other form first': file('{"a":0}', '[["a","b"],"a b"]'),
    'a merge of three': file('{"a":0}', '[["a","b","c"]]'),
    'a merge of a number': file('{"a":0}', '[["a",1]]'),
    'no model': '{"version":"1.0"}',
    'a model that is a list': '{"model":[]}',
    'a list': '[]',
  };
  const refused = {
    'a vocabulary twice': [file('{"a":0}', '["a b"],"vocab":{"b":1}'), 'model has the key "vocab" twice'],
    'merges twice, once with an escape': [
      file('{"a":0}', '["a b"],"\\u006derges":["b a"]'),
      'model has the key "merges" twice',
    ],
    'two models': [
      `{"model":{"vocab":{"b":7}},${file('{"a":0}', '["a b"]').slice(1)}`,
      ' has the key "model" twice',
    ],
    'half a character in a token': [
      file('{"a":0,"\\ud83d":1}', '["a b"]'),
      'model.vocab has a string with a lone surrogate',
    ],
    'half a character in a token, behind what is unusual': [
      file('{"a":0.5,"\\ude00":1}', '["a b"]'),
      'model.vocab has a string with a lone surrogate',
    ],
    'half a character in a merge': [
      file('{"a":0}', '["a b","\\ud83d b"]'),
      'model.merges has a string with a lone surrogate',
    ],
  } as const;
  const noJson = {
    'an id with a leading zero': file('{"a":01}', '["a b"]'),
    'a comma too many': file('{"a":0,}', '["a b"]'),
    'a comma too many in the rest': usual.replace('null}', 'null,}'),
    'a wrong word in the rest': usual.replace('null}', 'nul}'),
    'a line feed in a string': file('{"a\n":0}', '["a b"]'),
    'an unknown escape': file('{"\\x":0}', '["a b"]'),
    'something behind it': `${usual}}`,
    'a byte order mark': `\ufeff${usual}`,
    nothing: '',
  };
  it('reads the file that the next ones are made of', () => {
    assert.deepEqual(plain(scan(usual)), parsed(usual));
  });
  for (const [what, text] of Object.entries(unusual))
    it(`reads as JSON.parse does: ${what}`, () => {
      const scanned = scan(text);
      assert.ok(!isScanned({ model: {}, ...(scanned as object) }));
      assert.deepEqual(plain(scanned), parsed(text));
    });
  for (const [what, [text, message]] of Object.entries(refused))
    it(`refuses ${what}`, () => assert.equal(refusal(text), message));
  for (const [what, text] of Object.entries(noJson))
    it(`refuses as no JSON: ${what}`, () => {
      assert.notEqual(text, usual);
      assert.throws(() => JSON.parse(text), SyntaxError);
      assert.equal(refusal(text), 'not valid JSON');
    });

  it('refuses as no JSON whatever ends too early', () => {
    for (let end = 0; end < usual.length; end++) assert.equal(refusal(usual.slice(0, end)), 'not valid JSON');
  });
});
