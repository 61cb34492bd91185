import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { compileTemplate, type Template } from '../../../src/preprocess/jinja/template.ts';
import { type JsonValue, PyFloat } from '../../../src/preprocess/json/value.ts';

function template(source: string): Template {
  const compiled = compileTemplate(source);
  assert.ok(compiled.ok, compiled.ok ? '' : compiled.message);
  return compiled.template;
}

function failure(source: string, context: Record<string, JsonValue> = {}) {
  const result = template(source).render(context);
  assert.ok(!result.ok, 'it rendered');
  return result;
}

function refusal(source: string) {
  const compiled = compileTemplate(source);
  assert.ok(!compiled.ok, 'it compiled');
  return { construct: compiled.construct, line: compiled.line };
}

function text(source: string, context: Record<string, JsonValue> = {}): string {
  const result = template(source).render(context);
  assert.ok(result.ok, result.ok ? '' : result.message);
  return result.pieces.join('');
}

describe('a render', () => {
  it('comes in pieces, and a long content is a piece of its own', () => {
    const content = 'x'.repeat(200_000);
    const result = template(
      "{% for m in messages %}{{ '<a>' + m.content + '</a>' + '\\n' }}{% endfor %}",
    ).render({
      messages: [{ content }],
    });
    assert.ok(result.ok);
    assert.deepEqual(result.pieces, ['<a>', content, '</a>\n']);
  });

  it('leaves the request as it was, and a second render gives the same', () => {
    const messages = [{ role: 'user', content: 'a' }];
    const before = structuredClone(messages);
    const compiled = template(
      '{% set messages = messages + [1] %}{{ messages|length }}{% set ns = namespace(m=messages) %}{% set ns.m = [] %}',
    );
    for (let run = 0; run < 2; run++) {
      const result = compiled.render({ messages });
      assert.ok(result.ok && result.pieces.join('') === '2');
    }
    assert.deepEqual(messages, before);
  });

  it('takes objects as plain objects or Maps, and floats as PyFloat', () => {
    const map = new Map<string, JsonValue>([
      ['10', new PyFloat(1)],
      ['9', 12345678901234567890n],
    ]);
    assert.equal(
      text('{{ v }} {{ v|tojson }}', { v: map }),
      '{\'10\': 1.0, \'9\': 12345678901234567890} {"10": 1.0, "9": 12345678901234567890}',
    );
  });

  it('finds no names on JavaScript objects', () => {
    for (const name of ['constructor', 'toString', 'hasOwnProperty', '__proto__', 'valueOf']) {
      assert.equal(
        text(`{{ v.${name} }}{{ v['${name}'] }}{{ ${name} }}{{ '${name}' in v }}`, { v: {} }),
        'False',
        name,
      );
    }
    assert.equal(text('{{ v.constructor }}', { v: JSON.parse('{"constructor": 1}') as JsonValue }), '1');
    assert.equal(text("{{ v['__proto__'] }}", { v: JSON.parse('{"__proto__": 1}') as JsonValue }), '1');
  });

  it('reads the clock it is given', () => {
    const compiled = compileTemplate("{{ strftime_now('%d %b %Y') }}", { now: () => new Date(2024, 6, 26) });
    assert.ok(compiled.ok);
    const result = compiled.template.render({});
    assert.ok(result.ok && result.pieces.join('') === '26 Jul 2024');
  });
});

describe('a failure', () => {
  it('of raise_exception carries its text', () => {
    assert.deepEqual(failure("a\n{{ raise_exception('No ' + role) }}", { role: 'x' }), {
      ok: false,
      kind: 'raised',
      message: 'No x',
      line: 2,
    });
  });

  it('names the line it happened on, also after a macro on another line', () => {
    assert.equal(failure('a\n\n{{ nope.x }}').line, 3);
    assert.equal(failure('{% if true %}\n{% set a = 1 %}\n{{ a + "x" }}\n{% endif %}').line, 3);
    assert.equal(failure('{% macro m() %}\n{{ 1 }}\n{% endmacro %}\n{{ m() + 1 }}').line, 4);
    assert.equal(failure('{% for x in [1] %}\n{% for y in 5 %}{% endfor %}{% endfor %}').line, 2);
    assert.equal(failure('{#- a\n\n -#}\n{{ "a\nb" + 1 }}').line, 4);
  });

  it('says what Python says', () => {
    assert.equal(failure('{{ nope.x }}').message, "'nope' is undefined");
    assert.equal(failure('{{ m.x.y }}', { m: {} }).message, "'dict object' has no attribute 'x'");
    assert.equal(failure('{{ m[5].y }}', { m: [] }).message, 'list object has no element 5');
    assert.equal(failure('{{ none.x.y }}').message, "'None' has no attribute 'x'");
    assert.equal(
      failure("{{ {}.update({'a': 1}) }}").message,
      "access to attribute 'update' of 'dict' object is unsafe.",
    );
  });
});

