import assert from 'node:assert/strict';
import { cpSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { modelDirectory } from '../models.ts';
import { ROOT } from '../support/built.ts';
import { run } from '../support/subprocess.ts';

const MODEL = modelDirectory('qwen3');
const CHAT = '{"messages":[{"role":"user","content":"Hi"}]}';
const PLATFORM = `${process.platform}-${process.arch}`;
const LIBRARY = `libepptok.${process.platform === 'darwin' ? 'dylib' : 'so'}`;
const LIMIT_MS = 240_000;

const folder = mkdtempSync(join(tmpdir(), 'epptok-pack-'));
after(() => rmSync(folder, { recursive: true }));
/** An empty project, with nothing of this checkout in it or above it. */
const project = join(folder, 'a #1 project 100%25');
const installed = join(project, 'node_modules/epptok');

// What a checkout's user has set must not stand in for what the package lacks.
const { EPPTOK_RUNTIME: _runtime, EPPTOK_NODE: _node, NODE_PATH: _path, ...env } = process.env;

async function must(program: string, args: readonly string[], input = ''): Promise<string> {
  const ended = await run(program, args, { cwd: project, env, input, limitMs: LIMIT_MS });
  assert.equal(ended.code, 0, `${program} ${args.join(' ')}\n${ended.stdout}${ended.stderr}`);
  return ended.stdout;
}

/** Arguments of cc for what uses the package and nothing else. */
function againstPackage(...names: string[]): string[] {
  const native = join(installed, 'dist/native', PLATFORM);
  return ['-Wall', '-Wextra', '-Werror', ...names, `-I${installed}/include`, `-L${native}`, '-lepptok'];
}

describe('the package that npm pack makes', () => {
  let files: string[] = [];

  before(async () => {
    mkdirSync(project);
    // The scripts are the build, which has been.
    const pack = ['pack', '--ignore-scripts', '--json', '--pack-destination', folder];
    const packed = await run('npm', pack, { cwd: ROOT, env, limitMs: LIMIT_MS });
    assert.equal(packed.code, 0, packed.stderr);
    const [tarball] = JSON.parse(packed.stdout) as [{ filename: string; files: { path: string }[] }];
    files = tarball.files.map(({ path }) => path);
    writeFileSync(join(project, 'package.json'), '{"name":"somebody","private":true,"type":"module"}');
    // npm may refuse koffi's install script: nothing of it is needed.
    const flags = ['--ignore-scripts', '--no-audit', '--no-fund', '--prefer-offline'];
    await must('npm', ['install', ...flags, join(folder, tarball.filename)]);
    cpSync(join(ROOT, 'examples'), join(project, 'examples'), { recursive: true });
  });

  it('carries the library for this platform, the header, types, the runtime and the command', () => {
    for (const path of [
      `dist/native/${PLATFORM}/${LIBRARY}`,
      'include/epptok.h',
      'dist/index.js',
      'dist/index.d.ts',
      'dist/index.cjs',
      'dist/index.d.cts',
      'dist/serve-process.js',
      'dist/cli.js',
      'README.md',
      'LICENSE',
    ]) {
      assert.ok(files.includes(path), path);
    }
  });

  it('carries nothing else than what is built, the header and its papers', () => {
    const others = files.filter(
      (path) =>
        !/^dist\/[\w-]+\.(c?js|c?js\.map|d\.c?ts)$/.test(path) &&
        !/^dist\/native\/[\w-]+\/libepptok\.(so|dylib)[.\d]*$/.test(path) &&
        !['include/epptok.h', 'package.json', 'README.md', 'LICENSE'].includes(path),
    );
    assert.deepEqual(others, []);
  });

  it('installs without development dependencies', async () => {
    const tree = JSON.parse(await must('npm', ['ls', '--all', '--json'])) as {
      dependencies: { epptok: { dependencies: object } };
    };
    const { dependencies } = (await import('../../package.json', { with: { type: 'json' } })).default;
    assert.deepEqual(
      Object.keys(tree.dependencies.epptok.dependencies).sort(),
      Object.keys(dependencies).sort(),
    );
  });

  it('serves AsyncTokenizer', async () => {
    const printed = await must(process.execPath, ['examples/node/tokenize.js', MODEL], CHAT);
    assert.match(printed, /^9 ids, tokenized: 151644 872 198 13048 /);
  });

  it('serves Tokenizer', async () => {
    const printed = await must(process.execPath, ['examples/node/blocking.js', MODEL], CHAT);
    assert.equal(printed, '9 ids: "m_end|>\\n<|im_start|>assistant\\n"\n');
  });

  it('serves a C plugin through nativeHandle', async () => {
    await must('cc', ['-shared', '-fPIC', ...againstPackage('examples/c/plugin.c'), '-o', 'plugin.so']);
    const args = ['examples/node/plugin.js', join(project, 'plugin.so'), MODEL];
    assert.equal(await must(process.execPath, args), '7 tokens\n');
  });

  it('serves CommonJS: both doors, a C plugin, and what is imported is what is required', async () => {
    writeFileSync(
      join(project, 'required.cjs'),
      `const { AsyncTokenizer, EpptokError, Tokenizer } = require('epptok');
       const koffi = require('koffi');
       const [, , model, plugin, body] = process.argv;
       (async () => {
         const asynchronous = await AsyncTokenizer.create({ model, threads: 1 });
         const { ids } = await asynchronous.tokenize({ body });
         const refused = await asynchronous.tokenize({ body: '{' }).catch((error) => error);
         await asynchronous.close();
         const blocking = new Tokenizer({ model, threads: 1 });
         const handle = blocking.nativeHandle;
         const count = koffi.load(plugin).func('int64_t count_tokens(uint64_t handle, const char *text)');
         const counted = [ids.length, blocking.tokenize({ body }).ids.length, count(handle, 'Grüezi mitenand')];
         blocking.close();
         const imported = await import('epptok');
         console.log(...counted, refused instanceof imported.EpptokError, imported.Tokenizer === Tokenizer);
       })();`,
    );
    const args = ['required.cjs', MODEL, join(project, 'plugin.so'), CHAT];
    assert.equal(await must(process.execPath, args), '9 9 7 true true\n');
  });

  it('serves a C program from a private child, which the library finds by itself', async () => {
    const link = [`-Wl,-rpath,${join(installed, 'dist/native', PLATFORM)}`, '-o', 'tokenize-rpath'];
    await must('cc', ['-std=c99', ...againstPackage('examples/c/tokenize.c'), ...link]);
    const printed = await must('./tokenize-rpath', [MODEL], CHAT);
    assert.equal(printed, '9 ids: 151644 872 198 13048 151645 198 151644 77091 ...\n');
  });

  it('has the command on the path of npm scripts', async () => {
    const command = join(project, 'node_modules/.bin/epptok');
    assert.equal(await must(command, ['encode', '--model', MODEL, '--kind', 'text'], 'hello'), '14990\n');
  });

  it('has types that fit a strict project', async () => {
    writeFileSync(
      join(project, 'typed.ts'),
      `import { AsyncTokenizer, EpptokError, type StatusName, Tokenizer } from 'epptok';
       const t: AsyncTokenizer = await AsyncTokenizer.create({ model: { a: 'b' }, engine: 'dynamo' });
       const ids: Uint32Array = (await t.tokenize({ kind: 'chat', body: { messages: [] } })).ids;
       const text: string = new Tokenizer({ model: 'x' }).detokenize({ ids });
       const code: StatusName = new EpptokError({ status: 'TIMEOUT', message: text }).code;
       // @ts-expect-error: no such kind
       await t.tokenize({ kind: 'prose', body: code });
      `,
    );
    writeFileSync(
      join(project, 'typed.cts'),
      `import epptok = require('epptok');
       const text: string = new epptok.Tokenizer({ model: 'x' }).detokenize({ ids: [1] });
       // @ts-expect-error: no such option
       new epptok.Tokenizer({ model: text, colour: 1 });
      `,
    );
    const flags = ['--strict', '--noEmit', '--target', 'es2022', '--module', 'nodenext'];
    const files = ['typed.ts', 'typed.cts'];
    await must(process.execPath, [join(ROOT, 'node_modules/typescript/bin/tsc'), ...flags, ...files]);
  });
});
