import { PyFloat } from '../../json/value.ts';
import { fail } from './render-error.ts';
import {
  type Dict,
  int,
  isDict,
  isList,
  type PlainDict,
  PyObject,
  Tuple,
  typeName,
  Undefined,
  type Value,
} from './types.ts';

/**
 * A dict made by a template. Keys are hash keys, under which Python's equal keys (1, 1.0 and True) are one; `originals`
 * holds the keys that are not their own hash key.
 */
export class PyDict extends Map<unknown, Value> {
  originals: Map<unknown, Value> | undefined;

  /** d[key] = value: a key that is there keeps its form and its place. */
  put(key: Value, value: Value): void {
    const hash = hashKey(key);
    if (hash !== key && !this.has(hash)) {
      this.originals ??= new Map();
      this.originals.set(hash, key);
    }
    this.set(hash, value);
  }
}

/** No text holds a lone surrogate, so nothing equals what begins with one. */
const MARK = '\ud800';
const UNDEFINED = Symbol('Undefined');

/** What stands for `value` among the keys of a Map: equal exactly when Python's hash and == are. */
export function hashKey(value: Value): unknown {
  if (typeof value === 'string' || typeof value === 'number' || typeof value === 'bigint' || value === null)
    return value;
  if (typeof value === 'boolean') return value ? 1 : 0;
  if (value instanceof PyFloat) {
    return Number.isFinite(value.value) ? int(BigInt(value.value)) : value.value;
  }
  if (value instanceof Tuple) return MARK + value.items.map(hashText).join(MARK);
  if (value instanceof Undefined) return UNDEFINED;
  if (isList(value) || isDict(value)) fail(`unhashable type: '${typeName(value)}'`);
  if (value instanceof PyObject && value.typeName === 'Markup')
    return hashKey((value as unknown as { text: string }).text);
  return value;
}

function hashText(value: Value): string {
  const hash = hashKey(value);
  if (hash instanceof PyObject) fail(`a tuple with a ${hash.typeName} as a key is not supported`);
  return typeof hash === 'string' ? `s${hash.length}:${hash}` : `${typeof hash}:${String(hash)}`;
}

export function dictSize(dict: Dict): number {
  return dict instanceof Map ? dict.size : Object.keys(dict).length;
}

/** The value of `key`, undefined when absent. */
export function dictGet(dict: Dict, key: Value): Value | undefined {
  if (dict instanceof Map) return dict.get(hashKey(key));
  if (typeof key === 'string') return Object.hasOwn(dict, key) ? (dict as PlainDict)[key] : undefined;
  if (key instanceof PyObject && key.typeName === 'Markup') return dictGet(dict, hashKey(key) as string);
  hashKey(key);
  return undefined;
}

export function dictKeys(dict: Dict): Value[] {
  if (!(dict instanceof Map)) return Object.keys(dict);
  const originals = dict instanceof PyDict ? dict.originals : undefined;
  if (originals === undefined) return [...dict.keys()];
  return Array.from(dict.keys(), (hash) =>
    originals.has(hash) ? (originals.get(hash) as Value) : (hash as Value),
  );
}

function dictValues(dict: Dict): Value[] {
  return dict instanceof Map ? [...dict.values()] : Object.values(dict as PlainDict);
}

export function dictEntries(dict: Dict): [Value, Value][] {
  if (!(dict instanceof Map)) return Object.entries(dict as PlainDict);
  const keys = dictKeys(dict);
  return dictValues(dict).map((value, index) => [keys[index] as Value, value]);
}

export type ViewKind = 'keys' | 'values' | 'items';

/** dict.keys(), dict.values() and dict.items(). */
export class DictView extends PyObject {
  readonly typeName: string;
  readonly kind: ViewKind;
  readonly dict: Dict;

  constructor(kind: ViewKind, dict: Dict) {
    super();
    this.typeName = `dict_${kind}`;
    this.kind = kind;
    this.dict = dict;
  }

  list(): Value[] {
    if (this.kind === 'keys') return dictKeys(this.dict);
    if (this.kind === 'values') return dictValues(this.dict);
    return dictEntries(this.dict).map((entry) => new Tuple(entry));
  }

  override truth(): boolean {
    return dictSize(this.dict) > 0;
  }

  override length(): number {
    return dictSize(this.dict);
  }

  override iterate(): Iterator<Value> {
    return this.list()[Symbol.iterator]();
  }
}
