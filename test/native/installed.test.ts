import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { cpSync, mkdirSync, mkdtempSync, renameSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { modelDirectory } from '../models.ts';
import { ROOT } from '../support/built.ts';
import { run } from '../support/subprocess.ts';

const CHAT = '{"messages":[{"role":"user","content":"Hi"}]}';
const ANSWER = '9 ids: 151644 872 198 13048 151645 198 151644 77091 ...\n';

const folder = mkdtempSync(join(tmpdir(), 'epptok-installed-'));
after(() => rmSync(folder, { recursive: true }));
const prefix = join(folder, 'usr');
const project = join(folder, 'project');
const model = join(folder, 'model');

/** What a checkout's user has set must not stand in for what the tree lacks; of programs, only node is on PATH at run time. */
const { EPPTOK_RUNTIME: _runtime, EPPTOK_NODE: _node, NODE_PATH: _path, ...inherited } = process.env;
const buildEnv = { ...inherited, PKG_CONFIG_PATH: join(prefix, 'lib/pkgconfig') };
const runEnv = { PATH: join(folder, 'bin'), HOME: folder };

async function must(
  program: string,
  args: readonly string[],
  cwd = project,
  env = buildEnv,
): Promise<string> {
  const ended = await run(program, args, { cwd, env });
  assert.equal(ended.code, 0, `${program} ${args.join(' ')}\n${ended.stdout}${ended.stderr}`);
  return ended.stdout;
}

describe('a tree that cmake --install makes, and that is moved then', () => {
  before(async () => {
    for (const made of [project, join(folder, 'bin')]) mkdirSync(made);
    symlinkSync(process.execPath, join(folder, 'bin/node'));
    cpSync(modelDirectory('qwen3'), model, { recursive: true });
    const staged = join(folder, 'staged');
    const install = ['--install', join(ROOT, 'build/native'), '--prefix', staged, '--component', 'epptok'];
    await must('cmake', install, ROOT);
    renameSync(staged, prefix);
    cpSync(join(ROOT, 'examples/c/tokenize.c'), join(project, 'tokenize.c'));
  });

  /** The program runs in /, with nothing of the checkout near. */
  async function serves(program: string, env: NodeJS.ProcessEnv): Promise<void> {
    const ended = await run(program, [model], { cwd: '/', env, input: CHAT });
    assert.equal(ended.stdout, ANSWER, ended.stderr);
    assert.equal(ended.code, 0);
  }

  const absent = spawnSync('pkg-config', ['--version']).status !== 0;
  it('serves a C program built with pkg-config', { skip: absent && 'there is no pkg-config' }, async () => {
    const flags = (await must('pkg-config', ['--cflags', '--libs', 'epptok'])).trim().split(/\s+/);
    assert.ok(
      flags.includes(`-I${prefix}/lib/pkgconfig/../../include`) || flags.includes(`-I${prefix}/include`),
    );
    assert.equal((await must('pkg-config', ['--modversion', 'epptok'])).trim(), '0.1.0');
    await must('cc', [
      '-std=c99',
      '-Wall',
      '-Wextra',
      '-Werror',
      'tokenize.c',
      ...flags,
      '-o',
      'by-pkg-config',
    ]);
    await serves(join(project, 'by-pkg-config'), { ...runEnv, LD_LIBRARY_PATH: join(prefix, 'lib') });
  });

  it('serves a C program built with find_package', async () => {
    const lines = [
      'cmake_minimum_required(VERSION 3.20)',
      'project(somebody LANGUAGES C)',
      'find_package(epptok 0.1 REQUIRED CONFIG)',
      'add_executable(by-cmake tokenize.c)',
      'target_link_libraries(by-cmake PRIVATE epptok::epptok)',
    ];
    writeFileSync(join(project, 'CMakeLists.txt'), lines.join('\n'));
    await must('cmake', ['-S', '.', '-B', 'build', `-DCMAKE_PREFIX_PATH=${prefix}`]);
    await must('cmake', ['--build', 'build']);
    await serves(join(project, 'build/by-cmake'), runEnv);
  });

  it('holds the runtime as one folder without node_modules', async () => {
    const found = await must('find', [prefix, '-name', 'node_modules', '-o', '-name', '*.ts']);
    assert.equal(found, '');
  });
});
