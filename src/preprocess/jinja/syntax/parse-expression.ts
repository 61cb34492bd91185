import { PyFloat } from '../../json/value.ts';
import type { Arguments, BinaryOperator, CompareOperator, Expression, FilterExpression } from './ast.ts';
import { parseArguments, parseSubscribed } from './parse-arguments.ts';
import { TemplateSyntaxError } from './syntax-error.ts';
import { shown, type TokenStream } from './token-stream.ts';

const NO_ARGUMENTS: Arguments = { positional: [], named: [], star: null, doubleStar: null };

export interface TupleRules {
  /** Only names and literals: the target of an assignment. */
  readonly simplified?: boolean;
  readonly conditions?: boolean;
  /** A name that ends the tuple, as `in` ends the target of a loop. */
  readonly endName?: string;
  readonly parenthesised?: boolean;
  /** `ns.attribute` is allowed: the target of a set. */
  readonly namespaces?: boolean;
}

/** One expression, or several with commas between: a tuple. */
export function parseTuple(stream: TokenStream, rules: TupleRules = {}): Expression {
  let line = stream.current.line;
  const items: Expression[] = [];
  let isTuple = false;
  for (;;) {
    if (items.length > 0) stream.expect('operator', ',');
    if (atTupleEnd(stream, rules.endName)) break;
    items.push(
      rules.simplified === true
        ? parsePrimary(stream, rules.namespaces === true)
        : parseExpression(stream, rules.conditions !== false),
    );
    if (!stream.isOperator(',')) break;
    isTuple = true;
    line = stream.current.line;
  }
  if (!isTuple) {
    const only = items[0];
    if (only !== undefined) return only;
    if (rules.parenthesised !== true) stream.fail(`expected an expression, found '${shown(stream.current)}'`);
  }
  return { type: 'Tuple', items, line };
}

function atTupleEnd(stream: TokenStream, endName: string | undefined): boolean {
  const { type } = stream.current;
  if (type === 'variable_end' || type === 'block_end' || stream.isOperator(')')) return true;
  return endName !== undefined && stream.isName(endName);
}

export function parseExpression(stream: TokenStream, conditions = true): Expression {
  return conditions ? parseCondition(stream) : parseOr(stream);
}

function parseCondition(stream: TokenStream): Expression {
  let line = stream.current.line;
  let expression = parseOr(stream);
  while (stream.skip('name', 'if')) {
    const test = parseOr(stream);
    const otherwise = stream.skip('name', 'else') ? parseCondition(stream) : null;
    expression = { type: 'Condition', test, consequent: expression, otherwise, line };
    line = stream.current.line;
  }
  return expression;
}

type Level = (stream: TokenStream) => Expression;

/** A level of left-associative binary operators above `operand`. */
function binary(operators: readonly string[], type: 'name' | 'operator', operand: Level): Level {
  return (stream) => {
    let line = stream.current.line;
    let left = operand(stream);
    while (stream.current.type === type && operators.includes(stream.current.text)) {
      const operator = stream.next().text as BinaryOperator;
      left = { type: 'Binary', operator, left, right: operand(stream), line };
      line = stream.current.line;
    }
    return left;
  };
}

const parsePower = binary(['**'], 'operator', (stream) => parseUnary(stream, true));
const parseProduct = binary(['*', '/', '//', '%'], 'operator', parsePower);
const parseSum = binary(['+', '-'], 'operator', parseConcat);
const parseAnd = binary(['and'], 'name', parseNot);
const parseOr = binary(['or'], 'name', parseAnd);

function parseConcat(stream: TokenStream): Expression {
  const { line } = stream.current;
  const first = parseProduct(stream);
  if (!stream.isOperator('~')) return first;
  const items = [first];
  while (stream.skip('operator', '~')) items.push(parseProduct(stream));
  return { type: 'Concat', items, line };
}

function parseNot(stream: TokenStream): Expression {
  if (!stream.isName('not')) return parseCompare(stream);
  const { line } = stream.next();
  return { type: 'Unary', operator: 'not', operand: parseNot(stream), line };
}

