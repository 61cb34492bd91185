import assert from 'node:assert/strict';
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { CLI } from './built.ts';
import { textOf } from './subprocess.ts';

const LIMIT_MS = 60_000;

export interface Sidecar {
  readonly process: ChildProcess;
  readonly pid: number;
  readonly socket: string;
  readonly log: () => string;
  /** Sends `signal` and waits for its end. */
  end(signal: NodeJS.Signals): Promise<void>;
}

/** `epptok serve` on `socket`, once it says that it is ready. */
export async function startSidecar(
  socket: string,
  args: readonly string[],
  env: NodeJS.ProcessEnv = {},
): Promise<Sidecar> {
  const child = spawn(process.execPath, [CLI, 'serve', '--socket', socket, ...args], {
    stdio: ['ignore', 'ignore', 'pipe'],
    env: { ...process.env, ...env },
  });
  const log = textOf(child.stderr);
  const limit = Date.now() + LIMIT_MS;
  while (!log().includes('"msg":"ready"')) {
    assert.equal(child.exitCode, null, `it ended before it was ready: ${log()}`);
    assert.ok(Date.now() < limit, `it is not ready: ${log()}`);
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
  return {
    process: child,
    pid: child.pid!,
    socket,
    log,
    async end(signal) {
      if (child.exitCode !== null || child.signalCode !== null) return;
      const ended = once(child, 'exit', { signal: AbortSignal.timeout(LIMIT_MS) });
      child.kill(signal);
      await ended;
    },
  };
}
