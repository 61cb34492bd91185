import { compareText } from '../values/compare.ts';
import { dictEntries } from '../values/dict.ts';
import { textLength } from '../values/iterate.ts';
import { unsupported } from '../values/render-error.ts';
import { repr } from '../values/repr.ts';
import { isDict, isList, Tuple, type Value } from '../values/types.ts';

const LINE = 80;

/** The filter pprint: repr with the keys of dicts sorted, of what fits one line; longer ones Python lays out in many. */
export function prettyPrint(value: Value): string {
  const text = sortedRepr(value);
  if (textLength(text) > LINE) unsupported('pprint of what does not fit one line');
  return text;
}

function sortedRepr(value: Value): string {
  if (isList(value)) return `[${value.map(sortedRepr).join(', ')}]`;
  if (value instanceof Tuple) {
    const items = value.items.map(sortedRepr).join(', ');
    return value.items.length === 1 ? `(${items},)` : `(${items})`;
  }
  if (!isDict(value)) return repr(value);
  const entries = dictEntries(value);
  if (entries.length > 1 && entries.some(([key]) => typeof key !== 'string')) {
    unsupported('pprint of a dict with keys that are not text');
  }
  entries.sort(([a], [b]) => compareText(a as string, b as string));
  return `{${entries.map(([key, item]) => `${repr(key)}: ${sortedRepr(item)}`).join(', ')}}`;
}
