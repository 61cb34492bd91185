import { claim } from './limits.ts';
import { fail } from './render-error.ts';
import { Generator, type Keywords, Markup, NO_KEYWORDS, typeName, Undefined, type Value } from './types.ts';

/** Arguments by parameter, undefined where none was given. */
export type Bound = readonly (Value | undefined)[];

/** A builtin function, filter, test or method; `Self` is what it is applied to. */
export interface Native<Self = Value> {
  /** Null: it takes whatever it is given. */
  readonly parameters: readonly string[] | null;
  readonly required: number;
  /** Whether arguments may be given by name. */
  readonly named: boolean;
  readonly run: (self: Self, args: Bound, keywords: Keywords) => Value;
}

type Run<Self> = (self: Self, args: Bound) => Value;

/** A function whose arguments may be given by name; `required` of them must be given. */
export function named<Self = Value>(parameters: string, required: number, run: Run<Self>): Native<Self> {
  return { parameters: parameters.split(' '), required, named: true, run };
}

/** A function of C's: arguments by place only. */
export function positional<Self = Value>(most: number, required: number, run: Run<Self>): Native<Self> {
  return { parameters: Array.from({ length: most }, (_, index) => `#${index}`), required, named: false, run };
}

export function variadic<Self = Value>(
  run: (self: Self, args: readonly Value[], keywords: Keywords) => Value,
): Native<Self> {
  return { parameters: null, required: 0, named: true, run: run as Native<Self>['run'] };
}

/** Calls `native`; Python's TypeError where the arguments do not fit. */
export function invoke<Self>(
  native: Native<Self>,
  name: string,
  self: Self,
  args: readonly Value[],
  keywords: Keywords,
): Value {
  const { parameters } = native;
  if (parameters === null) return native.run(self, args, keywords);
  if (args.length > parameters.length)
    fail(`${name}() takes at most ${parameters.length} arguments, ${args.length} given`);
  if (keywords.size === 0) {
    if (args.length < native.required) fail(`${name}() misses a required argument`);
    return native.run(self, args, NO_KEYWORDS);
  }
  if (!native.named) fail(`${name}() takes no keyword arguments`);
  const bound: (Value | undefined)[] = args.slice();
  for (const [keyword, value] of keywords) {
    const index = parameters.indexOf(keyword);
    if (index < 0) fail(`${name}() got an unexpected keyword argument '${keyword}'`);
    if (bound[index] !== undefined) fail(`${name}() got multiple values for argument '${keyword}'`);
    bound[index] = value;
  }
  for (let index = 0; index < native.required; index++) {
    if (bound[index] === undefined) fail(`${name}() misses a required argument`);
  }
  return native.run(self, bound, NO_KEYWORDS);
}

/** A str argument. */
export function textArgument(value: Value | undefined): string {
  if (typeof value === 'string') return value;
  if (value instanceof Markup) return value.text;
  if (value instanceof Undefined) return fail(`expected a str, got Undefined (${value.message})`);
  return fail(`expected a str, got ${typeName(value ?? null)}`);
}

/** An argument that is a str or None. */
export function optionalText(value: Value | undefined): string | undefined {
  return value === undefined || value === null ? undefined : textArgument(value);
}

/** An int argument, clamped to what a number holds exactly. */
export function intArgument(value: Value | undefined): number {
  if (typeof value === 'number' && Number.isInteger(value)) return value;
  if (typeof value === 'boolean') return Number(value);
  if (typeof value === 'bigint') return value > 0n ? Number.MAX_SAFE_INTEGER : Number.MIN_SAFE_INTEGER;
  if (value instanceof Undefined) return fail(value.message);
  return fail(`'${typeName(value ?? null)}' object cannot be interpreted as an integer`);
}

/** `character` times `count`, nothing when that is below 1. */
export function padding(character: string, count: number): string {
  if (count <= 0) return '';
  claim(character.length * count);
  return character.repeat(count);
}

/** Makes of a generator function what returns a Python generator: nothing runs until it is read. */
export function lazily(
  run: (value: Value, args: Bound) => Iterator<Value>,
): (value: Value, args: Bound) => Value {
  return (value, args) => new Generator(run(value, args));
}
