import type { JsonValue } from '../json/value.ts';
import { beginRun, endRun, entry, Frame, run } from './compile/frame.ts';
import { FunctionScope, Scope } from './compile/scope.ts';
import { compileBody } from './compile/statements.ts';
import { type ContentFormat, detectContentFormat } from './content-format.ts';
import './library/builtin-filters.ts';
import { makeGlobals } from './library/globals.ts';
import { parse } from './syntax/parser.ts';
import { TemplateSyntaxError } from './syntax/syntax-error.ts';
import { RENDER_LIMITS, type RenderLimits, resetBudget } from './values/limits.ts';
import { type FailureKind, RenderError } from './values/render-error.ts';
import type { Value } from './values/types.ts';

export type RenderResult =
  | { readonly ok: true; readonly pieces: string[] }
  | { readonly ok: false; readonly kind: FailureKind; readonly message: string; readonly line?: number };

export interface Template {
  /** How the template reads a message's content, as vLLM tells it from the template's text. */
  readonly contentFormat: ContentFormat;

  /**
   * Renders with `context` as the template's variables. The concatenation of the pieces is what Jinja2, set up as
   * transformers does, renders; where that raises, this fails. Synchronous, bounded in work, depth and size.
   */
  render(context: Readonly<Record<string, JsonValue>>): RenderResult;
}

export interface TemplateOptions {
  readonly limits?: RenderLimits;
  /** The clock of strftime_now. */
  readonly now?: () => Date;
}

export type CompileResult =
  | { readonly ok: true; readonly template: Template }
  | { readonly ok: false; readonly construct: string; readonly line: number; readonly message: string };

/** Characters of a template. Those of public models have at most some ten thousand. */
const MAXIMUM_TEMPLATE_SIZE = 1 << 20;

/**
 * Compiles a chat template. What Jinja2 refuses to compile is refused, and so is, by name, what this runtime does not do:
 * other templates (block, extends, include, import), autoescape, and filters whose result is random.
 */
export function compileTemplate(source: string, options: TemplateOptions = {}): CompileResult {
  if (source.length > MAXIMUM_TEMPLATE_SIZE) {
    return refusal('size', 1, `a template has at most ${MAXIMUM_TEMPLATE_SIZE} characters`);
  }
  const limits = options.limits ?? RENDER_LIMITS;
  // Literals are printed and calculated with while a template is compiled, and that is bounded too.
  resetBudget(limits);
  try {
    const statements = parse(source);
    const owner = new FunctionScope(null);
    const scope = new Scope(null, owner);
    scope.analyseAll(statements);
    const body = compileBody(statements, { scope, soft: false });
    const enter = entry(scope);
    const globals = makeGlobals(options.now ?? (() => new Date()));
    const contentFormat = detectContentFormat(statements);
    const render = (context: Readonly<Record<string, JsonValue>>): RenderResult => {
      beginRun(context as Readonly<Record<string, Value>>, globals, limits);
      try {
        const frame = new Frame(owner.size, null);
        enter(frame);
        body(frame);
        return { ok: true, pieces: run.out };
      } catch (error) {
        return failure(error);
      } finally {
        endRun();
      }
    };
    return { ok: true, template: { contentFormat, render } };
  } catch (error) {
    if (error instanceof TemplateSyntaxError) return refusal(error.construct, error.line, error.message);
    if (error instanceof RangeError) return refusal('nesting', 1, 'the template is nested too deeply');
    // An operation on literals that is done ahead of all renders.
    if (error instanceof RenderError) return refusal('constant', 1, error.message);
    throw error;
  }
}

function refusal(construct: string, line: number, message: string): CompileResult {
  return { ok: false, construct, line, message };
}

function failure(error: unknown): RenderResult {
  const { line } = run;
  if (error instanceof RenderError) return { ok: false, kind: error.kind, message: error.message, line };
  // The stack ran out, or a string or array grew beyond what V8 holds.
  if (error instanceof RangeError)
    return { ok: false, kind: 'limit', message: 'the render goes too deep or grows too large', line };
  throw error;
}
