import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { startProgram, stop, waitForLine } from '../child.ts';
import { FreshText } from '../fresh-text.ts';
import { BENCH_CLIENT, CLI, MODEL_DIRECTORY } from '../paths.ts';

export interface MemoryCost {
  readonly models: readonly string[];
  readonly threads: number;
  /** Resident megabytes of `epptok serve`: once ready, and after calls of ~40k tokens by as many clients as threads. */
  readonly readyMb: number;
  readonly servedMb: number;
}

/** Linux only. `models` are `name=directory`, the first of them is asked. */
export async function memoryCost(models: readonly string[], threads: number): Promise<MemoryCost> {
  const folder = mkdtempSync(join(tmpdir(), 'epptok-cost-'));
  const socket = join(folder, 'run', 'epptok.sock');
  const body = join(folder, 'body.json');
  const prompt = new FreshText(MODEL_DIRECTORY, 1).text(160_000);
  const [name] = models[0]!.split('=', 1);
  writeFileSync(body, JSON.stringify({ model: name, prompt }));
  const given = models.flatMap((model) => ['--model', model]);
  const sidecar = startProgram(CLI, ['serve', ...given, '--socket', socket, '--threads', String(threads)]);
  await waitForLine(sidecar, '"msg":"ready"');
  const readyMb = residentMb(sidecar.process.pid!);
  await Promise.all(Array.from({ length: threads }, () => callBy(socket, body)));
  const servedMb = residentMb(sidecar.process.pid!);
  await stop(sidecar);
  rmSync(folder, { recursive: true });
  return { models: models.map((model) => model.split('=', 1)[0]!), threads, readyMb, servedMb };
}

async function callBy(socket: string, body: string): Promise<void> {
  const calls = ['--body', body, '--kind', 'completion', '--warmup', '0', '--count', '20'];
  const client = spawn(BENCH_CLIENT, ['--socket', socket, ...calls], {
    stdio: ['ignore', 'ignore', 'inherit'],
  });
  const [code] = await once(client, 'exit');
  if (code !== 0) throw new Error(`bench_client ended with ${code}`);
}

function residentMb(pid: number): number {
  const [, kilobytes] = /^VmRSS:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${pid}/status`, 'latin1')) ?? [];
  return Number(kilobytes) / 1024;
}
