import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, afterEach, describe, it } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { pluginTokenize } from '../doors/plugin.ts';
import { modelDirectory } from '../models.ts';
import { nativeProgram } from '../support/built.ts';
import { assertInTime } from '../support/in-time.ts';
import { type Sidecar, startSidecar } from '../support/sidecar.ts';
import { run, textOf } from '../support/subprocess.ts';
import { call, closeHandle, isAlive, type Opening, openHandle, runtimeOf, runtimesOf } from './library.ts';

const MODEL = modelDirectory('qwen3');
const LOAD = nativeProgram('load_client');
const HELLO_WORLD = [9707, 1879];
/** How late a call may be on a machine that does other things too; the bound of 20 ms is for an idle one. */
const SLACK_MS = 100;
/** The same of the latest of thousands of calls. That deadlines are kept is for native-test/socket_deadline_test.c to show. */
const LOADED_SLACK_MS = 2000;
/** Until what is to end by itself has. */
const END_MS = 20_000;

const folder = mkdtempSync(join(tmpdir(), 'epptok-lifecycle-'));
after(() => rmSync(folder, { recursive: true }));
const cleanups: (() => unknown)[] = [];
afterEach(async () => {
  for (const clean of cleanups.splice(0).reverse()) await clean();
});

async function sidecar(name: string, env: NodeJS.ProcessEnv = {}): Promise<Sidecar> {
  const args = ['--model', `qwen3=${MODEL}`, '--threads', '2'];
  const started = await startSidecar(join(folder, name, 's.sock'), args, env);
  cleanups.push(() => started.end('SIGKILL'));
  return started;
}

function opened(opening: Opening): bigint {
  const { status, message, handle } = openHandle(opening);
  assert.equal(status, 'OK', message);
  cleanups.push(() => closeHandle(handle));
  return handle;
}

/** A handle onto a runtime of its own, and the id of the process that serves it. */
const RUNTIMES: [string, (timeoutMs: number) => Promise<{ handle: bigint; pid: number }>][] = [
  [
    'a sidecar',
    async (timeoutMs) => {
      const { socket, pid } = await sidecar(`s${cleanups.length}-${timeoutMs}`);
      return { handle: opened({ socket, timeoutMs }), pid };
    },
  ],
  [
    'a private child',
    async (timeoutMs) => {
      const handle = opened({ model: MODEL, timeoutMs });
      return { handle, pid: runtimeOf(process.pid) };
    },
  ],
];

for (const [name, start] of RUNTIMES) {
  describe(name, () => {
    it('that is stopped costs a call its time and no more; continued, it serves', async () => {
      const { handle, pid } = await start(1000);
      assert.deepEqual(call(handle, 'Hello world').ids, HELLO_WORLD);
      process.kill(pid, 'SIGSTOP');
      await assertInTime(1000 + SLACK_MS, () => {
        const { status, message, tookMs } = call(handle, 'Hello world');
        assert.equal(status, 'TIMEOUT', message);
        assert.ok(tookMs >= 999, `${tookMs} ms`);
        return tookMs;
      });
      process.kill(pid, 'SIGCONT');
      assert.deepEqual(call(handle, 'Hello world').ids, HELLO_WORLD);
    });

    it('leaves nothing of a closed handle: it is invalid, by this thread and by another', async () => {
      const { handle } = await start(1000);
      assert.equal(closeHandle(handle), 'OK');
      assert.equal(call(handle, 'Hello').status, 'INVALID_HANDLE');
      assert.equal(call(handle, 'Hello', 'another thread').status, 'INVALID_HANDLE');
      assert.equal(closeHandle(handle), 'INVALID_HANDLE');
      assert.equal(closeHandle(opened({ model: MODEL })), 'OK', 'and another can be opened');
    });
  });
}

describe('a dead socket', () => {
  it('is UNAVAILABLE at once, and names itself', async () => {
    const { socket, end } = await sidecar('dead');
    await end('SIGKILL');
    const { status, message, tookMs } = openHandle({ socket });
    assert.equal(status, 'UNAVAILABLE');
    assert.ok(message.includes(socket), message);
    assert.ok(tookMs < 10_000, `${tookMs} ms, as if it had waited for its deadline of 20 s`);
  });
});

interface Round {
  readonly calls: number;
  readonly wrong: number;
  readonly longest_us: number;
  readonly statuses: Readonly<Record<string, number>>;
}

