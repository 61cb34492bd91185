import { budget, type RenderLimits, resetBudget } from '../values/limits.ts';
import { fail, RenderError } from '../values/render-error.ts';
import { Markup, typeName, type Value } from '../values/types.ts';
import type { FunctionScope, Scope, Slot } from './scope.ts';

/** The variables of one activation of a function; an unset one is undefined. */
export class Frame {
  readonly slots: (Value | undefined)[];
  readonly parent: Frame | null;

  constructor(size: number, parent: Frame | null) {
    this.slots = new Array(size).fill(undefined);
    this.parent = parent;
  }
}

export type Evaluate = (frame: Frame) => Value;

/** What a statement tells the loop around it. */
export const NORMAL = 0;
export const BREAK = 1;
export const CONTINUE = 2;
export type Signal = typeof NORMAL | typeof BREAK | typeof CONTINUE;
export type Execute = (frame: Frame) => Signal;

/** Where a construct is compiled: its names, and whether it is within an `if`, where unknown filters fail only when used. */
export interface Place {
  readonly scope: Scope;
  readonly soft: boolean;
}

/** The state of the render under way. One per thread: a render is synchronous and never nests. */
export const run = {
  context: {} as Readonly<Record<string, Value>>,
  globals: new Map<string, Value>() as ReadonlyMap<string, Value>,
  out: [] as string[],
  line: 0,
};

let outputLeft = 0;

export function beginRun(
  context: Readonly<Record<string, Value>>,
  globals: ReadonlyMap<string, Value>,
  limits: RenderLimits,
): void {
  resetBudget(limits);
  run.context = context;
  run.globals = globals;
  run.out = [];
  run.line = 1;
  outputLeft = limits.size;
}

/** Lets go of the request's values. */
export function endRun(): void {
  run.context = {};
  run.out = [];
}

export function emit(text: string): void {
  if (text === '') return;
  outputLeft -= text.length;
  if (outputLeft < 0) throw new RenderError('limit', 'the output is larger than the limit allows');
  run.out.push(text);
}

/** What a filter or call block comes to: Jinja2 writes it as it is, so it must be text. */
export function emitBlock(value: Value): void {
  if (typeof value === 'string') emit(value);
  else if (value instanceof Markup) emit(value.text);
  else fail(`a block must come to text, not ${typeName(value)}`);
}

/** What `write` emits, as one text and not into the output. */
export function capture(write: () => void): string {
  const outer = run.out;
  run.out = [];
  write();
  const text = run.out.join('');
  run.out = outer;
  return text;
}

/** Counts a call's depth while `call` runs, and gives the line back to the caller after it. */
export function nested<Result>(call: () => Result): Result {
  if (--budget.depth < 0)
    throw new RenderError('limit', 'macros call one another deeper than the limit allows');
  const { line } = run;
  const result = call();
  run.line = line;
  budget.depth++;
  return result;
}

/** A name in the context of the render, or a global. */
function resolve(name: string): Value | undefined {
  const { context } = run;
  const value = Object.hasOwn(context, name) ? context[name] : undefined;
  return value !== undefined ? value : run.globals.get(name);
}

/** How many frames up `slot` is, seen from `owner`. */
function hops(slot: Slot, owner: FunctionScope): number {
  let count = 0;
  for (let scope: FunctionScope | null = owner; scope !== slot.owner; scope = scope.parent) {
    if (scope === null) throw new Error('a variable of a function that does not enclose its use');
    count++;
  }
  return count;
}

function frameOf(frame: Frame, up: number): Frame {
  let found = frame;
  for (let count = up; count > 0; count--) found = found.parent as Frame;
  return found;
}

export function reader(slot: Slot, owner: FunctionScope): (frame: Frame) => Value | undefined {
  const up = hops(slot, owner);
  const { index } = slot;
  if (up === 0) return (frame) => frame.slots[index];
  return (frame) => frameOf(frame, up).slots[index];
}

export function writer(slot: Slot, owner: FunctionScope): (frame: Frame, value: Value | undefined) => void {
  const up = hops(slot, owner);
  const { index } = slot;
  if (up === 0) {
    return (frame, value) => {
      frame.slots[index] = value;
    };
  }
  return (frame, value) => {
    frameOf(frame, up).slots[index] = value;
  };
}

/** Sets what the variables of `scope` hold on entry. */
export function entry(scope: Scope): (frame: Frame) => void {
  const steps: ((frame: Frame) => void)[] = [];
  for (const [slot, load] of scope.loads) {
    if (load.kind === 'parameter') continue;
    const write = writer(slot, scope.owner);
    if (load.kind === 'undefined') steps.push((frame) => write(frame, undefined));
    else if (load.kind === 'resolve') steps.push((frame) => write(frame, resolve(load.name)));
    else {
      const read = reader(load.slot, scope.owner);
      steps.push((frame) => write(frame, read(frame)));
    }
  }
  if (steps.length === 0) return () => {};
  return (frame) => {
    for (const step of steps) step(frame);
  };
}
