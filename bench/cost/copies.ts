import { execFile } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { startProgram, stop, waitForLine } from '../child.ts';
import { FreshText } from '../fresh-text.ts';
import { BENCH_CLIENT, CLI, COUNT_COPIES, MODEL, MODEL_DIRECTORY } from '../paths.ts';
import { IN_PROCESS_DOORS, readCounts } from './copies-door.ts';

/** What is copied for one call of a door, in copies of 4 KiB and more, in all threads of all processes that serve it. */
export interface CopyCost {
  readonly door: string;
  readonly requestBytes: number;
  readonly idsBytes: number;
  /** By memcpy, memmove and V8's copies of shared memory. */
  readonly programBytes: number;
  /** By reads and writes of sockets. */
  readonly kernelBytes: number;
}

const run = promisify(execFile);

/** A chat of ~40k tokens through each door, the same each time. Linux only. */
export async function copyCosts(calls: number): Promise<CopyCost[]> {
  const folder = mkdtempSync(join(tmpdir(), 'epptok-copies-'));
  const body = join(folder, 'body.json');
  const content = new FreshText(MODEL_DIRECTORY, 3).text(154_000);
  writeFileSync(body, JSON.stringify({ messages: [{ role: 'user', content }] }));
  const requestBytes = readFileSync(body).length;
  const costs: CopyCost[] = [];
  let idsBytes = 0;
  for (const door of IN_PROCESS_DOORS) {
    const counts = countsFile(folder, door);
    const script = fileURLToPath(new URL('./copies-door.ts', import.meta.url));
    const args = ['--import', 'tsx', script, door, body, String(calls), counts];
    const { stdout } = await run(process.execPath, args, { env: counted(counts) });
    const { ids, ...bytes } = JSON.parse(stdout) as {
      ids: number;
      programBytes: number;
      kernelBytes: number;
    };
    idsBytes = ids * 4;
    costs.push({ door, requestBytes, idsBytes, ...bytes });
  }
  costs.push({ door: 'C, socket', requestBytes, idsBytes, ...(await overSocket(folder, body, calls)) });
  rmSync(folder, { recursive: true });
  return costs;
}

async function overSocket(
  folder: string,
  body: string,
  calls: number,
): Promise<Pick<CopyCost, 'programBytes' | 'kernelBytes'>> {
  const counts = countsFile(folder, 'socket');
  const socket = join(folder, 'run', 'epptok.sock');
  const env = counted(counts);
  const sidecar = startProgram(CLI, ['serve', '--model', MODEL, '--threads', '1', '--socket', socket], {
    env,
  });
  await waitForLine(sidecar, '"msg":"ready"');
  const client = async (count: number) => {
    const before = readCounts(counts);
    const args = [
      '--socket',
      socket,
      '--body',
      body,
      '--kind',
      'chat',
      '--warmup',
      '5',
      '--count',
      String(count),
    ];
    await run(BENCH_CLIENT, args, { env });
    const after = readCounts(counts);
    return after.map((bytes, index) => bytes - before[index]!);
  };
  await client(5);
  // What is not of a call, such as the client's reading of the body, is the same in both.
  const once = await client(calls);
  const twice = await client(2 * calls);
  await stop(sidecar);
  const [programBytes, kernelBytes] = twice.map((bytes, index) => (bytes - once[index]!) / calls);
  return { programBytes: programBytes!, kernelBytes: kernelBytes! };
}

function countsFile(folder: string, name: string): string {
  const path = join(folder, `${name}.counts`);
  writeFileSync(path, new Uint8Array(16));
  return path;
}

function counted(counts: string): NodeJS.ProcessEnv {
  const hook = fileURLToPath(new URL('./shared-copies.cjs', import.meta.url));
  return {
    ...process.env,
    LD_PRELOAD: COUNT_COPIES,
    NODE_OPTIONS: `--require ${JSON.stringify(hook)}`,
    EPPTOK_COPY_COUNTS: counts,
  };
}
