import { globalRefusal } from '../library/refused.ts';
import type { BinaryOperator, CompareOperator, Expression } from '../syntax/ast.ts';
import { TemplateSyntaxError } from '../syntax/syntax-error.ts';
import { eachExpression } from '../syntax/walk.ts';
import { percentFormat } from '../text/printf.ts';
import {
  add,
  divide,
  floorDivide,
  modulo,
  multiply,
  negate,
  positive,
  power,
  subtract,
} from '../values/arithmetic.ts';
import { COMPARISONS, truth } from '../values/compare.ts';
import { PyDict } from '../values/dict.ts';
import { claim } from '../values/limits.ts';
import { RenderError, unsupported } from '../values/render-error.ts';
import { str } from '../values/repr.ts';
import { slice } from '../values/slice.ts';
import { Markup, type PlainDict, Tuple, Undefined, type Value } from '../values/types.ts';
import { compileAttribute, compileItem } from './access.ts';
import { compileCall, compileFilter, compileTest } from './calls.ts';
import { type Evaluate, Frame, type Place, reader } from './frame.ts';

export function compileExpression(expression: Expression, place: Place): Evaluate {
  const compile = (inner: Expression): Evaluate => compileExpression(inner, place);
  switch (expression.type) {
    case 'Const': {
      const { value } = expression;
      return () => value;
    }
    case 'Name':
      return compileName(expression.name, expression.line, place);
    case 'NamespaceRef':
      throw new TemplateSyntaxError('syntax', 'a namespace reference is only a target', expression.line);
    case 'Tuple': {
      const items = compileItems(expression.items, place);
      return (frame) => new Tuple(items(frame));
    }
    case 'List':
      return compileItems(expression.items, place);
    case 'Dict':
      return compileDict(expression.pairs, place);
    case 'Condition':
      return compileCondition(expression, { ...place, soft: true });
    case 'Binary':
      return compileBinary(expression.operator, compile(expression.left), compile(expression.right));
    case 'Unary':
      return compileUnary(expression.operator, compile(expression.operand));
    case 'Compare':
      return compileCompare(expression.first, expression.rest, place);
    case 'Concat': {
      const items = compileItems(expression.items, place);
      return (frame) => concatenate(items(frame));
    }
    case 'Attribute':
      return compileAttribute(compile(expression.object), expression.name);
    case 'Item':
      if (expression.key.type === 'Slice')
        return compileSlice(expression.object, compile(expression.object), expression.key, place);
      return compileItem(compile(expression.object), expression.key, compile(expression.key));
    case 'Slice':
      throw new TemplateSyntaxError(
        'slice',
        'a slice among several subscripts is not supported',
        expression.line,
      );
    case 'Call':
      return compileCall(expression, place, compileExpression);
    case 'Filter':
      return compileFilter(expression, place, compileExpression);
    case 'Test':
      return compileTest(expression, place, compileExpression);
  }
}

function compileName(name: string, line: number, { scope }: Place): Evaluate {
  const slot = scope.find(name);
  if (slot === undefined)
    throw new TemplateSyntaxError(`name ${name}`, `'${name}' cannot be read here`, line);
  const refusal = globalRefusal(name);
  if (refusal !== undefined && scope.loadOf(slot)?.kind === 'resolve') {
    throw new TemplateSyntaxError(refusal, `${refusal} is not supported`, line);
  }
  const missing = new Undefined(`'${name}' is undefined`);
  const read = reader(slot, scope.owner);
  return (frame) => {
    const value = read(frame);
    return value !== undefined ? value : missing;
  };
}

function compileItems(
  items: readonly Expression[],
  place: Place,
): (frame: Parameters<Evaluate>[0]) => Value[] {
  const evaluates = items.map((item) => compileExpression(item, place));
  return (frame) => evaluates.map((evaluate) => evaluate(frame));
}

function compileDict(pairs: readonly (readonly [Expression, Expression])[], place: Place): Evaluate {
  const keys = pairs.map(([key]) => compileExpression(key, place));
  const values = pairs.map(([, value]) => compileExpression(value, place));
  const names = pairs.map(([key]) => (key.type === 'Const' ? key.value : undefined));
  // Keys that are names keep their order in a plain object, which every reader of dicts takes the fast way.
  if (names.every((name) => typeof name === 'string' && /^[A-Za-z]/.test(name))) {
    return (frame) => {
      const dict: { [key: string]: Value } = {};
      for (let index = 0; index < names.length; index++) {
        dict[names[index] as string] = (values[index] as Evaluate)(frame);
      }
      return dict as PlainDict;
    };
  }
  return (frame) => {
    const dict = new PyDict();
    keys.forEach((key, index) => {
      dict.put(key(frame), (values[index] as Evaluate)(frame));
    });
    return dict;
  };
}

