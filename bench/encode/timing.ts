import type { Encode } from './encoders.ts';

export type Reading = { readonly ids: ArrayLike<number>; readonly cpuMs: number };

/**
 * One call, by the processor time that the whole process took: what waits for a core, or is preempted, costs nothing,
 * and threads of a native library count in full.
 */
export async function timed(encode: Encode, text: string): Promise<Reading> {
  const before = process.cpuUsage();
  const ids = await encode(text);
  const spent = process.cpuUsage(before);
  return { ids, cpuMs: (spent.user + spent.system) / 1000 };
}

export function sameIds(left: ArrayLike<number>, right: ArrayLike<number>): boolean {
  if (left.length !== right.length) return false;
  for (let k = 0; k < left.length; k++) if (left[k] !== right[k]) return false;
  return true;
}
