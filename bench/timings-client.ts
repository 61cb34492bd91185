import { type ChildProcessByStdio, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import type { Readable, Writable } from 'node:stream';
import { inMode, type Mode } from './cores.ts';
import { TIMINGS_CLIENT } from './paths.ts';
import { writeBodies } from './threads/bodies.ts';

/** Microseconds. */
export interface Spread {
  readonly mean: number;
  readonly p50: number;
  readonly p99: number;
}

/** What calls from C came to in one stretch of time, and where their time went. */
export interface CallTimings {
  readonly threads: number;
  readonly seconds: number;
  /** Calls that ended in that time, and the ids that they gave. */
  readonly calls: number;
  readonly tokens: number;
  readonly queue: Spread;
  readonly parse: Spread;
  readonly template: Spread;
  readonly encode: Spread;
  /** Of the runtime: queue to answer. */
  readonly total: Spread;
  /** Of the caller: the whole call. */
  readonly roundTrip: Spread;
  /** The round trip without the runtime's total, call by call. */
  readonly bridge: Spread;
}

/** A C program on libepptok that calls when it is told to (native-test/timings_client.c). */
export class TimingsClient {
  readonly #child: ChildProcessByStdio<Writable, Readable, null>;
  readonly #lines: AsyncIterator<string>;
  readonly #folder: string;

  private constructor(child: ChildProcessByStdio<Writable, Readable, null>, folder: string) {
    this.#child = child;
    this.#folder = folder;
    this.#lines = createInterface(child.stdout)[Symbol.asyncIterator]();
  }

  /**
   * Opens a handle on `target` (`--socket PATH`, or `--model DIR` and its options), and sends each of the bodies once. They
   * hold no line end. `hashes` are of the ids of each, as `idsHash` makes them.
   */
  static async start(
    target: readonly string[],
    kind: string,
    bodies: readonly string[],
    mode: Mode = 'unpinned',
  ): Promise<{ client: TimingsClient; hashes: readonly number[] }> {
    const folder = mkdtempSync(join(tmpdir(), 'epptok-timings-'));
    const file = join(folder, 'bodies.jsonl');
    writeBodies(file, bodies);
    const [program, ...args] = inMode(mode, [TIMINGS_CLIENT, ...target, '--kind', kind, '--bodies', file]);
    const child = spawn(program, args, { stdio: ['pipe', 'pipe', 'inherit'] });
    const client = new TimingsClient(child, folder);
    const { hashes } = (await client.#line()) as { hashes: readonly number[] };
    return { client, hashes };
  }

  /** Calls from `threads` threads for so long, the bodies taken in turn. */
  async run(threads: number, milliseconds: number): Promise<CallTimings> {
    this.#child.stdin.write(`${threads} ${milliseconds}\n`);
    return (await this.#line()) as CallTimings;
  }

  async close(): Promise<void> {
    const ended = once(this.#child, 'exit');
    this.#child.stdin.end();
    await ended;
    rmSync(this.#folder, { recursive: true });
  }

  async #line(): Promise<unknown> {
    const line = await this.#lines.next();
    if (line.done) throw new Error('timings_client ended before it answered');
    return JSON.parse(line.value) as unknown;
  }
}

/** FNV-1a of 32 bits over whole ids. */
export function idsHash(ids: Uint32Array): number {
  let hash = 0x811c9dc5;
  for (const id of ids) hash = Math.imul(hash ^ id, 0x01000193);
  return hash >>> 0;
}
