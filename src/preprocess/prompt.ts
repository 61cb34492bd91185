import { fail, type Outcome, succeed } from '../protocol/status.ts';
import { field, isList } from './body.ts';
import type { ChatRequest } from './chat.ts';
import { type JsonObject, type JsonValue, withMembers } from './json/value.ts';
import { templateMessages } from './messages.ts';
import type { ChatTemplate } from './template.ts';

/** The chat templates of a model, by name, and what they are given besides the request. */
export interface ChatTemplates {
  /** Name of the model, for failures. */
  readonly model: string;
  readonly byName: ReadonlyMap<string, Outcome<ChatTemplate>>;
  /** bos_token and the other special tokens. */
  readonly variables: Readonly<Record<string, JsonValue>>;
}

/** Python's str.strip() and rstrip() with no argument. */
const PYTHON_SPACE =
  '[\\t-\\r\\x1c-\\x20\\x85\\xa0\\u1680\\u2000-\\u200a\\u2028\\u2029\\u202f\\u205f\\u3000]+';
const TRAILING_SPACE = new RegExp(`${PYTHON_SPACE}$`);
const OUTER_SPACE = new RegExp(`^${PYTHON_SPACE}|${PYTHON_SPACE}$`, 'g');
const CONTINUE_TAG = 'CONTINUE_FINAL_MESSAGE_TAG ';

/** Renders the prompt of a chat request as `transformers`' apply_chat_template does when vLLM calls it. */
export function renderChat(templates: ChatTemplates, chat: ChatRequest): Outcome<readonly string[]> {
  const template = chooseTemplate(templates, chat.tools !== undefined);
  if (!template.ok) return template;
  const messages = templateMessages(chat.messages, template.value.contentFormat);
  if (!messages.ok) return messages;
  const context = {
    documents: null,
    ...templates.variables,
    ...chat.kwargs,
    tools: chat.tools ?? null,
    ...(chat.documents === undefined ? {} : { documents: chat.documents }),
    add_generation_prompt: chat.addGenerationPrompt,
  };
  if (!chat.continueFinalMessage) return template.value.render({ ...context, messages: messages.value });
  return renderContinued(template.value, context, messages.value);
}

function chooseTemplate({ byName, model }: ChatTemplates, hasTools: boolean): Outcome<ChatTemplate> {
  const template = (hasTools ? byName.get('tool_use') : undefined) ?? byName.get('default');
  if (template !== undefined) return template;
  if (byName.size === 0) {
    return fail('UNSUPPORTED', `model ${model} has no chat template, so it takes no chat requests`);
  }
  const names = [...byName.keys()].sort().join(', ');
  return fail('UNSUPPORTED', `model ${model} has chat templates (${names}), but none named default`);
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
  const parts: JsonValue[] = [...content];
  const part = parts.pop() as JsonObject | undefined;
  const text = part === undefined ? undefined : field(part, 'text');
  if (part === undefined || typeof text !== 'string') return undefined;
  const tagged = withMembers(part, { text: text + CONTINUE_TAG });
  return { message: withMembers(message, { content: [...parts, tagged] }), text };
}
