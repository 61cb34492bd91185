import { DictType, makeDict, Namespace } from '../values/namespace.ts';
import { intArgument, textArgument } from '../values/native.ts';
import { Range } from '../values/range.ts';
import { fail, RenderError } from '../values/render-error.ts';
import { str } from '../values/repr.ts';
import { Builtin, type Keywords, PyObject, type Value } from '../values/types.ts';
import { strftime } from './strftime.ts';

/** cycler(...): its items in turn, one for each call of next(). */
class Cycler extends PyObject {
  readonly typeName = 'Cycler';
  readonly #items: readonly Value[];
  #position = 0;

  constructor(items: readonly Value[]) {
    super();
    if (items.length === 0) fail('at least one item has to be provided');
    this.#items = items;
  }

  override attribute(name: string): Value | undefined {
    if (name === 'current') return this.#items[this.#position];
    if (name === 'next') {
      return new Builtin(() => {
        const item = this.#items[this.#position] as Value;
        this.#position = (this.#position + 1) % this.#items.length;
        return item;
      });
    }
    if (name === 'reset') {
      return new Builtin(() => {
        this.#position = 0;
        return null;
      });
    }
    return undefined;
  }
}

/** joiner(sep): nothing at its first call, the separator at all others. */
class Joiner extends PyObject {
  readonly typeName = 'Joiner';
  readonly #separator: Value;
  #used = false;

  constructor(separator: Value) {
    super();
    this.#separator = separator;
  }

  override get callable(): boolean {
    return true;
  }

  override call(): Value {
    if (this.#used) return this.#separator;
    this.#used = true;
    return '';
  }
}

function range(args: readonly Value[], keywords: Keywords): Value {
  if (keywords.size > 0) fail('range() takes no keyword arguments');
  if (args.length === 0 || args.length > 3) fail(`range expected 1 to 3 arguments, got ${args.length}`);
  const [first, second, third] = args.map(intArgument) as [number, number | undefined, number | undefined];
  return second === undefined ? new Range(0, first, 1) : new Range(first, second, third ?? 1);
}

function only(name: string, keyword: string, args: readonly Value[], keywords: Keywords): Value {
  const value = args[0] ?? keywords.get(keyword) ?? null;
  if (args.length + keywords.size !== 1 || (args.length === 0 && !keywords.has(keyword))) {
    fail(`${name}() takes exactly one argument`);
  }
  return value;
}

/** The names a template finds without being given them; `now` is what strftime_now reads. */
export function makeGlobals(now: () => Date): ReadonlyMap<string, Value> {
  return new Map<string, Value>([
    ['range', new Builtin(range)],
    ['dict', new DictType()],
    ['namespace', new Builtin((args, keywords) => new Namespace(makeDict(args, keywords)))],
    ['cycler', new Builtin((args) => new Cycler(args))],
    ['joiner', new Builtin((args, keywords) => new Joiner(args[0] ?? keywords.get('sep') ?? ', '))],
    [
      'raise_exception',
      new Builtin((args, keywords) => {
        throw new RenderError('raised', str(only('raise_exception', 'message', args, keywords)));
      }),
    ],
    [
      'strftime_now',
      new Builtin((args, keywords) =>
        strftime(now(), textArgument(only('strftime_now', 'format', args, keywords))),
      ),
    ],
  ]);
}
