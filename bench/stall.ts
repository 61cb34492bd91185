import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { rmSync } from 'node:fs';
import { request } from 'node:http';
import { availableParallelism, tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { type Child, startScript, stop, waitForLine } from './child.ts';
import { printBars, writeResults } from './results.ts';
import { judge } from './stall/bars.ts';
import { DESIGNS, type Design } from './stall/designs.ts';
import type { LoopReport } from './stall/event-loop.ts';
import type { LoadOrder, LoadReport } from './stall/load.ts';
import { type Cell, type Measured, merged, type Round } from './stall/measured.ts';
import { printTable } from './tables.ts';

/**
 * The incident, and what becomes of it: a frontend that tokenizes on its event loop starves its request plane, and workers
 * that are well are marked down. `npm run bench:stall [-- --quick]`; frontend, workers and load are processes of their own.
 */
const quick = process.argv.includes('--quick');
const threads = availableParallelism();

const PROMPTS = {
  '1k': { bytes: 3_800, perSecond: 400 },
  '40k': { bytes: 154_000, perSecond: 6 },
} as const;
const CELLS: readonly Cell[] = quick
  ? [{ prompt: '40k', concurrency: 64, seconds: 6 }]
  : [
      ...[1, 8, 64].map((concurrency) => ({ prompt: '1k', concurrency, seconds: 4 }) as const),
      ...[1, 8].map((concurrency) => ({ prompt: '40k', concurrency, seconds: 6 }) as const),
      { prompt: '40k', concurrency: 64, seconds: 12 },
    ];
/** Of a judged design; it has several. */
const TURN_SECONDS = 7;
/** What the quick form is left with. */
const JUDGED = ['library, on the loop', 'library, AsyncTokenizer', 'compiled, AsyncTokenizer'];
/** Those of a group are open at the same time and take turns: what the machine does meanwhile, it does to each. */
const GROUPS: readonly (readonly Design[])[] = quick
  ? DESIGNS.filter(({ name }) => JUDGED.includes(name)).map((design) => [design])
  : [...new Set(DESIGNS.map(groupOf))].map((group) => DESIGNS.filter((design) => groupOf(design) === group));

/** A design that is judged by its throughput goes with the one that it is held against. */
function groupOf({ name }: Design): string {
  return name.replace(/AsyncTokenizer|bare piscina/, 'in workers');
}

/** A frontend and its workers. */
interface Opened {
  readonly design: Design;
  readonly socket: string;
  /** What its workers say, and how to ask them. */
  readonly workers: Child;
  readonly workersSay: AsyncIterator<string>;
  close(): Promise<void>;
}

async function open(design: Design): Promise<Opened> {
  const http = join(tmpdir(), `epptok-${randomUUID()}.sock`);
  const plane = join(tmpdir(), `epptok-${randomUUID()}.sock`);
  const frontend = startScript(new URL('./stall/frontend.ts', import.meta.url), [
    design.name,
    String(threads),
    http,
    plane,
  ]);
  await waitForLine(frontend, 'ready');
  const workers = startScript(new URL('./stall/workers.ts', import.meta.url), [plane]);
  // One reader for all lines: many would each leave listeners behind.
  const workersSay = createInterface(workers.says)[Symbol.asyncIterator]();
  await lineWith(workersSay, 'ready');
  return {
    design,
    socket: http,
    workers,
    workersSay,
    async close() {
      await Promise.all([stop(workers), stop(frontend)]);
      for (const socket of [http, plane]) rmSync(socket, { force: true });
    },
  };
}

async function measureGroup(group: readonly Design[]): Promise<readonly Measured[]> {
  const opened: Opened[] = [];
  for (const design of group) opened.push(await open(design));
  const measured: Measured[] = [];
  for (const cell of CELLS) {
    const rounds = new Map<Opened, Round[]>(opened.map((one) => [one, []]));
    const judged = group.length > 1 && cell.prompt === '40k' && cell.concurrency === 64;
    // There and back and once more, so that none is always the first.
    const turns = judged ? [0, 1, 2, 3].flatMap((k) => (k % 2 ? opened.toReversed() : opened)) : opened;
    for (const [k, one] of turns.entries()) {
      const turn = turns.length > opened.length ? `, turn ${k + 1} of ${turns.length}` : '';
      process.stderr.write(
        `  ${one.design.name}: ${cell.prompt} tokens, concurrency ${cell.concurrency}${turn}\n`,
      );
      rounds.get(one)!.push(await measureRound(judged ? { ...cell, seconds: TURN_SECONDS } : cell, one));
    }
    for (const one of opened)
      measured.push({ design: one.design.name, ...cell, ...merged(rounds.get(one)!) });
  }
  for (const one of opened) await one.close();
  return measured;
}

async function measureRound(cell: Cell, opened: Opened): Promise<Round> {
  const { socket } = opened;
  const { bytes, perSecond } = PROMPTS[cell.prompt];
  const order: LoadOrder = {
    socket,
    concurrency: cell.concurrency,
    promptBytes: bytes,
    seconds: cell.seconds,
    rampSeconds: quick ? 4 : 2,
    prepared: cell.concurrency + perSecond * cell.seconds,
  };
  await control(opened);
  const generator = startScript(new URL('./stall/load.ts', import.meta.url), [JSON.stringify(order)]);
  const line = await waitForLine(generator, '"load"');
  const { load } = JSON.parse(line) as { load: LoadReport };
  const seen = (await post(socket, '/report')) as Pick<Measured, 'loop' | 'heartbeats'>;
  return { load, ...seen, control: await control(opened) };
}

/** What the idle process saw since it was last asked. */
async function control({ workers, workersSay }: Opened): Promise<LoopReport> {
  workers.process.stdin?.write('\n');
  const line = await lineWith(workersSay, '"control"');
  return (JSON.parse(line) as { control: LoopReport }).control;
}

async function lineWith(lines: AsyncIterator<string>, word: string): Promise<string> {
  for (;;) {
    const { value, done } = await lines.next();
    if (done) throw new Error(`the workers ended before they said ${word}`);
    if (value.includes(word)) return value;
  }
}

async function post(socketPath: string, path: string): Promise<unknown> {
  const sent = request({ socketPath, path, method: 'POST' }).end();
  const [response] = await once(sent, 'response');
  let body = '';
  for await (const chunk of response) body += String(chunk);
  return JSON.parse(body) as unknown;
}

/** The same prompts must have become the same ids, whoever encoded them. */
function requireAgreement(all: readonly Measured[]): void {
  for (const one of all) {
    const first = all.find((other) => other.prompt === one.prompt && other.concurrency === one.concurrency)!;
    for (const [number, hash] of Object.entries(one.hashes)) {
      const other = first.hashes[Number(number)];
      if (other !== undefined && other !== hash) {
        throw new Error(
          `${first.design} and ${one.design} differ in the ids of prompt ${number} (${one.prompt})`,
        );
      }
    }
  }
}

function print(all: readonly Measured[]): void {
  for (const { prompt, concurrency } of CELLS) {
    console.log(`\nprompts of ~${prompt} tokens, concurrency ${concurrency}`);
    const ms = (value: number) => value.toFixed(0);
    printTable({
      head: [
        '',
        'req/s',
        'p50 ms',
        'p99 ms',
        'longest stall ms',
        'on a core',
        '>20',
        '>50',
        '>100',
        '>1000',
        'ACK late',
        'missed',
        'inhibited',
        'idle process ms',
      ],
      rows: all
        .filter((one) => one.prompt === prompt && one.concurrency === concurrency)
        .map(({ design, requestsPerSecond, p50, p99, loop, heartbeats, control }) => [
          design,
          requestsPerSecond.toFixed(1),
          ms(p50),
          ms(p99),
          ms(loop.monitorMax),
          loop.longestWork === undefined ? '' : ms(loop.longestWork),
          ...Object.values(loop.stalls).map(String),
          `${heartbeats.late}/${heartbeats.sent}`,
          String(heartbeats.missed),
          String(heartbeats.inhibited),
          ms(control.monitorMax),
        ]),
    });
  }
}

const all: Measured[] = [];
for (const group of GROUPS) all.push(...(await measureGroup(group)));
requireAgreement(all);
print(all);
const bars = judge(all);
printBars('64 prompts of ~40k tokens in flight', bars);
writeResults('stall', { quick, threads, bars, measured: all.map(({ hashes, ...one }) => one) });
