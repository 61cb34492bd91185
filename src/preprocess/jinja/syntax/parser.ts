import type {
  CallBlockStatement,
  Expression,
  FilterExpression,
  ForStatement,
  MacroStatement,
  Signature,
  Statement,
} from './ast.ts';
import { tokenize } from './lexer.ts';
import { parseExpression, parseFilter, parseTuple, type TupleRules } from './parse-expression.ts';
import { TokenStream } from './token-stream.ts';

/** Tags of Jinja2 that need other templates, or escape for HTML: no chat template has a use for them. */
const UNSUPPORTED_TAGS = new Set(['block', 'extends', 'include', 'import', 'from', 'autoescape']);

/** Parses a chat template. Throws TemplateSyntaxError. */
export function parse(template: string): Statement[] {
  return new Parser(new TokenStream(tokenize(template))).body([]);
}

class Parser {
  readonly #stream: TokenStream;
  #openLoops = 0;

  constructor(stream: TokenStream) {
    this.#stream = stream;
  }

  /** Statements up to one of the `ends` tags, whose name is then the current token; up to the end when there are none. */
  body(ends: readonly string[]): Statement[] {
    const stream = this.#stream;
    const statements: Statement[] = [];
    let output: (string | Expression)[] = [];
    let line = stream.current.line;
    const flush = (): void => {
      if (output.length > 0) statements.push({ type: 'Output', items: output, line });
      output = [];
    };
    while (!stream.is('eof')) {
      if (output.length === 0) line = stream.current.line;
      if (stream.is('data')) {
        output.push(stream.next().text);
      } else if (stream.skip('variable_begin')) {
        output.push(parseTuple(stream));
        stream.expect('variable_end');
      } else {
        flush();
        stream.expect('block_begin');
        if (stream.is('name') && ends.includes(stream.current.text)) return statements;
        statements.push(this.#statement(ends));
        stream.expect('block_end');
      }
    }
    if (ends.length > 0) stream.fail(`the template ends where '${ends.join("' or '")}' is expected`);
    flush();
    return statements;
  }

  #statement(ends: readonly string[]): Statement {
    const stream = this.#stream;
    const token = stream.expect('name');
    const { line } = token;
    switch (token.text) {
      case 'set':
        return this.#set(line);
      case 'for':
        return this.#for(line);
      case 'if':
        return this.#if(line);
      case 'with':
        return this.#with(line);
      case 'macro':
        return this.#macro(line);
      case 'call':
        return this.#callBlock(line);
      case 'filter':
        return this.#filterBlock(line);
      case 'print':
        return { type: 'Output', items: this.#printed(), line };
      case 'generation':
        return { type: 'Generation', body: this.#block('endgeneration', true), line };
      case 'break':
      case 'continue':
        if (this.#openLoops === 0) stream.fail(`'${token.text}' outside a loop`, line);
        return { type: token.text === 'break' ? 'Break' : 'Continue', line };
    }
    if (UNSUPPORTED_TAGS.has(token.text)) {
      const construct = `{% ${token.text} %}`;
      stream.fail(`${construct} is not supported`, line, construct);
    }
    const wanted = ends.length > 0 ? `; expected '${ends.join("' or '")}'` : '';
    return stream.fail(`unknown tag '${token.text}'${wanted}`, line, `{% ${token.text} %}`);
  }

  /** The body of a tag up to `end`, which is dropped. `isolated` bodies are functions: no loop reaches into them. */
  #block(end: string, isolated = false): Statement[] {
    return this.#blockUntil([end], isolated, true).body;
  }

  #blockUntil(ends: readonly string[], isolated = false, drop = false): { body: Statement[]; end: string } {
    const loops = this.#openLoops;
    if (isolated) this.#openLoops = 0;
    this.#stream.skip('operator', ':');
    this.#stream.expect('block_end');
    const body = this.body(ends);
    this.#openLoops = loops;
    const end = this.#stream.current.text;
    if (drop) this.#stream.next();
    return { body, end };
  }

  #target(rules: TupleRules): Expression {
    const target = parseTuple(this.#stream, { ...rules, simplified: true });
    return this.#assignable(target);
  }

  #assignable(target: Expression): Expression {
    if (target.type === 'NamespaceRef') return target;
    if (target.type === 'Name') return target;
    if (target.type === 'Tuple') {
      for (const item of target.items) this.#assignable(item);
      return target;
    }
    return this.#stream.fail(`cannot assign to a ${target.type.toLowerCase()}`, target.line);
  }

