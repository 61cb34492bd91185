import { BESIDE_HEAD, type BesideRow, besideCells } from './beside/rows.ts';
import type { CallCost } from './cost/calls.ts';
import type { CopyCost } from './cost/copies.ts';
import type { InstrumentCost } from './cost/instruments.ts';
import type { LoadCost } from './cost/load.ts';
import type { MemoryCost } from './cost/memory.ts';
import type { StartCost } from './cost/start.ts';
import type { AllResults } from './report/results.ts';
import type { ThreadsCell } from './threads/measure.ts';

export interface Table {
  readonly head: readonly string[];
  readonly rows: readonly (readonly string[])[];
}

/** Columns as wide as their widest cell; the first one to the left, the others to the right. */
export function printTable({ head, rows }: Table): void {
  const widths = head.map((title, column) =>
    Math.max(title.length, ...rows.map((row) => row[column]!.length)),
  );
  const line = (cells: readonly string[]) =>
    cells
      .map((cell, column) => (column === 0 ? cell.padEnd(widths[0]!) : cell.padStart(widths[column]!)))
      .join('  ');
  console.log('');
  console.log(line(head));
  console.log(widths.map((width) => '-'.repeat(width)).join('  '));
  for (const row of rows) console.log(line(row));
}

export function markdown({ head, rows }: Table): string {
  const line = (cells: readonly string[]) => `| ${cells.join(' | ')} |`;
  return [line(head), line(head.map((_, i) => (i === 0 ? '---' : '---:'))), ...rows.map(line)].join('\n');
}

export function digits(value: number): string {
  return value.toFixed(Math.abs(value) < 10 ? 2 : Math.abs(value) < 100 ? 1 : 0);
}

const ms = (us: number) => digits(us / 1e3);

export function stallTable({ measured }: NonNullable<AllResults['stall']>): Table {
  return {
    head: [
      'design',
      'prompt, in flight',
      'req/s',
      'p50 ms',
      'p99 ms',
      'stalls > 20 ms',
      '> 100',
      '> 1000',
      'longest ms',
      'ACKs late',
      'missed',
      'workers marked down',
    ],
    rows: measured.map(({ design, prompt, concurrency, requestsPerSecond, p50, p99, loop, heartbeats }) => [
      design,
      `${prompt} x ${concurrency}`,
      digits(requestsPerSecond),
      digits(p50),
      digits(p99),
      ...([20, 100, 1000] as const).map((limit) => String(loop.stalls[limit])),
      loop.monitorMax.toFixed(0),
      `${heartbeats.late} of ${heartbeats.sent}`,
      String(heartbeats.missed),
      String(heartbeats.inhibited),
    ]),
  };
}

export function threadsTable(cells: readonly ThreadsCell[]): Table {
  return {
    head: [
      'workers',
      'prompt bytes',
      'C threads',
      'calls/s',
      'of capacity',
      'queue p50 ms',
      'p99',
      'encode p50 ms',
      'p99',
      'round trip p50 ms',
      'p99',
    ],
    rows: cells.map((cell) => [
      String(cell.workers),
      String(cell.bytes),
      String(cell.threads),
      digits(cell.callsPerSecond),
      `${(cell.shareOfCapacity * 100).toFixed(0)} %`,
      ...[cell.queue, cell.encode, cell.roundTrip].flatMap(({ p50, p99 }) => [ms(p50), ms(p99)]),
    ]),
  };
}

export function besideTable(rows: readonly BesideRow[]): Table {
  return { head: BESIDE_HEAD, rows: besideCells(rows) };
}

export function callsTable(calls: readonly CallCost[]): Table {
  return {
    head: [
      'us, seen before: turns',
      'cores',
      'tokens',
      'parse',
      'render',
      'encode',
      'bridge',
      'C echo',
      'whole',
      'bridge / whole',
      'library',
      'library / whole',
    ],
    rows: calls.map((call) => [
      String(call.turns),
      call.mode === 'pinned' ? 'one' : 'two',
      String(call.tokens),
      ...[call.parse, call.template, call.encode, call.bridge].map(({ p50 }) => p50.toFixed(0)),
      call.echo.toFixed(0),
      call.whole.p50.toFixed(0),
      call.bridgeShare.toFixed(3),
      call.library.whole.toFixed(0),
      digits(call.timesLibrary),
    ]),
  };
}

