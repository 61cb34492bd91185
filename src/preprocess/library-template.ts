import { Template } from '@huggingface/jinja';
import { fail, type Outcome, succeed } from '../protocol/status.ts';
import type { JsonFields } from './body.ts';
import { iteratesOverContent } from './content-format.ts';
import type { ChatTemplate } from './prompt.ts';

/** Names that the library declares itself and cannot give another value. */
const DECLARED = [
  'false',
  'true',
  'none',
  'raise_exception',
  'range',
  'strftime_now',
  'True',
  'False',
  'None',
];

/** A chat template run by `@huggingface/jinja`. `where` names the template in a failure. */
export function openLibraryTemplate(source: string, where: string): Outcome<ChatTemplate> {
  let template: Template;
  try {
    template = new Template(source);
  } catch (error) {
    return fail('UNSUPPORTED', `${where} cannot be compiled: ${messageOf(error)}`);
  }
  return succeed({
    contentFormat: iteratesOverContent(template.parsed) ? 'parts' : 'string',
    render(context: JsonFields): Outcome<readonly string[]> {
      const declared = DECLARED.find((name) => Object.hasOwn(context, name));
      if (declared !== undefined) {
        return fail('UNSUPPORTED', `chat_template_kwargs.${declared} would replace a global of the template`);
      }
      try {
        return succeed([template.render(context)]);
      } catch (error) {
        return fail('INVALID_REQUEST', `${where} refused the request: ${messageOf(error)}`);
      }
    },
  });
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : 'unknown cause';
}
