import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { locate } from '../../../src/preprocess/json/locate.ts';
import { parseJson } from '../../../src/preprocess/json/parse.ts';
import { isJsonObject, type JsonValue, members, PyFloat } from '../../../src/preprocess/json/value.ts';

const RUNS = Number(process.env.FUZZ_RUNS ?? 2000);

/** A value with the JSON text of one way to write it. */
interface Written {
  readonly text: string;
  /** The value as plain data: numbers tagged by type, objects as lists of pairs. */
  readonly data: unknown;
}

const space = fc.constantFrom('', '', '', ' ', '\n', '\t', '\r\n ');
const string = fc.oneof(
  fc.string({ unit: 'grapheme', maxLength: 12 }),
  fc.constantFrom(
    '1.0',
    '10',
    '", 1.0, "',
    '\\',
    '\\"',
    '{"1": 1e2}',
    '__proto__',
    '\u2028',
    '👍',
    '\u{10000}f1.0',
    '',
  ),
);

/** JSON of `text`, every UTF-16 unit as an escape where `escaped`. */
function quoted(text: string, escaped: boolean): string {
  if (!escaped) return JSON.stringify(text);
  const units = text.split('').map((unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`);
  return `"${units.join('')}"`;
}

const written: fc.Arbitrary<Written> = fc.letrec<{ value: Written; list: Written; object: Written }>(
  (tie) => ({
    value: fc.oneof(
      { depthSize: 'small', withCrossShrink: true },
      fc.constantFrom('null', 'true', 'false').map((text) => ({ text, data: JSON.parse(text) as unknown })),
      fc
        .bigInt({ min: -(10n ** 25n), max: 10n ** 25n })
        .map((int) => ({ text: String(int), data: `int ${int}` })),
      fc
        .tuple(
          fc.integer({ min: -9999, max: 9999 }),
          fc.integer({ min: 0, max: 9999 }),
          fc.integer({ min: -30, max: 30 }),
          fc.constantFrom('.', 'e', '.e'),
        )
        .map(([whole, part, power, form]) => {
          const text = `${whole}${form.startsWith('.') ? `.${part}` : ''}${form.includes('e') ? `e${power}` : ''}`;
          return { text, data: `float ${Object.is(Number(text), -0) ? '-0' : Number(text)}` };
        }),
      fc
        .tuple(string, fc.boolean())
        .map(([text, escaped]) => ({ text: quoted(text, escaped), data: `str ${text}` })),
      tie('list'),
      tie('object'),
    ),
    list: fc.tuple(fc.array(tie('value'), { maxLength: 4 }), space).map(([items, gap]) => ({
      text: `[${gap}${items.map(({ text }) => text).join(`${gap},${gap}`)}${gap}]`,
      data: items.map(({ data }) => data),
    })),
    object: fc
      .tuple(
        fc.array(
          fc.tuple(fc.oneof(string, fc.integer({ min: 0, max: 20 }).map(String)), tie('value'), fc.boolean()),
          { maxLength: 5 },
        ),
        space,
      )
      .map(([entries, gap]) => ({
        text: `{${gap}${entries.map(([key, { text }, escaped]) => `${quoted(key, escaped)}${gap}:${gap}${text}`).join(`${gap},`)}${gap}}`,
        data: { pairs: [...new Map(entries.map(([key, { data }]) => [key, data]))] },
      })),
  }),
).value;

function dataOf(value: JsonValue): unknown {
  if (value instanceof PyFloat) return `float ${Object.is(value.value, -0) ? '-0' : value.value}`;
  if (typeof value === 'bigint') return `int ${value}`;
  if (typeof value === 'number') return Number.isInteger(value) ? `int ${value + 0}` : `float ${value}`;
  if (typeof value === 'string') return `str ${value}`;
  if (Array.isArray(value)) return value.map(dataOf);
  if (isJsonObject(value)) return { pairs: members(value).map(([key, item]) => [key, dataOf(item)]) };
  return value;
}

describe('fuzzed JSON bodies', () => {
  it('give back every key, in order, and every number with its type', () => {
    fc.assert(
      fc.property(written, ({ text, data }) => {
        const result = parseJson(Buffer.from(text));
        assert.ok(result.ok, text);
        assert.deepEqual(dataOf(result.value), data);
      }),
      { numRuns: RUNS },
    );
  });

  it('that are damaged are refused exactly when JSON.parse refuses them, with a path', () => {
    const damage = fc.record({
      at: fc.double({ min: 0, max: 1, noNaN: true }),
      drop: fc.integer({ min: 0, max: 3 }),
      insert: fc.constantFrom(
        '',
        '"',
        '\\',
        '{',
        '}',
        '[',
        ']',
        ',',
        ':',
        '1',
        '.',
        'e',
        '-',
        'u',
        '\n',
        '\\ud800',
        '\u0000',
        'NaN',
      ),
    });
    fc.assert(
      fc.property(written, damage, ({ text }, { at, drop, insert }) => {
        const cut = Math.floor(at * text.length);
        const damaged = text.slice(0, cut) + insert + text.slice(cut + drop);
        if (/\p{Cs}/u.test(damaged)) return;
        let valid = true;
        try {
          JSON.parse(damaged);
        } catch {
          valid = false;
        }
        const place = locate(damaged, damaged.length, 256);
        assert.equal(
          place.offset === damaged.length && valid,
          valid,
          `located at ${place.offset}: ${damaged}`,
        );
        const result = parseJson(Buffer.from(damaged));
        if (!valid) {
          assert.ok(!result.ok);
          assert.match(result.path ?? '', /^\$/);
        } else if (!result.ok) assert.match(result.message, /lone surrogate|4300/);
      }),
      { numRuns: RUNS },
    );
  });

  it('of any bytes never throw', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 64 }), (bytes) => {
        parseJson(bytes);
      }),
      { numRuns: RUNS },
    );
  });
});
