import assert from 'node:assert/strict';
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { networkInterfaces, tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, afterEach, describe, it } from 'node:test';
import { modelDirectory } from '../models.ts';
import { CLI, nativeProgram } from '../support/built.ts';
import { samplesOf, total } from '../support/prometheus.ts';
import { run, textOf } from '../support/subprocess.ts';
import { epptok } from './cli.ts';

const MODEL = `qwen3=${modelDirectory('qwen3')}`;
const QUICKSTART = nativeProgram('quickstart');
const LIMIT_MS = 120_000;

const folder = mkdtempSync(join(tmpdir(), 'epptok-metrics-'));
after(() => rmSync(folder, { recursive: true }));

const started: ChildProcess[] = [];
afterEach(() => {
  for (const child of started.splice(0)) child.kill('SIGKILL');
});

interface Sidecar {
  readonly process: ChildProcess;
  readonly socket: string;
  readonly url: string;
  readonly log: () => string;
}

async function until(what: string, holds: () => boolean | Promise<boolean>): Promise<void> {
  const limit = Date.now() + LIMIT_MS;
  while (!(await holds())) {
    assert.ok(Date.now() < limit, `never: ${what}`);
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
}

/** `epptok serve` with metrics on a port of the system's choice, as soon as it listens. */
async function listening(name: string, ...args: string[]): Promise<Sidecar> {
  const socket = join(folder, name, 'epptok.sock');
  const command = [CLI, 'serve', '--model', MODEL, '--socket', socket, '--threads', '1', ...args];
  const child = spawn(process.execPath, command, { stdio: ['ignore', 'ignore', 'pipe'] });
  started.push(child);
  const log = textOf(child.stderr!);
  await until('it listens', () => {
    assert.equal(child.exitCode, null, log());
    return log().includes('"metrics":"http');
  });
  const url = /"metrics":"(http[^"]+)"/.exec(log())![1]!;
  return { process: child, socket, url, log };
}

const get = (url: string, method = 'GET') => fetch(url, { method, signal: AbortSignal.timeout(LIMIT_MS) });

async function ready(sidecar: Sidecar): Promise<Sidecar> {
  await until('it is ready', async () => (await get(`${sidecar.url}/readyz`)).status === 200);
  return sidecar;
}

