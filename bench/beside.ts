import { createInterface } from 'node:readline';
import {
  COMPANIES,
  type Company,
  DOORS,
  type DoorName,
  type Latency,
  type Measured,
  PACES,
  type Pace,
} from './beside/measured.ts';
import { type BesideRow, p99 } from './beside/rows.ts';
import { startScript, stop } from './child.ts';
import { type Bar, printBars, writeResults } from './results.ts';
import { median } from './statistics.ts';
import { besideTable, printTable } from './tables.ts';

/**
 * What a stream of 4 MB prompts does to prompts of 1 kB beside it, by each door with two workers. `npm run bench:beside
 * [-- --quick] [door ...]`. A busy core in place of the stream shows what any other work on that core does to the same calls: on
 * a machine of two cores, it leaves one to their caller and their worker.
 */
const quick = process.argv.includes('--quick');
// One whose calls wait in the native host's queue, one in the dispatcher's.
const QUICK_DOORS: readonly DoorName[] = ['socket', 'AsyncTokenizer'];
const named = DOORS.filter((door) => process.argv.includes(door));
const doors = named.length > 0 ? named : DOORS.filter((door) => !quick || QUICK_DOORS.includes(door));
const plan = quick ? { rounds: 1, seconds: 0.2 } : { rounds: 3, seconds: 0.2 };
const HIGHEST_RATIO = 5;

const measured: Measured[] = [];
for (const door of doors) measured.push(...(await measureDoor(door)));
const rows = doors.flatMap((door) =>
  (Object.keys(PACES) as Pace[]).flatMap((pace) => COMPANIES.map((company) => rowOf(door, pace, company))),
);
printTable(besideTable(rows));
const bars = doors.flatMap((door) => (Object.keys(PACES) as Pace[]).map((pace) => barOf(door, pace)));
printBars('p99 of 1 kB prompts beside 4 MB ones / alone', bars);
writeResults('beside', { quick, ...plan, unit: 'us', bars, rows });

async function measureDoor(door: DoorName): Promise<readonly Measured[]> {
  process.stderr.write(`  ${door}\n`);
  const script = new URL('./beside/measure.ts', import.meta.url);
  const child = startScript(script, [door, `${plan.rounds}`, `${plan.seconds}`]);
  const rounds: Measured[] = [];
  for await (const line of createInterface(child.says)) rounds.push(JSON.parse(line) as Measured);
  await stop(child);
  if (rounds.length !== plan.rounds * COMPANIES.length * Object.keys(PACES).length)
    throw new Error(`${door} ended early`);
  return rounds;
}

function rowOf(door: DoorName, pace: Pace, company: Company): BesideRow {
  const rounds = measured.filter((one) => one.door === door && one.pace === pace && one.company === company);
  const middle = (key: keyof Latency) => median(rounds.map(({ latency }) => latency[key]));
  return {
    door,
    pace,
    company,
    calls: middle('calls'),
    p50: middle('p50'),
    p99: middle('p99'),
    longest: middle('longest'),
  };
}

function barOf(door: DoorName, pace: Pace): Bar {
  const ratio = p99(rows, door, pace, 'large prompts') / p99(rows, door, pace, 'alone');
  const busy = p99(rows, door, pace, 'busy core') / p99(rows, door, pace, 'alone');
  return {
    what: `${door}, ${pace}`,
    demanded: `< ${HIGHEST_RATIO}`,
    measured: ratio,
    met: ratio < HIGHEST_RATIO,
    note: `beside a busy core ${busy.toFixed(1)}`,
  };
}
