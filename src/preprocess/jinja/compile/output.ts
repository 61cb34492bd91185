import type { Expression } from '../syntax/ast.ts';
import { add } from '../values/arithmetic.ts';
import { str } from '../values/repr.ts';
import type { Value } from '../values/types.ts';
import { compileExpression } from './expressions.ts';
import { type Evaluate, type Execute, emit, type Frame, NORMAL, type Place, run } from './frame.ts';

type Write = (frame: Frame) => void;

/** Text and printed expressions. Constants that meet are one piece; a sum of strings is written term by term. */
export function compileOutput(items: readonly (string | Expression)[], place: Place): Execute {
  const writes: Write[] = [];
  let constant = '';
  const flush = (): void => {
    if (constant === '') return;
    const text = constant;
    writes.push(() => emit(text));
    constant = '';
  };
  for (const item of items) {
    if (typeof item === 'string') constant += item;
    else if (item.type === 'Const') constant += str(item.value);
    else {
      flush();
      writes.push(compilePrint(item, place));
    }
  }
  flush();
  const [only] = writes;
  if (writes.length === 1 && only !== undefined) {
    return (frame) => {
      only(frame);
      return NORMAL;
    };
  }
  return (frame) => {
    for (const write of writes) write(frame);
    return NORMAL;
  };
}

function compilePrint(expression: Expression, place: Place): Write {
  const { line } = expression;
  if (expression.type === 'Binary' && expression.operator === '+') {
    return compileSum(terms(expression), line, place);
  }
  const evaluate = compileExpression(expression, place);
  return (frame) => {
    run.line = line;
    emit(str(evaluate(frame)));
  };
}

/** a, b, c of (a + b) + c; constant strings that are added one after another are one. */
function terms(expression: Expression): Expression[] {
  if (expression.type !== 'Binary' || expression.operator !== '+') return [expression];
  const all = terms(expression.left);
  const { right } = expression;
  const last = all.at(-1);
  // Not with the first: (1 + 'a') + 'b' and the like must fail as they stand, and 'a' + 'b' alone is no matter.
  if (
    right.type === 'Const' &&
    typeof right.value === 'string' &&
    last?.type === 'Const' &&
    typeof last.value === 'string'
  ) {
    all[all.length - 1] = { ...last, value: last.value + right.value };
  } else all.push(right);
  return all;
}

function compileSum(all: readonly Expression[], line: number, place: Place): Write {
  const [first, ...rest] = all.map((term) => compileExpression(term, place)) as [Evaluate, ...Evaluate[]];
  return (frame) => {
    run.line = line;
    const start = run.out.length;
    let sum: Value = first(frame);
    for (const term of rest) {
      const next = term(frame);
      if (typeof sum === 'string' && typeof next === 'string') {
        emit(sum);
        sum = next;
      } else {
        // What is already written belongs to the left operand.
        const written = run.out.length > start ? run.out.splice(start).join('') : '';
        sum = add(typeof sum === 'string' ? written + sum : sum, next);
      }
    }
    emit(str(sum));
  };
}
