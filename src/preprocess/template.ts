import { fail, type Outcome, succeed } from '../protocol/status.ts';
import { compileTemplate } from './jinja/template.ts';
import type { JsonValue } from './json/value.ts';
import type { ContentFormat } from './messages.ts';

/** A compiled chat template. Instances belong to one worker. */
export interface ChatTemplate {
  readonly contentFormat: ContentFormat;
  /** The prompt, in pieces to be concatenated. What the template raises is INVALID_REQUEST with its text. */
  render(context: Readonly<Record<string, JsonValue>>): Outcome<readonly string[]>;
}

/** Compiles a chat template. `where` names it in a failure. */
export function openTemplate(source: string, where: string): Outcome<ChatTemplate> {
  const compiled = compileTemplate(source);
  if (!compiled.ok) {
    const { line, message } = compiled;
    return fail('UNSUPPORTED', `${where} cannot be compiled: line ${line}: ${message}`);
  }
  const { template } = compiled;
  return succeed({
    contentFormat: template.contentFormat,
    render(context) {
      const rendered = template.render(context);
      if (rendered.ok) return succeed(rendered.pieces);
      // What raise_exception says is for the one who asked; everything else needs its place.
      const place = rendered.kind === 'raised' ? '' : ` at line ${rendered.line}`;
      return fail('INVALID_REQUEST', `${where} refused the request${place}: ${rendered.message}`);
    },
  });
}
