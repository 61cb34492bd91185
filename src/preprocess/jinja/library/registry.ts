import type { Native } from '../values/native.ts';

/** Filters and tests by name. Filled by builtin-filters.ts; apart from it so that `map` and `select` can look others up. */
export const FILTERS = new Map<string, Native>();
export const TESTS = new Map<string, Native>();
