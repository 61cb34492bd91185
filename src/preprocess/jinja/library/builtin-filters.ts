import { APPLY_FILTERS } from './apply-filters.ts';
import { NUMBER_FILTERS } from './number-filters.ts';
import { FILTERS, TESTS } from './registry.ts';
import { SEQUENCE_FILTERS } from './sequence-filters.ts';
import { SORT_FILTERS } from './sort-filters.ts';
import { BUILTIN_TESTS } from './tests.ts';
import { TEXT_FILTERS } from './text-filters.ts';

for (const [name, filter] of [
  ...TEXT_FILTERS,
  ...NUMBER_FILTERS,
  ...SEQUENCE_FILTERS,
  ...SORT_FILTERS,
  ...APPLY_FILTERS,
]) {
  FILTERS.set(name, filter);
}
for (const [name, test] of BUILTIN_TESTS) TESTS.set(name, test);