const COMPARE_OPERATORS = new Set(['==', '!=', '<', '<=', '>', '>=']);

function parseCompare(stream: TokenStream): Expression {
  const { line } = stream.current;
  const first = parseSum(stream);
  const rest: (readonly [CompareOperator, Expression])[] = [];
  for (;;) {
    if (stream.current.type === 'operator' && COMPARE_OPERATORS.has(stream.current.text)) {
      rest.push([stream.next().text as CompareOperator, parseSum(stream)]);
    } else if (stream.skip('name', 'in')) {
      rest.push(['in', parseSum(stream)]);
    } else if (stream.isName('not') && stream.following.type === 'name' && stream.following.text === 'in') {
      stream.next();
      stream.next();
      rest.push(['not in', parseSum(stream)]);
    } else break;
  }
  return rest.length === 0 ? first : { type: 'Compare', first, rest, line };
}

function parseUnary(stream: TokenStream, filters: boolean): Expression {
  const { line } = stream.current;
  let expression: Expression;
  if (stream.isOperator('-') || stream.isOperator('+')) {
    const operator = stream.next().text as '-' | '+';
    expression = { type: 'Unary', operator, operand: parseUnary(stream, false), line };
  } else {
    expression = parsePrimary(stream, false);
  }
  expression = parsePostfix(stream, expression);
  return filters ? parseFiltersAndTests(stream, expression) : expression;
}

function parsePrimary(stream: TokenStream, namespaces: boolean): Expression {
  const token = stream.current;
  const { line } = token;
  switch (token.type) {
    case 'name':
      stream.next();
      return parseName(stream, token.text, line, namespaces);
    case 'string': {
      let value = stream.next().text;
      while (stream.is('string')) value += stream.next().text;
      return { type: 'Const', value, line };
    }
    case 'integer':
    case 'float':
      stream.next();
      return { type: 'Const', value: numberValue(token.type, token.text, line), line };
    case 'operator':
      if (token.text === '(') {
        stream.next();
        const inside = parseTuple(stream, { parenthesised: true });
        stream.expect('operator', ')');
        return inside;
      }
      if (token.text === '[') return parseList(stream);
      if (token.text === '{') return parseDict(stream);
  }
  return stream.fail(`unexpected '${shown(token)}'`);
}

function parseName(stream: TokenStream, name: string, line: number, namespaces: boolean): Expression {
  if (name === 'true' || name === 'True') return { type: 'Const', value: true, line };
  if (name === 'false' || name === 'False') return { type: 'Const', value: false, line };
  if (name === 'none' || name === 'None') return { type: 'Const', value: null, line };
  if (namespaces && stream.skip('operator', '.')) {
    return { type: 'NamespaceRef', name, attribute: stream.expect('name').text, line };
  }
  return { type: 'Name', name, line };
}

/** Python neither reads nor writes integers of more digits, and Jinja2 does both to a literal. */
const MAXIMUM_DIGITS = 4300;
const INTEGER_BOUND = 10n ** BigInt(MAXIMUM_DIGITS);

function numberValue(type: 'integer' | 'float', text: string, line: number): number | bigint | PyFloat {
  if (type === 'float') {
    const value = Number(text);
    return Number.isFinite(value) && !Number.isInteger(value) ? value : new PyFloat(value);
  }
  // Python allows several zeros, JavaScript's BigInt too; prefixes are the same.
  const value = BigInt(text);
  if (value >= INTEGER_BOUND) {
    throw new TemplateSyntaxError('integer', `an integer has more than ${MAXIMUM_DIGITS} digits`, line);
  }
  return value <= BigInt(Number.MAX_SAFE_INTEGER) ? Number(value) : value;
}

function parseList(stream: TokenStream): Expression {
  const { line } = stream.expect('operator', '[');
  const items: Expression[] = [];
  while (!stream.isOperator(']')) {
    if (items.length > 0) stream.expect('operator', ',');
    if (stream.isOperator(']')) break;
    items.push(parseExpression(stream));
  }
  stream.expect('operator', ']');
  return { type: 'List', items, line };
}

