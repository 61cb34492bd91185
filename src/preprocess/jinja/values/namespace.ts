import { dictEntries, PyDict } from './dict.ts';
import { iterate, toList } from './iterate.ts';
import { fail } from './render-error.ts';
import { dictRepr } from './repr.ts';
import { Builtin, isDict, type Keywords, OwnAttributes, type Value } from './types.ts';

/** namespace(...): attributes that a template may set, also from within a loop. */
export class Namespace extends OwnAttributes {
  readonly typeName = 'Namespace';
  readonly #attributes: PyDict;

  constructor(attributes: PyDict) {
    super();
    for (const name of attributes.keys()) checkName(name);
    this.#attributes = attributes;
  }

  override attribute(name: string): Value | undefined {
    return this.#attributes.get(name);
  }

  set(name: string, value: Value): void {
    checkName(name);
    this.#attributes.set(name, value);
  }

  override repr(): string {
    return `<Namespace ${dictRepr(this.#attributes)}>`;
  }
}

function checkName(name: unknown): void {
  if (typeof name === 'string' && name.startsWith('_')) {
    fail('chat templates cannot store underscore-prefixed attributes on a namespace');
  }
}

/** dict(mapping or pairs, **keywords) */
export function makeDict(args: readonly Value[], keywords: Keywords): PyDict {
  if (args.length > 1) fail(`dict expected at most 1 argument, got ${args.length}`);
  const dict = new PyDict();
  const [source] = args;
  if (source !== undefined) {
    if (isDict(source)) for (const [key, value] of dictEntries(source)) dict.put(key, value);
    else {
      for (const pair of iterate(source)) {
        const [key, value, ...rest] = toList(pair);
        if (key === undefined || value === undefined || rest.length > 0) {
          return fail('dictionary update sequence has an element that is not a pair');
        }
        dict.put(key, value);
      }
    }
  }
  for (const [key, value] of keywords) dict.put(key, value);
  return dict;
}

/** The global `dict`. */
export class DictType extends Builtin {
  constructor() {
    super((args, keywords) => makeDict(args, keywords));
  }

  override attribute(name: string): Value | undefined {
    if (name !== 'fromkeys') return undefined;
    return new Builtin(([keys, value]) => {
      const dict = new PyDict();
      for (const key of iterate(keys ?? fail('fromkeys() misses its keys'))) dict.put(key, value ?? null);
      return dict;
    });
  }
}
