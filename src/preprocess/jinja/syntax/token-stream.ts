import type { Token, TokenType } from './lexer.ts';
import { TemplateSyntaxError } from './syntax-error.ts';

/** The tokens of a template with a place in them; what both halves of the parser read from. */
export class TokenStream {
  readonly #tokens: readonly Token[];
  #index = 0;

  constructor(tokens: readonly Token[]) {
    this.#tokens = tokens;
  }

  get current(): Token {
    return this.#tokens[this.#index] as Token;
  }

  get following(): Token {
    return this.#tokens[Math.min(this.#index + 1, this.#tokens.length - 1)] as Token;
  }

  /** Steps on and returns the token left behind; the last, `eof`, is never left. */
  next(): Token {
    const token = this.current;
    if (token.type !== 'eof') this.#index++;
    return token;
  }

  is(type: TokenType, text?: string): boolean {
    const token = this.current;
    return token.type === type && (text === undefined || token.text === text);
  }

  isName(text: string): boolean {
    return this.is('name', text);
  }

  isOperator(text: string): boolean {
    return this.is('operator', text);
  }

  skip(type: TokenType, text?: string): boolean {
    if (!this.is(type, text)) return false;
    this.next();
    return true;
  }

  expect(type: TokenType, text?: string): Token {
    if (!this.is(type, text)) {
      const found = this.current.type === 'eof' ? 'the end of the template' : `'${shown(this.current)}'`;
      this.fail(`expected ${text === undefined ? describe(type) : `'${text}'`}, found ${found}`);
    }
    return this.next();
  }

  fail(message: string, line = this.current.line, construct = 'syntax'): never {
    throw new TemplateSyntaxError(construct, message, line);
  }
}

export function shown(token: Token): string {
  return token.type === 'data' ? 'text' : token.text.slice(0, 40);
}

function describe(type: TokenType): string {
  if (type === 'block_end') return "'%}'";
  if (type === 'variable_end') return "'}}'";
  return `a ${type}`;
}
