import { mkdirSync, writeFileSync } from 'node:fs';
import { cpus } from 'node:os';
import { relative } from 'node:path';
import { fileURLToPath } from 'node:url';

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
  console.log('');
  printTable(
    [title, 'demanded', 'measured', ''],
    bars.map(({ what, demanded, measured, met, note }) => [
      what,
      demanded,
      measured.toFixed(Math.abs(measured) < 10 ? 3 : 0),
      `${met ? 'met' : 'MISSED'}${note === undefined ? '' : ` (${note})`}`,
    ]),
  );
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

/** Columns as wide as their widest cell; the first one to the left, the others to the right. */
export function printTable(head: readonly string[], rows: readonly (readonly string[])[]): void {
  const widths = head.map((title, column) =>
    Math.max(title.length, ...rows.map((row) => row[column]!.length)),
  );
  const line = (cells: readonly string[]) =>
    cells
      .map((cell, column) => (column === 0 ? cell.padEnd(widths[0]!) : cell.padStart(widths[column]!)))
      .join('  ');
  console.log(line(head));
  console.log(widths.map((width) => '-'.repeat(width)).join('  '));
  for (const row of rows) console.log(line(row));
}
