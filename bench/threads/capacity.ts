import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { type Child, startScript } from '../child.ts';
import { writeBodies } from './bodies.ts';

/**
 * What a pool of workers does when nobody has to be reached: each of them serves the same requests from its own memory. The
 * capacity that callers can get at most. In a process and a session of its own, as a private child is: schedulers share
 * cores out among sessions.
 */
export class Capacity {
  readonly #child: Child;
  readonly #folder: string;
  readonly #lines: AsyncIterator<string>;

  private constructor(child: Child, folder: string) {
    this.#child = child;
    this.#folder = folder;
    this.#lines = createInterface(child.says)[Symbol.asyncIterator]();
  }

  /** Serves every body `passes` times in every worker. `hashes` are of the ids of each body, by worker. */
  static async open(
    workers: number,
    bodies: readonly string[],
    kind: string,
    passes: number,
  ): Promise<{ capacity: Capacity; hashes: readonly (readonly number[])[] }> {
    const folder = mkdtempSync(join(tmpdir(), 'epptok-capacity-'));
    const file = join(folder, 'bodies.jsonl');
    writeBodies(file, bodies);
    const script = new URL('./capacity-process.ts', import.meta.url);
    const child = startScript(script, [String(workers), kind, file, String(passes)], { session: true });
    const capacity = new Capacity(child, folder);
    return { capacity, hashes: (await capacity.#line()) as number[][] };
  }

  /** Calls per second of all workers together. */
  async measure(milliseconds: number): Promise<number> {
    this.#child.process.stdin?.write(`${milliseconds}\n`);
    return (await this.#line()) as number;
  }

  close(): void {
    this.#child.process.kill('SIGTERM');
    rmSync(this.#folder, { recursive: true });
  }

  async #line(): Promise<unknown> {
    const line = await this.#lines.next();
    if (line.done) throw new Error('the workers ended before they answered');
    return JSON.parse(line.value) as unknown;
  }
}
