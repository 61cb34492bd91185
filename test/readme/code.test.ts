import assert from 'node:assert/strict';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { STATUS_TABLE } from '../../src/protocol/status.ts';
import { ROOT } from '../support/built.ts';
import { BLOCKS, README } from './blocks.ts';

const CODE = BLOCKS.filter(({ language }) => ['c', 'cpp', 'go', 'js', 'json'].includes(language));

/** A file's text, or that of a region of it: `path#name`. */
function shown(label: string): string {
  const [path, region] = label.split('#');
  const text = readFileSync(join(ROOT, path!), 'utf8');
  if (region === undefined) return text;
  const start = text.indexOf(`// region ${region}\n`);
  const end = text.indexOf('// endregion\n', start);
  assert.ok(start >= 0 && end > start, `${path} has no region ${region}`);
  return `${text.slice(text.indexOf('\n', start), end).trim()}\n`;
}

describe('code in README.md', () => {
  for (const { label, content } of CODE) {
    it(`is ${label}`, () => assert.equal(content, shown(label ?? 'a block of code without a file')));
  }

  it('is every example there is', () => {
    const files = readdirSync(join(ROOT, 'examples'), { recursive: true, encoding: 'utf8' })
      .filter((name) => /\.(c|cpp|go|js|json)$/.test(name) && !name.endsWith('_test.go'))
      .map((name) => `examples/${name}`);
    const labels = new Set(CODE.map(({ label }) => label?.split('#')[0]));
    assert.deepEqual(new Set(files), labels);
  });
});

describe('facts in README.md', () => {
  it('status codes are those of the table', () => {
    const rows = [...README.matchAll(/^\| (\d+) +\| ([A-Z_]+) +\|/gm)].map(([, code, name]) => [
      name,
      Number(code),
    ]);
    assert.deepEqual(
      rows,
      STATUS_TABLE.map(([name, code]) => [name, code]),
    );
  });

  it('names that begin with EPPTOK_ are of the header or of the library', () => {
    const files = readdirSync(join(ROOT, 'src'), { recursive: true, encoding: 'utf8' });
    const sources = files.filter((name) => /\.(ts|c|h)$/.test(name)).map((name) => `src/${name}`);
    const text = ['include/epptok.h', ...sources]
      .map((name) => readFileSync(join(ROOT, name), 'utf8'))
      .join('');
    const names = new Set(README.match(/\bEPPTOK_[A-Z_]*[A-Z]\b/g));
    assert.ok(names.size > 5);
    for (const name of names) assert.match(text, new RegExp(`\\b${name}\\b`), name);
  });

  it('links lead somewhere', () => {
    const anchors = new Set(
      [...README.matchAll(/^#+ (.*)$/gm)].map(([, title]) => title!.toLowerCase().replaceAll(' ', '-')),
    );
    for (const [, target] of README.matchAll(/\]\(([^)]+)\)/g)) {
      if (target!.startsWith('#')) assert.ok(anchors.has(target!.slice(1)), target);
      else assert.ok(existsSync(join(ROOT, target!)), target);
    }
  });
});
