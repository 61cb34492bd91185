import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { parseArgs } from 'node:util';
import { modelDirectory } from '../test/models.ts';
import { nativeProgram } from '../test/support/built.ts';
import { startSidecar } from '../test/support/sidecar.ts';
import { type Sample, sample, whyNotFlat } from './soak/sample.ts';

/**
 * Many calls by each way in, and what the processes hold meanwhile: resident memory, descriptors, threads. Fails when these are
 * not flat after warm-up, or a call was not answered as the same body was before.
 *
 *     npm run soak -- --calls 1000000 [--ways socket,child,callback,direct,blocking] [--rounds 40]
 *
 * `socket` is a C program and its sidecar (both are watched), `child` a C program with a private child, the others are one Node
 * process. --calls is for each way.
 */
const { values } = parseArgs({
  options: {
    calls: { type: 'string', default: '1000000' },
    rounds: { type: 'string', default: '40' },
    ways: { type: 'string', default: 'socket,child,callback,direct,blocking' },
  },
});
const calls = Number(values.calls);
const rounds = Number(values.rounds);
if (!(calls >= rounds && rounds >= 12))
  throw new Error('--calls must be at least --rounds, --rounds at least 12');

const model = modelDirectory('qwen3');
const folder = mkdtempSync(join(tmpdir(), 'epptok-soak-'));
const faults: string[] = [];

for (const way of values.ways.split(',')) {
  const started = Date.now();
  if (way === 'socket') await throughSocket();
  else if (way === 'child') await throughPrivateChild();
  else await inProcess(way);
  console.log(`${way}: ${calls} calls in ${Math.round((Date.now() - started) / 1000)} s\n`);
}
rmSync(folder, { recursive: true });
for (const fault of faults) console.error(`not flat: ${fault}`);
process.exit(faults.length > 0 ? 1 : 0);

async function throughSocket(): Promise<void> {
  const serve = ['--model', `qwen3=${model}`, '--threads', '2'];
  const sidecar = await startSidecar(join(folder, 'run/s.sock'), serve);
  await client(['--socket', sidecar.socket], () => sidecar.pid, 'sidecar');
  await sidecar.end('SIGTERM');
}

function throughPrivateChild(): Promise<void> {
  return client(['--model', model, '--runtime-threads', '2'], undefined, 'child');
}

/** load_client, and perhaps another process that serves it. */
async function client(
  args: readonly string[],
  server: (() => number) | undefined,
  name: string,
): Promise<void> {
  const program = nativeProgram('load_client');
  const perRound = Math.ceil(calls / rounds);
  const plan = [
    '--threads',
    '4',
    '--sizes',
    '1000,4000,20000',
    '--calls',
    `${perRound}`,
    '--rounds',
    `${rounds}`,
  ];
  const child = spawn(program, [...args, ...plan], {
    stdio: ['ignore', 'pipe', 'inherit'],
    env: { ...process.env, EPPTOK_NODE: process.execPath },
  });
  const samples = { client: [] as Sample[], server: [] as Sample[] };
  for await (const line of createInterface(child.stdout)) {
    if (line.startsWith('opened')) continue;
    const round = JSON.parse(line) as Sample & { wrong: number; statuses: Record<string, number> };
    if (round.wrong > 0 || round.statuses.OK !== perRound)
      faults.push(`${name}: answers of a round: ${line}`);
    const made = (samples.client.length + 1) * perRound;
    samples.client.push({ ...round, calls: made });
    if (server) samples.server.push(sample(server(), made));
  }
  if (child.exitCode === null) await once(child, 'exit');
  if (child.exitCode !== 0) faults.push(`${name}: the client ended with ${child.exitCode}`);
  judge(`${name}'s client`, samples.client);
  if (server) judge(name, samples.server);
}

async function inProcess(way: string): Promise<void> {
  const host = join(import.meta.dirname, 'soak/node-host.ts');
  const args = ['--import', 'tsx', host, way, model, `${calls}`, `${rounds}`];
  const child: ChildProcess = spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'inherit'] });
  const samples: Sample[] = [];
  for await (const line of createInterface(child.stdout!)) samples.push(JSON.parse(line) as Sample);
  if (child.exitCode === null) await once(child, 'exit');
  if (child.exitCode !== 0) faults.push(`${way}: the host ended with ${child.exitCode}`);
  judge(way, samples);
}

function judge(name: string, samples: readonly Sample[]): void {
  console.log(
    `${name.padEnd(18)}${'calls'.padStart(10)}${'RSS MiB'.padStart(10)}${'fds'.padStart(6)}${'threads'.padStart(9)}`,
  );
  const every = Math.max(1, Math.floor(samples.length / 10));
  for (const [index, one] of samples.entries()) {
    if (index % every !== every - 1) continue;
    const figures = [one.calls, (one.rss / 1024).toFixed(1), one.descriptors, one.threads];
    const [made, rss, descriptors, threads] = figures.map(String);
    console.log(
      `${''.padEnd(18)}${made!.padStart(10)}${rss!.padStart(10)}${descriptors!.padStart(6)}${threads!.padStart(9)}`,
    );
  }
  const why = whyNotFlat(samples);
  if (why !== undefined) faults.push(`${name}: ${why}`);
}
