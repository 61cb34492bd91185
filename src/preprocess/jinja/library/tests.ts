import { isLower, isUpper } from '../text/case.ts';
import { percentFormat } from '../text/printf.ts';
import { modulo, numeric } from '../values/arithmetic.ts';
import { COMPARISONS, equal } from '../values/compare.ts';
import { DictView } from '../values/dict.ts';
import { lengthOf } from '../values/iterate.ts';
import { type Native, named, positional } from '../values/native.ts';
import { Range } from '../values/range.ts';
import { fail, unsupported } from '../values/render-error.ts';
import { str } from '../values/repr.ts';
import {
  Builtin,
  isDict,
  isFloat,
  isInt,
  Markup,
  PyObject,
  typeName,
  Undefined,
  type Value,
} from '../values/types.ts';
import { FILTERS, TESTS } from './registry.ts';

function is(run: (value: Value) => boolean): Native {
  return positional(0, 0, run);
}

function compared(run: (value: Value, other: Value) => boolean): Native {
  return positional(1, 1, (value, [other]) => run(value, other as Value));
}

function remainder(value: Value, divisor: Value): Value {
  return typeof value === 'string' ? percentFormat(value, divisor) : modulo(value, divisor);
}

/** len() works, and so do subscripts. */
function isSequence(value: Value): boolean {
  return lengthOf(value) !== undefined && !(value instanceof DictView) && typeName(value) !== 'LoopContext';
}

function isIterable(value: Value): boolean {
  if (sequenceLike(value)) return true;
  return value instanceof PyObject && (typeName(value) === 'LoopContext' || hasIterator(value));
}

function sequenceLike(value: Value): boolean {
  return (
    typeof value === 'string' ||
    Array.isArray(value) ||
    isDict(value) ||
    value instanceof DictView ||
    value instanceof Range
  );
}

function hasIterator(value: PyObject): boolean {
  return value instanceof Markup || value.iterate() !== undefined;
}

/** Python's `is`: of the values that are one object wherever they appear. */
function sameAs(value: Value, other: Value): boolean {
  if (typeof value === 'string' || typeof value === 'bigint' || isFloat(value)) {
    if (!equal(value, other) || typeName(value) !== typeName(other)) return false;
    return unsupported(`asking whether two equal ${typeName(value)}s are the same object`);
  }
  if (typeof value === 'number' && value === other && (value < -5 || value > 256)) {
    return unsupported('asking whether two equal ints are the same object');
  }
  return value === other;
}

function isCallable(value: Value): boolean {
  return (
    value instanceof Undefined || (value instanceof PyObject && value.callable) || value instanceof Builtin
  );
}

function nameIn(names: ReadonlyMap<string, Native>): Native {
  return is((value) => {
    if (Array.isArray(value) || isDict(value)) fail(`unhashable type: '${typeName(value)}'`);
    return typeof value === 'string' && names.has(value);
  });
}

const equals = compared(COMPARISONS['==']);
const differs = compared(COMPARISONS['!=']);
const less = compared(COMPARISONS['<']);
const lessOrEqual = compared(COMPARISONS['<=']);
const greater = compared(COMPARISONS['>']);
const greaterOrEqual = compared(COMPARISONS['>=']);

export const BUILTIN_TESTS: readonly (readonly [string, Native])[] = [
  ['odd', is((value) => equal(remainder(value, 2), 1))],
  ['even', is((value) => equal(remainder(value, 2), 0))],
  ['divisibleby', named('num', 1, (value, [divisor]) => equal(remainder(value, divisor as Value), 0))],
  ['defined', is((value) => !(value instanceof Undefined))],
  ['undefined', is((value) => value instanceof Undefined)],
  ['filter', nameIn(FILTERS)],
  ['test', nameIn(TESTS)],
  ['none', is((value) => value === null)],
  ['boolean', is((value) => typeof value === 'boolean')],
  ['false', is((value) => value === false)],
  ['true', is((value) => value === true)],
  ['integer', is(isInt)],
  ['float', is(isFloat)],
  ['lower', is((value) => isLower(str(value)))],
  ['upper', is((value) => isUpper(str(value)))],
  ['string', is((value) => typeof value === 'string' || value instanceof Markup)],
  ['mapping', is(isDict)],
  ['number', is((value) => numeric(value) !== undefined)],
  ['sequence', is(isSequence)],
  ['iterable', is(isIterable)],
  ['callable', is(isCallable)],
  ['sameas', named('other', 1, (value, [other]) => sameAs(value, other as Value))],
  ['escaped', is((value) => value instanceof Markup)],
  ['in', named('seq', 1, (value, [seq]) => COMPARISONS.in(value, seq as Value))],
  ['==', equals],
  ['eq', equals],
  ['equalto', equals],
  ['!=', differs],
  ['ne', differs],
  ['>', greater],
  ['gt', greater],
  ['greaterthan', greater],
  ['>=', greaterOrEqual],
  ['ge', greaterOrEqual],
  ['<', less],
  ['lt', less],
  ['lessthan', less],
  ['<=', lessOrEqual],
  ['le', lessOrEqual],
];
