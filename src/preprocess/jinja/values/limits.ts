import { RenderError } from './render-error.ts';

export interface RenderLimits {
  /** Units of work in a render: a loop's turn, a call, an item of a list, 64 characters handled. */
  readonly work: number;
  /** Characters of one string, items of one list, and characters of the output. */
  readonly size: number;
  /** Macro and recursive loop calls within one another. */
  readonly depth: number;
}

export const RENDER_LIMITS: RenderLimits = { work: 20_000_000, size: 64 * 1024 * 1024, depth: 200 };

/** Python's sandbox allows no longer range. */
export const MAXIMUM_RANGE = 100_000;
const MAXIMUM_INTEGER_BITS = 1 << 17;
const INTEGER_BOUND = 1n << BigInt(MAXIMUM_INTEGER_BITS);

/** What the render under way may still spend. One per thread: a render is synchronous and never nests. */
export const budget = { work: 0, size: 0, depth: 0 };

export function resetBudget(limits: RenderLimits): void {
  budget.work = limits.work;
  budget.size = limits.size;
  budget.depth = limits.depth;
}

export function spend(units: number): void {
  budget.work -= units;
  if (budget.work < 0) throw new RenderError('limit', 'the render takes more work than the limit allows');
}

/** Called before a string or list of `size` comes to be. */
export function claim(size: number): void {
  if (!(size <= budget.size))
    throw new RenderError('limit', 'a value or the output is larger than the limit allows');
  spend(size >>> 6);
}

export function boundInteger(value: bigint): bigint {
  if (value >= INTEGER_BOUND || value <= -INTEGER_BOUND) {
    throw new RenderError('limit', 'an integer is larger than the limit allows');
  }
  return value;
}

export function claimIntegerBits(bits: number): void {
  if (bits > MAXIMUM_INTEGER_BITS)
    throw new RenderError('limit', 'an integer is larger than the limit allows');
}