describe('epptok serve --metrics', () => {
  it('is alive at once, and ready when every model is warm', async () => {
    const sidecar = await listening('ready', '--metrics', '127.0.0.1:0');
    const early = await get(`${sidecar.url}/readyz`);
    assert.equal(early.status, 503);
    assert.match(await early.text(), /loading/);
    assert.equal((await get(`${sidecar.url}/healthz`)).status, 200);
    assert.equal(total(await (await get(`${sidecar.url}/metrics`)).text(), 'epptok_ready'), 0);
    await ready(sidecar);
    assert.match(sidecar.log(), /"msg":"ready"/);
    assert.equal(total(await (await get(`${sidecar.url}/metrics`)).text(), 'epptok_ready'), 1);
  });

  it('counts what C programs have asked for, with times, as Prometheus text', async () => {
    const sidecar = await ready(await listening('counts', '--metrics', '127.0.0.1:0'));
    assert.equal((await run(QUICKSTART, ['--socket', sidecar.socket])).code, 0);
    const response = await get(`${sidecar.url}/metrics`);
    assert.equal(response.headers.get('content-type'), 'text/plain; version=0.0.4; charset=utf-8');
    const text = await response.text();
    const ok = { status: 'OK', model: 'qwen3' };
    const tokenized = total(text, 'epptok_calls_total', { ...ok, provenance: 'tokenized' });
    assert.ok(tokenized >= 1);
    assert.ok(total(text, 'epptok_tokens_total', { model: 'qwen3' }) >= 165);
    assert.equal(
      total(text, 'epptok_call_duration_seconds_count', { operation: 'tokenize', model: 'qwen3' }),
      tokenized,
    );
    assert.ok(total(text, 'epptok_call_stage_duration_seconds_sum', { stage: 'encode' }) > 0);
    assert.ok(total(text, 'epptok_cache_lookups_total', { cache: 'word', model: 'qwen3' }) > 0);
    assert.equal(total(text, 'epptok_workers'), 1);
    assert.ok(total(text, 'epptok_event_loop_delay_seconds_count') > 0);
    assert.ok(samplesOf(text).get('process_resident_memory_bytes')! > 10e6, 'and of the process');
  });

  it('answers other paths 404 and other methods 405', async () => {
    const { url } = await listening('paths', '--metrics', '127.0.0.1:0');
    assert.equal((await get(url)).status, 404);
    assert.equal((await get(`${url}/metrics/`)).status, 404);
    assert.equal((await get(`${url}/metrics`, 'POST')).status, 405);
    const head = await get(`${url}/healthz`, 'HEAD');
    assert.deepEqual([head.status, await head.text()], [200, '']);
  });

  it('listens on the address that it is given alone; a port without a host is on the loopback interface', async () => {
    const { url } = await listening('loopback', '--metrics', '0');
    assert.match(url, /^http:\/\/127\.0\.0\.1:\d+$/);
    const others = Object.values(networkInterfaces()).flatMap((of) => of ?? []);
    for (const { address, family, internal } of others) {
      if (family !== 'IPv4' || internal) continue;
      await assert.rejects(get(`http://${address}:${new URL(url).port}/healthz`));
    }
  });

  it('ends with the process, an open connection or not', async () => {
    const sidecar = await ready(await listening('ends', '--metrics', '127.0.0.1:0'));
    // fetch keeps its connection alive.
    await (await get(`${sidecar.url}/healthz`)).text();
    sidecar.process.kill('SIGTERM');
    const [code] = await once(sidecar.process, 'exit', { signal: AbortSignal.timeout(LIMIT_MS) });
    assert.equal(code, 0);
    await assert.rejects(get(`${sidecar.url}/healthz`));
  });

  it('refuses an address that is taken, naming it, and leaves no socket behind', async () => {
    const taken = createServer().listen(0, '127.0.0.1');
    await once(taken, 'listening');
    const address = `127.0.0.1:${(taken.address() as AddressInfo).port}`;
    const socket = join(folder, 'taken', 'epptok.sock');
    const ended = await epptok(['serve', '--model', MODEL, '--socket', socket, '--metrics', address]);
    taken.close();
    assert.equal(ended.code, 1);
    assert.equal(existsSync(socket), false);
    assert.match(ended.stderr, new RegExp(`epptok: INIT_FAILED: metrics on ${address}: .*EADDRINUSE`));
  });

  for (const wrong of ['somewhere', '127.0.0.1:', ':9464', '127.0.0.1:70000', 'http://127.0.0.1:9464']) {
    it(`refuses "${wrong}"`, async () => {
      const ended = await epptok(['serve', '--model', MODEL, '--socket', '/tmp/x.sock', '--metrics', wrong]);
      assert.equal(ended.code, 1);
      assert.match(ended.stderr, /--metrics.*host:port/);
    });
  }
});

describe('epptok serve --stall-trace-ms', () => {
  it('logs stalls of the runtime with what it was at; a process that was stopped has had one', async () => {
    const sidecar = await ready(
      await listening('stalls', '--metrics', '127.0.0.1:0', '--stall-trace-ms', '400'),
    );
    // A busy machine may have stalled it while it loaded.
    const before = sidecar.log().length;
    const later = () => sidecar.log().slice(before);
    sidecar.process.kill('SIGSTOP');
    await new Promise((resolve) => setTimeout(resolve, 800));
    sidecar.process.kill('SIGCONT');
    await until('the stall is logged', () => later().includes('the event loop stalled'));
    const line = later()
      .split('\n')
      .find((one) => one.includes('the event loop stalled'));
    const { stallMs, operation, level } = JSON.parse(line!);
    assert.ok(stallMs >= 400, line);
    assert.equal(operation, 'runtime');
    assert.equal(level, 40);
    assert.ok(
      total(await (await get(`${sidecar.url}/metrics`)).text(), 'epptok_event_loop_stalls_total') >= 1,
    );
  });

  it('refuses an EPPTOK_STALL_TRACE_MS that is no number', async () => {
    const env = { ...process.env, EPPTOK_STALL_TRACE_MS: 'soon' };
    const ended = await epptok(['serve', '--model', MODEL, '--socket', join(folder, 's.sock')], { env });
    assert.equal(ended.code, 1);
    assert.match(ended.stderr, /INVALID_ARGUMENT: EPPTOK_STALL_TRACE_MS/);
  });
});