  #name(): string {
    return this.#stream.expect('name').text;
  }

  #set(line: number): Statement {
    const target = this.#target({ namespaces: true });
    if (this.#stream.skip('operator', '=')) {
      return { type: 'Assign', target, value: parseTuple(this.#stream), line };
    }
    let filter: FilterExpression | null = null;
    while (this.#stream.skip('operator', '|')) filter = parseFilter(this.#stream, filter);
    return { type: 'AssignBlock', target, filter, body: this.#block('endset'), line };
  }

  #for(line: number): ForStatement {
    const stream = this.#stream;
    const target = this.#target({ endName: 'in' });
    stream.expect('name', 'in');
    const iterable = parseTuple(stream, { conditions: false, endName: 'recursive' });
    const filter = stream.skip('name', 'if') ? parseExpression(stream) : null;
    const recursive = stream.skip('name', 'recursive');
    this.#openLoops++;
    const { body, end } = this.#blockUntil(['endfor', 'else']);
    this.#openLoops--;
    stream.next();
    const otherwise = end === 'else' ? this.#block('endfor') : [];
    return { type: 'For', target, iterable, filter, recursive, body, otherwise, line };
  }

  #if(line: number): Statement {
    const branches: { test: Expression; body: Statement[] }[] = [];
    for (;;) {
      const test = parseTuple(this.#stream, { conditions: false });
      const { body, end } = this.#blockUntil(['elif', 'else', 'endif']);
      branches.push({ test, body });
      this.#stream.next();
      if (end === 'elif') continue;
      const otherwise = end === 'else' ? this.#block('endif') : [];
      return { type: 'If', branches, otherwise, line };
    }
  }

  #with(line: number): Statement {
    const targets: Expression[] = [];
    const values: Expression[] = [];
    while (!this.#stream.is('block_end')) {
      if (targets.length > 0) this.#stream.expect('operator', ',');
      targets.push(this.#target({}));
      this.#stream.expect('operator', '=');
      values.push(parseExpression(this.#stream));
    }
    return { type: 'With', targets, values, body: this.#block('endwith'), line };
  }

  #signature(): Signature {
    const stream = this.#stream;
    const parameters: string[] = [];
    const defaults: Expression[] = [];
    stream.expect('operator', '(');
    while (!stream.isOperator(')')) {
      if (parameters.length > 0) stream.expect('operator', ',');
      const { line } = stream.current;
      const name = this.#name();
      if (parameters.includes(name)) stream.fail(`parameter ${name} is declared twice`, line);
      parameters.push(name);
      if (stream.skip('operator', '=')) defaults.push(parseExpression(stream));
      else if (defaults.length > 0) stream.fail('a parameter without a default follows one with a default');
    }
    stream.expect('operator', ')');
    return { parameters, defaults };
  }

  #macro(line: number): MacroStatement {
    const name = this.#name();
    return { type: 'Macro', name, ...this.#signature(), body: this.#block('endmacro', true), line };
  }

  #callBlock(line: number): CallBlockStatement {
    const signature = this.#stream.isOperator('(') ? this.#signature() : { parameters: [], defaults: [] };
    const call = parseExpression(this.#stream);
    if (call.type !== 'Call') return this.#stream.fail('expected a call', line);
    return { type: 'CallBlock', ...signature, call, body: this.#block('endcall', true), line };
  }

  #filterBlock(line: number): Statement {
    let filter = parseFilter(this.#stream, null);
    while (this.#stream.skip('operator', '|')) filter = parseFilter(this.#stream, filter);
    return { type: 'FilterBlock', filter, body: this.#block('endfilter'), line };
  }

  #printed(): Expression[] {
    const items: Expression[] = [];
    while (!this.#stream.is('block_end')) {
      if (items.length > 0) this.#stream.expect('operator', ',');
      items.push(parseExpression(this.#stream));
    }
    return items;
  }
}
