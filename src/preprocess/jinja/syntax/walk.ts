import type { Arguments, Expression, Statement } from './ast.ts';

/** Calls `visit` for `expression` and for every expression in it, outermost first. */
export function eachExpression(expression: Expression, visit: (expression: Expression) => void): void {
  visit(expression);
  for (const child of children(expression)) eachExpression(child, visit);
}

function argumentsOf(args: Arguments): Expression[] {
  const all = [...args.positional, ...args.named.map(([, value]) => value)];
  if (args.star !== null) all.push(args.star);
  if (args.doubleStar !== null) all.push(args.doubleStar);
  return all;
}

function children(expression: Expression): readonly Expression[] {
  switch (expression.type) {
    case 'Const':
    case 'Name':
    case 'NamespaceRef':
      return [];
    case 'Tuple':
    case 'List':
    case 'Concat':
      return expression.items;
    case 'Dict':
      return expression.pairs.flat();
    case 'Condition':
      // The order in which the names are read decides nothing here, but keep the one of Jinja2's nodes.
      return [
        expression.test,
        expression.consequent,
        ...(expression.otherwise === null ? [] : [expression.otherwise]),
      ];
    case 'Binary':
      return [expression.left, expression.right];
    case 'Unary':
      return [expression.operand];
    case 'Compare':
      return [expression.first, ...expression.rest.map(([, operand]) => operand)];
    case 'Attribute':
      return [expression.object];
    case 'Item':
      return [expression.object, expression.key];
    case 'Slice':
      return [expression.start, expression.stop, expression.step].filter((bound) => bound !== null);
    case 'Call':
      return [expression.callee, ...argumentsOf(expression.args)];
    case 'Filter':
      return [...(expression.operand === null ? [] : [expression.operand]), ...argumentsOf(expression.args)];
    case 'Test':
      return [expression.operand, ...argumentsOf(expression.args)];
  }
}

export interface Visitor {
  readonly statement?: (statement: Statement) => void;
  readonly expression?: (expression: Expression) => void;
  /** A name that is set: by a target, a macro, or a parameter. */
  readonly store?: (name: string, line: number) => void;
}

/** Walks statements and all within them, in the order of the text. */
export function walk(statements: readonly Statement[], visitor: Visitor): void {
  for (const statement of statements) walkStatement(statement, visitor);
}

function walkStatement(statement: Statement, visitor: Visitor): void {
  visitor.statement?.(statement);
  const read = (expression: Expression): void =>
    eachExpression(expression, (inner) => visitor.expression?.(inner));
  const set = (target: Expression): void => {
    if (target.type === 'Name') visitor.store?.(target.name, target.line);
    else if (target.type === 'Tuple') target.items.forEach(set);
    else read(target);
  };
  const signature = (parameters: readonly string[], defaults: readonly Expression[]): void => {
    for (const name of parameters) visitor.store?.(name, statement.line);
    defaults.forEach(read);
  };
  switch (statement.type) {
    case 'Output':
      for (const item of statement.items) if (typeof item !== 'string') read(item);
      return;
    case 'Assign':
      set(statement.target);
      read(statement.value);
      return;
    case 'AssignBlock':
      set(statement.target);
      if (statement.filter !== null) read(statement.filter);
      break;
    case 'For':
      set(statement.target);
      read(statement.iterable);
      walk(statement.body, visitor);
      walk(statement.otherwise, visitor);
      if (statement.filter !== null) read(statement.filter);
      return;
    case 'If':
      for (const { test, body } of statement.branches) {
        read(test);
        walk(body, visitor);
      }
      walk(statement.otherwise, visitor);
      return;
    case 'With':
      statement.targets.forEach(set);
      statement.values.forEach(read);
      break;
    case 'Macro':
      signature(statement.parameters, statement.defaults);
      break;
    case 'CallBlock':
      read(statement.call);
      signature(statement.parameters, statement.defaults);
      break;
    case 'FilterBlock':
      walk(statement.body, visitor);
      read(statement.filter);
      return;
    case 'Break':
    case 'Continue':
      return;
  }
  walk(statement.body, visitor);
}

/** Which of `wanted` names `statements` read before, in the order of the text, they set them. */
export function readNames(statements: readonly Statement[], wanted: readonly string[]): ReadonlySet<string> {
  const open = new Set(wanted);
  const found = new Set<string>();
  walk(statements, {
    expression: (expression) => {
      if (expression.type === 'Name' && open.has(expression.name)) found.add(expression.name);
    },
    store: (name) => {
      if (!found.has(name)) open.delete(name);
    },
  });
  return found;
}
