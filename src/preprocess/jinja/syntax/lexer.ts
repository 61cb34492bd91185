import { unescapeLiteral } from './string-literal.ts';
import { TemplateSyntaxError } from './syntax-error.ts';

export type TokenType =
  | 'data'
  | 'block_begin'
  | 'block_end'
  | 'variable_begin'
  | 'variable_end'
  | 'name'
  | 'string'
  | 'integer'
  | 'float'
  | 'operator'
  | 'eof';

export interface Token {
  readonly type: TokenType;
  /** Text of data, name, operator and number; the value of a string. */
  readonly text: string;
  readonly line: number;
}

const NAME = /[\p{XID_Start}_][\p{XID_Continue}]*/uy;
const FLOAT = /(?:\d+_)*\d+(?:(?:\.(?:\d+_)*\d+)?e[+-]?(?:\d+_)*\d+|\.(?:\d+_)*\d+)/iy;
const INTEGER = /0b(?:_?[01])+|0o(?:_?[0-7])+|0x(?:_?[\da-f])+|[1-9](?:_?\d)*|0(?:_?0)*/iy;
const STRING = /'[^'\\]*(?:\\[\s\S][^'\\]*)*'|"[^"\\]*(?:\\[\s\S][^"\\]*)*"/y;
const OPERATOR = /\*\*|\/\/|==|!=|>=|<=|[-+/*%~[\](){}><=.:|,;]/y;
// Python's \s: unlike JavaScript's it has the separators U+001C-1F and U+0085, and not U+FEFF.
const SPACE = /[\t-\r\x1c-\x20\x85\xa0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000]+/y;
const CLASS = SPACE.source.slice(0, -1);
const ONE_SPACE = new RegExp(`^${CLASS}$`);
const ALL_SPACE = new RegExp(`^${CLASS}+$`);

const TAG = new RegExp(
  `\\{%([-+]?)${CLASS}*raw${CLASS}*(?:-%\\}${CLASS}*|%\\})|(\\{\\{|\\{%|\\{#)([-+]?)`,
  'g',
);
const COMMENT_END = new RegExp(`\\+#\\}|-#\\}${CLASS}*|#\\}\\n?`, 'g');
const RAW_END = new RegExp(`\\{%([-+]?)${CLASS}*endraw${CLASS}*(?:\\+%\\}|-%\\}${CLASS}*|%\\}\\n?)`, 'g');
const BLOCK_END = new RegExp(`\\+%\\}|-%\\}${CLASS}*|%\\}\\n?`, 'y');
const VARIABLE_END = new RegExp(`-\\}\\}${CLASS}*|\\}\\}`, 'y');
const CLOSERS: Readonly<Record<string, string>> = { '(': ')', '[': ']', '{': '}' };

/** Splits a template into tokens as Jinja2 does with trim_blocks and lstrip_blocks on. */
export function tokenize(template: string): Token[] {
  return new Lexer(template).run();
}

class Lexer {
  readonly #source: string;
  readonly #tokens: Token[] = [];
  #position = 0;
  #line = 1;
  /** Where the next line ends. Looked for once a line: from every token it would take quadratic time. */
  #nextNewline: number;
  /** Whether what was matched last ended a line: only then may the spaces before a tag be a whole line's start. */
  #atLineStart = true;

  constructor(template: string) {
    const source = template.replace(/\r\n|\r/g, '\n');
    this.#source = source.endsWith('\n') ? source.slice(0, -1) : source;
    this.#nextNewline = newlineFrom(this.#source, 0);
  }

  run(): Token[] {
    while (this.#position < this.#source.length) this.#text();
    this.#push('eof', '');
    return this.#tokens;
  }

  #push(type: TokenType, text: string): void {
    this.#tokens.push({ type, text, line: this.#line });
  }

  #advance(end: number): void {
    while (this.#nextNewline < end) {
      this.#line++;
      this.#nextNewline = newlineFrom(this.#source, this.#nextNewline + 1);
    }
    this.#atLineStart = this.#source[end - 1] === '\n';
    this.#position = end;
  }

  /** Text up to the next tag, and that tag. */
  #text(): void {
    TAG.lastIndex = this.#position;
    const tag = TAG.exec(this.#source);
    if (tag === null) {
      this.#push('data', this.#source.slice(this.#position));
      this.#advance(this.#source.length);
      return;
    }
    const [whole, rawSign, opener, sign] = tag;
    const isVariable = opener === '{{';
    this.#data(this.#source.slice(this.#position, tag.index), rawSign ?? sign ?? '', isVariable);
    this.#advance(tag.index);
    if (opener === undefined) {
      this.#advance(tag.index + whole.length);
      this.#raw();
    } else if (opener === '{#') {
      this.#advance(tag.index + whole.length);
      this.#comment();
    } else {
      this.#push(isVariable ? 'variable_begin' : 'block_begin', opener);
      this.#advance(tag.index + whole.length);
      this.#code(isVariable);
    }
  }

  /** Text before a tag that carries `sign`: `-` strips all space, none strips the tag's own indentation. */
  #data(text: string, sign: string, isVariable: boolean): void {
    let kept = text;
    if (sign === '-') kept = withoutTrailingSpace(text);
    else if (sign !== '+' && !isVariable) {
      const lineStart = text.lastIndexOf('\n') + 1;
      if ((lineStart > 0 || this.#atLineStart) && ALL_SPACE.test(text.slice(lineStart))) {
        kept = text.slice(0, lineStart);
      }
    }
    if (kept !== '') this.#push('data', kept);
  }

  #comment(): void {
    COMMENT_END.lastIndex = this.#position;
    const end = COMMENT_END.exec(this.#source);
    if (end === null) this.#fail('Missing end of comment tag');
    this.#advance(end.index + end[0].length);
  }

  #raw(): void {
    RAW_END.lastIndex = this.#position;
    const end = RAW_END.exec(this.#source);
    if (end === null) this.#fail('Missing end of raw directive');
    this.#data(this.#source.slice(this.#position, end.index), end[1] ?? '', false);
    this.#advance(end.index + end[0].length);
  }

  /** The inside of a tag, up to its end; an end within brackets is none. */
  #code(isVariable: boolean): void {
    const tagEnd = isVariable ? VARIABLE_END : BLOCK_END;
    const open: string[] = [];
    for (;;) {
      if (open.length === 0) {
        const end = this.#match(tagEnd);
        if (end !== undefined) {
          this.#push(isVariable ? 'variable_end' : 'block_end', end);
          this.#advance(this.#position + end.length);
          return;
        }
      }
      const start = this.#position;
      const space = this.#match(SPACE);
      if (space !== undefined) {
        this.#advance(start + space.length);
        continue;
      }
      const text = this.#token(open);
      if (text === undefined) {
        if (start >= this.#source.length) return;
        this.#fail(`unexpected character at offset ${start}`);
      }
      this.#advance(start + text.length);
    }
  }

  #token(open: string[]): string | undefined {
    const float = this.#source[this.#position - 1] === '.' ? undefined : this.#match(FLOAT);
    if (float !== undefined) return this.#keep('float', float, float.replaceAll('_', ''));
    const integer = this.#match(INTEGER);
    if (integer !== undefined) return this.#keep('integer', integer, integer.replaceAll('_', ''));
    const name = this.#match(NAME);
    if (name !== undefined) return this.#keep('name', name, name);
    const string = this.#match(STRING);
    if (string !== undefined) {
      return this.#keep('string', string, unescapeLiteral(string.slice(1, -1), this.#line));
    }
    const operator = this.#match(OPERATOR);
    if (operator === undefined) return undefined;
    const closer = CLOSERS[operator];
    if (closer !== undefined) open.push(closer);
    else if (operator === ')' || operator === ']' || operator === '}') {
      const expected = open.pop();
      if (expected === undefined) this.#fail(`unexpected '${operator}'`);
      if (expected !== operator) this.#fail(`unexpected '${operator}', expected '${expected}'`);
    }
    return this.#keep('operator', operator, operator);
  }

  #keep(type: TokenType, source: string, text: string): string {
    this.#push(type, text);
    return source;
  }

  #match(pattern: RegExp): string | undefined {
    pattern.lastIndex = this.#position;
    return pattern.exec(this.#source)?.[0];
  }

  #fail(message: string): never {
    throw new TemplateSyntaxError('syntax', message, this.#line);
  }
}

/** A loop, not a regex: one of those takes quadratic time over text that is mostly space. */
function withoutTrailingSpace(text: string): string {
  let end = text.length;
  while (end > 0 && ONE_SPACE.test(text.charAt(end - 1))) end--;
  return text.slice(0, end);
}

function newlineFrom(source: string, start: number): number {
  const at = source.indexOf('\n', start);
  return at < 0 ? Infinity : at;
}
