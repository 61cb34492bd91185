import { FreshText } from '../fresh-text.ts';
import { MODEL_DIRECTORY } from '../paths.ts';
import { median } from '../statistics.ts';
import { type CallTimings, type Spread, TimingsClient } from '../timings-client.ts';
import { Capacity } from './capacity.ts';

export interface Plan {
  readonly workers: number;
  /** Bytes of each chat, all in one message. */
  readonly bytes: number;
  readonly rounds: number;
  readonly milliseconds: number;
}

/** Medians over the rounds. */
export interface ThreadsCell {
  readonly workers: number;
  readonly bytes: number;
  readonly threads: number;
  readonly callsPerSecond: number;
  readonly tokensPerSecond: number;
  /** Of what the workers do without callers, in the same round. */
  readonly shareOfCapacity: number;
  readonly capacityPerSecond: number;
  /** Microseconds. */
  readonly queue: Spread;
  readonly encode: Spread;
  readonly total: Spread;
  readonly roundTrip: Spread;
}

export const THREADS = [1, 2, 4, 16, 64] as const;
const KIND = 'chat';
const CALLS_PER_THREAD = 3;
/** Different texts of the same words. */
const TEXTS = 12;
/** Until every worker has seen every text, and its code is compiled. */
const PASSES = 4;

/**
 * C threads on a private child, and the same service work without one. Round after round, capacity right before callers, so
 * that what the machine does meanwhile befalls both.
 */
export async function measureThreads({ workers, bytes, rounds, milliseconds }: Plan): Promise<ThreadsCell[]> {
  const prose = new FreshText(MODEL_DIRECTORY, workers);
  const bodies = Array.from({ length: TEXTS }, () =>
    JSON.stringify({ messages: [{ role: 'user', content: prose.text(bytes) }] }),
  );
  const { capacity, hashes: expected } = await Capacity.open(workers, bodies, KIND, PASSES);
  const target = ['--model', MODEL_DIRECTORY, '--runtime-threads', String(workers)];
  const { client, hashes } = await TimingsClient.start(target, KIND, bodies);
  for (const ofOne of expected) requireSameIds(hashes, ofOne);
  for (let calls = 0; calls < PASSES * TEXTS * workers; ) {
    calls += (await client.run(2 * workers, milliseconds / 2)).calls;
  }
  const taken = new Map<number, { timings: CallTimings; capacity: number }[]>();
  for (let round = 0; round < rounds; round++) {
    process.stderr.write(`\r  ${workers} workers, ${bytes} bytes: round ${round + 1} of ${rounds} `);
    for (const threads of THREADS) {
      const before = await capacity.measure(milliseconds / 2);
      // Long enough for every thread to have made some calls.
      const enough = (CALLS_PER_THREAD * threads * 1e3) / before;
      const window = Math.ceil(Math.min(Math.max(milliseconds, enough), milliseconds * 5));
      const timings = await client.run(threads, window);
      const after = await capacity.measure(milliseconds / 2);
      taken.set(threads, [...(taken.get(threads) ?? []), { timings, capacity: (before + after) / 2 }]);
    }
  }
  process.stderr.write('\n');
  await client.close();
  capacity.close();
  return [...taken.values()].map((all) => cellOf(workers, bytes, all));
}

function requireSameIds(hashes: readonly number[], expected: readonly number[]): void {
  if (hashes.length !== expected.length || hashes.some((hash, i) => hash !== expected[i])) {
    throw new Error('callers get other ids than the workers give without them');
  }
}

function cellOf(
  workers: number,
  bytes: number,
  all: readonly { timings: CallTimings; capacity: number }[],
): ThreadsCell {
  const over = (value: (timings: CallTimings) => number) => median(all.map(({ timings }) => value(timings)));
  const spread = (stage: 'queue' | 'encode' | 'total' | 'roundTrip'): Spread => ({
    mean: over((timings) => timings[stage].mean),
    p50: over((timings) => timings[stage].p50),
    p99: over((timings) => timings[stage].p99),
  });
  const perSecond = ({ calls, seconds }: CallTimings) => calls / seconds;
  return {
    workers,
    bytes,
    threads: all[0]!.timings.threads,
    callsPerSecond: over(perSecond),
    tokensPerSecond: over(({ tokens, seconds }) => tokens / seconds),
    shareOfCapacity: median(all.map(({ timings, capacity }) => perSecond(timings) / capacity)),
    capacityPerSecond: median(all.map(({ capacity }) => capacity)),
    queue: spread('queue'),
    encode: spread('encode'),
    total: spread('total'),
    roundTrip: spread('roundTrip'),
  };
}
