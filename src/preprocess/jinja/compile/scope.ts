import type { Expression, ForStatement, Statement } from '../syntax/ast.ts';
import { eachExpression } from '../syntax/walk.ts';

/** The variables of one activation: of the template, a macro, or a recursive loop. Counts its slots. */
export class FunctionScope {
  readonly parent: FunctionScope | null;
  size = 0;

  constructor(parent: FunctionScope | null) {
    this.parent = parent;
  }
}

/** A variable: a place in the frames of one function. */
export interface Slot {
  readonly owner: FunctionScope;
  readonly index: number;
}

/** What a variable holds when its scope is entered. */
export type Load =
  | { readonly kind: 'parameter' }
  /** The name's value in the context of the render, or among the globals. */
  | { readonly kind: 'resolve'; readonly name: string }
  /** The value of an outer variable of that name. */
  | { readonly kind: 'alias'; readonly slot: Slot }
  | { readonly kind: 'undefined' };

/**
 * The names of one scope. As in Jinja2, a name is bound before anything runs: what it holds on entry depends on whether
 * the scope first reads or first sets it, on whether it is set in a branch only, and on the scopes around it.
 */
export class Scope {
  readonly parent: Scope | null;
  readonly owner: FunctionScope;
  #slots: Map<string, Slot>;
  #names: Map<string, Slot>;
  #loads: Map<Slot, Load>;
  #stores: Set<string>;

  constructor(parent: Scope | null, owner: FunctionScope) {
    this.parent = parent;
    this.owner = owner;
    this.#slots = new Map();
    this.#names = new Map();
    this.#loads = new Map();
    this.#stores = new Set();
  }

  get loads(): ReadonlyMap<Slot, Load> {
    return this.#loads;
  }

  find(name: string): Slot | undefined {
    return this.#names.get(name) ?? this.parent?.find(name);
  }

  loadOf(slot: Slot): Load | undefined {
    return this.#loads.get(slot) ?? this.parent?.loadOf(slot);
  }

  #define(name: string, load: Load): Slot {
    let slot = this.#slots.get(name);
    if (slot === undefined) {
      slot = { owner: this.owner, index: this.owner.size++ };
      this.#slots.set(name, slot);
    }
    this.#names.set(name, slot);
    this.#loads.set(slot, load);
    return slot;
  }

  declareParameter(name: string): Slot {
    this.#stores.add(name);
    return this.#define(name, { kind: 'parameter' });
  }

  load(name: string): void {
    if (this.find(name) === undefined) this.#define(name, { kind: 'resolve', name });
  }

  store(name: string): void {
    this.#stores.add(name);
    if (this.#names.has(name)) return;
    const outer = this.parent?.find(name);
    this.#define(name, outer === undefined ? { kind: 'undefined' } : { kind: 'alias', slot: outer });
  }

  /** A scope to analyse one branch in: the same variables, its own view of them. */
  #branch(): Scope {
    const branch = new Scope(this.parent, this.owner);
    branch.#slots = this.#slots;
    branch.#names = new Map(this.#names);
    branch.#loads = new Map(this.#loads);
    branch.#stores = new Set(this.#stores);
    return branch;
  }

  /** Takes over what branches found. A name that only branches set may still be unset after them. */
  #join(branches: readonly Scope[]): void {
    const added = new Set<string>();
    for (const branch of branches) {
      for (const name of branch.#stores) if (!this.#stores.has(name)) added.add(name);
    }
    for (const branch of branches) {
      for (const [name, slot] of branch.#names) this.#names.set(name, slot);
      for (const [slot, load] of branch.#loads) this.#loads.set(slot, load);
      for (const name of branch.#stores) this.#stores.add(name);
    }
    for (const name of added) {
      const slot = this.find(name) as Slot;
      const outer = this.parent?.find(name);
      this.#loads.set(slot, outer === undefined ? { kind: 'resolve', name } : { kind: 'alias', slot: outer });
    }
  }

  analyseAll(statements: readonly Statement[]): void {
    for (const statement of statements) this.#analyse(statement);
  }

  /** Reads what `statement` itself does to this scope; scopes within it are analysed when they are compiled. */
  #analyse(statement: Statement): void {
    switch (statement.type) {
      case 'Output':
        for (const item of statement.items) if (typeof item !== 'string') this.analyseExpression(item);
        return;
      case 'Assign':
        this.analyseExpression(statement.value);
        this.analyseTarget(statement.target);
        return;
      case 'AssignBlock':
        this.analyseTarget(statement.target);
        return;
      case 'For':
        this.analyseExpression(statement.iterable);
        return;
      case 'If':
        this.#analyseIf(statement.branches, statement.otherwise);
        return;
      case 'With':
        for (const value of statement.values) this.analyseExpression(value);
        return;
      case 'Macro':
        this.store(statement.name);
        return;
      case 'CallBlock':
        this.analyseExpression(statement.call);
        return;
      case 'FilterBlock':
        this.analyseExpression(statement.filter);
        return;
    }
  }

  #analyseIf(
    branches: readonly { test: Expression; body: readonly Statement[] }[],
    otherwise: readonly Statement[],
  ): void {
    const [first, ...rest] = branches;
    if (first === undefined) return;
    this.analyseExpression(first.test);
    const body = this.#branch();
    body.analyseAll(first.body);
    // The other conditions are one branch of the first, each an `if` of its own in it.
    const others = this.#branch();
    for (const branch of rest) others.#analyseIf([branch], []);
    const last = this.#branch();
    last.analyseAll(otherwise);
    this.#join([body, others, last]);
  }

  analyseExpression(expression: Expression): void {
    eachExpression(expression, (inner) => {
      if (inner.type === 'Name' || inner.type === 'NamespaceRef') this.load(inner.name);
    });
  }

  analyseTarget(target: Expression, asParameter = false): void {
    if (target.type === 'Name') {
      if (asParameter) this.declareParameter(target.name);
      else this.store(target.name);
    } else if (target.type === 'NamespaceRef') this.load(target.name);
    else if (target.type === 'Tuple') for (const item of target.items) this.analyseTarget(item, asParameter);
  }

  analyseLoop(loop: ForStatement, part: 'body' | 'filter' | 'otherwise'): void {
    if (part === 'otherwise') {
      this.analyseAll(loop.otherwise);
      return;
    }
    this.analyseTarget(loop.target, true);
    if (part === 'body') this.analyseAll(loop.body);
    else if (loop.filter !== null) this.analyseExpression(loop.filter);
  }
}
