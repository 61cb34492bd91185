import { truth } from '../values/compare.ts';
import { iterate } from '../values/iterate.ts';
import { spend } from '../values/limits.ts';
import { invoke, type Native, textArgument, variadic } from '../values/native.ts';
import { fail } from '../values/render-error.ts';
import { Generator, type Keywords, type Value } from '../values/types.ts';
import { attributePath } from './attribute-path.ts';
import { filterRefusal } from './refused.ts';
import { FILTERS, TESTS } from './registry.ts';

type Step = (item: Value) => Value;

/** The filters that apply other filters and tests, named by their first argument, to every item. */
function mapping(args: readonly Value[], keywords: Keywords): Step {
  if (args.length === 0 && keywords.has('attribute')) {
    for (const name of keywords.keys()) {
      if (name !== 'attribute' && name !== 'default') fail(`Unexpected keyword argument '${name}'`);
    }
    return attributePath(keywords.get('attribute') ?? null, keywords.get('default') ?? null);
  }
  const [name, ...rest] = args;
  if (name === undefined) return fail('map requires a filter argument');
  return (item) => {
    const wanted = textArgument(name);
    const filter = FILTERS.get(wanted);
    if (filter === undefined)
      return fail(
        filterRefusal(wanted) ? `filter ${wanted} is not supported` : `No filter named '${wanted}'.`,
      );
    return invoke(filter, wanted, item, rest, keywords);
  };
}

function testing(args: readonly Value[], keywords: Keywords): (item: Value) => boolean {
  const [name, ...rest] = args;
  if (name === undefined) return truth;
  return (item) => {
    const wanted = textArgument(name);
    const test = TESTS.get(wanted);
    if (test === undefined) return fail(`No test named '${wanted}'.`);
    return truth(invoke(test, wanted, item, rest, keywords));
  };
}

function* map(value: Value, args: readonly Value[], keywords: Keywords): IterableIterator<Value> {
  if (!truth(value)) return;
  const step = mapping(args, keywords);
  for (const item of iterate(value)) {
    spend(1);
    yield step(item);
  }
}

function* choose(
  value: Value,
  args: readonly Value[],
  keywords: Keywords,
  keep: boolean,
  byAttribute: boolean,
): IterableIterator<Value> {
  if (!truth(value)) return;
  if (byAttribute && args.length === 0) fail('Missing parameter for attribute name');
  const key = byAttribute ? attributePath(args[0] as Value) : (item: Value) => item;
  const test = testing(byAttribute ? args.slice(1) : args, keywords);
  for (const item of iterate(value)) {
    spend(1);
    if (test(key(item)) === keep) yield item;
  }
}

function choosing(keep: boolean, byAttribute: boolean): Native {
  return variadic((value, args, keywords) => new Generator(choose(value, args, keywords, keep, byAttribute)));
}

export const APPLY_FILTERS: readonly (readonly [string, Native])[] = [
  ['map', variadic((value, args, keywords) => new Generator(map(value, args, keywords)))],
  ['select', choosing(true, false)],
  ['reject', choosing(false, false)],
  ['selectattr', choosing(true, true)],
  ['rejectattr', choosing(false, true)],
];
