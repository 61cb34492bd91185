import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { inMode, type Mode, modes } from './cores.ts';
import { judge, type OverheadBar } from './overhead/bars.ts';
import { type CaseResult, type Measured, NO_BRIDGE } from './overhead/measured.ts';
import { writeResults } from './results.ts';
import { printTable } from './tables.ts';

/**
 * What a call costs beside its work: every way into epptok, and what one would use instead, in one run.
 * `npm run bench:overhead [-- --quick]`. Once with everything on one core and once as the scheduler likes it.
 */
const quick = process.argv.includes('--quick');

function run(mode: Mode): Measured {
  const folder = mkdtempSync(join(tmpdir(), 'epptok-overhead-'));
  const result = join(folder, 'measured.json');
  const script = fileURLToPath(new URL('./overhead/measure.ts', import.meta.url));
  const length = quick ? 'quick' : 'full';
  const [program, ...args] = inMode(mode, [process.execPath, '--import', 'tsx', script, result, length]);
  console.log(`${mode}${mode === 'pinned' ? ', every process and thread on core 0' : ''}`);
  const { status } = spawnSync(program, args, { stdio: 'inherit' });
  if (status !== 0) throw new Error(`${program} ended with ${status}`);
  const measured = JSON.parse(readFileSync(result, 'utf8')) as Measured;
  rmSync(folder, { recursive: true });
  for (const one of measured.cases) printCase(one);
  return measured;
}

function printCase({ name, bytes, callsPerRound, designs }: CaseResult): void {
  console.log(`\n${name}: body of ${bytes} bytes, ${callsPerRound} calls a round`);
  const netServer = designs['net server']!.p50;
  const synckit = designs.synckit?.p50;
  const work = designs[NO_BRIDGE]!.p50;
  printTable({
    head: ['', 'p50 us', 'p99 us', 'of net server', 'of synckit', 'p50 - no bridge'],
    rows: Object.entries(designs).map(([design, { p50, p99 }]) => [
      design,
      p50.toFixed(1),
      p99.toFixed(1),
      (p50 / netServer).toFixed(3),
      synckit === undefined ? '' : (p50 / synckit).toFixed(2),
      HANDS_OVER_ONLY.includes(design) ? '' : (p50 - work).toFixed(1),
    ]),
  });
}

/** They do no work that could be taken off. */
const HANDS_OVER_ONLY = ['synckit', 'piscina'];

function printBars(bars: readonly OverheadBar[]): void {
  console.log('\nBars, medians of this run at 4 kB without encode');
  printTable({
    head: ['', 'mode', 'demanded', 'whole calls', '', 'bridges alone'],
    rows: bars.map(({ what, mode, demanded, measured, bridges, met }) => [
      what,
      mode,
      demanded,
      measured.toFixed(2),
      met ? 'met' : 'MISSED',
      bridges.toFixed(2),
    ]),
  });
}

const measured = Object.fromEntries(modes().map((mode) => [mode, run(mode)]));
const bars = Object.entries(measured).flatMap(([mode, one]) => judge(mode, one));
printBars(bars);
writeResults('overhead', { quick, unit: 'us', modes: measured, bars });
