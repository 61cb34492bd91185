import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { nativeProgram } from '../../test/support/built.ts';
import { textOf } from '../../test/support/subprocess.ts';
import type { Latency } from './measured.ts';

const program = nativeProgram('load_client');

/** Calls of a C program of its own, see native-test/load_client.c. Rejects if any was not answered. */
export async function callFromClient(
  socket: string,
  options: Readonly<Record<string, number>>,
): Promise<Latency> {
  const args = Object.entries(options).flatMap(([name, value]) => [`--${name}`, `${value}`]);
  const child = spawn(program, ['--socket', socket, '--fresh', '1', ...args], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const stdout = textOf(child.stdout);
  await once(child, 'close');
  const [, line = ''] = stdout().split('\n');
  const round = JSON.parse(line) as Readonly<Record<string, number>> & {
    readonly statuses: Readonly<Record<string, number>>;
  };
  if (round.statuses.OK !== round.calls) throw new Error(line);
  return { calls: round.calls!, p50: round.p50_us!, p99: round.p99_us!, longest: round.longest_us! };
}
