import { filterRefusal } from '../library/refused.ts';
import { FILTERS, TESTS } from '../library/registry.ts';
import type { Arguments, Expression, FilterExpression } from '../syntax/ast.ts';
import { TemplateSyntaxError } from '../syntax/syntax-error.ts';
import { callValue, methodCaller } from '../values/attributes.ts';
import { dictEntries } from '../values/dict.ts';
import { iterate } from '../values/iterate.ts';
import { spend } from '../values/limits.ts';
import { invoke, type Native } from '../values/native.ts';
import { fail } from '../values/render-error.ts';
import { isDict, type Keywords, Markup, NO_KEYWORDS, type Value } from '../values/types.ts';
import type { Evaluate, Frame, Place } from './frame.ts';

type CompileExpression = (expression: Expression, place: Place) => Evaluate;

export interface Given {
  readonly args: readonly Value[];
  readonly keywords: Keywords;
}

const NOTHING: Given = { args: [], keywords: NO_KEYWORDS };

/** The arguments of a call; `extra` is one more by name, given by the compiler. */
function compileArguments(
  args: Arguments,
  place: Place,
  compile: CompileExpression,
  extra?: readonly [string, Evaluate],
): (frame: Frame) => Given {
  const positional = args.positional.map((argument) => compile(argument, place));
  const named: (readonly [string, Evaluate])[] = args.named.map(([name, value]) => [
    name,
    compile(value, place),
  ]);
  if (extra !== undefined) named.push(extra);
  if (args.star === null && args.doubleStar === null) {
    if (named.length === 0) {
      if (positional.length === 0) return () => NOTHING;
      return (frame) => ({ args: positional.map((evaluate) => evaluate(frame)), keywords: NO_KEYWORDS });
    }
    return (frame) => ({
      args: positional.map((evaluate) => evaluate(frame)),
      keywords: new Map(named.map(([name, evaluate]) => [name, evaluate(frame)])),
    });
  }
  const star = args.star === null ? undefined : compile(args.star, place);
  const doubleStar = args.doubleStar === null ? undefined : compile(args.doubleStar, place);
  return (frame) => {
    const values = positional.map((evaluate) => evaluate(frame));
    if (star !== undefined) for (const value of iterate(star(frame))) values.push(value);
    const keywords = new Map(named.map(([name, evaluate]) => [name, evaluate(frame)]));
    if (doubleStar !== undefined) addKeywords(keywords, doubleStar(frame));
    return { args: values, keywords };
  };
}

function addKeywords(keywords: Map<string, Value>, more: Value): void {
  if (!isDict(more)) fail('argument after ** must be a mapping');
  for (const [key, value] of dictEntries(more)) {
    const name = key instanceof Markup ? key.text : key;
    if (typeof name !== 'string') fail('keywords must be strings');
    if (keywords.has(name)) fail(`got multiple values for keyword argument '${name}'`);
    keywords.set(name, value);
  }
}

type Call = Extract<Expression, { type: 'Call' }>;

export function compileCall(
  { callee, args }: Call,
  place: Place,
  compile: CompileExpression,
  extra?: readonly [string, Evaluate],
): Evaluate {
  const given = compileArguments(args, place, compile, extra);
  if (callee.type === 'Attribute') {
    const object = compile(callee.object, place);
    const callMethod = methodCaller(callee.name);
    return (frame) => {
      const self = object(frame);
      const { args: values, keywords } = given(frame);
      spend(1);
      return callMethod(self, values, keywords);
    };
  }
  const target = compile(callee, place);
  return (frame) => {
    const self = target(frame);
    const { args: values, keywords } = given(frame);
    spend(1);
    return callValue(self, values, keywords);
  };
}

/** A filter on its operand, or, where it has none, on the text that `block` captured. */
export function compileFilter(
  expression: FilterExpression,
  place: Place,
  compile: CompileExpression,
  block?: Evaluate,
): Evaluate {
  const { name, line } = expression;
  const refusal = filterRefusal(name);
  if (refusal !== undefined) throw new TemplateSyntaxError(refusal, `${refusal} is not supported`, line);
  const filter = FILTERS.get(name);
  const operand = compileOperand(expression, place, compile, block);
  const given = compileArguments(expression.args, place, compile);
  if (filter === undefined) {
    if (!place.soft) throw new TemplateSyntaxError(`filter ${name}`, `no filter named '${name}'`, line);
    return () => fail(`No filter named '${name}' found.`);
  }
  if (isBare(expression.args, filter)) {
    return (frame) => {
      const self = operand(frame);
      spend(1);
      return filter.run(self, NOTHING.args, NO_KEYWORDS);
    };
  }
  return (frame) => {
    const self = operand(frame);
    const { args, keywords } = given(frame);
    spend(1);
    return invoke(filter, name, self, args, keywords);
  };
}

function compileOperand(
  { operand, line }: FilterExpression,
  place: Place,
  compile: CompileExpression,
  block: Evaluate | undefined,
): Evaluate {
  if (operand === null) {
    if (block === undefined) throw new TemplateSyntaxError('syntax', 'a filter without an operand', line);
    return block;
  }
  // Filters in a row on a block: the innermost has no operand.
  if (operand.type === 'Filter' && block !== undefined) return compileFilter(operand, place, compile, block);
  return compile(operand, place);
}

/** Whether there are no arguments, and none are needed: nothing to bind. */
function isBare(args: Arguments, native: Native): boolean {
  const given =
    args.positional.length + args.named.length > 0 || args.star !== null || args.doubleStar !== null;
  return !given && native.required === 0;
}

export function compileTest(
  { name, operand, args, line }: Extract<Expression, { type: 'Test' }>,
  place: Place,
  compile: CompileExpression,
): Evaluate {
  const test = TESTS.get(name);
  const subject = compile(operand, place);
  const given = compileArguments(args, place, compile);
  if (test === undefined) {
    if (!place.soft) throw new TemplateSyntaxError(`test ${name}`, `no test named '${name}'`, line);
    return () => fail(`No test named '${name}' found.`);
  }
  if (isBare(args, test)) return (frame) => test.run(subject(frame), NOTHING.args, NO_KEYWORDS);
  return (frame) => {
    const self = subject(frame);
    const { args: values, keywords } = given(frame);
    return invoke(test, name, self, values, keywords);
  };
}
