import type { PyFloat } from '../../json/value.ts';

export type Expression =
  | {
      readonly type: 'Const';
      readonly value: null | boolean | number | bigint | string | PyFloat;
      readonly line: number;
    }
  | { readonly type: 'Name'; readonly name: string; readonly line: number }
  | {
      readonly type: 'NamespaceRef';
      readonly name: string;
      readonly attribute: string;
      readonly line: number;
    }
  | { readonly type: 'Tuple' | 'List'; readonly items: readonly Expression[]; readonly line: number }
  | {
      readonly type: 'Dict';
      readonly pairs: readonly (readonly [Expression, Expression])[];
      readonly line: number;
    }
  | {
      readonly type: 'Condition';
      readonly test: Expression;
      readonly consequent: Expression;
      readonly otherwise: Expression | null;
      readonly line: number;
    }
  | {
      readonly type: 'Binary';
      readonly operator: BinaryOperator;
      readonly left: Expression;
      readonly right: Expression;
      readonly line: number;
    }
  | {
      readonly type: 'Unary';
      readonly operator: 'not' | '-' | '+';
      readonly operand: Expression;
      readonly line: number;
    }
  | {
      readonly type: 'Compare';
      readonly first: Expression;
      readonly rest: readonly (readonly [CompareOperator, Expression])[];
      readonly line: number;
    }
  | { readonly type: 'Concat'; readonly items: readonly Expression[]; readonly line: number }
  | { readonly type: 'Attribute'; readonly object: Expression; readonly name: string; readonly line: number }
  | { readonly type: 'Item'; readonly object: Expression; readonly key: Expression; readonly line: number }
  | {
      readonly type: 'Slice';
      readonly start: Expression | null;
      readonly stop: Expression | null;
      readonly step: Expression | null;
      readonly line: number;
    }
  | { readonly type: 'Call'; readonly callee: Expression; readonly args: Arguments; readonly line: number }
  | FilterExpression
  | {
      readonly type: 'Test';
      readonly operand: Expression;
      readonly name: string;
      readonly args: Arguments;
      readonly line: number;
    };

export interface FilterExpression {
  readonly type: 'Filter';
  /** Null in a filter block or a set block: the block's text. */
  readonly operand: Expression | null;
  readonly name: string;
  readonly args: Arguments;
  readonly line: number;
}

export type BinaryOperator = 'or' | 'and' | '+' | '-' | '*' | '/' | '//' | '%' | '**';
export type CompareOperator = '==' | '!=' | '<' | '<=' | '>' | '>=' | 'in' | 'not in';

export interface Arguments {
  readonly positional: readonly Expression[];
  readonly named: readonly (readonly [string, Expression])[];
  readonly star: Expression | null;
  readonly doubleStar: Expression | null;
}

export interface Signature {
  readonly parameters: readonly string[];
  /** Defaults of the last parameters. */
  readonly defaults: readonly Expression[];
}

export type Statement =
  | { readonly type: 'Output'; readonly items: readonly (string | Expression)[]; readonly line: number }
  | {
      readonly type: 'Assign';
      readonly target: Expression;
      readonly value: Expression;
      readonly line: number;
    }
  | {
      readonly type: 'AssignBlock';
      readonly target: Expression;
      readonly filter: FilterExpression | null;
      readonly body: readonly Statement[];
      readonly line: number;
    }
  | ForStatement
  | {
      readonly type: 'If';
      readonly branches: readonly { readonly test: Expression; readonly body: readonly Statement[] }[];
      readonly otherwise: readonly Statement[];
      readonly line: number;
    }
  | {
      readonly type: 'With';
      readonly targets: readonly Expression[];
      readonly values: readonly Expression[];
      readonly body: readonly Statement[];
      readonly line: number;
    }
  | MacroStatement
  | CallBlockStatement
  | {
      readonly type: 'FilterBlock';
      readonly filter: FilterExpression;
      readonly body: readonly Statement[];
      readonly line: number;
    }
  /** `{% generation %}`: a macro without parameters, called where it stands. */
  | { readonly type: 'Generation'; readonly body: readonly Statement[]; readonly line: number }
  | { readonly type: 'Break' | 'Continue'; readonly line: number };

export interface ForStatement {
  readonly type: 'For';
  readonly target: Expression;
  readonly iterable: Expression;
  readonly filter: Expression | null;
  readonly recursive: boolean;
  readonly body: readonly Statement[];
  readonly otherwise: readonly Statement[];
  readonly line: number;
}

export interface MacroStatement extends Signature {
  readonly type: 'Macro';
  readonly name: string;
  readonly body: readonly Statement[];
  readonly line: number;
}

export interface CallBlockStatement extends Signature {
  readonly type: 'CallBlock';
  readonly call: Extract<Expression, { type: 'Call' }>;
  readonly body: readonly Statement[];
  readonly line: number;
}
