import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { describe, it } from 'node:test';
import { compileTemplate } from '../../../src/preprocess/jinja/template.ts';
import { parseJson } from '../../../src/preprocess/json/parse.ts';
import type { JsonValue } from '../../../src/preprocess/json/value.ts';

type Expected =
  | { readonly text: string }
  /** `address`: Python prints where an object lies in memory. */
  | { readonly error: 'compile' | 'raised' | 'template' | 'limit' | 'address'; readonly message?: string };

interface Fixture {
  readonly versions: { readonly now: readonly [number, number, number, number, number, number] };
  readonly contexts: readonly string[];
  readonly snippets: readonly (readonly [template: string, context: number, expected: Expected])[];
}

const fixture = JSON.parse(
  readFileSync(new URL('../fixtures/snippets.json', import.meta.url), 'utf8'),
) as Fixture;
const [year, month, ...time] = fixture.versions.now;
const now = (): Date => new Date(year, month - 1, ...time);

/** What Python does and we refuse, by name: not compared beyond the refusal. */
const REFUSED = /is not supported/;

/** All that Python renders among the snippets and we do not. */
const KNOWN_REFUSALS = [
  '\\N{...} is not supported',
  'a complex number is not supported',
  'a power of floats that is not exact is not supported',
  'a slice of literals that fails is not supported',
  'filter random is not supported',
  'global lipsum is not supported',
  'printing a builtin_function_or_method, which shows its address, is not supported',
  'str.encode is not supported',
  'striptags of text with character references is not supported',
  '{% block %} is not supported',
];

function contextOf(body: string): Record<string, JsonValue> {
  const parsed = parseJson(body);
  assert.ok(parsed.ok);
  return parsed.value as Record<string, JsonValue>;
}

function outcome(
  template: string,
  context: Record<string, JsonValue>,
): Expected | { readonly refused: string } {
  const compiled = compileTemplate(template, { now });
  if (!compiled.ok)
    return REFUSED.test(compiled.message) ? { refused: compiled.message } : { error: 'compile' };
  const result = compiled.template.render(context);
  if (result.ok) return { text: result.pieces.join('') };
  if (REFUSED.test(result.message)) return { refused: result.message };
  return result.kind === 'raised' ? { error: 'raised', message: result.message } : { error: result.kind };
}

describe('snippets give what they give in Python', () => {
  it('all of them', (test) => {
    const differences: string[] = [];
    let equal = 0;
    let refused = 0;
    const refusals = new Set<string>();
    for (const [template, context, expected] of fixture.snippets) {
      const ours = outcome(template, contextOf(fixture.contexts[context] as string));
      if ('refused' in ours) {
        refused++;
        if ('text' in expected) refusals.add(ours.refused);
      } else if ('error' in expected && expected.error === 'address') {
        differences.push(`${template}: ${JSON.stringify(ours)} where Python prints an address`);
      } else if (JSON.stringify(ours) === JSON.stringify(expected)) equal++;
      else {
        const body = fixture.contexts[context]?.slice(0, 60);
        differences.push(
          `${JSON.stringify(template)} with ${body}\n  ours   ${JSON.stringify(ours)}\n  Python ${JSON.stringify(expected)}`,
        );
      }
    }
    test.diagnostic(`${equal} equal, ${refused} refused by name, of ${fixture.snippets.length}`);
    assert.deepEqual([...refusals].sort(), KNOWN_REFUSALS);
    assert.equal(
      differences.length,
      0,
      `${differences.length} differ:\n${differences.slice(0, 200).join('\n')}`,
    );
  });
});
