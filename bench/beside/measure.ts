import { Worker } from 'node:worker_threads';
import { type Door, OPEN } from './doors.ts';
import { type Company, type DoorName, type Measured, PACES, type Pace } from './measured.ts';

/**
 * One door, in a process of its own: `measure.ts <door> <rounds> <seconds>`. Prints a Measured as JSON for each round, pace and
 * company. Rounds, because a machine that others use too is not the same from second to second.
 */
const [, , name, rounds, time] = process.argv;
const seconds = Number(time);
/** Until the large prompts are at their worker. */
const LEAD_MS = 150;

const door: Door = await OPEN[name as DoorName]();
await door.small(0, 0.3);
await door.large(0.1);
for (let round = 0; round < Number(rounds); round++) {
  await measure('alone', round);
  const busy = new Worker('for (;;);', { eval: true, execArgv: [] });
  await sleep(LEAD_MS);
  await measure('busy core', round);
  await busy.terminate();
  const large = door.large(LEAD_MS / 1000 + Object.keys(PACES).length * seconds);
  await sleep(LEAD_MS);
  await measure('large prompts', round);
  await large;
}
await door.close();
process.exit(0);

async function measure(company: Company, round: number): Promise<void> {
  for (const pace of Object.keys(PACES) as Pace[]) {
    const latency = await door.small(PACES[pace], seconds);
    const measured: Measured = { door: name as DoorName, pace, company, round, latency };
    console.log(JSON.stringify(measured));
  }
}

function sleep(milliseconds: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, milliseconds));
}
