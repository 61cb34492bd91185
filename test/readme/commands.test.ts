import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, describe, it } from 'node:test';
import { ROOT } from '../support/built.ts';
import { run } from '../support/subprocess.ts';
import { BLOCKS, commands, README } from './blocks.ts';

// What `mktemp -d` of a block makes is made, and removed, in here.
const folder = mkdtempSync(join(tmpdir(), 'epptok-readme-'));
after(() => rmSync(folder, { recursive: true }));

describe('commands in README.md print what is said', () => {
  for (const { label, environment, content, output } of commands()) {
    const needs = label?.replace('needs: ', '');
    // Compiling for Go takes long: it has a file of its own.
    if (needs === 'go') continue;
    const absent = needs !== undefined && spawnSync(needs, ['--version']).status !== 0;
    it(content, { skip: absent && `there is no ${needs} on PATH` }, async () => {
      const env = { ...process.env, TMPDIR: folder };
      // Its standard input is a socket, by which bash may take itself for a remote shell's and read the machine's rc.
      const ended = await run('bash', ['--norc', '-eu', '-c', environment + content], { cwd: ROOT, env });
      assert.equal(ended.code, 0, ended.stderr);
      assert.equal(ended.stdout, output ?? '');
      if (ended.stderr !== '') assert.ok(README.includes(`\`${ended.stderr.trim()}\``), ended.stderr);
    });
  }
});

describe('npm start, without the build', () => {
  it('prints what is said, times aside', async () => {
    const said = BLOCKS.find(({ label }) => label === 'output of npm start');
    assert.ok(said);
    const script = join(ROOT, 'scripts/quickstart.ts');
    const ended = await run(process.execPath, ['--import', 'tsx', script], { cwd: ROOT });
    assert.equal(ended.code, 0, ended.stderr);
    const lines = withoutTimes(said.content).trimEnd().split('\n');
    const pattern = lines.map((line) => (line === '...' ? '(?:.*\\n)*?' : `${escaped(line)}\\n`)).join('');
    assert.match(withoutTimes(ended.stdout), new RegExp(`^${pattern}$`));
  });
});

function withoutTimes(text: string): string {
  return text.replace(/\d+ us|worker \d+/g, '_');
}

function escaped(text: string): string {
  return text.replace(/[.*+?^${}()|[\]\\]/g, '\\$&');
}