describe('a template is refused at once, by the name of the construct', () => {
  it('when it is not Jinja2', () => {
    assert.deepEqual(refusal('a\n{% if x %}'), { construct: 'syntax', line: 2 });
    assert.deepEqual(refusal('\n\n{% foo %}'), { construct: '{% foo %}', line: 3 });
    assert.deepEqual(refusal('{{ x|nope }}'), { construct: 'filter nope', line: 1 });
    assert.deepEqual(refusal('\n{{ x is nope }}'), { construct: 'test nope', line: 2 });
  });

  it('when it uses what this runtime does not do', () => {
    for (const tag of [
      'include "x"',
      'extends "x"',
      'import "x" as y',
      'from "x" import y',
      'block a',
      'autoescape true',
    ]) {
      assert.deepEqual(refusal(`\n{% ${tag} %}`), { construct: `{% ${tag.split(' ')[0]} %}`, line: 2 });
    }
    assert.deepEqual(refusal('{% if false %}{{ [1]|random }}{% endif %}'), {
      construct: 'filter random',
      line: 1,
    });
    assert.deepEqual(refusal('{{ lipsum() }}'), { construct: 'global lipsum', line: 1 });
    assert.deepEqual(refusal('{{ self.x() }}'), { construct: 'global self', line: 1 });
  });

  it('when an integer in it is longer than Python reads or writes', () => {
    assert.deepEqual(refusal(`\n{{ ${'9'.repeat(4301)} }}`), { construct: 'integer', line: 2 });
    assert.deepEqual(refusal(`{% if x %}{{ a[0x${'f'.repeat(4000)}] }}{% endif %}`), {
      construct: 'integer',
      line: 1,
    });
    assert.equal(text(`{{ ${'9'.repeat(4300)} }}`), '9'.repeat(4300));
  });

  it('when it is nested beyond reason, or too long', () => {
    assert.equal(refusal(`{{ ${'('.repeat(100_000)}1${')'.repeat(100_000)} }}`).construct, 'nesting');
    assert.equal(refusal('{% if 1 %}'.repeat(60_000)).construct, 'nesting');
    assert.equal(refusal('x'.repeat(2_000_000)).construct, 'size');
  });
});

