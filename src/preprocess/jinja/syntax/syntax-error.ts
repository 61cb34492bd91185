/** Thrown by the lexer, the parser and the compiler; compileTemplate turns it into a result. */
export class TemplateSyntaxError extends Error {
  /** The construct at fault, by the name a template's author knows: `{% include %}`, `filter random`, `syntax`. */
  readonly construct: string;
  readonly line: number;

  constructor(construct: string, message: string, line: number) {
    super(message);
    this.construct = construct;
    this.line = line;
  }
}
