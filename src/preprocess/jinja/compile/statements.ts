import type { Expression, FilterExpression, Statement } from '../syntax/ast.ts';
import { callValue } from '../values/attributes.ts';
import { truth } from '../values/compare.ts';
import { NO_KEYWORDS, type Value } from '../values/types.ts';
import { compileCall, compileFilter } from './calls.ts';
import { compileExpression } from './expressions.ts';
import {
  BREAK,
  CONTINUE,
  capture,
  type Evaluate,
  type Execute,
  emitBlock,
  entry,
  NORMAL,
  type Place,
  run,
  type Signal,
  writer,
} from './frame.ts';
import { compileFor } from './loops.ts';
import { compileMacro, Macro } from './macros.ts';
import { compileOutput } from './output.ts';
import { Scope } from './scope.ts';
import { compileTarget } from './targets.ts';

/** Statements in a row, up to the first that leaves the loop or its turn. */
export function compileBody(statements: readonly Statement[], place: Place): Execute {
  const steps = statements.map((statement) => compileStatement(statement, place));
  const [only] = steps;
  if (steps.length === 1 && only !== undefined) return only;
  return (frame) => {
    for (const step of steps) {
      const signal = step(frame);
      if (signal !== NORMAL) return signal;
    }
    return NORMAL;
  };
}

function compileStatement(statement: Statement, place: Place): Execute {
  const { line } = statement;
  switch (statement.type) {
    case 'Output':
      return compileOutput(statement.items, place);
    case 'Assign': {
      const assign = compileTarget(statement.target, place.scope);
      const value = compileExpression(statement.value, place);
      return (frame) => {
        run.line = line;
        assign(frame, value(frame));
        return NORMAL;
      };
    }
    case 'AssignBlock':
      return compileAssignBlock(statement, place);
    case 'For': {
      const loop = compileFor(statement, place, compileBody);
      return (frame) => {
        run.line = line;
        return loop(frame);
      };
    }
    case 'If':
      return compileIf(statement.branches, statement.otherwise, place);
    case 'With':
      return compileWith(statement, place);
    case 'Macro': {
      const code = compileMacro(statement.name, statement, place, compileBody);
      const assign = compileTarget({ type: 'Name', name: statement.name, line }, place.scope);
      return (frame) => {
        assign(frame, new Macro(code, frame));
        return NORMAL;
      };
    }
    case 'CallBlock': {
      const code = compileMacro(null, statement, place, compileBody);
      const caller: Evaluate = (frame) => new Macro(code, frame);
      const call = compileCall(statement.call, place, compileExpression, ['caller', caller]);
      return (frame) => {
        run.line = line;
        emitBlock(call(frame));
        return NORMAL;
      };
    }
    case 'FilterBlock':
      return compileFilterBlock(statement.filter, statement.body, place);
    case 'Generation': {
      // A function of its own, as in transformers: what it sets stays in it.
      const code = compileMacro(
        null,
        { parameters: [], defaults: [], body: statement.body, line },
        place,
        compileBody,
      );
      return (frame) => {
        emitBlock(callValue(new Macro(code, frame), [], NO_KEYWORDS));
        return NORMAL;
      };
    }
    case 'Break':
      return () => BREAK;
    case 'Continue':
      return () => CONTINUE;
  }
}

function compileIf(
  branches: readonly { readonly test: Expression; readonly body: readonly Statement[] }[],
  otherwise: readonly Statement[],
  place: Place,
): Execute {
  const soft: Place = { ...place, soft: true };
  const cases = branches.map(({ test, body }) => ({
    line: test.line,
    test: compileExpression(test, soft),
    body: compileBody(body, soft),
  }));
  const last = otherwise.length === 0 ? (): Signal => NORMAL : compileBody(otherwise, soft);
  return (frame) => {
    for (const { line, test, body } of cases) {
      run.line = line;
      if (truth(test(frame))) return body(frame);
    }
    return last(frame);
  };
}

function compileWith(statement: Extract<Statement, { type: 'With' }>, place: Place): Execute {
  const scope = new Scope(place.scope, place.scope.owner);
  for (const target of statement.targets) scope.analyseTarget(target, true);
  scope.analyseAll(statement.body);
  // Values are read outside the block: one target never sees another.
  const values = statement.values.map((value) => compileExpression(value, place));
  const assigns = statement.targets.map((target) => compileTarget(target, scope));
  const enter = entry(scope);
  const body = compileBody(statement.body, { scope, soft: false });
  return (frame) => {
    run.line = statement.line;
    enter(frame);
    for (let index = 0; index < assigns.length; index++) {
      assigns[index]?.(frame, (values[index] as Evaluate)(frame));
    }
    return body(frame);
  };
}

/** Runs `body` in a scope of its own and gives the text it writes to `use`, unless it leaves the loop around it. */
function capturing(
  body: readonly Statement[],
  place: Place,
  use: (block: Evaluate, inner: Place) => Execute,
): Execute {
  const scope = new Scope(place.scope, place.scope.owner);
  scope.analyseAll(body);
  const slot = scope.declareParameter(BLOCK_TEXT);
  const write = writer(slot, scope.owner);
  const enter = entry(scope);
  const inner: Place = { scope, soft: false };
  const execute = compileBody(body, inner);
  const apply = use((frame) => frame.slots[slot.index] as Value, inner);
  return (frame) => {
    enter(frame);
    let signal: Signal = NORMAL;
    const text = capture(() => {
      signal = execute(frame);
    });
    if (signal !== NORMAL) return signal;
    write(frame, text);
    return apply(frame);
  };
}

/** Where a block's text waits for its filter; no template can name it. */
const BLOCK_TEXT = ' block text';

function filterOf(filter: FilterExpression | null, place: Place, block: Evaluate): Evaluate {
  return filter === null ? block : compileFilter(filter, place, compileExpression, block);
}

function compileAssignBlock(statement: Extract<Statement, { type: 'AssignBlock' }>, place: Place): Execute {
  const assign = compileTarget(statement.target, place.scope);
  return capturing(statement.body, place, (block, inner) => {
    const value = filterOf(statement.filter, inner, block);
    return (frame) => {
      run.line = statement.line;
      assign(frame, value(frame));
      return NORMAL;
    };
  });
}

function compileFilterBlock(filter: FilterExpression, body: readonly Statement[], place: Place): Execute {
  return capturing(body, place, (block, inner) => {
    const value = filterOf(filter, inner, block);
    return (frame) => {
      emitBlock(value(frame));
      return NORMAL;
    };
  });
}
