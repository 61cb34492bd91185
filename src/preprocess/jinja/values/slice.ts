import { isBasic } from './iterate.ts';
import { claim } from './limits.ts';
import { intArgument } from './native.ts';
import { Range } from './range.ts';
import { fail } from './render-error.ts';
import { isInt, isList, Markup, Tuple, typeName, Undefined, type Value } from './types.ts';

/** object[start:stop:step], each bound null when it is left out. */
export function slice(object: Value, start: Value, stop: Value, step: Value): Value {
  if (object instanceof Undefined) return fail(object.message);
  const stride = step === null ? 1 : bound(step);
  if (isList(object)) {
    claim(object.length);
    return pick(object, start, stop, stride);
  }
  if (object instanceof Tuple) return new Tuple(pick(object.items, start, stop, stride));
  if (typeof object === 'string') return sliceText(object, start, stop, stride);
  if (object instanceof Markup) return new Markup(sliceText(object.text, start, stop, stride));
  if (object instanceof Range) {
    const [from, to] = bounds(object.size, start, stop, stride);
    return new Range(object.at(from), object.at(to), object.step * stride);
  }
  return fail(`'${typeName(object)}' object is not subscriptable by a slice`);
}

function bound(value: Value): number {
  if (!isInt(value) && typeof value !== 'boolean') {
    if (value instanceof Undefined) fail(value.message);
    fail('slice indices must be integers or None or have an __index__ method');
  }
  return intArgument(value);
}

/** First index and the one past the last, in the direction of the step; both clamped as Python clamps them. */
function bounds(length: number, start: Value, stop: Value, step: number): [number, number] {
  if (step === 0) fail('slice step cannot be zero');
  const lowest = step < 0 ? -1 : 0;
  const highest = step < 0 ? length - 1 : length;
  const clamp = (value: Value, absent: number): number => {
    if (value === null) return absent;
    const index = bound(value);
    return Math.min(Math.max(index < 0 ? index + length : index, lowest), highest);
  };
  return step < 0 ? [clamp(start, length - 1), clamp(stop, -1)] : [clamp(start, 0), clamp(stop, length)];
}

function pick<Item>(items: readonly Item[], start: Value, stop: Value, step: number): Item[] {
  const [from, to] = bounds(items.length, start, stop, step);
  if (step === 1) return items.slice(from, Math.max(from, to));
  const picked: Item[] = [];
  for (let index = from; step > 0 ? index < to : index > to; index += step) picked.push(items[index] as Item);
  return picked;
}

function sliceText(text: string, start: Value, stop: Value, step: number): string {
  if (isBasic(text) && step === 1) {
    const [from, to] = bounds(text.length, start, stop, 1);
    return text.slice(from, Math.max(from, to));
  }
  claim(text.length * 8);
  return pick(Array.from(text), start, stop, step).join('');
}
