import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdirSync, rmSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { writeReport } from './report/report.ts';
import { BENCHES } from './report/results.ts';

/**
 * Every bench, one after the other, and a report with charts in bench/results/report.md. `npm run bench [-- --quick]`.
 * A bar that is missed is printed, and the next bench runs; the exit code is 1 if a bench ended without results.
 */
const quick = process.argv.includes('--quick');
const results = new URL('./results/', import.meta.url);
const crashed: string[] = [];
const seconds: Record<string, number> = {};

mkdirSync(results, { recursive: true });
const began = performance.now();
for (const [i, name] of BENCHES.entries()) {
  console.log(`\n[${i + 1}/${BENCHES.length}] ${name}${quick ? ', quick' : ''}, at ${elapsed(began)} s`);
  const result = new URL(`${name}.json`, results);
  rmSync(result, { force: true });
  const start = performance.now();
  const ending = await run(name);
  seconds[name] = elapsed(start);
  // What has a bar of its own may end with 1 when that is missed; one that crashed leaves no result.
  if (!existsSync(result)) crashed.push(`${name} (${ending})`);
  console.log(`[${i + 1}/${BENCHES.length}] ${name} took ${seconds[name]} s`);
}

const { file, bars } = await writeReport(results, { quick, seconds, crashed });
const missed = bars.filter(({ met }) => !met);
console.log(
  `\n${bars.length - missed.length} of ${bars.length} bars are met.${missed.length > 0 ? ' Missed:' : ''}`,
);
for (const { bench, what, demanded, measured, note } of missed) {
  console.log(`  ${bench}: ${what}: ${demanded} demanded, ${measured}${note ? ` (${note})` : ''}`);
}
for (const one of crashed) console.log(`  crashed: ${one}`);
console.log(`${file} written after ${elapsed(began)} s`);
process.exitCode = crashed.length > 0 ? 1 : 0;

async function run(name: string): Promise<string> {
  const script = fileURLToPath(new URL(`./${name}.ts`, import.meta.url));
  const child = spawn(process.execPath, ['--import', 'tsx', script, ...(quick ? ['--quick'] : [])], {
    stdio: ['ignore', 'inherit', 'inherit'],
  });
  const [code, signal] = (await once(child, 'exit')) as [number | null, string | null];
  return signal ?? `exit code ${code}`;
}

function elapsed(since: number): number {
  return Math.round((performance.now() - since) / 1e3);
}
