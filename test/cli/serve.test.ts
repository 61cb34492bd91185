import assert from 'node:assert/strict';
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdtempSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, afterEach, describe, it } from 'node:test';
import { modelDirectory } from '../models.ts';
import { CLI, nativeProgram, ROOT } from '../support/built.ts';
import { run, textOf } from '../support/subprocess.ts';
import { epptok } from './cli.ts';

const MODEL = modelDirectory('qwen3');
const QUICKSTART = nativeProgram('quickstart');
const LIMIT_MS = 120_000;

const folder = mkdtempSync(join(tmpdir(), 'epptok-serve-'));
after(() => rmSync(folder, { recursive: true }));

interface Sidecar {
  readonly process: ChildProcess;
  readonly socket: string;
  readonly log: () => string;
}

const started: ChildProcess[] = [];
afterEach(() => {
  for (const child of started.splice(0)) child.kill('SIGKILL');
});

/** `epptok serve` once it says that it is ready. */
async function ready(name: string, ...args: string[]): Promise<Sidecar> {
  const socket = join(folder, name, 'epptok.sock');
  const command = [CLI, 'serve', '--model', `qwen3=${MODEL}`, '--socket', socket, '--threads', '1', ...args];
  const child = spawn(process.execPath, command, { stdio: ['ignore', 'ignore', 'pipe'] });
  started.push(child);
  const log = textOf(child.stderr!);
  const limit = Date.now() + LIMIT_MS;
  while (!log().includes('"msg":"ready"')) {
    assert.equal(child.exitCode, null, `it ended before it was ready: ${log()}`);
    assert.ok(Date.now() < limit, `it is not ready: ${log()}`);
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
  return { process: child, socket, log };
}

async function endOf({ process: child }: Sidecar): Promise<unknown[]> {
  return child.exitCode !== null || child.signalCode !== null
    ? [child.exitCode, child.signalCode]
    : once(child, 'exit', { signal: AbortSignal.timeout(LIMIT_MS) });
}

const modeOf = (path: string) => (statSync(path).mode & 0o777).toString(8);

describe('epptok serve', () => {
  it('lets its own user in, and nobody else', async () => {
    const sidecar = await ready('modes');
    assert.equal(modeOf(sidecar.socket), '600');
    assert.equal(modeOf(join(sidecar.socket, '..')), '700');
  });

  it('lets a group in with --socket-group', async () => {
    const sidecar = await ready('group', '--socket-group', String(process.getgid!()));
    assert.equal(modeOf(sidecar.socket), '660');
    assert.equal(modeOf(join(sidecar.socket, '..')), '750');
  });

  for (const signal of ['SIGTERM', 'SIGINT'] as const) {
    it(`serves a C program until ${signal}, ends with 0 and takes its socket along`, async () => {
      const sidecar = await ready(signal);
      const served = await run(QUICKSTART, ['--socket', sidecar.socket]);
      assert.equal(served.code, 0, served.stderr);
      assert.match(
        served.stdout,
        /transport {3}socket\n {2}status {6}OK\n {2}ids {9}165, starting with 151644 8948/,
      );
      sidecar.process.kill(signal);
      assert.deepEqual(await endOf(sidecar), [0, null]);
      assert.equal(existsSync(sidecar.socket), false);
    });
  }

  it('may be started again on the same path, also after a kill', async () => {
    const first = await ready('again');
    first.process.kill('SIGKILL');
    await endOf(first);
    assert.ok(existsSync(first.socket));
    const second = await ready('again');
    assert.equal((await run(QUICKSTART, ['--socket', second.socket])).code, 0);
  });

  it('refuses the socket of another one that is alive', async () => {
    const { socket } = await ready('alive');
    const ended = await epptok(['serve', '--model', MODEL, '--socket', socket]);
    assert.equal(ended.code, 1);
    assert.match(ended.stderr, /epptok: INIT_FAILED: .*epptok\.sock/);
    assert.equal((await run(QUICKSTART, ['--socket', socket])).code, 0, 'the first one is unharmed');
  });

  it('logs that it works, and no prompt, at any level', async () => {
    const sidecar = await ready('canary', '--log', 'trace');
    const client = join(folder, 'tokenize');
    const bodies = [
      '{"prompt":"canary bird"}',
      '{"prompt":"canary',
      '{"canary":1}',
      '{"prompt":["canary",7]}',
    ];
    const compiled = await compileClient(client);
    assert.equal(compiled.code, 0, compiled.stderr);
    for (const body of bodies) {
      const answered = await run(client, ['--socket', sidecar.socket], { input: body });
      assert.equal(answered.code, body === bodies[0] ? 0 : 1, answered.stderr);
    }
    sidecar.process.kill('SIGTERM');
    await endOf(sidecar);
    assert.match(sidecar.log(), /"msg":"stopping"/);
    assert.doesNotMatch(sidecar.log().replaceAll(sidecar.socket, ''), /canary|bird/);
  });
});

/** examples/c/tokenize.c, which sends its standard input. */
function compileClient(target: string) {
  const library = join(ROOT, 'build/native');
  const source = join(ROOT, 'examples/c/tokenize.c');
  const link = [`-L${library}`, '-lepptok', `-Wl,-rpath,${library}`];
  return run('cc', ['-std=c99', source, `-I${join(ROOT, 'include')}`, ...link, '-o', target]);
}

describe('epptok serve ends with 1 and names the culprit', () => {
  const socket = join(folder, 'wrong', 'epptok.sock');
  const CASES: [what: string, args: string[], stderr: RegExp][] = [
    ['no socket', ['--model', MODEL], /--socket/],
    ['no model', ['--socket', socket], /--model/],
    ['a directory that is missing', ['--model', '/nowhere', '--socket', socket], /INIT_FAILED: .*\/nowhere/],
    [
      'a path too long for a socket',
      ['--model', MODEL, '--socket', `/tmp/${'long/'.repeat(40)}x.sock`],
      /INIT_FAILED: .*long/,
    ],
    [
      'a group that is missing',
      ['--model', MODEL, '--socket', socket, '--socket-group', 'no-such-group'],
      /INIT_FAILED: .*no-such-group/,
    ],
    ['a path that is no socket', ['--model', MODEL, '--socket', CLI], /INIT_FAILED: .*cli\.js/],
    ['an unknown level', ['--model', MODEL, '--socket', socket, '--log', 'loud'], /--log.*loud/],
  ];
  for (const [what, args, stderr] of CASES) {
    it(what, async () => {
      const ended = await epptok(['serve', ...args]);
      assert.equal(ended.code, 1);
      assert.match(ended.stderr, stderr);
      assert.doesNotMatch(ended.stderr, /\n +at /, 'a stack is no message');
      assert.equal(existsSync(socket), false);
    });
  }
});
