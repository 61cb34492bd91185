import type { Expression, Statement } from './syntax/ast.ts';
import { walk } from './syntax/walk.ts';

/** `string`: text parts of a content list are joined before rendering. `parts`: the template loops over them itself. */
export type ContentFormat = 'string' | 'parts';

/**
 * vLLM's detection: `parts` when the template has a loop over the `content` of a loop's variable, where that loop is over
 * `messages` or over a name that was set to it. Scopes are not looked at, as they are not there. Filters, tests and
 * slices on the way do not matter.
 */
export function detectContentFormat(statements: readonly Statement[]): ContentFormat {
  const assigns: { target: Expression; value: Expression }[] = [];
  const loops: { target: Expression; iterable: Expression }[] = [];
  walk(statements, {
    statement: (statement) => {
      if (statement.type === 'Assign') assigns.push(statement);
      else if (statement.type === 'For') loops.push(statement);
    },
  });

  const messages = ['messages'];
  for (let index = 0; index < messages.length; index++) {
    for (const { target, value } of assigns) {
      if (!reads(value, messages[index] as string)) continue;
      // Where the target is no single name vLLM's own detection gives up, and takes content for strings.
      if (target.type !== 'Name') return 'string';
      if (!messages.includes(target.name)) messages.push(target.name);
    }
  }
  const message: string[] = [];
  for (const { target, iterable } of loops) {
    if (!messages.some((name) => reads(iterable, name))) continue;
    if (target.type !== 'Name') return 'string';
    message.push(target.name);
  }
  for (const { target, iterable } of loops) {
    if (message.some((name) => reads(iterable, name, 'content')))
      return target.type === 'Name' ? 'parts' : 'string';
  }
  return 'string';
}

function reads(expression: Expression, name: string, key?: string): boolean {
  switch (expression.type) {
    case 'Filter':
      return expression.operand !== null && reads(expression.operand, name, key);
    case 'Test':
      return reads(expression.operand, name, key);
    case 'Name':
      return key === undefined && expression.name === name;
    case 'Attribute':
      return key !== undefined && expression.name === key && isName(expression.object, name);
    case 'Item':
      if (expression.key.type === 'Slice') return reads(expression.object, name, key);
      return (
        key !== undefined &&
        expression.key.type === 'Const' &&
        expression.key.value === key &&
        isName(expression.object, name)
      );
  }
  return false;
}

function isName(expression: Expression, name: string): boolean {
  return expression.type === 'Name' && expression.name === name;
}
