import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { type JsonResult, parseJson } from '../../../src/preprocess/json/parse.ts';
import { type JsonValue, member, members, objectFrom, PyFloat } from '../../../src/preprocess/json/value.ts';

function value(text: string): JsonValue {
  const result = parseJson(Buffer.from(text));
  assert.ok(result.ok, result.ok ? '' : result.message);
  return result.value;
}

function refusal(document: string | Uint8Array, limits?: Parameters<typeof parseJson>[1]): string {
  const bytes = typeof document === 'string' ? Buffer.from(document) : document;
  const result: JsonResult = parseJson(bytes, limits);
  assert.ok(!result.ok, 'it was accepted');
  return result.path === undefined ? result.message : `${result.message} at ${result.path}`;
}

describe('numbers are int or float by their literal', () => {
  it('ints stay numbers while a number holds them, then become bigints', () => {
    assert.deepEqual(
      value('[0, -7, 9007199254740991, -9007199254740991]'),
      [0, -7, 9007199254740991, -9007199254740991],
    );
    assert.deepEqual(value('[9007199254740992, 12345678901234567890, -9007199254740993]'), [
      9007199254740992n,
      12345678901234567890n,
      -9007199254740993n,
    ]);
    assert.deepEqual(value('1000000000000000'), 1000000000000000);
  });

  it('a float that is whole is a PyFloat, any other a number', () => {
    for (const [literal, expected] of [
      ['1.0', 1],
      ['1.00', 1],
      ['1e2', 100],
      ['1E+2', 100],
      ['-0.0', -0],
      ['1e20', 1e20],
      ['123456789012345678.9', 123456789012345680],
      ['1e400', Infinity],
      ['-1e400', -Infinity],
      ['1e-400', 0],
    ] as const) {
      const [parsed] = value(`[${literal}]`) as JsonValue[];
      assert.ok(parsed instanceof PyFloat, literal);
      assert.ok(Object.is(parsed.value, expected), literal);
    }
    assert.deepEqual(value('[0.7, 1e-7, 2.5]'), [0.7, 1e-7, 2.5]);
  });

  it('what looks like one within a string is none', () => {
    assert.equal(value('"1.0, 12345678901234567890"'), '1.0, 12345678901234567890');
    assert.deepEqual(value('{"a": "x\\", 1.0, \\"", "b": "\\\\"}'), { a: 'x", 1.0, "', b: '\\' });
  });

  it('more digits than Python reads are refused', () => {
    assert.equal((value(`[${'9'.repeat(4300)}]`) as bigint[])[0], BigInt('9'.repeat(4300)));
    assert.equal(
      refusal(`{"a": [0, ${'9'.repeat(4301)}]}`),
      'an integer has more than 4300 digits at $.a[1]',
    );
  });
});

describe('keys keep their order', () => {
  it('an object with an integer-like key is a Map in the order of the text', () => {
    const object = value('{"b": 1, "10": {"9": 2, "x": 3}, "a": [{"1": 0, "0": 0}]}');
    assert.ok(object instanceof Map);
    assert.deepEqual([...object.keys()], ['b', '10', 'a']);
    assert.deepEqual(
      [...(object.get('10') as Map<string, number>)],
      [
        ['9', 2],
        ['x', 3],
      ],
    );
    const [inner] = object.get('a') as Map<string, number>[];
    assert.deepEqual([...(inner as Map<string, number>).keys()], ['1', '0']);
  });

  it('also where the key hides behind an escape', () => {
    const object = value('{"b": 1, "\\u0031\\u0030": 2, "\\u0062c": 3}');
    assert.ok(object instanceof Map);
    assert.deepEqual([...object.keys()], ['b', '10', 'bc']);
  });

  it('of equal keys the last wins, at the place of the first', () => {
    assert.deepEqual(Object.entries(value('{"a": 1, "b": 2, "a": 3}') as object), [
      ['a', 3],
      ['b', 2],
    ]);
    assert.deepEqual(
      [...(value('{"1": 1, "b": 2, "\\u0031": 3}') as Map<string, number>)],
      [
        ['1', 3],
        ['b', 2],
      ],
    );
  });

  it('__proto__ and constructor are keys like others', () => {
    const object = value('{"constructor": 1, "__proto__": {"x": 2}, "a": 1}');
    assert.ok(object instanceof Map);
    assert.deepEqual([...object.keys()], ['constructor', '__proto__', 'a']);
    assert.deepEqual(value('{"constructor": 1}'), { constructor: 1 });
  });

  it('the common body is what JSON.parse returns', () => {
    const text =
      '{"messages": [{"role": "user", "content": "1.0 and {\\"10\\": 1}"}], "temperature": 0.7, "n": 1}';
    assert.deepEqual(value(text), JSON.parse(text));
  });
});