export function startTable(start: readonly StartCost[]): Table {
  const models = [...new Set(start.map(({ model }) => model))];
  const ways = [...new Set(start.map(({ what }) => what))];
  return {
    head: ['open to first ids, two workers, ms', ...models],
    rows: ways.map((way) => [
      way,
      ...models.map((model) =>
        (start.find((one) => one.what === way && one.model === model)?.ms ?? Number.NaN).toFixed(0),
      ),
    ]),
  };
}

export function loadTable(load: readonly LoadCost[]): Table {
  return {
    head: [
      'load of a model alone, ms',
      'read',
      'parse',
      'tables',
      'templates',
      'caches',
      'warm-up',
      'whole',
      'JSON.parse instead',
    ],
    rows: load.map(({ model, read, parse, tables, templates, caches, warmUp, whole, jsonParse }) => [
      model,
      ...[read, parse, tables, templates, caches, warmUp, whole, jsonParse].map((one) => one.toFixed(0)),
    ]),
  };
}

export function copiesTable(copies: readonly CopyCost[]): Table {
  const kb = (bytes: number) => (bytes / 1e3).toFixed(0);
  return {
    head: ['kB copied per call', 'request', 'ids', 'by the program', 'by the kernel', 'times request + ids'],
    rows: copies.map(({ door, requestBytes, idsBytes, programBytes, kernelBytes }) => [
      door,
      ...[requestBytes, idsBytes, programBytes, kernelBytes].map(kb),
      digits((programBytes + kernelBytes) / (requestBytes + idsBytes)),
    ]),
  };
}

export function memoryTable(memory: readonly MemoryCost[]): Table {
  return {
    head: ['resident MB of `epptok serve`', 'workers', 'ready', 'after calls of ~40k tokens'],
    rows: memory.map(({ models, threads, readyMb, servedMb }) => [
      models.join(', '),
      String(threads),
      readyMb.toFixed(0),
      servedMb.toFixed(0),
    ]),
  };
}

export function instrumentsTable(instruments: readonly InstrumentCost[]): Table {
  return { head: ['', 'us'], rows: instruments.map(({ what, ns }) => [what, (ns / 1e3).toFixed(3)]) };
}

export function overheadTable({ modes }: NonNullable<AllResults['overhead']>): Table {
  return {
    head: ['p50 / p99, us', ...Object.values(modes)[0]!.cases.flatMap(({ name }) => name)],
    rows: Object.entries(modes).flatMap(([mode, { cases }]) =>
      [...new Set(cases.flatMap(({ designs }) => Object.keys(designs)))].map((design) => [
        `${design}, ${mode}`,
        ...cases.map(({ designs }) => {
          const times = designs[design];
          return times === undefined ? '' : `${digits(times.p50)} / ${digits(times.p99)}`;
        }),
      ]),
    ),
  };
}

export function encodeTable({ speeds }: NonNullable<AllResults['encode']>): Table {
  const texts = Object.keys(Object.values(Object.values(speeds)[0]!)[0]!);
  return {
    head: ['MB/s, new text / seen before', ...texts],
    rows: Object.entries(speeds).flatMap(([model, encoders]) =>
      Object.entries(encoders).map(([encoder, cells]) => [
        `${model}, ${encoder}`,
        ...texts.map((text) => {
          const cell = cells[text];
          if (cell === undefined || cell === 'not installed') return 'not installed';
          return `${digits(cell.freshMBps)} / ${digits(cell.warmMBps)}`;
        }),
      ]),
    ),
  };
}

export function renderTable({ rows }: NonNullable<AllResults['render']>): Table {
  return {
    head: ['template, conversation', 'ours us', '@huggingface/jinja us', 'times'],
    rows: rows.map(({ template, conversation, tools, oursUs, peerUs, ratio }) => [
      `${template}, ${conversation}${tools ? ', tools' : ''}`,
      digits(oursUs),
      digits(peerUs),
      digits(ratio),
    ]),
  };
}
