import type { Expression } from '../syntax/ast.ts';
import { TemplateSyntaxError } from '../syntax/syntax-error.ts';
import { toList } from '../values/iterate.ts';
import { Namespace } from '../values/namespace.ts';
import { fail } from '../values/render-error.ts';
import { Tuple, type Value } from '../values/types.ts';
import { type Frame, reader, writer } from './frame.ts';
import type { Scope } from './scope.ts';

export type Assign = (frame: Frame, value: Value) => void;

/** What assigns a value to `target`: a name, a namespace's attribute, or a tuple of targets to unpack into. */
export function compileTarget(target: Expression, scope: Scope): Assign {
  switch (target.type) {
    case 'Name': {
      const slot = scope.find(target.name);
      if (slot === undefined) break;
      return writer(slot, scope.owner);
    }
    case 'NamespaceRef': {
      const slot = scope.find(target.name);
      if (slot === undefined) break;
      const read = reader(slot, scope.owner);
      const { attribute } = target;
      return (frame, value) => {
        const namespace = read(frame);
        if (!(namespace instanceof Namespace)) return fail('cannot assign attribute on non-namespace object');
        namespace.set(attribute, value);
      };
    }
    case 'Tuple': {
      const assigns = target.items.map((item) => compileTarget(item, scope));
      return (frame, value) => {
        const items = value instanceof Tuple ? value.items : toList(value);
        if (items.length !== assigns.length) {
          fail(
            `${items.length < assigns.length ? 'not enough' : 'too many'} values to unpack (expected ${assigns.length})`,
          );
        }
        for (let index = 0; index < assigns.length; index++)
          (assigns[index] as Assign)(frame, items[index] as Value);
      };
    }
  }
  throw new TemplateSyntaxError('syntax', 'cannot assign to this', target.line);
}
