import { writeFileSync } from 'node:fs';
import { cpus } from 'node:os';
import { relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import {
  besideTable,
  callsTable,
  copiesTable,
  encodeTable,
  instrumentsTable,
  loadTable,
  markdown,
  memoryTable,
  overheadTable,
  renderTable,
  stallTable,
  startTable,
  threadsTable,
} from '../tables.ts';
import { allBars, type ReportedBar } from './bars.ts';
import { encodeChart, overheadChart, stallChart, threadsChart, waitChart } from './charts.ts';
import { type AllResults, readAll } from './results.ts';

export interface Run {
  readonly quick: boolean;
  /** How long each bench took. */
  readonly seconds: Readonly<Record<string, number>>;
  readonly crashed: readonly string[];
}

/** Writes report.md, and its charts beside it, from the results in `folder`. */
export async function writeReport(
  folder: URL,
  run: Run,
): Promise<{ file: string; bars: readonly ReportedBar[] }> {
  const all = readAll(folder);
  const bars = allBars(all);
  const file = new URL('report.md', folder);
  const chart = async (name: string, text: string, svg: Promise<string>) => {
    writeFileSync(new URL(`${name}.svg`, folder), await svg);
    return `![${text}](${name}.svg)`;
  };
  writeFileSync(file, `${[head(run), barsOf(bars), ...(await sections(all, chart))].join('\n\n')}\n`);
  return { file: relative(process.cwd(), fileURLToPath(file)), bars };
}

function head({ quick, seconds, crashed }: Run): string {
  const took = Object.entries(seconds).map(([name, count]) => `${name} ${count} s`);
  return [
    '# What it costs',
    `Made by \`npm run bench${quick ? ' -- --quick' : ''}\` on ${new Date().toISOString().slice(0, 16)}Z: ` +
      `${cpus()[0]?.model}, ${cpus().length} cores, ${process.platform}, Node ${process.version}; ${took.join(', ')}.`,
    ...(quick ? ['The quick form shows that the benches run; its figures are of few calls.'] : []),
    ...crashed.map((one) => `**${one} left no results.**`),
  ].join('\n\n');
}

function barsOf(bars: readonly ReportedBar[]): string {
  const rows = bars.map(({ bench, what, demanded, measured, met, note }) => [
    `${bench}: ${what}`,
    demanded,
    `${measured}${note === undefined ? '' : ` (${note})`}`,
    met ? 'met' : '**missed**',
  ]);
  const met = bars.filter((bar) => bar.met).length;
  return `## Bars\n\n${met} of ${bars.length} are met.\n\n${markdown({ head: ['', 'demanded', 'measured', ''], rows })}`;
}

type Chart = (name: string, text: string, svg: Promise<string>) => Promise<string>;

async function sections(all: AllResults, chart: Chart): Promise<readonly string[]> {
  const { stall, overhead, encode, render, threads, beside, cost } = all;
  const parts: string[] = [];
  if (stall !== undefined) {
    parts.push(
      '## Stalls of the event loop',
      'A frontend tokenizes a prompt per request; on the same event loop it sends heartbeats to 8 workers every second, and ' +
        'marks one down whose ACK it has not seen after 5 s. A block is a stall, as wide as it lasted; the dashed line is 50 ms.',
      await chart('stall', 'Event-loop delay over time, by design', stallChart(stall)),
      markdown(stallTable(stall)),
    );
  }
  if (threads !== undefined) {
    parts.push(
      '## C threads',
      'Threads of a C program on one handle with a private runtime. Capacity is what the same workers do with the same ' +
        'requests and no callers, measured before and after each load.',
      await chart('threads', 'Calls per second by C threads', threadsChart(threads)),
      await chart('wait', 'Queue wait and encode by C threads', waitChart(threads)),
      markdown(threadsTable(threads.cells)),
    );
  }
  if (beside !== undefined) {
    parts.push(
      '## Small prompts beside large ones',
      'One caller of fresh prompts of 1 kB, at 500 calls a second and back to back, by each door with two workers: alone, beside ' +
        'a process that keeps a core busy, and beside a stream of 4 MB prompts. Calls and times are of short rounds.',
      markdown(besideTable(beside.rows)),
    );
  }
  if (cost !== undefined) {
    parts.push(
      '## Where the time of a call goes',
      "A C program on the socket of `epptok serve`, a chat of ~40k tokens seen before, medians in microseconds. Bridge is the round trip without the runtime's total. The library is @huggingface/tokenizers in AsyncTokenizer (`encoder: 'library'`), which `epptok serve` does not offer.",
      markdown(callsTable(cost.calls)),
      '## Start and memory',
      markdown(startTable(cost.start)),
      'Reading, parsing and tables are done once, the rest in each worker. The last column is what `JSON.parse` takes of the same text.',
      markdown(loadTable(cost.load)),
      markdown(memoryTable(cost.memory)),
      '## Bytes copied',
      'Counted in all threads of all processes of a call, in copies of 4 KiB and more: memcpy, memmove and copies of shared memory by the program; reads and writes of sockets by the kernel.',
      markdown(copiesTable(cost.copies)),
      '## Metrics and traces',
      markdown(instrumentsTable(cost.instruments)),
    );
  }
  if (overhead !== undefined) {
    parts.push(
      '## Ways in',
      'Pinned: every process and thread on one core. Unpinned: as the scheduler likes it. synckit and piscina hand the bytes over and do no work.',
      await chart('overhead', 'Microseconds of a call by way in', overheadChart(overhead)),
      markdown(overheadTable(overhead)),
    );
  }
  if (encode !== undefined) {
    parts.push(
      '## Encode',
      await chart('encode', 'MB/s by encoder and text', encodeChart(encode)),
      markdown(encodeTable(encode)),
    );
  }
  if (render !== undefined) parts.push('## Render', markdown(renderTable(render)));
  return parts;
}
