import { type ChildProcess, spawn } from 'node:child_process';

export interface Ended {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

export interface RunOptions {
  readonly cwd?: string;
  readonly env?: NodeJS.ProcessEnv;
  readonly input?: string | Uint8Array;
  readonly limitMs?: number;
}

/** Runs a program to its end, without blocking this process. At the limit it is killed, with every process that it started. */
export function run(program: string, args: readonly string[], options: RunOptions = {}): Promise<Ended> {
  const { cwd, env = process.env, input = '', limitMs = 120_000 } = options;
  const child = spawn(program, args, { cwd, env, stdio: 'pipe', detached: true });
  const stdout = textOf(child.stdout);
  const stderr = textOf(child.stderr);
  child.stdin.on('error', () => {});
  child.stdin.end(input);
  return new Promise((resolve, reject) => {
    const limit = setTimeout(() => {
      killGroup(child);
      reject(new Error(`${program} ${args.join(' ')}: still running after ${limitMs} ms\n${stderr()}`));
    }, limitMs);
    child.on('error', reject);
    child.on('close', (code) => {
      clearTimeout(limit);
      killGroup(child);
      resolve({ code, stdout: stdout(), stderr: stderr() });
    });
  });
}

/** Everything that a stream has given so far. */
export function textOf(stream: NodeJS.ReadableStream): () => string {
  const chunks: Buffer[] = [];
  stream.on('data', (chunk: Buffer) => chunks.push(chunk));
  return () => Buffer.concat(chunks).toString('utf8');
}

function killGroup(child: ChildProcess): void {
  if (child.pid === undefined) return;
  try {
    process.kill(-child.pid, 'SIGKILL');
  } catch {
    // The group is empty.
  }
}