function parseDict(stream: TokenStream): Expression {
  const { line } = stream.expect('operator', '{');
  const pairs: (readonly [Expression, Expression])[] = [];
  while (!stream.isOperator('}')) {
    if (pairs.length > 0) stream.expect('operator', ',');
    if (stream.isOperator('}')) break;
    const key = parseExpression(stream);
    stream.expect('operator', ':');
    pairs.push([key, parseExpression(stream)]);
  }
  stream.expect('operator', '}');
  return { type: 'Dict', pairs, line };
}

function parsePostfix(stream: TokenStream, start: Expression): Expression {
  let expression = start;
  for (;;) {
    if (stream.isOperator('.')) expression = parseDot(stream, expression);
    else if (stream.isOperator('[')) expression = parseSubscript(stream, expression);
    else if (stream.isOperator('(')) expression = parseCall(stream, expression);
    else return expression;
  }
}

function parseDot(stream: TokenStream, object: Expression): Expression {
  const { line } = stream.next();
  const token = stream.next();
  if (token.type === 'name') return { type: 'Attribute', object, name: token.text, line };
  if (token.type !== 'integer') return stream.fail('expected a name or a number after the dot', token.line);
  const key: Expression = {
    type: 'Const',
    value: numberValue('integer', token.text, token.line),
    line: token.line,
  };
  return { type: 'Item', object, key, line };
}

function parseSubscript(stream: TokenStream, object: Expression): Expression {
  const { line } = stream.next();
  const keys: Expression[] = [];
  while (!stream.isOperator(']')) {
    if (keys.length > 0) stream.expect('operator', ',');
    keys.push(parseSubscribed(stream, parseExpression));
  }
  stream.expect('operator', ']');
  const only = keys.length === 1 ? keys[0] : undefined;
  const key: Expression = only ?? { type: 'Tuple', items: keys, line };
  return { type: 'Item', object, key, line };
}

function parseCall(stream: TokenStream, callee: Expression): Expression {
  const { line } = stream.current;
  return { type: 'Call', callee, args: parseArguments(stream, parseExpression), line };
}

function parseFiltersAndTests(stream: TokenStream, start: Expression): Expression {
  let expression = start;
  for (;;) {
    if (stream.skip('operator', '|')) expression = parseFilter(stream, expression);
    else if (stream.isName('is')) expression = parseTest(stream, expression);
    else if (stream.isOperator('(')) expression = parseCall(stream, expression);
    else return expression;
  }
}

/** A filter behind its bar, applied to `operand`. */
export function parseFilter(stream: TokenStream, operand: Expression | null): FilterExpression {
  const { line } = stream.current;
  const name = dottedName(stream);
  const args = stream.isOperator('(') ? parseArguments(stream, parseExpression) : NO_ARGUMENTS;
  return { type: 'Filter', operand, name, args, line };
}

function parseTest(stream: TokenStream, operand: Expression): Expression {
  const { line } = stream.next();
  const negated = stream.skip('name', 'not');
  const name = dottedName(stream);
  let args = NO_ARGUMENTS;
  if (stream.isOperator('(')) args = parseArguments(stream, parseExpression);
  else if (atTestArgument(stream)) {
    if (stream.isName('is')) stream.fail('tests with is cannot be chained');
    args = { ...NO_ARGUMENTS, positional: [parsePostfix(stream, parsePrimary(stream, false))] };
  }
  const test: Expression = { type: 'Test', operand, name, args, line };
  return negated ? { type: 'Unary', operator: 'not', operand: test, line } : test;
}

function atTestArgument(stream: TokenStream): boolean {
  const { type, text } = stream.current;
  if (type === 'name') return text !== 'else' && text !== 'or' && text !== 'and';
  return (
    type === 'string' || type === 'integer' || type === 'float' || (type === 'operator' && /[[{]/.test(text))
  );
}

function dottedName(stream: TokenStream): string {
  let name = stream.expect('name').text;
  while (stream.skip('operator', '.')) name += `.${stream.expect('name').text}`;
  return name;
}
