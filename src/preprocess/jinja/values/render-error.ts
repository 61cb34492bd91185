/**
 * Why a render failed: `raised` by the template's own raise_exception, `limit` a bound on time, memory or depth,
 * `template` everything else that Python raises too, or that this runtime refuses to do.
 */
export type FailureKind = 'raised' | 'template' | 'limit';

/** Thrown inside a render, where it unwinds the template's closures; Template.render turns it into a result. */
export class RenderError extends Error {
  readonly kind: FailureKind;

  constructor(kind: FailureKind, message: string) {
    super(message);
    this.kind = kind;
  }
}

/** An error that Python raises too: TypeError, UndefinedError, ZeroDivisionError and so on. */
export function fail(message: string): never {
  throw new RenderError('template', message);
}

/** Python would go on here, and this runtime does not know how: refused rather than wrong. */
export function unsupported(what: string): never {
  throw new RenderError('template', `${what} is not supported`);
}
