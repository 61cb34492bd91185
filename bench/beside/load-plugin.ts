import { fileURLToPath } from 'node:url';
import koffi from 'koffi';
import type { Latency } from './measured.ts';

const Plan = koffi.struct({
  threads: 'uint32_t',
  timeout_ms: 'uint32_t',
  calls: 'uint64_t',
  seconds: 'double',
  sizes: koffi.array('uint32_t', 4),
  per_second: 'double',
  fresh: 'uint32_t',
});
const STATUSES = 32;
const Report = koffi.struct({
  calls: 'uint64_t',
  wrong: 'uint64_t',
  statuses: koffi.array('uint64_t', STATUSES),
  transports: koffi.array('uint64_t', 4),
  p50_us: 'double',
  p99_us: 'double',
  longest_us: 'double',
});

interface Reported {
  calls: number;
  statuses: number[];
  p50_us: number;
  p99_us: number;
  longest_us: number;
}

/** Calls by C threads of this process; see native-test/load.h. */
export interface CThreads {
  readonly threads: number;
  readonly bytes: number;
  readonly seconds: number;
  /** 0: one after the other. */
  readonly perSecond: number;
}

const plugin = new URL('../../build/native/libload_plugin.so', import.meta.url);
const run = koffi
  .load(fileURLToPath(plugin))
  .func('load_run', 'void', ['uint64_t', koffi.pointer(Plan), koffi.out(koffi.pointer(Report))]);

/** Fresh prompts through an `epptok *`, from threads that are not JavaScript's. Rejects if any was not answered. */
export function callFromC(handle: bigint, load: CThreads, timeoutMs: number): Promise<Latency> {
  const plan = {
    threads: load.threads,
    timeout_ms: timeoutMs,
    calls: 0,
    seconds: load.seconds,
    sizes: [load.bytes, 0, 0, 0],
    per_second: load.perSecond,
    fresh: 1,
  };
  return new Promise((resolve, reject) => {
    const report = {} as Reported;
    run.async(handle, plan, report, (error: Error | null) => {
      if (error) return reject(error);
      const { calls, statuses, p50_us: p50, p99_us: p99, longest_us: longest } = report;
      if (Number(statuses[0]) !== Number(calls))
        return reject(new Error(`${calls} calls, by status ${statuses}`));
      resolve({ calls: Number(calls), p50, p99, longest });
    });
  });
}
