import { readdirSync, readFileSync } from 'node:fs';

/** What a process holds. Threads of V8's and libuv's pools included. */
export interface Sample {
  readonly calls: number;
  /** Resident set, in KiB. */
  readonly rss: number;
  readonly descriptors: number;
  readonly threads: number;
}

export function sample(pid: number, calls: number): Sample {
  const status = readFileSync(`/proc/${pid}/status`, 'utf8');
  const figure = (name: string) => Number(new RegExp(`^${name}:\\s+(\\d+)`, 'm').exec(status)?.[1]);
  return {
    calls,
    rss: figure('VmRSS'),
    threads: figure('Threads'),
    descriptors: readdirSync(`/proc/${pid}/fd`).length,
  };
}

/**
 * Why the samples after warm-up (the first half) are not flat; undefined if they are. Descriptors and threads must not grow at
 * all. Of memory the lowest sample counts, in each half of what is left: a collector lets it rise and fall, a leak raises the
 * floor. 5 % and 4 MiB are what that floor may rise by.
 */
export function whyNotFlat(samples: readonly Sample[]): string | undefined {
  const steady = samples.slice(Math.floor(samples.length / 2));
  if (steady.length < 6) return `only ${steady.length} samples after warm-up: more calls are needed`;
  const middle = Math.floor(steady.length / 2);
  const early = steady.slice(0, middle);
  const late = steady.slice(middle);
  const highest = (of: readonly Sample[], what: keyof Sample) => Math.max(...of.map((one) => one[what]));
  const lowest = (of: readonly Sample[], what: keyof Sample) => Math.min(...of.map((one) => one[what]));
  for (const what of ['descriptors', 'threads'] as const) {
    const [before, after] = [highest(early, what), highest(late, what)];
    if (after > before) return `${what} grew from ${before} to ${after}`;
  }
  const [before, after] = [lowest(early, 'rss'), lowest(late, 'rss')];
  if (after > before * 1.05 + 4096) return `memory grew from ${before} to ${after} KiB`;
  return undefined;
}
