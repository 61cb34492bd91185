import { joinText } from '../text/methods.ts';
import { add, floorDivide } from '../values/arithmetic.ts';
import { attributeOnly } from '../values/attributes.ts';
import { truth } from '../values/compare.ts';
import { DictView, dictEntries } from '../values/dict.ts';
import { iterate, iterator, len, sequence, toList } from '../values/iterate.ts';
import { claim, spend } from '../values/limits.ts';
import {
  type Bound,
  intArgument,
  lazily,
  type Native,
  named,
  positional,
  textArgument,
} from '../values/native.ts';
import { Range } from '../values/range.ts';
import { fail } from '../values/render-error.ts';
import { str } from '../values/repr.ts';
import {
  Generator,
  isDict,
  isList,
  Markup,
  Tuple,
  typeName,
  Undefined,
  type Value,
} from '../values/types.ts';
import { attributePath } from './attribute-path.ts';

function* batches(value: Value, size: Value, fill: Value): IterableIterator<Value> {
  const count = intArgument(size);
  let batch: Value[] = [];
  for (const item of iterate(value)) {
    spend(1);
    if (batch.length === count) {
      yield batch;
      batch = [];
    }
    batch.push(item);
  }
  if (batch.length === 0) return;
  if (fill !== null && batch.length < count) {
    claim(count * 8);
    batch = [...batch, ...new Array<Value>(count - batch.length).fill(fill)];
  }
  yield batch;
}

function* slices(value: Value, count: Value, fill: Value): IterableIterator<Value> {
  const items = toList(value);
  const wanted = intArgument(count);
  const size = floorDivide(items.length, wanted) as number;
  const longer = items.length - size * wanted;
  let offset = 0;
  for (let index = 0; index < wanted; index++) {
    spend(8);
    const start = offset + index * size;
    if (index < longer) offset++;
    const slice = items.slice(start, offset + (index + 1) * size);
    if (fill !== null && index >= longer) slice.push(fill);
    yield slice;
  }
}

function* entriesOf(value: Value): IterableIterator<Value> {
  if (value instanceof Undefined) return;
  if (!isDict(value)) return fail('Can only get item pairs from a mapping.');
  for (const entry of dictEntries(value)) yield new Tuple(entry);
}

/** What reversed() takes: undefined for others. */
function reversible(value: Value): readonly Value[] | undefined {
  if (value instanceof Range) return Array.from({ length: value.size }, (_, index) => value.at(index));
  if (value instanceof Undefined) return [];
  return value instanceof DictView ||
    isList(value) ||
    isDict(value) ||
    value instanceof Tuple ||
    typeof value === 'string' ||
    value instanceof Markup
    ? sequence(value)
    : undefined;
}

function reverse(value: Value): Value {
  if (typeof value === 'string') return Array.from(value).reverse().join('');
  if (value instanceof Markup) return new Markup(Array.from(value.text).reverse().join(''));
  const items = reversible(value);
  if (items !== undefined) return new Generator(items.slice().reverse()[Symbol.iterator]());
  return toList(value).reverse();
}

function last(value: Value): Value {
  const items = reversible(value);
  if (items === undefined) return fail(`'${typeName(value)}' object is not reversible`);
  const item = items.at(-1);
  return item !== undefined ? item : new Undefined('No last item, sequence was empty.');
}

function first(value: Value): Value {
  const step = iterator(value).next();
  return step.done === true ? new Undefined('No first item, sequence was empty.') : step.value;
}

function sum(value: Value, attribute: Value, start: Value): Value {
  if (typeof start === 'string') fail("sum() can't sum strings [use ''.join(seq) instead]");
  const key = attributePath(attribute);
  let total: Value = start;
  for (const item of iterate(value)) {
    spend(1);
    total = add(total, key(item));
  }
  return total;
}

function join(value: Value, [separator, attribute]: Bound): Value {
  const key = attributePath(attribute ?? null);
  const texts: Value[] = [];
  for (const item of iterate(value)) {
    spend(1);
    texts.push(str(key(item)));
  }
  return joinText(separator === undefined ? '' : str(separator), texts);
}

const size: Native = positional(0, 0, (value) => len(value));

const byDefault: Native = named('default_value boolean', 0, (value, [absent, boolean]) => {
  const replace = value instanceof Undefined || (truth(boolean ?? false) && !truth(value));
  if (!replace) return value;
  return absent === undefined ? '' : absent;
});

export const SEQUENCE_FILTERS: readonly (readonly [string, Native])[] = [
  ['length', size],
  ['count', size],
  ['default', byDefault],
  ['d', byDefault],
  ['first', positional(0, 0, first)],
  ['last', positional(0, 0, last)],
  ['list', positional(0, 0, toList)],
  ['reverse', positional(0, 0, reverse)],
  ['join', named('d attribute', 0, join)],
  ['items', positional(0, 0, lazily(entriesOf))],
  ['attr', named('name', 1, (value, [name]) => attributeOnly(value, textArgument(name)))],
  [
    'batch',
    named(
      'linecount fill_with',
      1,
      lazily((value, [count, fill]) => batches(value, count as Value, fill ?? null)),
    ),
  ],
  [
    'slice',
    named(
      'slices fill_with',
      1,
      lazily((value, [count, fill]) => slices(value, count as Value, fill ?? null)),
    ),
  ],
  [
    'sum',
    named('attribute start', 0, (value, [attribute, start]) =>
      sum(value, attribute ?? null, start === undefined ? 0 : start),
    ),
  ],
];
