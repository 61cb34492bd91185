import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { JsonFault, JsonReader, type JsonReading } from '../../src/tokenizer/json-reader.ts';
import { SEED } from './engine/oracle.ts';

const read = (text: string): JsonReading => new JsonReader(text).read();

function faultOf(text: string): { what: string; path: string | undefined } {
  try {
    read(text);
  } catch (error) {
    assert.ok(error instanceof JsonFault);
    return { what: error.message, path: error.path?.join('.') };
  }
  assert.fail(`no fault in ${text}`);
}

/** The members of all objects and lists of `reading` that were written as floats. */
function floatsOf({ value, floats }: JsonReading): string[] {
  const below = (item: unknown, path: string): string[] =>
    typeof item !== 'object' || item === null
      ? []
      : [
          ...Array.from(floats.get(item) ?? [], (key) => `${path}${key}`),
          ...Object.entries(item).flatMap(([key, member]) => below(member, `${path}${key}.`)),
        ];
  return below(value, '');
}

function allFinite(value: unknown): boolean {
  if (typeof value === 'number') return Number.isFinite(value);
  return typeof value !== 'object' || value === null || Object.values(value).every(allFinite);
}

describe('a strict reader of JSON', () => {
  it(`reads what JSON.parse reads (seed ${SEED})`, () => {
    const space = fc.constantFrom(undefined, 1, '\t', ' \n');
    fc.assert(
      fc.property(fc.json({ maxDepth: 4, stringUnit: 'grapheme' }), space, (text, gap) => {
        const spaced = JSON.stringify(JSON.parse(text), null, gap);
        assert.deepEqual(read(spaced).value, JSON.parse(spaced));
      }),
      { seed: SEED, numRuns: 1000 },
    );
  });

  it(`takes for JSON what JSON.parse takes for it, whatever is changed in it (seed ${SEED})`, () => {
    const text =
      '{"a":[1,-2.5e+3,0,"x\\n\\u00e9\\"",true],"b":{"c":null,"d":false},"e":[],"f":{}, "g" : "\\\\"}';
    const inserted = fc.constantFrom('', ...Array.from('{}[],:"\\0123-+.eEtruflsn \n\t\u0001\u00a0\ufeffx/'));
    let valid = 0;
    fc.assert(
      fc.property(fc.nat(text.length), fc.nat(3), inserted, (at, removed, put) => {
        const changed = text.slice(0, at) + put + text.slice(at + removed);
        let expected: unknown;
        try {
          expected = JSON.parse(changed);
        } catch {
          assert.deepEqual(faultOf(changed), { what: 'not valid JSON', path: undefined });
          return;
        }
        valid++;
        try {
          assert.deepEqual(read(changed).value, expected);
        } catch (error) {
          assert.ok(error instanceof JsonFault, String(error));
          // The exponent of `-2.5e+3` may have grown, and a key may have become another's.
          assert.match(error.message, allFinite(expected) ? / twice$/ : / beyond all floats$/);
        }
      }),
      { seed: SEED, numRuns: 3000 },
    );
    assert.ok(valid > 100, `only ${valid} were JSON`);
  });

  it('tells integers from floats as serde_json does', () => {
    const integers = '[0,7,-7,4294967296,9007199254740993,18446744073709551615]';
    assert.deepEqual(floatsOf(read(integers)), []);
    const floats = '{"a":[1,1.0,1e0,-0,0.0],"b":{"c":1E2,"d":2,"e":{"f":3.5}},"g":18446744073709551616}';
    assert.deepEqual(floatsOf(read(floats)), ['g', 'a.1', 'a.2', 'a.3', 'a.4', 'b.c', 'b.e.f']);
  });

  it('takes a container behind a float for no float', () => {
    assert.deepEqual(floatsOf(read('{"a":[1.5],"b":[{"c":1.5},"x",2]}')), ['a.0', 'b.0.c']);
  });

  it('keeps a key that is the name of the prototype as any other', () => {
    const { value } = read('{"__proto__":{"x":1},"b":2}');
    assert.deepEqual(Object.entries(value as object), [
      ['__proto__', { x: 1 }],
      ['b', 2],
    ]);
  });

  it('refuses by its path what readers disagree on', () => {
    assert.deepEqual(faultOf('{"a":[0,{"b":1,"\\u0062":2}]}'), {
      what: 'has the key "b" twice',
      path: 'a.1',
    });
    assert.deepEqual(faultOf('{"a":[0,"\\ud83d"]}'), {
      what: 'has a string with a lone surrogate',
      path: 'a.1',
    });
    assert.deepEqual(faultOf('{"a":{"\\ude00\\ud83d":1}}'), {
      what: 'has a string with a lone surrogate',
      path: 'a',
    });
    assert.deepEqual(faultOf('{"a":{"b":-1e400}}'), { what: 'is a number beyond all floats', path: 'a.b' });
    assert.deepEqual(read('["\\ud83d\\ude00"]').value, ['😀']);
  });

  it('goes as deep as serde_json', () => {
    const nested = (depth: number) => '['.repeat(depth) + ']'.repeat(depth);
    read(nested(127));
    read(`[${nested(126)},${nested(126)},{}]`);
    assert.equal(faultOf(nested(128)).what, 'is nested more than 127 deep');
    assert.equal(faultOf(nested(100_000)).what, 'is nested more than 127 deep');
  });
});
