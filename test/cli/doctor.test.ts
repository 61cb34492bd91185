import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { withDirectory } from '../directory.ts';
import { modelDirectory } from '../models.ts';
import { CLI } from '../support/built.ts';
import { run } from '../support/subprocess.ts';

const doctor = (...models: string[]) =>
  run(process.execPath, [CLI, 'doctor', ...models.flatMap((model) => ['--model', model])]);

describe('epptok doctor', () => {
  it('says of a model that it is exact, and what it is', async () => {
    const { code, stdout } = await doctor(
      `qwen3=${modelDirectory('qwen3')}`,
      `deepseek=${modelDirectory('deepseek_v3')}`,
    );
    assert.equal(code, 0);
    const [qwen3, deepseek] = stdout.split(/^deepseek in/m);
    assert.match(qwen3 ?? '', /^qwen3 in .*\n {2}verdict {10}exact\n/);
    assert.match(qwen3 ?? '', /encoder +compiled, 151669 ids/);
    assert.match(qwen3 ?? '', /special tokens +none/);
    assert.match(qwen3 ?? '', /context length +131072/);
    assert.match(qwen3 ?? '', /chat template +default, content as string/);
    assert.match(deepseek ?? '', /special tokens +0 around/);
    assert.match(deepseek ?? '', /self-test +\d+ ids, decoded to the same text/);
  });

  it('says of a directory that cannot be read which path is at fault', () => {
    const files = { 'tokenizer.json': { model: { type: 'BPE', vocab: { a: 0 }, merges: [] } } };
    const { status, stdout, stderr } = withDirectory(files, (directory) => {
      symlinkSync('additional_chat_templates', join(directory, 'additional_chat_templates'));
      return spawnSync(process.execPath, [CLI, 'doctor', '--model', directory], {
        encoding: 'utf8',
        timeout: 60_000,
      });
    });
    assert.equal(status, 1);
    assert.match(stdout, /INIT_FAILED: .*additional_chat_templates cannot be read \(ELOOP\)/);
    assert.equal(stderr, '');
  });

  it('names the construct that is not done exactly, and exits with 1', () => {
    const files = { 'tokenizer.json': { model: { type: 'WordPiece', vocab: { a: 0 } } } };
    const { status, stdout } = withDirectory(files, (directory) =>
      spawnSync(process.execPath, [CLI, 'doctor', '--model', directory], {
        encoding: 'utf8',
        timeout: 60_000,
      }),
    );
    assert.equal(status, 1);
    assert.match(stdout, /verdict +UNSUPPORTED: .*model WordPiece/);
  });
});
