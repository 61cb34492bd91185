import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { rmSync } from 'node:fs';
import { request } from 'node:http';
import { availableParallelism, tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Child, startScript, stop, waitForLine } from './child.ts';
import { printBars, printTable, writeResults } from './results.ts';
import { judge } from './stall/bars.ts';
import { DESIGNS, type Design } from './stall/designs.ts';
import type { LoopReport } from './stall/event-loop.ts';
import type { LoadOrder, LoadReport } from './stall/load.ts';
import type { Cell, Measured } from './stall/measured.ts';
import { percentiles } from './statistics.ts';

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
  : (['1k', '40k'] as const).flatMap((prompt) =>
      [1, 8, 64].map((concurrency) => ({ prompt, concurrency, seconds: prompt === '1k' ? 10 : 20 })),
    );

async function measureDesign(design: Design): Promise<readonly Measured[]> {
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
  await waitForLine(workers, 'ready');
  const measured: Measured[] = [];
  for (const cell of CELLS) {
    process.stderr.write(`  ${design.name}: ${cell.prompt} tokens, concurrency ${cell.concurrency}\n`);
    measured.push({ design: design.name, ...cell, ...(await measureCell(cell, http, workers)) });
  }
  await Promise.all([stop(workers), stop(frontend)]);
  for (const socket of [http, plane]) rmSync(socket, { force: true });
  return measured;
}

async function measureCell(
  cell: Cell,
  socket: string,
  workers: Child,
): Promise<Omit<Measured, keyof Cell | 'design'>> {
  const { bytes, perSecond } = PROMPTS[cell.prompt];
  const order: LoadOrder = {
    socket,
    concurrency: cell.concurrency,
    promptBytes: bytes,
    seconds: cell.seconds,
    rampSeconds: quick ? 4 : 2,
    prepared: cell.concurrency + perSecond * cell.seconds,
  };
  await control(workers);
  const generator = startScript(new URL('./stall/load.ts', import.meta.url), [JSON.stringify(order)]);
  const line = await waitForLine(generator, '"load"');
  const { load } = JSON.parse(line) as { load: LoadReport };
  const seen = (await post(socket, '/report')) as Pick<Measured, 'loop' | 'heartbeats'>;
  return {
    completed: load.completed,
    requestsPerSecond: load.completed / load.seconds,
    tokensPerRequest: Math.round(load.tokens / load.completed),
    ...percentiles(load.latencies),
    ...seen,
    control: await control(workers),
    hashes: load.hashes,
  };
}

/** What the idle process saw since it was last asked. */
async function control(workers: Child): Promise<LoopReport> {
  workers.process.stdin?.write('\n');
  const line = await waitForLine(workers, '"control"');
  return (JSON.parse(line) as { control: LoopReport }).control;
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
  for (const { prompt, concurrency, seconds } of CELLS) {
    console.log(`\nprompts of ~${prompt} tokens, concurrency ${concurrency}, ${seconds} s`);
    const ms = (value: number) => value.toFixed(0);
    printTable(
      [
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
      all
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
    );
  }
}

const all: Measured[] = [];
const designs = quick ? DESIGNS.filter(({ name }) => !name.endsWith('bare piscina')) : DESIGNS;
for (const design of designs) all.push(...(await measureDesign(design)));
requireAgreement(all);
print(all);
const bars = judge(all);
printBars('64 prompts of ~40k tokens in flight', bars);
writeResults('stall', { quick, threads, bars, measured: all.map(({ hashes, ...one }) => one) });
