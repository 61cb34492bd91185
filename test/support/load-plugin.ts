import koffi from 'koffi';
import { nativeLibrary } from './built.ts';

/** native-test/load.h: many calls on one handle by C threads of this process. */
const Plan = koffi.struct({
  threads: 'uint32_t',
  timeout_ms: 'uint32_t',
  calls: 'uint64_t',
  seconds: 'double',
  sizes: koffi.array('uint32_t', 4),
  per_second: 'double',
  fresh: 'uint32_t',
});
const Report = koffi.struct({
  calls: 'uint64_t',
  wrong: 'uint64_t',
  statuses: koffi.array('uint64_t', 32),
  transports: koffi.array('uint64_t', 4),
  p50_us: 'double',
  p99_us: 'double',
  longest_us: 'double',
});

export interface LoadPlan {
  /** 0: the calling thread alone. */
  readonly threads: number;
  /** Of each call. */
  readonly timeoutMs: number;
  /** In all; 0: until `seconds` have passed. */
  readonly calls: number;
  /** 0: until the calls are made. */
  readonly seconds: number;
  /** Bytes of the bodies, taken in turn; at most four. */
  readonly sizes: readonly number[];
  /** Calls of each thread, at even intervals; 0: one after the other. */
  readonly perSecond: number;
  /** Words that no cache has seen in each body; then there are no ids to compare. */
  readonly fresh: boolean;
}

export interface LoadReport {
  readonly calls: number;
  /** Those that were OK and gave other ids than the same body had before. */
  readonly wrong: number;
  /** How many calls ended with each status and went by each transport, by its number. */
  readonly statuses: readonly number[];
  readonly transports: readonly number[];
  /** Microseconds. */
  readonly p50: number;
  readonly p99: number;
  readonly longest: number;
}

const run = koffi
  .load(nativeLibrary('load_plugin'))
  .func('load_run', 'void', ['uint64_t', koffi.pointer(Plan), koffi.out(koffi.pointer(Report))]);

/** Blocks this thread until all calls are answered. */
export function runLoad(handle: bigint, plan: LoadPlan): LoadReport {
  const report = {};
  run(handle, nativePlan(plan), report);
  return reported(report as NativeReport);
}

/** Resolves when all calls are answered, with this thread free meanwhile. */
export function runLoadAside(handle: bigint, plan: LoadPlan): Promise<LoadReport> {
  return new Promise((resolve, reject) => {
    const report = {};
    run.async(handle, nativePlan(plan), report, (error: Error | null) =>
      error ? reject(error) : resolve(reported(report as NativeReport)),
    );
  });
}

type Count = number | bigint;

interface NativeReport {
  readonly calls: Count;
  readonly wrong: Count;
  readonly statuses: readonly Count[];
  readonly transports: readonly Count[];
  readonly p50_us: number;
  readonly p99_us: number;
  readonly longest_us: number;
}

function nativePlan({ timeoutMs, perSecond, sizes, fresh, ...plan }: LoadPlan): object {
  return {
    ...plan,
    timeout_ms: timeoutMs,
    per_second: perSecond,
    sizes: [...sizes, 0, 0, 0, 0].slice(0, 4),
    fresh: fresh ? 1 : 0,
  };
}

function reported(report: NativeReport): LoadReport {
  return {
    calls: Number(report.calls),
    wrong: Number(report.wrong),
    statuses: Array.from(report.statuses, Number),
    transports: Array.from(report.transports, Number),
    p50: report.p50_us,
    p99: report.p99_us,
    longest: report.longest_us,
  };
}
