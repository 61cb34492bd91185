import { equal, order, truth } from '../values/compare.ts';
import { dictEntries, hashKey } from '../values/dict.ts';
import { iterate, toList } from '../values/iterate.ts';
import { spend } from '../values/limits.ts';
import { type Bound, lazily, type Native, named, textArgument } from '../values/native.ts';
import { fail } from '../values/render-error.ts';
import { isDict, Markup, Tuple, typeName, Undefined, type Value } from '../values/types.ts';
import { attributePath, type Key, withCase } from './attribute-path.ts';

/** The filter sort's key: of one attribute, or of several with commas between, compared as a list. */
function sortKey(attribute: Value, caseSensitive: boolean): Key {
  const path = attribute instanceof Markup ? attribute.text : attribute;
  const parts = typeof path === 'string' ? path.split(',') : [path];
  const keys = parts.map((part) => withCase(attributePath(part), caseSensitive));
  return (item) => keys.map((key) => key(item));
}

function sorted(items: readonly Value[], key: Key, reverse: boolean): Value[] {
  spend(items.length * 8);
  const keyed = items.map((item) => ({ item, key: key(item) }));
  keyed.sort((a, b) => (reverse ? order(b.key, a.key, '<') : order(a.key, b.key, '<')));
  return keyed.map(({ item }) => item);
}

class Group extends Tuple {
  override attribute(name: string): Value | undefined {
    if (name === 'grouper') return this.items[0];
    return name === 'list' ? this.items[1] : undefined;
  }
}

function groupBy(value: Value, attribute: Value, absent: Value, caseSensitive: boolean): Value {
  const key = withCase(attributePath(attribute, absent), caseSensitive);
  const shown = caseSensitive ? key : attributePath(attribute, absent);
  const groups: { key: Value; items: Value[] }[] = [];
  for (const item of sorted(toList(value), key, false)) {
    const itemKey = key(item);
    const last = groups.at(-1);
    if (last !== undefined && (last.key === itemKey || equal(last.key, itemKey))) last.items.push(item);
    else groups.push({ key: itemKey, items: [item] });
  }
  return groups.map(({ items }) => new Group([shown(items[0] as Value), items]));
}

function* unique(value: Value, key: Key): IterableIterator<Value> {
  const seen = new Set<unknown>();
  for (const item of iterate(value)) {
    spend(1);
    const hash = hashKey(key(item));
    if (seen.has(hash)) continue;
    seen.add(hash);
    yield item;
  }
}

function extreme(value: Value, largest: boolean, caseSensitive: Value, attribute: Value): Value {
  const key = withCase(attributePath(attribute), truth(caseSensitive));
  let best: { item: Value; key: Value } | undefined;
  for (const item of iterate(value)) {
    spend(1);
    const itemKey = key(item);
    const wins =
      best === undefined || (largest ? order(itemKey, best.key, '>') > 0 : order(itemKey, best.key, '<') < 0);
    if (wins) best = { item, key: itemKey };
  }
  return best === undefined ? new Undefined('No aggregated item, sequence was empty.') : best.item;
}

function dictSort(value: Value, [caseSensitive, by, reversed]: Bound): Value {
  const place = by === undefined ? 'key' : textArgument(by);
  if (place !== 'key' && place !== 'value') fail('You can only sort by either "key" or "value"');
  if (!isDict(value))
    return fail(
      value instanceof Undefined ? value.message : `'${typeName(value)}' object has no attribute 'items'`,
    );
  const pairs = dictEntries(value).map((entry) => new Tuple(entry));
  const key: Key = (pair) => (pair as Tuple).items[place === 'key' ? 0 : 1] as Value;
  return sorted(pairs, withCase(key, truth(caseSensitive ?? false)), truth(reversed ?? false));
}

export const SORT_FILTERS: readonly (readonly [string, Native])[] = [
  ['dictsort', named('case_sensitive by reverse', 0, dictSort)],
  [
    'sort',
    named('reverse case_sensitive attribute', 0, (value, [reversed, caseSensitive, attribute]) =>
      sorted(
        toList(value),
        sortKey(attribute ?? null, truth(caseSensitive ?? false)),
        truth(reversed ?? false),
      ),
    ),
  ],
  [
    'unique',
    named(
      'case_sensitive attribute',
      0,
      lazily((value, [caseSensitive, attribute]) =>
        unique(value, withCase(attributePath(attribute ?? null), truth(caseSensitive ?? false))),
      ),
    ),
  ],
  [
    'min',
    named('case_sensitive attribute', 0, (value, [sensitive, attribute]) =>
      extreme(value, false, sensitive ?? false, attribute ?? null),
    ),
  ],
  [
    'max',
    named('case_sensitive attribute', 0, (value, [sensitive, attribute]) =>
      extreme(value, true, sensitive ?? false, attribute ?? null),
    ),
  ],
  [
    'groupby',
    named('attribute default case_sensitive', 1, (value, [attribute, absent, caseSensitive]) =>
      groupBy(value, attribute as Value, absent ?? null, truth(caseSensitive ?? false)),
    ),
  ],
];