function compileCondition(expression: Extract<Expression, { type: 'Condition' }>, place: Place): Evaluate {
  const test = compileExpression(expression.test, place);
  const then = compileExpression(expression.consequent, place);
  const { line } = expression;
  const missing = new Undefined(
    `the inline if-expression on line ${line} evaluated to false and no else section was defined.`,
  );
  const otherwise =
    expression.otherwise === null ? () => missing : compileExpression(expression.otherwise, place);
  return (frame) => (truth(test(frame)) ? then(frame) : otherwise(frame));
}

const ARITHMETIC: Readonly<Record<string, (left: Value, right: Value) => Value>> = {
  '+': add,
  '-': subtract,
  '*': multiply,
  '/': divide,
  '//': floorDivide,
  '**': power,
  '%': remainderOrFormat,
};

function remainderOrFormat(left: Value, right: Value): Value {
  if (typeof left === 'string') return percentFormat(left, right);
  if (left instanceof Markup) return unsupported('formatting with Markup');
  return modulo(left, right);
}

function compileBinary(operator: BinaryOperator, left: Evaluate, right: Evaluate): Evaluate {
  if (operator === 'and') {
    return (frame) => {
      const value = left(frame);
      return truth(value) ? right(frame) : value;
    };
  }
  if (operator === 'or') {
    return (frame) => {
      const value = left(frame);
      return truth(value) ? value : right(frame);
    };
  }
  const operate = ARITHMETIC[operator] as (left: Value, right: Value) => Value;
  return (frame) => operate(left(frame), right(frame));
}

function compileUnary(operator: 'not' | '-' | '+', operand: Evaluate): Evaluate {
  if (operator === 'not') return (frame) => !truth(operand(frame));
  const operate = operator === '-' ? negate : positive;
  return (frame) => operate(operand(frame));
}

function compileCompare(
  first: Expression,
  rest: readonly (readonly [CompareOperator, Expression])[],
  place: Place,
): Evaluate {
  const start = compileExpression(first, place);
  const steps = rest.map(([operator, operand]) => ({
    compare: COMPARISONS[operator],
    operand: compileExpression(operand, place),
  }));
  const [only] = steps;
  if (steps.length === 1 && only !== undefined) {
    const { compare, operand } = only;
    return (frame) => compare(start(frame), operand(frame));
  }
  return (frame) => {
    let left = start(frame);
    for (const { compare, operand } of steps) {
      const right = operand(frame);
      if (!compare(left, right)) return false;
      left = right;
    }
    return true;
  };
}

function concatenate(items: readonly Value[]): string {
  let text = '';
  for (const item of items) {
    const part = str(item);
    claim(text.length + part.length);
    text += part;
  }
  return text;
}

function compileSlice(
  source: Expression,
  object: Evaluate,
  { start, stop, step }: Extract<Expression, { type: 'Slice' }>,
  place: Place,
): Evaluate {
  const bound = (expression: Expression | null): Evaluate =>
    expression === null ? () => null : compileExpression(expression, place);
  const from = bound(start);
  const to = bound(stop);
  const by = bound(step);
  if (isConstant(source) && [start, stop, step].every((part) => part === null || isConstant(part))) {
    checkConstantSlice(
      () => slice(object(NO_FRAME), from(NO_FRAME), to(NO_FRAME), by(NO_FRAME)),
      source.line,
    );
  }
  return (frame) => slice(object(frame), from(frame), to(frame), by(frame));
}

const NO_FRAME = new Frame(0, null);

function isConstant(expression: Expression): boolean {
  let constant = true;
  eachExpression(expression, ({ type }) => {
    constant &&= type !== 'Name' && type !== 'Call';
  });
  return constant;
}

/** Where a slice of literals fails, Jinja2 prints nothing or raises, by the place it stands in. */
function checkConstantSlice(evaluate: () => Value, line: number): void {
  try {
    evaluate();
  } catch (error) {
    if (!(error instanceof RenderError)) throw error;
    throw new TemplateSyntaxError('slice', 'a slice of literals that fails is not supported', line);
  }
}