/**
 * Eight threads of load_client, in rounds of a second. `disturb` runs in the midst of one and returns when service is to be
 * whole again; what is returned are the rounds until then, and two more that began later.
 */
async function underLoad(
  args: readonly string[],
  disturb: (pid: number, wholeAgain: () => Promise<void>) => Promise<void>,
) {
  const plan = [
    '--threads',
    '8',
    '--sizes',
    '1000,20000',
    '--timeout-ms',
    '3000',
    '--seconds',
    '1',
    '--rounds',
    '0',
  ];
  const client = spawn(LOAD, [...args, ...plan], {
    stdio: ['pipe', 'pipe', 'inherit'],
    env: { ...process.env, EPPTOK_NODE: process.execPath },
  });
  cleanups.push(() => client.kill('SIGKILL'));
  const stdout = textOf(client.stdout);
  const ended = once(client, 'close');
  const rounds = () =>
    stdout()
      .split('\n')
      .slice(1, -1)
      .map((line) => JSON.parse(line) as Round);
  const untilThereAre = async (count: number) => {
    while (rounds().length < count) {
      assert.equal(client.exitCode, null, stdout());
      await sleep(20);
    }
  };
  await untilThereAre(1);
  await sleep(300);
  const wholeAgain = async () => {
    const from = rounds().length + 1;
    const isWhole = ({ statuses }: Round) => Object.keys(statuses).join() === 'OK';
    while (!rounds().slice(from).some(isWhole)) await untilThereAre(rounds().length + 1);
  };
  await disturb(client.pid!, wholeAgain);
  const disturbed = rounds().length + 1;
  await untilThereAre(disturbed + 2);
  client.stdin.end();
  const [code] = await ended;
  assert.equal(code, 0);
  return { disturbed: rounds().slice(0, disturbed), whole: rounds().slice(disturbed, disturbed + 2) };
}

/** All calls came back in time, with the right ids or with what a lost runtime may answer. */
function assertHarmless(round: Round, allowed: readonly string[]): void {
  const shown = JSON.stringify(round);
  assert.equal(round.wrong, 0, shown);
  assert.ok(round.longest_us < (3000 + LOADED_SLACK_MS) * 1000, shown);
  for (const status of Object.keys(round.statuses)) assert.ok(['OK', ...allowed].includes(status), shown);
}

function assertWhole(rounds: readonly Round[]): void {
  for (const round of rounds) {
    assert.deepEqual(Object.keys(round.statuses), ['OK']);
    assertHarmless(round, []);
    assert.ok(round.calls >= 8, JSON.stringify(round));
  }
}

describe('a runtime that is lost under load', () => {
  for (const signal of ['SIGKILL', 'SIGTERM'] as const) {
    it(`a sidecar, by ${signal}, and started again: the same handle serves on`, async () => {
      const name = `load-${signal}`;
      const first = await sidecar(name);
      const { disturbed, whole } = await underLoad(['--socket', first.socket], async () => {
        await first.end(signal);
        await sidecar(name);
      });
      for (const round of disturbed) assertHarmless(round, ['UNAVAILABLE', 'SHUTTING_DOWN', 'NOT_READY']);
      assert.ok(disturbed.some(({ statuses }) => statuses.UNAVAILABLE !== undefined));
      assertWhole(whole);
    });
  }

  it('a private child, by SIGKILL: its calls are UNAVAILABLE, the next ones have a new one', async () => {
    const args = ['--model', MODEL, '--runtime-threads', '2'];
    const { disturbed, whole } = await underLoad(args, async (host, wholeAgain) => {
      const lost = runtimeOf(host);
      process.kill(lost, 'SIGKILL');
      while (runtimesOf(host).every((pid) => pid === lost)) await sleep(10);
      await wholeAgain();
    });
    let unavailable = 0;
    for (const round of disturbed) {
      assertHarmless(round, ['UNAVAILABLE', 'TIMEOUT']);
      unavailable += round.statuses.UNAVAILABLE ?? 0;
    }
    assert.ok(unavailable >= 1 && unavailable <= 8, `${unavailable}: as many as were in flight`);
    assertWhole(whole);
  });
});

