import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { AsyncTokenizer } from 'epptok';
import { startProgram, stop, waitForLine } from '../child.ts';
import type { Mode } from '../cores.ts';
import { FreshText } from '../fresh-text.ts';
import { CLI, MODEL, MODEL_DIRECTORY } from '../paths.ts';
import { median } from '../statistics.ts';
import { type CallTimings, idsHash, type Spread, TimingsClient } from '../timings-client.ts';

/** Where the time of one call goes. Microseconds. */
export interface CallCost {
  readonly turns: number;
  readonly mode: Mode;
  readonly bytes: number;
  readonly tokens: number;
  /** A C program on the socket of `epptok serve`, the conversation seen before. */
  readonly queue: Spread;
  readonly parse: Spread;
  readonly template: Spread;
  readonly encode: Spread;
  readonly bridge: Spread;
  readonly whole: Spread;
  /** Of medians. */
  readonly bridgeShare: number;
  /** The same body through AsyncTokenizer with `encoder: 'library'`, unpinned: `epptok serve` has no such encoder. */
  readonly library: { readonly calls: number; readonly encode: number; readonly whole: number };
  readonly timesLibrary: number;
}

const BYTES = 154_000;

/** Chats of ~40k tokens over a socket, call by call, with nothing else in flight; each in each mode. */
export async function callCosts(
  turns: readonly number[],
  modes: readonly Mode[],
  milliseconds: number,
  libraryCalls: number,
): Promise<CallCost[]> {
  const bodies = turns.map((count) => ({ count, body: chat(count, new FreshText(MODEL_DIRECTORY, count)) }));
  const ours: { count: number; mode: Mode; body: string; timings: CallTimings; hash: number }[] = [];
  for (const mode of modes) {
    for (const { count, body } of bodies)
      ours.push({ count, mode, body, ...(await overSocket(body, mode, milliseconds)) });
  }
  const library = await AsyncTokenizer.create({
    model: MODEL,
    encoder: 'library',
    threads: 1,
    timeoutMs: 120_000,
  });
  const theirs = new Map<number, CallCost['library']>();
  for (const { count, body, hash } of ours) {
    if (!theirs.has(count)) theirs.set(count, await byLibrary(library, body, libraryCalls, hash));
  }
  await library.close();
  return ours.map(({ count, mode, body, timings }) => ({
    turns: count,
    mode,
    bytes: body.length,
    ...costOf(timings, theirs.get(count)!),
  }));
}

function chat(turns: number, prose: FreshText): string {
  const messages = Array.from({ length: turns }, (_, turn) => ({
    role: turn % 2 === 0 ? 'user' : 'assistant',
    content: prose.text(Math.round(BYTES / turns)),
  }));
  return JSON.stringify({ messages });
}

async function overSocket(
  body: string,
  mode: Mode,
  milliseconds: number,
): Promise<{ timings: CallTimings; hash: number }> {
  const folder = mkdtempSync(join(tmpdir(), 'epptok-cost-'));
  const socket = join(folder, 'run', 'epptok.sock');
  // One worker: what it has seen, no other has to see.
  const sidecar = startProgram(CLI, ['serve', '--model', MODEL, '--threads', '1', '--socket', socket], {
    mode,
  });
  await waitForLine(sidecar, '"msg":"ready"');
  const { client, hashes } = await TimingsClient.start(['--socket', socket], 'chat', [body], mode);
  await client.run(1, milliseconds / 2);
  const timings = await client.run(1, milliseconds);
  await client.close();
  await stop(sidecar);
  rmSync(folder, { recursive: true });
  return { timings, hash: hashes[0]! };
}

async function byLibrary(
  library: AsyncTokenizer,
  body: string,
  calls: number,
  hash: number,
): Promise<CallCost['library']> {
  const encode: number[] = [];
  const whole: number[] = [];
  for (let call = -1; call < calls; call++) {
    const { ids, elapsed, timings } = await library.tokenize({ kind: 'chat', body });
    if (idsHash(ids) !== hash) throw new Error('the library gives other ids');
    if (call < 0) continue;
    encode.push(timings.encode);
    whole.push(elapsed);
  }
  return { calls, encode: median(encode), whole: median(whole) };
}

function costOf(
  timings: CallTimings,
  library: CallCost['library'],
): Omit<CallCost, 'turns' | 'mode' | 'bytes'> {
  const { calls, tokens, queue, parse, template, encode, bridge, roundTrip } = timings;
  if (calls === 0) throw new Error('no call ended in time');
  return {
    tokens: Math.round(tokens / calls),
    queue,
    parse,
    template,
    encode,
    bridge,
    whole: roundTrip,
    bridgeShare: bridge.p50 / roundTrip.p50,
    library,
    timesLibrary: library.whole / roundTrip.p50,
  };
}