describe('a hostile template or request costs bounded time and memory', () => {
  const bounded: Record<string, string> = {
    'nested loops': '{% for a in range(100000) %}{% for b in range(100000) %}{% endfor %}{% endfor %}',
    'doubling text':
      "{% set ns = namespace(s='ab') %}{% for i in range(100) %}{% set ns.s = ns.s + ns.s %}{% endfor %}",
    'doubling text by ~':
      "{% set ns = namespace(s='ab') %}{% for i in range(100) %}{% set ns.s = ns.s ~ ns.s %}{% endfor %}",
    'doubling lists':
      '{% set ns = namespace(s=[1, 2]) %}{% for i in range(100) %}{% set ns.s = ns.s + ns.s %}{% endfor %}',
    'doubling tuples':
      '{% set ns = namespace(s=(1, 2)) %}{% for i in range(100) %}{% set ns.s = ns.s + ns.s %}{% endfor %}',
    'repeated text': "{{ 'a' * 10000000000 }}",
    'repeated lists': '{{ [1] * 10000000000 }}',
    'large powers': '{{ 10 ** 10000000000 }}',
    'growing ints':
      '{% set ns = namespace(s=7) %}{% for i in range(100) %}{% set ns.s = ns.s * ns.s %}{% endfor %}',
    'wide formats': "{{ '%1000000000d' % 1 }}",
    'precise formats': "{{ '%.1000000000f' % 1 }}",
    'wide fields': "{{ '{:1000000000}'.format(1) }}",
    'wide centers': "{{ 'a'.center(1000000000) }}",
    'wide indents': '{{ [[1]]|tojson(indent=1000000000) }}',
    'long replacements': "{{ ('a' * 100000)|replace('a', 'b' * 100000) }}",
    'long replacements of nothing': "{{ ('a' * 100000).replace('', 'b' * 100000) }}",
    'long joins': "{{ ('a' * 100000).join(range(100000)|map('string')) }}",
    'endless macros': '{% macro m() %}{{ m() }}{% endmacro %}{{ m() }}',
    'endless loops': '{% for x in [1] recursive %}{{ loop([1]) }}{% endfor %}',
    'deep values':
      '{% set ns = namespace(s=[]) %}{% for i in range(100000) %}{% set ns.s = [ns.s] %}{% endfor %}{{ ns.s }}',
    'deep values as JSON':
      '{% set ns = namespace(s=[]) %}{% for i in range(100000) %}{% set ns.s = [ns.s] %}{% endfor %}{{ ns.s|tojson }}',
    'deep comparisons':
      '{% set ns = namespace(s=[], t=[]) %}{% for i in range(100000) %}{% set ns.s = [ns.s] %}{% set ns.t = [ns.t] %}{% endfor %}{{ ns.s == ns.t }}',
    'wide values':
      '{% set ns = namespace(s=[1]) %}{% for i in range(40) %}{% set ns.s = [ns.s, ns.s] %}{% endfor %}{{ ns.s }}',
    'much output': "{% for i in range(100000) %}{{ 'a' * 100000 }}{% endfor %}",
    'repeated searches': "{% set t = 'a' * 1000000 %}{% for i in range(100000) %}{{ 'b' in t }}{% endfor %}",
    'repeated splits':
      "{% set t = 'a ' * 1000000 %}{% for i in range(10000) %}{% set x = t.split() %}{% endfor %}",
    'repeated sums of lists':
      '{% set l = range(100000)|list %}{% for i in range(100000) %}{% set x = l == l[:] %}{% endfor %}',
    'repeated sorts':
      '{% set l = range(100000)|list %}{% for i in range(100000) %}{% set x = l|sort %}{% endfor %}',
    'repeated captures': "{% for i in range(100000) %}{% set x %}{{ 'a' * 100000 }}{% endset %}{% endfor %}",
    'wide tabs': "{{ '\\t'.expandtabs(1000000000) }}",
    'wide zeros': "{{ '1'.zfill(1000000000) }}",
    'wide wraps': "{{ 'a'|indent(1000000000, true) }}",
    'wide batches': '{{ [1]|batch(1000000000, 0)|list }}',
    'many slices': '{{ [1]|slice(1000000000)|list }}',
  };
  for (const [name, source] of Object.entries(bounded)) {
    it(name, () => {
      const started = process.cpuUsage();
      assert.equal(failure(source).kind, 'limit');
      const { user } = process.cpuUsage(started);
      assert.ok(user < 10_000_000, `${user} µs`);
    });
  }

  it('and ranges beyond 100000 are errors, as in the sandbox', () => {
    assert.equal(failure('{{ range(100001)|length }}').kind, 'template');
  });

  it('a render that took all it may leaves enough to compile with', () => {
    const endless = '{% for i in range(99999) %}{% for j in range(99999) %}{% endfor %}{% endfor %}';
    assert.equal(failure(endless).kind, 'limit');
    assert.equal(text('{{ 1 }}{{ "a" * 3 }}'), '1aaa');
  });

  it('a failed render leaves nothing behind', () => {
    const compiled = template(
      "{% macro m() %}{{ raise_exception('x') }}{% endmacro %}{% if bad %}{{ m() }}{% endif %}ok",
    );
    for (let run = 0; run < 300; run++) assert.ok(!compiled.render({ bad: true }).ok);
    const result = compiled.render({});
    assert.ok(result.ok);
    assert.deepEqual(result.pieces, ['ok']);
  });
});
