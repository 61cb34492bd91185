import type { CallBlockStatement, MacroStatement, Signature, Statement } from '../syntax/ast.ts';
import { TemplateSyntaxError } from '../syntax/syntax-error.ts';
import { readNames } from '../syntax/walk.ts';
import { PyDict } from '../values/dict.ts';
import { spend } from '../values/limits.ts';
import { fail } from '../values/render-error.ts';
import { repr } from '../values/repr.ts';
import { type Keywords, PyObject, Tuple, Undefined, type Value } from '../values/types.ts';
import { compileExpression } from './expressions.ts';
import { capture, type Evaluate, type Execute, entry, Frame, nested, type Place, writer } from './frame.ts';
import { FunctionScope, Scope, type Slot } from './scope.ts';

export interface MacroCode {
  readonly name: string | null;
  readonly parameters: readonly string[];
  readonly catchesKeywords: boolean;
  readonly catchesArguments: boolean;
  readonly usesCaller: boolean;
  /** Runs the body with its arguments in the order: parameters, caller, kwargs, varargs. */
  readonly body: (parent: Frame, args: readonly (Value | undefined)[]) => string;
}

const NO_CALLER = new Undefined('No caller defined');

export class Macro extends PyObject {
  readonly typeName = 'Macro';
  readonly #code: MacroCode;
  readonly #parent: Frame;

  constructor(code: MacroCode, parent: Frame) {
    super();
    this.#code = code;
    this.#parent = parent;
  }

  override get callable(): boolean {
    return true;
  }

  override call(args: readonly Value[], keywords: Keywords): Value {
    const code = this.#code;
    const { parameters } = code;
    spend(1);
    const values: (Value | undefined)[] = args.slice(0, parameters.length);
    let foundCaller = false;
    const named = keywords.size === 0 && !code.catchesKeywords ? undefined : new Map(keywords);
    if (values.length === parameters.length) foundCaller = parameters.includes('caller');
    else {
      for (const name of parameters.slice(values.length)) {
        values.push(named?.get(name));
        named?.delete(name);
        if (name === 'caller') foundCaller = true;
      }
    }
    if (code.usesCaller && !foundCaller) {
      values.push(named?.get('caller') ?? NO_CALLER);
      named?.delete('caller');
    }
    if (code.catchesKeywords) values.push(keywordDict(named));
    else if (named !== undefined && named.size > 0) {
      fail(`macro ${repr(code.name)} takes no keyword argument '${[...named.keys()][0]}'`);
    }
    if (code.catchesArguments) values.push(new Tuple(args.slice(parameters.length)));
    else if (args.length > parameters.length) {
      fail(`macro ${repr(code.name)} takes not more than ${parameters.length} argument(s)`);
    }
    return nested(() => code.body(this.#parent, values));
  }

  override attribute(name: string): Value | undefined {
    const code = this.#code;
    if (name === 'name') return code.name;
    if (name === 'arguments') return new Tuple(code.parameters);
    if (name === 'catch_kwargs') return code.catchesKeywords;
    if (name === 'catch_varargs') return code.catchesArguments;
    if (name === 'caller') return code.usesCaller;
    return undefined;
  }

  override repr(): string {
    return `<Macro ${this.#code.name === null ? 'anonymous' : repr(this.#code.name)}>`;
  }
}

function keywordDict(named: ReadonlyMap<string, Value> | undefined): PyDict {
  const dict = new PyDict();
  if (named !== undefined) for (const [name, value] of named) dict.put(name, value);
  return dict;
}

type MacroNode = Pick<MacroStatement | CallBlockStatement, 'parameters' | 'defaults' | 'body' | 'line'>;
type CompileBody = (statements: readonly Statement[], place: Place) => Execute;

/** Compiles a macro, or the body of a call block, defined at `place`. */
export function compileMacro(
  name: string | null,
  node: MacroNode,
  place: Place,
  compileBody: CompileBody,
): MacroCode {
  const owner = new FunctionScope(place.scope.owner);
  const scope = new Scope(place.scope, owner);
  const special = readNames(node.body, ['caller', 'kwargs', 'varargs']);
  checkCaller(node, special);
  const slots: Slot[] = node.parameters.map((parameter) => scope.declareParameter(parameter));
  for (const value of node.defaults) scope.analyseExpression(value);
  scope.analyseAll(node.body);
  const extra = (wanted: string): boolean => {
    if (!special.has(wanted) || node.parameters.includes(wanted)) return false;
    slots.push(scope.declareParameter(wanted));
    return true;
  };
  const usesCaller = extra('caller') || special.has('caller');
  const catchesKeywords = extra('kwargs');
  const catchesArguments = extra('varargs');
  const inner: Place = { scope, soft: false };
  const defaults = compileDefaults(node, inner);
  const writes = slots.map((slot) => writer(slot, owner));
  const body = compileBody(node.body, inner);
  const enter = entry(scope);
  return {
    name,
    parameters: node.parameters,
    catchesKeywords,
    catchesArguments,
    usesCaller,
    body: (parent, args) => {
      const frame = new Frame(owner.size, parent);
      for (let index = 0; index < writes.length; index++) writes[index]?.(frame, args[index]);
      enter(frame);
      for (let index = 0; index < defaults.length; index++) {
        if (args[index] === undefined) writes[index]?.(frame, (defaults[index] as Evaluate)(frame));
      }
      return capture(() => {
        body(frame);
      });
    },
  };
}

/** `caller` may be a parameter only if it has a default. */
function checkCaller(node: MacroNode, special: ReadonlySet<string>): void {
  const index = node.parameters.indexOf('caller');
  if (index < 0 || !special.has('caller')) return;
  if (index < node.parameters.length - node.defaults.length) {
    throw new TemplateSyntaxError(
      'macro',
      'the special argument caller must be omitted or given a default',
      node.line,
    );
  }
}

function compileDefaults({ parameters, defaults }: Signature, place: Place): Evaluate[] {
  const without = parameters.length - defaults.length;
  return parameters.map((parameter, index) => {
    const value = defaults[index - without];
    if (value !== undefined) return compileExpression(value, place);
    const missing = new Undefined(`parameter '${parameter}' was not provided`);
    return () => missing;
  });
}
