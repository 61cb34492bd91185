import { mkdirSync, writeFileSync } from 'node:fs';
import { cpus } from 'node:os';
import { relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { printTable } from './tables.ts';

/** A promise of the project, and what one run says of it. */
export interface Bar {
  readonly what: string;
  readonly demanded: string;
  readonly measured: number;
  readonly met: boolean;
  /** Why it may be missed on a machine that is well. */
  readonly note?: string;
}

export function printBars(title: string, bars: readonly Bar[]): void {
  printTable({
    head: [title, 'demanded', 'measured', ''],
    rows: bars.map(({ what, demanded, measured, met, note }) => [
      what,
      demanded,
      measured.toFixed(Math.abs(measured) < 10 ? 3 : 0),
      `${met ? 'met' : 'MISSED'}${note === undefined ? '' : ` (${note})`}`,
    ]),
  });
}

/** Writes bench/results/<name>.json, with where it was measured. */
export function writeResults(name: string, results: object): void {
  const folder = new URL('./results/', import.meta.url);
  mkdirSync(folder, { recursive: true });
  const file = new URL(`${name}.json`, folder);
  const machine = {
    cpu: cpus()[0]?.model,
    cores: cpus().length,
    platform: process.platform,
    node: process.version,
  };
  writeFileSync(
    file,
    `${JSON.stringify({ measured: new Date().toISOString(), machine, ...results }, undefined, 1)}\n`,
  );
  console.log(`\n${relative(process.cwd(), fileURLToPath(file))} written`);
}
