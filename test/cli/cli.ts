import { CLI } from '../support/built.ts';
import { type RunOptions, run } from '../support/subprocess.ts';

/** `epptok`, as a user runs it. */
export function epptok(args: readonly string[], options: RunOptions = {}) {
  return run(process.execPath, [CLI, ...args], options);
}
