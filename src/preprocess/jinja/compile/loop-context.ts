import { equal } from '../values/compare.ts';
import { iterator, lengthOf } from '../values/iterate.ts';
import { spend } from '../values/limits.ts';
import { invoke, type Native, positional, variadic } from '../values/native.ts';
import { fail } from '../values/render-error.ts';
import { Builtin, type Keywords, OwnAttributes, Tuple, Undefined, type Value } from '../values/types.ts';

const NO_PREVIOUS = new Undefined('there is no previous item');
const NO_NEXT = new Undefined('there is no next item');

/** Renders the loop's body over other items, one level deeper. */
export type Recurse = (iterable: Value, depth: number) => string;

const cycle: Native<LoopContext> = variadic((loop, args) => {
  if (args.length === 0) fail('no items for cycling given');
  return args[loop.index0 % args.length] as Value;
});

const changed: Native<LoopContext> = variadic((loop, args) => loop.changed(new Tuple(args)));

/** The variable `loop`. It reads its items one ahead at most, and only when asked what comes after this one. */
export class LoopContext extends OwnAttributes {
  readonly typeName = 'LoopContext';
  readonly depth0: number;
  index0 = -1;
  readonly #iterable: Value;
  readonly #recurse: Recurse | null;
  #items: Iterator<Value>;
  #length: number | undefined;
  #after: Value | undefined;
  #current: Value | undefined;
  #before: Value | undefined;
  #lastChanged: Value | undefined;

  constructor(iterable: Value, depth0: number, recurse: Recurse | null) {
    super();
    this.#iterable = iterable;
    this.depth0 = depth0;
    this.#recurse = recurse;
    this.#items = iterator(iterable);
  }

  /** Moves on; false at the end. */
  advance(): boolean {
    let next = this.#after;
    if (next === undefined) {
      const step = this.#items.next();
      if (step.done === true) return false;
      next = step.value;
    }
    this.#after = undefined;
    this.index0++;
    this.#before = this.#current;
    this.#current = next;
    return true;
  }

  get current(): Value {
    return this.#current as Value;
  }

  #peek(): Value | undefined {
    if (this.#after === undefined) {
      const step = this.#items.next();
      if (step.done !== true) this.#after = step.value;
    }
    return this.#after;
  }

  override length(): number {
    if (this.#length !== undefined) return this.#length;
    const known = lengthOf(this.#iterable);
    if (known !== undefined) {
      this.#length = known;
      return known;
    }
    const rest: Value[] = [];
    for (let step = this.#items.next(); step.done !== true; step = this.#items.next()) {
      rest.push(step.value);
      spend(1);
    }
    this.#items = rest[Symbol.iterator]();
    this.#length = rest.length + this.index0 + 1 + (this.#after === undefined ? 0 : 1);
    return this.#length;
  }

  changed(value: Tuple): boolean {
    const same = this.#lastChanged !== undefined && equal(this.#lastChanged, value);
    this.#lastChanged = value;
    return !same;
  }

  override attribute(name: string): Value | undefined {
    switch (name) {
      case 'index':
        return this.index0 + 1;
      case 'index0':
        return this.index0;
      case 'first':
        return this.index0 === 0;
      case 'last':
        return this.#peek() === undefined;
      case 'length':
        return this.length();
      case 'revindex':
        return this.length() - this.index0;
      case 'revindex0':
        return this.length() - this.index0 - 1;
      case 'previtem':
        return this.index0 === 0 ? NO_PREVIOUS : (this.#before as Value);
      case 'nextitem': {
        const next = this.#peek();
        return next === undefined ? NO_NEXT : next;
      }
      case 'depth':
        return this.depth0 + 1;
      case 'depth0':
        return this.depth0;
      case 'cycle':
        return new Builtin((args, keywords) => invoke(cycle, name, this, args, keywords));
      case 'changed':
        return new Builtin((args, keywords) => invoke(changed, name, this, args, keywords));
    }
    return undefined;
  }

  override get callable(): boolean {
    return true;
  }

  override call(args: readonly Value[], keywords: Keywords): Value {
    return invoke(recursion, 'loop', this, args, keywords);
  }

  recurse(iterable: Value): string {
    if (this.#recurse === null)
      return fail("The loop must have the 'recursive' marker to be called recursively.");
    return this.#recurse(iterable, this.depth0 + 1);
  }

  override repr(): string {
    return `<LoopContext ${this.index0 + 1}/${this.length()}>`;
  }
}

const recursion: Native<LoopContext> = positional<LoopContext>(1, 1, (loop, [iterable]) =>
  loop.recurse(iterable as Value),
);
