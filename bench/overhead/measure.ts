import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { median, type Percentiles } from '../statistics.ts';
import { openCases } from './cases.ts';
import { openDesigns } from './designs.ts';
import type { Measured } from './measured.ts';

/**
 * `measure.ts RESULT_FILE quick|full`: all designs on all cases, round after round, each round giving every design its turn,
 * so that what the machine does meanwhile befalls them all. The process and its children run on the cores they are given.
 */
const [resultFile, length] = process.argv.slice(2);
const quick = length === 'quick';
const rounds = quick ? 5 : 11;
const folder = mkdtempSync(join(tmpdir(), 'epptok-overhead-'));
const cases = openCases(quick);
const designs = await openDesigns(folder);
const taken = new Map<string, Percentiles[]>();

for (let round = 0; round < rounds; round++) {
  process.stderr.write(`\r  round ${round + 1} of ${rounds} `);
  for (const one of cases) {
    for (const design of designs) {
      if (design.serves === 'nothing' && one.answer === 'encoded') continue;
      const key = `${one.name} ${design.name}`;
      taken.set(key, [...(taken.get(key) ?? []), await design.measure(one)]);
    }
  }
}
process.stderr.write('\n');

const measured: Measured = {
  rounds,
  cases: cases.map((one) => ({
    name: one.name,
    bytes: one.body.length,
    callsPerRound: one.calls,
    designs: Object.fromEntries(
      designs.flatMap(({ name }) => {
        const all = taken.get(`${one.name} ${name}`);
        return all === undefined ? [] : [[name, overRounds(all)]];
      }),
    ),
  })),
};
writeFileSync(resultFile!, JSON.stringify(measured));
await Promise.all(designs.map((design) => design.close()));
rmSync(folder, { recursive: true });
// synckit keeps its worker.
process.exit(0);

function overRounds(all: readonly Percentiles[]): Percentiles {
  return { p50: median(all.map(({ p50 }) => p50)), p99: median(all.map(({ p99 }) => p99)) };
}
