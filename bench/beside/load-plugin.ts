import { runLoadAside } from '../../test/support/load-plugin.ts';
import type { Latency } from './measured.ts';

/** Calls by C threads of this process; see native-test/load.h. */
export interface CThreads {
  readonly threads: number;
  readonly bytes: number;
  readonly seconds: number;
  /** 0: one after the other. */
  readonly perSecond: number;
}

/** Fresh prompts through an `epptok *`, from threads that are not JavaScript's. Rejects if any was not answered. */
export async function callFromC(handle: bigint, load: CThreads, timeoutMs: number): Promise<Latency> {
  const { threads, bytes, seconds, perSecond } = load;
  const plan = { threads, timeoutMs, calls: 0, seconds, sizes: [bytes], perSecond, fresh: true };
  const { calls, statuses, p50, p99, longest } = await runLoadAside(handle, plan);
  if (statuses[0] !== calls) throw new Error(`${calls} calls, by status ${statuses}`);
  return { calls, p50, p99, longest };
}
