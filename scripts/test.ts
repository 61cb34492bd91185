import { spawnSync } from 'node:child_process';
import { readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';

// node --test of Node 20 takes no glob. A test stuck in Atomics.wait is ended by the time limit.
const named = process.argv.slice(2);
const files = (named.length > 0 ? named : ['test']).flatMap((path) =>
  statSync(path).isDirectory() ? testFiles(path) : path,
);
if (files.length === 0) throw new Error(`no tests in ${named.join(', ')}`);
const limit = '--test-timeout=300000';
const { status } = spawnSync(process.execPath, ['--import', 'tsx', '--test', limit, ...files], {
  stdio: 'inherit',
});
process.exit(status ?? 1);

function testFiles(folder: string): string[] {
  return readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.test.ts'))
    .map((name) => join(folder, name))
    .sort();
}
