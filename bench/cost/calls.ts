import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { AsyncTokenizer } from 'epptok';
import { startProgram, stop, waitForLine } from '../child.ts';
import { inMode, type Mode } from '../cores.ts';
import { FreshText } from '../fresh-text.ts';
import { CLI, MODEL, MODEL_DIRECTORY, SOCKET_ECHO } from '../paths.ts';
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
  /** Of a round trip between two programs of C that pass as many bytes and do nothing with them: no bridge can be less. */
  readonly echo: number;
  /** Of medians. */
  readonly bridgeShare: number;
  /** The same body through AsyncTokenizer with `encoder: 'library'`, unpinned: `epptok serve` has no such encoder. */
  readonly library: { readonly calls: number; readonly encode: number; readonly whole: number };
  readonly timesLibrary: number;
}

interface Measured {
  readonly count: number;
  readonly mode: Mode;
  readonly body: string;
  readonly timings: CallTimings;
  readonly echo: number;
}

const BYTES = 154_000;
/** Of a frame without its body or ids: header, table, names. */
const FRAME_BYTES = 112;

/** Chats of ~40k tokens over a socket, call by call, with nothing else in flight; each in each mode. */
export async function callCosts(
  turns: readonly number[],
  modes: readonly Mode[],
  milliseconds: number,
  libraryCalls: number,
): Promise<CallCost[]> {
  const bodies = turns.map((count) => ({ count, body: chat(count, new FreshText(MODEL_DIRECTORY, count)) }));
  const ours: (Measured & { hash: number })[] = [];
  for (const mode of modes) {
    for (const { count, body } of bodies) {
      const { timings, hash } = await overSocket(body, mode, milliseconds);
      const echo = echoOf(timings, body.length, mode, milliseconds);
      ours.push({ count, mode, body, timings, echo, hash });
    }
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
  return ours.map((one) => costOf(one, theirs.get(one.count)!));
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

function echoOf(
  { calls, tokens, total }: CallTimings,
  bytes: number,
  mode: Mode,
  milliseconds: number,
): number {
  const ids = Math.round(tokens / calls) * Uint32Array.BYTES_PER_ELEMENT;
  const rounds = Math.max(100, Math.round(milliseconds / 5));
  const sizes = [bytes + FRAME_BYTES, ids + FRAME_BYTES, total.p50, rounds].map(String);
  const [program, ...args] = inMode(mode, [SOCKET_ECHO, ...sizes]);
  return (JSON.parse(execFileSync(program, args, { encoding: 'utf8', timeout: 60_000 })) as { p50: number })
    .p50;
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

function costOf({ count, mode, body, timings, echo }: Measured, library: CallCost['library']): CallCost {
  const { calls, tokens, queue, parse, template, encode, bridge, roundTrip } = timings;
  if (calls === 0) throw new Error('no call ended in time');
  return {
    turns: count,
    mode,
    bytes: body.length,
    echo,
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
