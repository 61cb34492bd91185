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

  // By what they read, since a template from a request may hold tens of thousands.
  const assignsOf = new Map<string | undefined, Expression[]>();
  for (const { target, value } of assigns) {
    const name = nameRead(value);
    const targets = assignsOf.get(name);
    if (targets === undefined) assignsOf.set(name, [target]);
    else targets.push(target);
  }
  const messages = new Set(['messages']);
  for (const name of messages) {
    for (const target of assignsOf.get(name) ?? []) {
      // Where the target is no single name vLLM's own detection gives up, and takes content for strings.
      if (target.type !== 'Name') return 'string';
      messages.add(target.name);
    }
  }
  const message = new Set<string>();
  for (const { target, iterable } of loops) {
    const name = nameRead(iterable);
    if (name === undefined || !messages.has(name)) continue;
    if (target.type !== 'Name') return 'string';
    message.add(target.name);
  }
  for (const { target, iterable } of loops) {
    const name = nameRead(iterable, 'content');
    if (name !== undefined && message.has(name)) return target.type === 'Name' ? 'parts' : 'string';
  }
  return 'string';
}

/** The name that an expression reads, or whose member `key` it reads; undefined where it reads anything else. */
function nameRead(expression: Expression | null, key?: string): string | undefined {
  switch (expression?.type) {
    case 'Filter':
    case 'Test':
      return nameRead(expression.operand, key);
    case 'Name':
      return key === undefined ? expression.name : undefined;
    case 'Attribute':
      return key !== undefined && expression.name === key ? nameOf(expression.object) : undefined;
    case 'Item':
      if (expression.key.type === 'Slice') return nameRead(expression.object, key);
      return key !== undefined && expression.key.type === 'Const' && expression.key.value === key
        ? nameOf(expression.object)
        : undefined;
    default:
      return undefined;
  }
}

function nameOf(expression: Expression): string | undefined {
  return expression.type === 'Name' ? expression.name : undefined;
}
