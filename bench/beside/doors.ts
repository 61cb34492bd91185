import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { AsyncTokenizer, Tokenizer } from 'epptok';
import { modelDirectory } from '../../test/models.ts';
import { startSidecar } from '../../test/support/sidecar.ts';
import { unseenWords } from '../../test/unseen-words.ts';
import { percentiles } from '../statistics.ts';
import { callFromClient } from './load-client.ts';
import { callFromC } from './load-plugin.ts';
import type { DoorName, Latency } from './measured.ts';

const SMALL_BYTES = 1000;
const LARGE_BYTES = 4 * 1024 * 1024;
/** Callers that keep large prompts coming, so that one waits whenever one is being encoded. */
const LARGE_CALLERS = 2;
const TIMEOUT_MS = 60_000;
const THREADS = 2;
const model = modelDirectory('qwen3');
const options = { model, threads: THREADS, timeoutMs: TIMEOUT_MS, contextLength: 1e9 };

/** A way in, with two workers. Prompts are fresh: no cache has seen their words. */
export interface Door {
  /** One caller of small prompts, for `seconds`; 0 calls a second: one after the other. */
  small(perSecond: number, seconds: number): Promise<Latency>;
  /** Large prompts for `seconds`; resolves to how many were answered when the last one is. */
  large(seconds: number): Promise<number>;
  close(): Promise<void>;
}

export const OPEN: Readonly<Record<DoorName, () => Promise<Door>>> = {
  socket: openSocket,
  direct: openDirect,
  AsyncTokenizer: openAsyncTokenizer,
  Tokenizer: openTokenizer,
};

async function openSocket(): Promise<Door> {
  const folder = mkdtempSync(join(tmpdir(), 'epptok-beside-'));
  const serve = ['--model', model, '--threads', `${THREADS}`, '--context-length', '1000000000'];
  const sidecar = await startSidecar(join(folder, 'run/s.sock'), serve);
  process.on('exit', () => sidecar.process.kill());
  const calls = (threads: number, sizes: number, perSecond: number, seconds: number) =>
    callFromClient(sidecar.socket, {
      threads,
      sizes,
      seconds,
      'per-second': perSecond,
      'timeout-ms': TIMEOUT_MS,
    });
  return {
    small: (perSecond, seconds) => calls(1, SMALL_BYTES, perSecond, seconds),
    large: async (seconds) => (await calls(LARGE_CALLERS, LARGE_BYTES, 0, seconds)).calls,
    async close() {
      await sidecar.end('SIGTERM');
      rmSync(folder, { recursive: true });
    },
  };
}

async function openDirect(): Promise<Door> {
  const tokenizer = new Tokenizer(options);
  const { nativeHandle } = tokenizer;
  const small = { threads: 1, bytes: SMALL_BYTES };
  return {
    small: (perSecond, seconds) => callFromC(nativeHandle, { ...small, seconds, perSecond }, TIMEOUT_MS),
    large: (seconds) => largeFromC(nativeHandle, seconds),
    close: async () => tokenizer.close(),
  };
}

async function openAsyncTokenizer(): Promise<Door> {
  const tokenizer = await AsyncTokenizer.create(options);
  const bodies = largeBodies();
  return {
    small: (perSecond, seconds) =>
      smallFromJavaScript(perSecond, seconds, (body) => tokenizer.tokenize({ kind: 'text', body })),
    async large(seconds) {
      const end = performance.now() + seconds * 1000;
      let calls = 0;
      const stream = async () => {
        while (performance.now() < end)
          await tokenizer.tokenize({ kind: 'text', body: bodies[calls++ % bodies.length]! });
      };
      await Promise.all(Array.from({ length: LARGE_CALLERS }, stream));
      return calls;
    },
    close: () => tokenizer.close(),
  };
}

/** It blocks its thread: what comes beside its calls are those of C threads, through its handle. */
async function openTokenizer(): Promise<Door> {
  const tokenizer = new Tokenizer(options);
  const { nativeHandle } = tokenizer;
  return {
    small: (perSecond, seconds) =>
      smallFromJavaScript(perSecond, seconds, (body) => tokenizer.tokenize({ kind: 'text', body })),
    large: (seconds) => largeFromC(nativeHandle, seconds),
    close: async () => tokenizer.close(),
  };
}

async function largeFromC(handle: bigint, seconds: number): Promise<number> {
  const load = { threads: LARGE_CALLERS, bytes: LARGE_BYTES, seconds, perSecond: 0 };
  return (await callFromC(handle, load, TIMEOUT_MS)).calls;
}

function largeBodies(): readonly Buffer[] {
  return Array.from({ length: 4 }, (_, seed) => Buffer.from(unseenWords(LARGE_BYTES, seed)));
}

let nextSeed = 1000;

async function smallFromJavaScript(
  perSecond: number,
  seconds: number,
  call: (body: Buffer) => unknown,
): Promise<Latency> {
  const took: number[] = [];
  const interval = perSecond === 0 ? 0 : 1000 / perSecond;
  const end = performance.now() + seconds * 1000;
  for (let next = performance.now(); performance.now() < end; ) {
    const body = Buffer.from(unseenWords(SMALL_BYTES, nextSeed++));
    if (interval > 0) {
      await until(next);
      next = Math.max(next, performance.now()) + interval;
    }
    const start = performance.now();
    await call(body);
    took.push((performance.now() - start) * 1000);
  }
  return { calls: took.length, ...percentiles(took), longest: took.reduce((a, b) => Math.max(a, b), 0) };
}

/** Timers are right to a millisecond, which is enough to be as often as asked for. */
async function until(time: number): Promise<void> {
  const left = time - performance.now();
  if (left > 0) await new Promise((resolve) => setTimeout(resolve, left));
}
