import { getItem } from '../values/attributes.ts';
import { Markup, Undefined, type Value } from '../values/types.ts';

export type Key = (item: Value) => Value;

/** Looks up an attribute path: `a.b.0`, its whole numbers as indices. None is the item itself. */
export function attributePath(attribute: Value, absent: Value = null): Key {
  if (attribute === null) return (item) => item;
  const path = attribute instanceof Markup ? attribute.text : attribute;
  const steps: Value[] =
    typeof path === 'string'
      ? path.split('.').map((step) => (/^\p{Nd}+$/u.test(step) ? Number(step) : step))
      : [path];
  return (item) => {
    let value = item;
    for (const step of steps) {
      value = getItem(value, step);
      if (absent !== null && value instanceof Undefined) value = absent;
    }
    return value;
  };
}

function lowered(value: Value): Value {
  if (value instanceof Markup) return value.text.toLowerCase();
  return typeof value === 'string' ? value.toLowerCase() : value;
}

export function withCase(key: Key, caseSensitive: boolean): Key {
  return caseSensitive ? key : (item) => lowered(key(item));
}
