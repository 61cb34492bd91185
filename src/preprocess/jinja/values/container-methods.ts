import { PyFloat } from '../../json/value.ts';
import { equal } from './compare.ts';
import { DictView, dictGet, type ViewKind } from './dict.ts';
import { spend } from './limits.ts';
import { intArgument, type Native, positional } from './native.ts';
import { fail } from './render-error.ts';
import { repr } from './repr.ts';
import { type Dict, isInt, type Value } from './types.ts';

type Methods<Self> = ReadonlyMap<string, Native<Self>>;

function view(kind: ViewKind): Native<Dict> {
  return positional<Dict>(0, 0, (dict) => new DictView(kind, dict));
}

export const DICT_METHODS: Methods<Dict> = new Map([
  [
    'get',
    positional<Dict>(2, 1, (dict, [key, absent]) => {
      const value = dictGet(dict, key as Value);
      return value !== undefined ? value : (absent ?? null);
    }),
  ],
  ['items', view('items')],
  ['keys', view('keys')],
  ['values', view('values')],
  ['copy', positional<Dict>(0, 0, (dict) => dict)],
]);

/** Methods that change a dict: the sandbox gives an undefined value for them, even where a key has that name. */
export const UNSAFE_DICT_METHODS: ReadonlySet<string> = new Set([
  'clear',
  'pop',
  'popitem',
  'setdefault',
  'update',
]);

const SEQUENCE_METHODS: [string, Native<readonly Value[]>][] = [
  [
    'count',
    positional<readonly Value[]>(
      1,
      1,
      (items, [item]) => items.filter((other) => same(other, item as Value)).length,
    ),
  ],
  [
    'index',
    positional<readonly Value[]>(3, 1, (items, [item, start, end]) =>
      indexOf(items, item as Value, start, end),
    ),
  ],
];

export const TUPLE_METHODS: Methods<readonly Value[]> = new Map(SEQUENCE_METHODS);

export const LIST_METHODS: Methods<readonly Value[]> = new Map<string, Native<readonly Value[]>>([
  ...SEQUENCE_METHODS,
  ['copy', positional<readonly Value[]>(0, 0, (items) => items.slice())],
]);

function same(left: Value, right: Value): boolean {
  spend(1);
  return left === right || equal(left, right);
}

function indexOf(
  items: readonly Value[],
  item: Value,
  start: Value | undefined,
  end: Value | undefined,
): number {
  const clamp = (value: Value | undefined, absent: number): number => {
    const index = value === undefined ? absent : intArgument(value);
    return index < 0 ? Math.max(0, index + items.length) : index;
  };
  const stop = Math.min(clamp(end, items.length), items.length);
  for (let index = clamp(start, 0); index < stop; index++)
    if (same(items[index] as Value, item)) return index;
  return fail(`${repr(item)} is not in list`);
}

type NumberValue = number | bigint | boolean | PyFloat;

/** Attributes of numbers; undefined when there is none of that name. */
export function numberAttribute(value: NumberValue, name: string): Value | Native<NumberValue> | undefined {
  const whole = typeof value === 'boolean' ? Number(value) : value;
  const isIntValue = isInt(whole);
  switch (name) {
    case 'real':
      return whole;
    case 'imag':
      return isIntValue ? 0 : new PyFloat(0);
    case 'numerator':
      return isIntValue ? whole : undefined;
    case 'denominator':
      return isIntValue ? 1 : undefined;
    case 'conjugate':
      return positional(0, 0, () => whole);
    case 'bit_length':
      return isIntValue ? positional(0, 0, () => bits(whole).length) : undefined;
    case 'bit_count':
      return isIntValue ? positional(0, 0, () => bits(whole).replaceAll('0', '').length) : undefined;
    case 'is_integer':
      return isIntValue
        ? undefined
        : positional(0, 0, () => whole instanceof PyFloat && Number.isFinite(whole.value));
  }
  return undefined;
}

function bits(value: number | bigint): string {
  const size = BigInt(value) < 0n ? -BigInt(value) : BigInt(value);
  return size === 0n ? '' : size.toString(2);
}

/** Attributes of numbers that exist in Python and not here. */
export const UNSUPPORTED_NUMBER_ATTRIBUTES: ReadonlySet<string> = new Set([
  'as_integer_ratio',
  'from_bytes',
  'to_bytes',
  'fromhex',
  'hex',
]);
