import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { RequestTemplates } from '../../src/preprocess/request-templates.ts';

describe('templates of requests', () => {
  test('are compiled once', () => {
    const templates = new RequestTemplates();
    const first = templates.open('{{ 1 }}');
    assert.ok(first.ok);
    assert.equal(templates.open('{{ 1 }}'), first);
    assert.notEqual(templates.open('{{ 2 }}'), first);
    assert.equal(templates.open('{% if %}'), templates.open('{% if %}'));
  });

  test('are kept while they are used, sixteen at most', () => {
    const templates = new RequestTemplates();
    const used = templates.open('used');
    const unused = templates.open('unused');
    for (let index = 0; index < 40; index++) {
      templates.open(`{{ ${index} }}`);
      assert.equal(templates.open('used'), used);
    }
    assert.equal(templates.size, 16);
    assert.notEqual(templates.open('unused'), unused);
  });

  test('take bounded memory together, and have a bounded size each', () => {
    const templates = new RequestTemplates();
    for (let index = 0; index < 10; index++) assert.ok(templates.open(`${index}`.padEnd(100_000, 'x')).ok);
    assert.equal(templates.size, 2);
    const large = templates.open('x'.repeat(131_073));
    assert.deepEqual(!large.ok && large.fault, {
      status: 'INVALID_REQUEST',
      message: 'chat_template has more than 131072 characters',
    });
    assert.equal(templates.size, 2);
  });

  test('that are hostile are compiled or refused in bounded time', () => {
    const many = (piece: string, before = '', after = '') =>
      before + piece.repeat(Math.floor((131_072 - before.length - after.length) / piece.length)) + after;
    for (const source of [
      many('{{'),
      many('{% set a = messages %}'),
      many('{% for m in messages %}{% endfor %}'),
      many('{% if a %}'),
      many('(', '{{ ', ' }}'),
      many('|upper', '{{ a', ' }}'),
      many('.a', '{{ a', ' }}'),
      many('9', '{{ ', ' }}'),
      many(' \n', 'x', '{%- if a %}'),
      many('1,', '{{ [', '] }}'),
      many('{% macro a() %}{% endmacro %}'),
    ]) {
      const start = process.cpuUsage();
      new RequestTemplates().open(source);
      const { user, system } = process.cpuUsage(start);
      assert.ok(user + system < 5_000_000, `${source.slice(0, 30)}: ${(user + system) / 1000} ms`);
    }
  });
});
