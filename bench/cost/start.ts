import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { AsyncTokenizer, Tokenizer } from 'epptok';
import { BENCH_CLIENT } from '../paths.ts';
import { median } from '../statistics.ts';

export interface StartCost {
  readonly what: string;
  readonly model: string;
  /** Milliseconds from nothing to the first ids, the median of several. */
  readonly ms: number;
}

// Of a kind that every model serves: not all have a chat template.
const BODY = '{"prompt":"Is it raining in Zürich?"}';

/** From opening to the first ids, for each way in, in processes and runtimes that have just started. */
export async function startCosts(model: string, directory: string, rounds: number): Promise<StartCost[]> {
  const folder = mkdtempSync(join(tmpdir(), 'epptok-cost-'));
  const body = join(folder, 'body.json');
  writeFileSync(body, BODY);
  const ways: [string, () => unknown][] = [
    ['C program, private runtime (the whole process)', () => runClient(directory, body)],
    ['AsyncTokenizer', () => firstAsync(directory)],
    ['Tokenizer', () => firstBlocking(directory)],
  ];
  const costs: StartCost[] = [];
  for (const [what, way] of ways) {
    const times: number[] = [];
    for (let round = 0; round < rounds; round++) {
      const start = performance.now();
      const end = await way();
      times.push((typeof end === 'number' ? end : performance.now()) - start);
    }
    costs.push({ what, model, ms: median(times) });
  }
  rmSync(folder, { recursive: true });
  return costs;
}

async function runClient(directory: string, body: string): Promise<void> {
  const calls = ['--body', body, '--kind', 'completion', '--warmup', '0', '--count', '1', '--threads', '2'];
  const client = spawn(BENCH_CLIENT, ['--model', directory, ...calls], {
    stdio: ['ignore', 'ignore', 'inherit'],
  });
  const [code] = await once(client, 'exit');
  if (code !== 0) throw new Error(`bench_client ended with ${code}`);
}

/** Ends with the first ids, not with closing. */
async function firstAsync(directory: string): Promise<number> {
  const tokenizer = await AsyncTokenizer.create({ model: directory, threads: 2 });
  await tokenizer.tokenize({ kind: 'completion', body: BODY });
  const end = performance.now();
  await tokenizer.close();
  return end;
}

function firstBlocking(directory: string): number {
  const tokenizer = new Tokenizer({ model: directory, threads: 2 });
  tokenizer.tokenize({ kind: 'completion', body: BODY });
  const end = performance.now();
  tokenizer.close();
  return end;
}
