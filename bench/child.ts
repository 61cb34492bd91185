import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import type { Readable } from 'node:stream';
import { fileURLToPath } from 'node:url';
import { inMode, type Mode } from './cores.ts';

/** A process of the bench, with the stream where it says that it is ready. */
export interface Child {
  readonly process: ChildProcess;
  readonly says: Readable;
}

/** A TypeScript file of the bench as a process of its own; it speaks on standard output. `session`: of its own too. */
export function startScript(file: URL, args: readonly string[], { session = false } = {}): Child {
  const script = ['--import', 'tsx', fileURLToPath(file), ...args];
  const child = spawn(process.execPath, script, { stdio: ['pipe', 'pipe', 'inherit'], detached: session });
  endWithThisProcess(child);
  return { process: child, says: child.stdout };
}

/** A JavaScript program that logs to standard error. */
export function startProgram(
  file: string,
  args: readonly string[],
  { env = process.env, mode = 'unpinned' }: { env?: NodeJS.ProcessEnv; mode?: Mode } = {},
): Child {
  const [program, ...all] = inMode(mode, [process.execPath, file, ...args]);
  const child = spawn(program, all, { stdio: ['ignore', 'ignore', 'pipe'], env });
  endWithThisProcess(child);
  return { process: child, says: child.stderr };
}

/** A bench that fails leaves nobody behind. */
function endWithThisProcess(child: ChildProcess): void {
  const end = () => child.kill('SIGKILL');
  process.on('exit', end);
  child.on('exit', () => process.off('exit', end));
}

/** Waits for a line that holds `word`, and gives it back; a child that ends before has failed. */
export async function waitForLine({ process: child, says }: Child, word: string): Promise<string> {
  for await (const line of createInterface(says)) {
    if (!line.includes(word)) continue;
    says.resume();
    return line;
  }
  throw new Error(`${child.spawnargs.join(' ')} ended before it said ${word}`);
}

/** Ends `child` and waits until it has ended. */
export async function stop({ process: child }: Child): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  child.kill('SIGTERM');
  await once(child, 'exit');
}