describe('members that nobody prints', () => {
  const read = (text: string) => {
    const result = parseJson(text, {
      maximumBytes: 1e6,
      maximumDepth: 9,
      exactIn: new Set(['messages', 'nvext']),
    });
    assert.ok(result.ok, result.ok ? '' : result.message);
    return result.value;
  };

  it('are read as JavaScript reads them, and the others exactly', () => {
    assert.deepEqual(
      read(
        '{"temperature": 1.0, "logit_bias": {"b": 1, "10": 1e2}, "messages": [1.0, {"a": "temperature", "10": 2}]}',
      ),
      {
        temperature: 1,
        logit_bias: { '10': 100, b: 1 },
        messages: [
          new PyFloat(1),
          new Map<string, JsonValue>([
            ['a', 'temperature'],
            ['10', 2],
          ]),
        ],
      },
    );
    assert.deepEqual(read('{"messages": [2.0], "x": [2.0], "nvext" : {"x": 2.0}}'), {
      messages: [new PyFloat(2)],
      x: [2],
      nvext: { x: new PyFloat(2) },
    });
  });

  it('are told by their names at the outermost level alone', () => {
    assert.deepEqual(read('{"x": {"messages": 1.0}, "y": "messages", "messages": {"x": 1.0}}'), {
      x: { messages: 1 },
      y: 'messages',
      messages: { x: new PyFloat(1) },
    });
    assert.deepEqual(read('[1.0, {"x": 1.0}]'), [new PyFloat(1), { x: new PyFloat(1) }]);
  });

  it('are read exactly where an escape hides the name', () => {
    assert.deepEqual(read('{"x": 1.0, "m\\u0065ssages": 1.0}'), { x: 1, messages: new PyFloat(1) });
  });

  it('are held to the same limits', () => {
    const limits = { maximumBytes: 1e6, maximumDepth: 3, exactIn: new Set(['messages']) };
    assert.equal(
      refusal(`{"x": ${'9'.repeat(4301)}}`, limits),
      'an integer has more than 4300 digits at $.x',
    );
    assert.equal(
      refusal('{"x": [[[]]]}', limits),
      'arrays and objects are nested deeper than 3 at $.x[0][0]',
    );
    assert.equal(refusal('{"x": 1.0.}', limits), 'not JSON at byte 9 at $');
  });
});

describe('both forms of objects are read alike', () => {
  it('by member, members and objectFrom', () => {
    for (const text of ['{"a": 1, "b": null}', '{"a": 1, "b": null, "3": 4}']) {
      const object = value(text) as Parameters<typeof member>[0];
      assert.equal(member(object, 'a'), 1);
      assert.equal(member(object, 'b'), null);
      assert.equal(member(object, 'toString'), undefined);
      assert.deepEqual(members(object).slice(0, 2), [
        ['a', 1],
        ['b', null],
      ]);
      assert.deepEqual(objectFrom(members(object)), object);
    }
  });
});

describe('refusals name a place and never quote the text', () => {
  it('what is not JSON, by byte and path', () => {
    assert.equal(refusal('{"é": [1, tru]}'), 'not JSON at byte 11 at $["é"][1]');
    assert.equal(refusal(''), 'not JSON at byte 0 at $');
    assert.equal(refusal('{"a": 1} x'), 'not JSON at byte 9 at $');
    assert.equal(
      refusal('{"messages": [{"content": "a\nb"}]}'),
      'not JSON at byte 28 at $.messages[0].content',
    );
    assert.equal(refusal('{"a": 01}'), 'not JSON at byte 7 at $');
    assert.equal(refusal('{"a": "\\x"}'), 'not JSON at byte 7 at $.a');
    assert.equal(refusal('\ufeff{}'), 'not JSON at byte 0 at $');
  });

  it('NaN and infinities, which Python would read and the engines refuse', () => {
    for (const literal of ['NaN', 'Infinity', '-Infinity'])
      assert.match(refusal(`{"a": ${literal}}`), /^not JSON at byte 6 at \$\.a$/);
  });

  it('invalid UTF-8 and lone surrogates', () => {
    assert.equal(refusal(Uint8Array.from([0x22, 0xff, 0x22])), 'the document is not valid UTF-8');
    assert.equal(refusal(Uint8Array.from([0x22, 0xed, 0xa0, 0x80, 0x22])), 'the document is not valid UTF-8');
    assert.equal(refusal('{"a": ["\\ud83d"]}'), 'a string holds the escape of a lone surrogate at $.a[0]');
    assert.equal(
      refusal('{"a": {"\\udc00x": 1}}'),
      'a string holds the escape of a lone surrogate at $.a["\ufffdx"]',
    );
    assert.equal(value('"\\ud83d\\ude00 \\\\ud83d"'), '😀 \\ud83d');
    assert.ok(!parseJson('"\ud800"').ok);
  });

  it('a string that begins like a mark of ours is refused, not read as a number', () => {
    assert.match(refusal('["\\ud800f1.0", 1.0]'), /lone surrogate/);
    assert.match(refusal('{"\\ud800k10": 1, "10": 2}'), /lone surrogate/);
  });

  it('a character whose first half begins our marks is no mark', () => {
    const object = value('{"\u{10000}k10": "\u{10000}f1.0", "10": "\u{103ff}i5", "b": 1.0}');
    assert.ok(object instanceof Map);
    assert.deepEqual([...object.entries()].slice(0, 2), [
      ['\u{10000}k10', '\u{10000}f1.0'],
      ['10', '\u{103ff}i5'],
    ]);
  });

  it('what is too deep or too large', () => {
    const limits = { maximumBytes: 100, maximumDepth: 3 };
    assert.ok(parseJson('[[[1]]]', limits).ok);
    assert.equal(
      refusal('{"a": [[[1]]]}', limits),
      'arrays and objects are nested deeper than 3 at $.a[0][0]',
    );
    assert.equal(
      refusal(`"${'a'.repeat(99)}"`, limits),
      'the document has 101 bytes, above the limit of 100',
    );
    assert.match(refusal('['.repeat(1_000_000)), /nested deeper than 256/);
    assert.match(refusal('{"a":'.repeat(100_000)), /nested deeper than 256/);
  });
});
