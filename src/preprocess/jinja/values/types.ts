import { PyFloat } from '../../json/value.ts';

/**
 * A Python value. Numbers are as in JsonValue (a whole number is an int, PyFloat a whole float); a dict is a plain object
 * with string keys or a Map by hash key (see dict.ts); a list is an array; every other type is a PyObject.
 */
export type Value = null | boolean | number | bigint | string | PyFloat | readonly Value[] | Dict | PyObject;

export interface PlainDict {
  readonly [key: string]: Value;
}

export type Dict = PlainDict | ReadonlyMap<unknown, Value>;

/** Keyword arguments of a call, in the order of the call. */
export type Keywords = ReadonlyMap<string, Value>;

export const NO_KEYWORDS: Keywords = new Map();

/** A value of any type but None, bool, int, float, str, list and dict. */
export abstract class PyObject {
  abstract readonly typeName: string;

  /** bool(); true unless a type says otherwise. */
  truth(): boolean {
    return true;
  }

  /** len(); undefined where Python raises a TypeError. */
  length(): number | undefined {
    return undefined;
  }

  /** iter(); undefined where Python raises a TypeError. */
  iterate(): Iterator<Value> | undefined {
    return undefined;
  }

  /** repr(), which is also str(); undefined where it would show an address, which is nobody's to reproduce. */
  repr(): string | undefined {
    return undefined;
  }

  /** An attribute; undefined where Python raises an AttributeError. */
  attribute(_name: string): Value | undefined {
    return undefined;
  }

  /** A call; undefined where the type is not callable. */
  call(_args: readonly Value[], _keywords: Keywords): Value | undefined {
    return undefined;
  }

  get callable(): boolean {
    return false;
  }
}

/** What has attributes of its own and nothing else to look a name up in: a namespace, and `loop`. */
export abstract class OwnAttributes extends PyObject {}

/** The value of a name or an attribute that does not exist. It prints as nothing; most other uses raise its message. */
export class Undefined extends PyObject {
  readonly typeName = 'Undefined';
  readonly #message: string;

  constructor(message: string) {
    super();
    this.#message = message;
  }

  get message(): string {
    return this.#message;
  }

  override truth(): boolean {
    return false;
  }

  override length(): number {
    return 0;
  }

  override iterate(): Iterator<Value> {
    return [][Symbol.iterator]();
  }
}

export class Tuple extends PyObject {
  readonly typeName = 'tuple';
  readonly items: readonly Value[];

  constructor(items: readonly Value[]) {
    super();
    this.items = items;
  }

  override truth(): boolean {
    return this.items.length > 0;
  }

  override length(): number {
    return this.items.length;
  }

  override iterate(): Iterator<Value> {
    return this.items[Symbol.iterator]();
  }
}

/** A str marked as safe HTML, as the filters `safe` and `escape` return it. */
export class Markup extends PyObject {
  readonly typeName = 'Markup';
  readonly text: string;

  constructor(text: string) {
    super();
    this.text = text;
  }

  override truth(): boolean {
    return this.text !== '';
  }
}

/** What `map`, `select` and their like return: read once, lazily, always true. */
export class Generator extends PyObject {
  readonly typeName = 'generator';
  readonly #iterator: Iterator<Value>;

  constructor(iterator: Iterator<Value>) {
    super();
    this.#iterator = iterator;
  }

  override iterate(): Iterator<Value> {
    return this.#iterator;
  }
}

/** A builtin or a bound method. */
export class Builtin extends PyObject {
  readonly typeName = 'builtin_function_or_method';
  readonly #run: (args: readonly Value[], keywords: Keywords) => Value;

  constructor(run: (args: readonly Value[], keywords: Keywords) => Value) {
    super();
    this.#run = run;
  }

  override get callable(): boolean {
    return true;
  }

  override call(args: readonly Value[], keywords: Keywords): Value {
    return this.#run(args, keywords);
  }
}

export function isPlainDict(value: unknown): value is PlainDict {
  if (typeof value !== 'object' || value === null) return false;
  const prototype = Object.getPrototypeOf(value);
  return prototype === Object.prototype || prototype === null;
}

export function isDict(value: unknown): value is Dict {
  return value instanceof Map || isPlainDict(value);
}

export function isList(value: unknown): value is readonly Value[] {
  return Array.isArray(value);
}

export function isInt(value: Value): value is number | bigint {
  return typeof value === 'number' ? Number.isInteger(value) : typeof value === 'bigint';
}

export function isFloat(value: Value): value is number | PyFloat {
  return typeof value === 'number' ? !Number.isInteger(value) : value instanceof PyFloat;
}

/** The Python float of `value`. */
export function float(value: number): number | PyFloat {
  return Number.isInteger(value) ? new PyFloat(value) : value;
}

/** The Python int of `value`, a number when it is small enough. */
export function int(value: bigint): number | bigint {
  return value >= -9007199254740991n && value <= 9007199254740991n ? Number(value) : value;
}

/** type(value).__name__ */
export function typeName(value: Value): string {
  switch (typeof value) {
    case 'string':
      return 'str';
    case 'boolean':
      return 'bool';
    case 'bigint':
      return 'int';
    case 'number':
      return Number.isInteger(value) ? 'int' : 'float';
  }
  if (value === null) return 'NoneType';
  if (value instanceof PyFloat) return 'float';
  if (Array.isArray(value)) return 'list';
  return value instanceof PyObject ? value.typeName : 'dict';
}
