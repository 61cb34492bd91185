import { execFile } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { AsyncTokenizer, Tokenizer } from 'epptok';
import koffi from 'koffi';
import { Piscina } from 'piscina';
import { createSyncFn } from 'synckit';
import { openModels } from '../../src/core/model.ts';
import { prepareModel } from '../../src/core/prepare-model.ts';
import { serve } from '../../src/core/serve.ts';
import { startProgram, startScript, stop, waitForLine } from '../child.ts';
import { BENCH_CLIENT, CLI, MODEL, MODEL_DIRECTORY, PLUGIN } from '../paths.ts';
import { type Percentiles, percentiles } from '../statistics.ts';

import type { Case } from './cases.ts';
import { NO_BRIDGE } from './measured.ts';

/** One way to hand over a body and get ids back. */
export interface Design {
  readonly name: string;
  /** `requests` reads the body and answers it; `nothing` hands the same bytes over to a worker that does no work. */
  readonly serves: 'requests' | 'nothing';
  /** Times `calls` whole calls one after the other, after `warmup` untimed ones. Microseconds. */
  measure(one: Case): Promise<Percentiles>;
  close(): Promise<void>;
}

/** Every design is given one worker. */
const THREADS = 1;

export async function openDesigns(folder: string): Promise<readonly Design[]> {
  // Those that are processes of their own load their models while the others do.
  const socket = openSocket(folder);
  const netServer = openNetServer(folder);
  const tokenizer = new Tokenizer({ model: MODEL, threads: THREADS });
  const asyncTokenizer = await AsyncTokenizer.create({ model: MODEL, threads: THREADS });
  return [
    noBridge(),
    inPlugin('callback', tokenizer, false),
    inPlugin('direct', tokenizer, true),
    await socket,
    blocking(tokenizer),
    promising(asyncTokenizer),
    synckit(),
    piscina(),
    await netServer,
  ];
}

/** The same work as a function call on this thread. */
function noBridge(): Design {
  const prepared = prepareModel({ name: 'qwen3', directory: MODEL_DIRECTORY });
  if (!prepared.ok) throw new Error(prepared.fault.message);
  const models = openModels([prepared.value]);
  if (!models.ok) throw new Error(models.fault.message);
  const request = { operation: 'tokenize', kind: 'auto', flags: 0, model: '' } as const;
  return {
    name: NO_BRIDGE,
    serves: 'requests',
    measure: (one) =>
      timeBlocking(one, () => serve({ ...request, body: one.body }, models.value, 0).ids.length),
    async close() {},
  };
}

/** C in this process, on the JavaScript thread (callback) or on one of its own (direct). */
function inPlugin(name: string, tokenizer: Tokenizer, inThread: boolean): Design {
  const bench = koffi
    .load(PLUGIN)
    .func('plugin_bench', 'int32_t', [
      'uint64_t',
      'uint32_t',
      'uint32_t',
      'void *',
      'size_t',
      'uint32_t',
      'uint32_t',
      'void *',
    ]);
  return {
    name,
    serves: 'requests',
    async measure({ body, calls, warmup }) {
      const latencies = new Float64Array(calls);
      const thread = inThread ? 1 : 0;
      const status = bench(tokenizer.nativeHandle, thread, 0, body, body.length, warmup, calls, latencies);
      if (status !== 0) throw new Error(`${name}: status ${status}`);
      return percentiles(latencies);
    },
    async close() {},
  };
}

function blocking(tokenizer: Tokenizer): Design {
  return {
    name: 'Tokenizer',
    serves: 'requests',
    measure: (one) => timeBlocking(one, () => tokenizer.tokenize({ body: one.body }).ids.length),
    close: async () => tokenizer.close(),
  };
}

function promising(tokenizer: AsyncTokenizer): Design {
  return {
    name: 'AsyncTokenizer',
    serves: 'requests',
    measure: (one) => timeAsync(one, async () => (await tokenizer.tokenize({ body: one.body })).ids.length),
    close: () => tokenizer.close(),
  };
}

function synckit(): Design {
  const worker = new URL('./synckit-worker.js', import.meta.url);
  const call = createSyncFn<(body: Uint8Array, ids: number) => Uint32Array>(worker);
  return {
    name: 'synckit',
    serves: 'nothing',
    measure: (one) => timeBlocking(one, () => call(one.body, one.ids).length),
    async close() {},
  };
}

function piscina(): Design {
  const pool = new Piscina<{ body: Uint8Array; ids: number }, Uint32Array>({
    filename: new URL('./piscina-worker.js', import.meta.url).href,
    minThreads: THREADS,
    maxThreads: THREADS,
  });
  return {
    name: 'piscina',
    serves: 'nothing',
    measure: ({ ids, ...one }) =>
      timeAsync({ ids, ...one }, async () => {
        const body = one.body.slice();
        return (await pool.run({ body, ids }, { transferList: [body.buffer] })).length;
      }),
    close: () => pool.destroy(),
  };
}

/** `epptok serve`, called by C in a second process. */
async function openSocket(folder: string): Promise<Design> {
  const socket = join(folder, 'epptok.sock');
  const options = ['--model', MODEL, '--threads', String(THREADS), '--socket', socket];
  const server = startProgram(CLI, ['serve', ...options]);
  await waitForLine(server, '"ready"');
  return {
    name: 'socket',
    serves: 'requests',
    measure: (one) => runClient(socket, folder, one),
    close: () => stop(server),
  };
}

/** A plain Node server with piscina, called by the same C. */
async function openNetServer(folder: string): Promise<Design> {
  const socket = join(folder, 'net.sock');
  const server = startScript(new URL('./net-server.ts', import.meta.url), [socket]);
  await waitForLine(server, 'ready');
  return {
    name: 'net server',
    serves: 'requests',
    measure: (one) => runClient(socket, folder, one),
    close: () => stop(server),
  };
}

async function runClient(socket: string, folder: string, one: Case): Promise<Percentiles> {
  const body = join(folder, 'body.json');
  writeFileSync(body, one.body);
  const counts = ['--count', String(one.calls), '--warmup', String(one.warmup)];
  const { stdout } = await promisify(execFile)(BENCH_CLIENT, ['--socket', socket, '--body', body, ...counts]);
  return JSON.parse(stdout) as Percentiles;
}

async function timeBlocking({ calls, warmup, ids }: Case, call: () => number): Promise<Percentiles> {
  const latencies = new Float64Array(calls);
  for (let i = -warmup; i < calls; i++) {
    const start = performance.now();
    const count = call();
    if (i >= 0) latencies[i] = (performance.now() - start) * 1e3;
    requireIds(count, ids);
  }
  return percentiles(latencies);
}

async function timeAsync({ calls, warmup, ids }: Case, call: () => Promise<number>): Promise<Percentiles> {
  const latencies = new Float64Array(calls);
  for (let i = -warmup; i < calls; i++) {
    const start = performance.now();
    const count = await call();
    if (i >= 0) latencies[i] = (performance.now() - start) * 1e3;
    requireIds(count, ids);
  }
  return percentiles(latencies);
}

/** Fast and wrong would be worth nothing. */
function requireIds(count: number, expected: number): void {
  if (expected > 0 && count !== expected) throw new Error(`${count} ids where ${expected} were due`);
}
