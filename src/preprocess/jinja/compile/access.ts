import type { Expression } from '../syntax/ast.ts';
import { getAttribute, getItem, isOrdinaryKey } from '../values/attributes.ts';
import { isPlainDict, OwnAttributes } from '../values/types.ts';
import type { Evaluate } from './frame.ts';

/** object.name */
export function compileAttribute(object: Evaluate, name: string): Evaluate {
  // A name that is neither a dict's attribute nor on JavaScript's own objects is a key and nothing else.
  if (!isOrdinaryKey(name)) return (frame) => getAttribute(object(frame), name);
  return (frame) => {
    const value = object(frame);
    if (value instanceof OwnAttributes) {
      const attribute = value.attribute(name);
      if (attribute !== undefined) return attribute;
    } else if (isPlainDict(value)) {
      const item = value[name];
      if (item !== undefined) return item;
    }
    return getAttribute(value, name);
  };
}

/** object[key] */
export function compileItem(object: Evaluate, expression: Expression, key: Evaluate): Evaluate {
  if (
    expression.type !== 'Const' ||
    typeof expression.value !== 'string' ||
    expression.value in Object.prototype
  ) {
    return (frame) => getItem(object(frame), key(frame));
  }
  const name = expression.value;
  return (frame) => {
    const value = object(frame);
    if (isPlainDict(value)) {
      const item = value[name];
      if (item !== undefined) return item;
    }
    return getItem(value, name);
  };
}