describe('a private child of a host that forks other children', () => {
  it('ends when its host is killed, though the forked one lives on', async () => {
    const host = spawn(LOAD, ['--model', MODEL, '--runtime-threads', '1', '--seconds', '60', '--fork', '1'], {
      stdio: ['ignore', 'pipe', 'inherit'],
      env: { ...process.env, EPPTOK_NODE: process.execPath },
    });
    const [line] = (await once(host.stdout, 'data')) as [Buffer];
    const forked = Number(/^opened (\d+)/.exec(line.toString())?.[1]);
    cleanups.push(() => process.kill(forked, 'SIGKILL'));
    const runtime = runtimeOf(host.pid!);
    assert.ok(isAlive(runtime) && isAlive(forked));
    host.kill('SIGKILL');
    await once(host, 'exit');
    const limit = Date.now() + END_MS;
    while (isAlive(runtime) && Date.now() < limit) await sleep(10);
    assert.ok(!isAlive(runtime), 'the private child has ended');
    assert.ok(isAlive(forked));
  });

  it('is no zombie once it has died idle', async () => {
    const handle = opened({ model: MODEL });
    process.kill(runtimeOf(process.pid), 'SIGKILL');
    const limit = Date.now() + END_MS;
    while (runtimesOf(process.pid).length > 0 && Date.now() < limit) await sleep(10);
    assert.deepEqual(runtimesOf(process.pid), []);
    assert.deepEqual(call(handle, 'Hello world').ids, HELLO_WORLD);
  });
});

describe('two handles and two models in one process', () => {
  it('each of its own private child answers with its own ids', () => {
    const [qwen3, llama3] = [opened({ model: MODEL }), opened({ model: modelDirectory('llama3') })];
    assert.equal(runtimesOf(process.pid).length, 2);
    for (let i = 0; i < 3; i++) {
      assert.deepEqual(call(qwen3, 'Hello world').ids, HELLO_WORLD);
      const { ids } = call(llama3, 'Hello world');
      assert.deepEqual(ids, [9906, 1917]);
    }
    assert.equal(closeHandle(qwen3), 'OK');
    assert.deepEqual(call(llama3, 'Hello world').ids, [9906, 1917]);
  });
});

describe('a service thread that runs out of heap', () => {
  it('costs its call, UNAVAILABLE, is back within a second, and is in the log', async () => {
    const env = { NODE_OPTIONS: '--max-old-space-size=64' };
    const args = ['--model', `qwen3=${MODEL}`, '--threads', '1'];
    const { socket, end, log } = await startSidecar(join(folder, 'heap', 's.sock'), args, env);
    cleanups.push(() => end('SIGKILL'));
    const handle = opened({ socket });
    const huge = `{"messages":[${'{"role":"user","content":[{"a":1}]},'.repeat(500_000)}{}]}`;
    let died = 0;
    for (let i = 0; i < 2; i++) {
      await assertInTime(1000, () => {
        const { message } = pluginTokenize(handle, 'this thread', 'chat', huge);
        assert.equal(message, 'the thread that served the call has died');
        died++;
        const { ids, tookMs } = call(handle, 'Hello world');
        assert.deepEqual(ids, HELLO_WORLD);
        return tookMs;
      });
    }
    await end('SIGTERM');
    const lost = log()
      .split('\n')
      .filter((line) => line.includes('"msg":"a service thread was lost'));
    // In so small a heap one that takes its place may be lost, too, before it serves.
    assert.ok(lost.length >= died, log());
    for (const line of lost) {
      const { level, error } = JSON.parse(line) as { level: number; error: string };
      assert.deepEqual([level, error], [40, 'ERR_WORKER_OUT_OF_MEMORY']);
    }
  });
});

describe('a program that ends without closing its handle', () => {
  it('takes its private child along', async () => {
    const script = `
      import { openHandle, runtimeOf, runtimesOf } from ${JSON.stringify(new URL('./library.ts', import.meta.url).href)};
      const { status } = openHandle({ model: ${JSON.stringify(MODEL)} });
      console.log(status, runtimeOf(process.pid));
      process.exit(0);`;
    const ended = await run(process.execPath, ['--import', 'tsx', '--input-type=module', '-e', script]);
    const [status, runtime] = ended.stdout.trim().split(' ');
    assert.equal(status, 'OK', ended.stderr);
    const limit = Date.now() + END_MS;
    while (isAlive(Number(runtime)) && Date.now() < limit) await sleep(10);
    assert.ok(!isAlive(Number(runtime)));
  });
});
