import type { Arguments, Expression } from './ast.ts';
import type { TokenStream } from './token-stream.ts';

/** Given by the caller, which is what reads arguments and subscripts. */
type ParseExpression = (stream: TokenStream) => Expression;

/** A subscript: an expression or a slice. */
export function parseSubscribed(stream: TokenStream, parseExpression: ParseExpression): Expression {
  const { line } = stream.current;
  let start: Expression | null = null;
  if (!stream.isOperator(':')) {
    start = parseExpression(stream);
    if (!stream.isOperator(':')) return start;
  }
  stream.next();
  const bound = (): Expression | null =>
    stream.isOperator(']') || stream.isOperator(',') || stream.isOperator(':')
      ? null
      : parseExpression(stream);
  const stop = bound();
  const step = stream.skip('operator', ':') ? bound() : null;
  return { type: 'Slice', start, stop, step, line };
}

/** The arguments of a call, a filter or a test, brackets included. */
export function parseArguments(stream: TokenStream, parseExpression: ParseExpression): Arguments {
  const { line } = stream.expect('operator', '(');
  const positional: Expression[] = [];
  const named: (readonly [string, Expression])[] = [];
  let star: Expression | null = null;
  let doubleStar: Expression | null = null;
  const ensure = (holds: boolean): void => {
    if (!holds) stream.fail('arguments are in an order that a call does not allow', line);
  };
  for (let first = true; !stream.isOperator(')'); first = false) {
    if (!first) {
      stream.expect('operator', ',');
      if (stream.isOperator(')')) break;
    }
    if (stream.skip('operator', '*')) {
      ensure(star === null && doubleStar === null);
      star = parseExpression(stream);
    } else if (stream.skip('operator', '**')) {
      ensure(doubleStar === null);
      doubleStar = parseExpression(stream);
    } else if (stream.is('name') && stream.following.type === 'operator' && stream.following.text === '=') {
      ensure(doubleStar === null);
      const name = stream.next().text;
      stream.next();
      if (named.some(([other]) => other === name)) stream.fail(`keyword argument repeated: ${name}`, line);
      named.push([name, parseExpression(stream)]);
    } else {
      ensure(star === null && doubleStar === null && named.length === 0);
      positional.push(parseExpression(stream));
    }
  }
  stream.expect('operator', ')');
  return { positional, named, star, doubleStar };
}
