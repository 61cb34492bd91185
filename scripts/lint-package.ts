import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** What publint and attw say of the package as it would be published from what is built: `npm run lint:package`. */
const folder = mkdtempSync(join(tmpdir(), 'epptok-package-'));
process.on('exit', () => rmSync(folder, { recursive: true }));

// The package's own scripts would build it anew.
const pack = ['pack', '--ignore-scripts', '--json', '--pack-destination', folder];
const packed = spawnSync('npm', pack, { encoding: 'utf8' });
if (packed.status !== 0) throw new Error(packed.stderr);
const [{ filename }] = JSON.parse(packed.stdout) as [{ filename: string }];
const tarball = join(folder, filename);
const failed = [
  ['publint', '--strict', tarball],
  ['attw', '--no-emoji', tarball],
].filter(([program, ...args]) => spawnSync(program!, args, { stdio: 'inherit' }).status !== 0);
process.exitCode = failed.length;
