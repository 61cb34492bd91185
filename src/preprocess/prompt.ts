import { fail, type Outcome, succeed } from '../protocol/status.ts';
import { field, isList } from './body.ts';
import type { ChatRequest } from './chat.ts';
import { type JsonObject, type JsonValue, withMembers } from './json/value.ts';
import {
  type ContentFormat,
  type Media,
  type TemplateMessages,
  templateMessages,
  withoutModality,
} from './messages.ts';
import type { RequestTemplates } from './request-templates.ts';
import type { ChatTemplate } from './template.ts';

/** The chat templates of a model, by name, and what they are given besides the request. */
export interface ChatTemplates {
  /** Name of the model, for failures. */
  readonly model: string;
  readonly byName: ReadonlyMap<string, Outcome<ChatTemplate>>;
  /** bos_token and the other special tokens. */
  readonly variables: Readonly<Record<string, JsonValue>>;
  /** Where templates of requests are compiled; undefined where the operator does not let requests bring any. */
  readonly ofRequests: RequestTemplates | undefined;
  /** Major version of the engine's transformers. */
  readonly transformers: 4 | 5;
}

/** A prompt in pieces to be concatenated, and what the caller should know of it. */
export interface RenderedPrompt {
  readonly pieces: readonly string[];
  readonly warnings: readonly string[];
}

/** Python's str.strip() and rstrip() with no argument. */
const PYTHON_SPACE =
  '[\\t-\\r\\x1c-\\x20\\x85\\xa0\\u1680\\u2000-\\u200a\\u2028\\u2029\\u202f\\u205f\\u3000]+';
const TRAILING_SPACE = new RegExp(`${PYTHON_SPACE}$`);
const OUTER_SPACE = new RegExp(`^${PYTHON_SPACE}|${PYTHON_SPACE}$`, 'g');
const CONTINUE_TAG = 'CONTINUE_FINAL_MESSAGE_TAG ';

/** Renders the prompt of a chat request as `transformers`' apply_chat_template does when vLLM calls it. */
export function renderChat(templates: ChatTemplates, chat: ChatRequest): Outcome<RenderedPrompt> {
  const chosen = chooseTemplate(templates, chat);
  if (!chosen.ok) return chosen;
  const { template, format } = chosen.value;
  const read = templateMessages(chat.messages, { format, transformers: templates.transformers });
  if (!read.ok) return read;
  const context = {
    documents: null,
    ...templates.variables,
    ...chat.kwargs,
    tools: chat.tools ?? null,
    ...(chat.documents === undefined ? {} : { documents: chat.documents }),
    add_generation_prompt: chat.addGenerationPrompt,
  };
  const render = (messages: readonly JsonObject[]) =>
    chat.continueFinalMessage
      ? renderContinued(template, context, messages)
      : template.render({ ...context, messages });
  const { messages, media } = read.value;
  if (media.length > 0 && format === 'string') return refuseMedia(media[0] as Media, 'takes content as text');
  const rendered = render(messages);
  if (!rendered.ok || media.length === 0) {
    return rendered.ok ? succeed({ pieces: rendered.value, warnings: [] }) : rendered;
  }
  return withPlaceholders(rendered.value, read.value, render);
}

/** What the engine puts in place of a placeholder it alone knows; where a template has none, it has nowhere to put it. */
function withPlaceholders(
  pieces: readonly string[],
  { messages, media }: TemplateMessages,
  render: (messages: readonly JsonObject[]) => Outcome<readonly string[]>,
): Outcome<RenderedPrompt> {
  const prompt = pieces.join('');
  for (const one of media) {
    const without = render(withoutModality(messages, one.modality));
    if (without.ok && without.value.join('') === prompt) return refuseMedia(one, 'renders nothing for it');
  }
  const kinds = media.map(({ modality }) => modality).join(' and ');
  const warning = `the engine expands the placeholder of each ${kinds} part, so ids from the first on may differ in number`;
  return succeed({ pieces, warnings: [warning] });
}

function refuseMedia({ path, type }: Media, why: string): Outcome<never> {
  return fail('UNSUPPORTED', `${path} is a part of type ${type}, and the chat template ${why}`);
}

interface ChosenTemplate {
  readonly template: ChatTemplate;
  readonly format: ContentFormat;
}

/** The request's own template, else tool_use for requests with tools where the model has it, else default. */
function chooseTemplate(templates: ChatTemplates, chat: ChatRequest): Outcome<ChosenTemplate> {
  const { byName, model, ofRequests } = templates;
  const asked = chat.chatTemplate;
  if (asked !== undefined) {
    if (ofRequests === undefined) {
      return fail('UNSUPPORTED', 'chat_template is not allowed here: the option allowChatTemplate is off');
    }
    // transformers takes the name of one of several templates too; vLLM looks for loops in the name, and finds none.
    const named = byName.size > 1 ? byName.get(asked) : undefined;
    if (named !== undefined) return withFormat(named, 'string');
    return withFormat(ofRequests.open(asked));
  }
  const template = (chat.tools !== undefined ? byName.get('tool_use') : undefined) ?? byName.get('default');
  if (template !== undefined) return withFormat(template);
  if (byName.size === 0) {
    return fail('UNSUPPORTED', `model ${model} has no chat template, so it takes no chat requests`);
  }
  const names = [...byName.keys()].sort().join(', ');
  return fail('UNSUPPORTED', `model ${model} has chat templates (${names}), but none named default`);
}

function withFormat(template: Outcome<ChatTemplate>, format?: ContentFormat): Outcome<ChosenTemplate> {
  if (!template.ok) return template;
  return succeed({ template: template.value, format: format ?? template.value.contentFormat });
}

/**
 * Tags the end of the final message, renders, and cuts at the tag: the prompt ends where the message does. A template that
 * trims the message also trims the space at the end of the tag; then the space before it is not the message's own.
 */
function renderContinued(
  template: ChatTemplate,
  context: Readonly<Record<string, JsonValue>>,
  messages: readonly JsonObject[],
): Outcome<readonly string[]> {
  const last = messages.length - 1;
  const tagged = tagContent(messages[last] ?? {});
  if (tagged === undefined) {
    return fail(
      'INVALID_REQUEST',
      `messages[${last}] has no text that continue_final_message could continue`,
    );
  }
  const rendered = template.render({ ...context, messages: [...messages.slice(0, last), tagged.message] });
  if (!rendered.ok) return rendered;
  const prompt = rendered.value.join('');
  const at = prompt.lastIndexOf(CONTINUE_TAG.trimEnd());
  if (at === -1 || !prompt.includes(tagged.text.replace(OUTER_SPACE, ''))) {
    return fail(
      'INVALID_REQUEST',
      `messages[${last}] does not appear in the prompt, so it cannot be continued`,
    );
  }
  const continued = prompt.slice(0, at);
  return succeed([prompt.startsWith(CONTINUE_TAG, at) ? continued : continued.replace(TRAILING_SPACE, '')]);
}

function tagContent(message: JsonObject): { message: JsonObject; text: string } | undefined {
  const content = field(message, 'content');
  if (typeof content === 'string') {
    return { message: withMembers(message, { content: content + CONTINUE_TAG }), text: content };
  }
  if (!isList(content)) return undefined;
  // The last part with a text, which need not be the last.
  const index = content.findLastIndex((part) => typeof field(part as JsonObject, 'text') === 'string');
  const part = content[index] as JsonObject | undefined;
  if (part === undefined) return undefined;
  const text = field(part, 'text') as string;
  const tagged = withMembers(part, { text: text + CONTINUE_TAG });
  return { message: withMembers(message, { content: content.with(index, tagged) }), text };
}
