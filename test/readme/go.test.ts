import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { modelDirectory } from '../models.ts';
import { ROOT } from '../support/built.ts';
import { run } from '../support/subprocess.ts';
import { commands } from './blocks.ts';

const absent = spawnSync('go', ['version']).status !== 0;
// The first one compiles Go's own library.
const limitMs = 280_000;

describe('Go', { skip: absent && 'there is no go on PATH' }, () => {
  it('the command in README.md prints what is said', async () => {
    const block = commands().find(({ label }) => label === 'needs: go');
    assert.ok(block);
    const script = block.environment + block.content;
    const ended = await run('bash', ['-eu', '-c', script], { cwd: ROOT, limitMs });
    assert.equal(ended.code, 0, ended.stderr);
    assert.equal(ended.stdout, block.output);
  });

  it('the package: vet, and its tests under the race detector', async () => {
    const env = {
      ...process.env,
      CGO_CFLAGS: `-I${join(ROOT, 'include')}`,
      CGO_LDFLAGS: `-L${join(ROOT, 'build/native')} -Wl,-rpath,${join(ROOT, 'build/native')}`,
      EPPTOK_RUNTIME: join(ROOT, 'dist/serve-process.js'),
      EPPTOK_TEST_MODEL: modelDirectory('qwen3'),
    };
    const cwd = join(ROOT, 'examples/go');
    const vetted = await run('go', ['vet', './...'], { cwd, env, limitMs });
    assert.equal(vetted.code, 0, vetted.stderr);
    const tested = await run('go', ['test', '-race', '-count=1', './...'], { cwd, env, limitMs });
    assert.equal(tested.code, 0, tested.stdout + tested.stderr);
    assert.match(tested.stdout, /^ok /m);
  });
});
