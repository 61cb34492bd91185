import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { compileTemplate } from '../../../src/preprocess/jinja/template.ts';

function format(source: string): string {
  const compiled = compileTemplate(source);
  assert.ok(compiled.ok);
  return compiled.template.contentFormat;
}

describe('the form of content that a template expects, by the rules of vLLM', () => {
  it('is string unless the template loops over the content of a message', () => {
    assert.equal(format('{% for m in messages %}{{ m.content }}{% endfor %}'), 'string');
    assert.equal(format("{% for m in messages %}{{ m['content'] | trim }}{% endfor %}"), 'string');
    assert.equal(format('{{ messages }}'), 'string');
  });

  it('is parts when it does, by attribute or key', () => {
    assert.equal(format('{% for m in messages %}{% for p in m.content %}{% endfor %}{% endfor %}'), 'parts');
    assert.equal(
      format("{% for m in messages %}{% for p in m['content'] %}{% endfor %}{% endfor %}"),
      'parts',
    );
  });

  it('also through names set to messages, slices and filters', () => {
    const inner = '{% for p in m.content | list %}{% endfor %}';
    assert.equal(format(`{% set l = messages[1:] %}{% for m in l %}${inner}{% endfor %}`), 'parts');
    assert.equal(
      format(`{% set l = messages %}{% set k = l %}{% for m in k|reverse %}${inner}{% endfor %}`),
      'parts',
    );
    assert.equal(
      format(`{% set l = messages %}{% set messages = l %}{% for m in messages %}${inner}{% endfor %}`),
      'parts',
    );
  });

  it('not through macros, other variables, or other keys', () => {
    assert.equal(
      format(
        '{% macro c(content) %}{% for p in content %}{% endfor %}{% endmacro %}{% for m in messages %}{{ c(m.content) }}{% endfor %}',
      ),
      'string',
    );
    assert.equal(format('{% for m in other %}{% for p in m.content %}{% endfor %}{% endfor %}'), 'string');
    assert.equal(
      format('{% for m in messages %}{% for p in m.tool_calls %}{% endfor %}{% endfor %}'),
      'string',
    );
  });

  it('is string where vLLM gives up: a target that is no name', () => {
    assert.equal(
      format(
        '{% for a, b in messages %}{% endfor %}{% for m in messages %}{% for p in m.content %}{% endfor %}{% endfor %}',
      ),
      'string',
    );
  });
});
