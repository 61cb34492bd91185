import { type RunOptions, run } from '../support/subprocess.ts';

export const CLI = new URL('../../dist/cli.js', import.meta.url).pathname;

/** `epptok`, as a user runs it. */
export function epptok(args: readonly string[], options: RunOptions = {}) {
  return run(process.execPath, [CLI, ...args], options);
}
