import type { ForStatement, Statement } from '../syntax/ast.ts';
import { TemplateSyntaxError } from '../syntax/syntax-error.ts';
import { readNames, walk } from '../syntax/walk.ts';
import { truth } from '../values/compare.ts';
import { iterate, sequence } from '../values/iterate.ts';
import { spend } from '../values/limits.ts';
import { Generator, type Value } from '../values/types.ts';
import { compileExpression } from './expressions.ts';
import {
  BREAK,
  capture,
  type Execute,
  emit,
  entry,
  Frame,
  NORMAL,
  nested,
  type Place,
  type Signal,
  writer,
} from './frame.ts';
import { LoopContext } from './loop-context.ts';
import { FunctionScope, Scope } from './scope.ts';
import { type Assign, compileTarget } from './targets.ts';

type CompileBody = (statements: readonly Statement[], place: Place) => Execute;
type RunLoop = (frame: Frame, iterable: Value, depth: number) => void;

export function compileFor(loop: ForStatement, place: Place, compileBody: CompileBody): Execute {
  checkLoopIsNotSet(loop);
  const iterable = compileExpression(loop.iterable, place);
  if (!loop.recursive) {
    const runLoop = compileLoop(loop, place, place.scope.owner, compileBody);
    return (frame) => {
      runLoop(frame, iterable(frame), 0);
      return NORMAL;
    };
  }
  // A recursive loop is a function of its items: every level has variables of its own.
  const owner = new FunctionScope(place.scope.owner);
  const runLoop = compileLoop(loop, place, owner, compileBody);
  return (frame) => {
    const items = iterable(frame);
    emit(renderLevel(runLoop, owner, frame, items, 0));
    return NORMAL;
  };
}

function renderLevel(
  runLoop: RunLoop,
  owner: FunctionScope,
  parent: Frame,
  items: Value,
  depth: number,
): string {
  return nested(() =>
    capture(() => {
      runLoop(new Frame(owner.size, parent), items, depth);
    }),
  );
}

function checkLoopIsNotSet(loop: ForStatement): void {
  walk([loop], {
    store: (name, line) => {
      if (name === 'loop')
        throw new TemplateSyntaxError('set loop', "cannot assign to the special variable 'loop'", line);
    },
  });
}

function compileLoop(
  loop: ForStatement,
  place: Place,
  owner: FunctionScope,
  compileBody: CompileBody,
): RunLoop {
  const scope = new Scope(place.scope, owner);
  const extended = loop.recursive || readNames(loop.body, ['loop']).has('loop');
  const loopSlot = extended ? scope.declareParameter('loop') : undefined;
  scope.analyseLoop(loop, 'body');
  const inner: Place = { scope, soft: false };
  const assign = compileTarget(loop.target, scope);
  const enter = entry(scope);
  const body = compileBody(loop.body, inner);
  const filter = compileLoopFilter(loop, place, owner);
  const otherwise = compileElse(loop, place, owner, compileBody);

  const turn = (frame: Frame): Signal => {
    spend(1);
    enter(frame);
    return body(frame);
  };
  // An `else` runs when no turn came to its end, as Jinja2 has it: also when every one broke off or continued.
  if (loopSlot === undefined) {
    const each: (frame: Frame, items: Iterable<Value>) => boolean = (frame, items) => {
      let completed = false;
      for (const item of items) {
        assign(frame, item);
        const signal = turn(frame);
        if (signal === BREAK) break;
        if (signal === NORMAL) completed = true;
      }
      return completed;
    };
    return (frame, iterable) => {
      const items =
        filter === undefined ? (sequence(iterable) ?? iterate(iterable)) : filter(frame, iterable);
      if (!each(frame, items)) otherwise(frame);
    };
  }
  const writeLoop = writer(loopSlot, owner);
  const runExtended: RunLoop = (frame, iterable, depth) => {
    const source = filter === undefined ? iterable : new Generator(filter(frame, iterable));
    const parent = frame.parent as Frame;
    const recurse = loop.recursive
      ? (items: Value, level: number): string => renderLevel(runExtended, owner, parent, items, level)
      : null;
    const context = new LoopContext(source, depth, recurse);
    let completed = false;
    while (context.advance()) {
      assign(frame, context.current);
      writeLoop(frame, context);
      const signal = turn(frame);
      if (signal === BREAK) break;
      if (signal === NORMAL) completed = true;
    }
    if (!completed) otherwise(frame);
  };
  return runExtended;
}

/** The `if` of a loop: lazy, each item is tested when the loop asks for it. */
function compileLoopFilter(
  loop: ForStatement,
  place: Place,
  owner: FunctionScope,
): ((frame: Frame, iterable: Value) => IterableIterator<Value>) | undefined {
  if (loop.filter === null) return undefined;
  const scope = new Scope(place.scope, owner);
  scope.analyseLoop(loop, 'filter');
  const assign: Assign = compileTarget(loop.target, scope);
  const test = compileExpression(loop.filter, { scope, soft: false });
  const enter = entry(scope);
  return function* filtered(frame, iterable) {
    enter(frame);
    for (const item of iterate(iterable)) {
      spend(1);
      assign(frame, item);
      if (truth(test(frame))) yield item;
    }
  };
}

function compileElse(
  loop: ForStatement,
  place: Place,
  owner: FunctionScope,
  compileBody: CompileBody,
): (frame: Frame) => void {
  if (loop.otherwise.length === 0) return () => {};
  const scope = new Scope(place.scope, owner);
  scope.analyseLoop(loop, 'otherwise');
  const enter = entry(scope);
  const body = compileBody(loop.otherwise, { scope, soft: false });
  return (frame) => {
    enter(frame);
    body(frame);
  };
}
