import { fail, type Outcome, succeed } from '../protocol/status.ts';
import { field, isFields, isList, type Json, type JsonFields } from './body.ts';

/** A chat request, its fields checked and not yet put into the form that templates expect. */
export interface ChatRequest {
  /** Objects with a `role`; at least one. */
  readonly messages: readonly JsonFields[];
  readonly tools: readonly JsonFields[] | undefined;
  readonly documents: readonly JsonFields[] | undefined;
  /** Variables for the template. */
  readonly kwargs: JsonFields;
  readonly addGenerationPrompt: boolean;
  readonly continueFinalMessage: boolean;
}

/** Names of chat_template_kwargs that would replace arguments of the call rather than variables of the template. */
const RESERVED = ['messages', 'conversation', 'tools', 'chat_template', 'tokenize', 'self'];

export function readChat(body: JsonFields): Outcome<ChatRequest> {
  const messages = readObjects(body, 'messages');
  if (!messages.ok) return messages;
  if (messages.value === undefined) return fail('INVALID_REQUEST', 'messages is missing');
  if (messages.value.length === 0) return fail('INVALID_REQUEST', 'messages must hold at least one message');
  for (const [index, message] of messages.value.entries()) {
    if (typeof field(message, 'role') !== 'string') {
      return fail('INVALID_REQUEST', `messages[${index}].role must be a string`);
    }
  }
  const tools = readTools(body);
  if (!tools.ok) return tools;
  const documents = readObjects(body, 'documents');
  if (!documents.ok) return documents;
  const kwargs = readKwargs(body);
  if (!kwargs.ok) return kwargs;
  const addGenerationPrompt = readFlag(body, 'add_generation_prompt', true);
  if (!addGenerationPrompt.ok) return addGenerationPrompt;
  const continueFinalMessage = readFlag(body, 'continue_final_message', false);
  if (!continueFinalMessage.ok) return continueFinalMessage;
  if (continueFinalMessage.value && addGenerationPrompt.value) {
    return fail(
      'INVALID_REQUEST',
      'continue_final_message and add_generation_prompt exclude each other: set add_generation_prompt to false',
    );
  }
  const toolChoice = field(body, 'tool_choice');
  if (toolChoice !== undefined && typeof toolChoice !== 'string' && !isFields(toolChoice)) {
    return fail('INVALID_REQUEST', 'tool_choice must be a string or an object');
  }
  return succeed({
    messages: messages.value,
    tools: tools.value,
    documents: documents.value,
    kwargs: kwargs.value,
    addGenerationPrompt: addGenerationPrompt.value,
    continueFinalMessage: continueFinalMessage.value,
  });
}

function readObjects(body: JsonFields, name: string): Outcome<readonly JsonFields[] | undefined> {
  const value = field(body, name);
  if (value === undefined) return succeed(undefined);
  if (!isList(value)) return fail('INVALID_REQUEST', `${name} must be an array`);
  const wrong = value.findIndex((item) => !isFields(item));
  if (wrong !== -1) return fail('INVALID_REQUEST', `${name}[${wrong}] must be an object`);
  return succeed(value as readonly JsonFields[]);
}

/**
 * Tools as vLLM hands them to the template: type, then function with name, description and parameters, null where the
 * request is silent, then what else the request has. Templates print them whole, so order and nulls are part of the prompt.
 */
function readTools(body: JsonFields): Outcome<readonly JsonFields[] | undefined> {
  const tools = readObjects(body, 'tools');
  if (!tools.ok || tools.value === undefined) return tools;
  const normal: JsonFields[] = [];
  for (const [index, tool] of tools.value.entries()) {
    const path = `tools[${index}]`;
    const definition = field(tool, 'function');
    if (!isFields(definition)) return fail('INVALID_REQUEST', `${path}.function must be an object`);
    if ((field(tool, 'type') ?? 'function') !== 'function') {
      return fail('INVALID_REQUEST', `${path}.type must be "function"`);
    }
    const { name, description = null, parameters = null, ...others } = definition;
    if (typeof name !== 'string') return fail('INVALID_REQUEST', `${path}.function.name must be a string`);
    if (description !== null && typeof description !== 'string') {
      return fail('INVALID_REQUEST', `${path}.function.description must be a string`);
    }
    if (parameters !== null && !isFields(parameters)) {
      return fail('INVALID_REQUEST', `${path}.function.parameters must be an object`);
    }
    const { type: _type, function: _function, ...rest } = tool;
    normal.push({ type: 'function', function: { name, description, parameters, ...others }, ...rest });
  }
  return succeed(normal);
}

/** vLLM's name and Dynamo's for the same thing. */
function readKwargs(body: JsonFields): Outcome<JsonFields> {
  const kwargs: Record<string, Json> = {};
  for (const name of ['chat_template_args', 'chat_template_kwargs']) {
    const value = field(body, name);
    if (value === undefined) continue;
    if (!isFields(value)) return fail('INVALID_REQUEST', `${name} must be an object`);
    const reserved = RESERVED.find((key) => Object.hasOwn(value, key));
    if (reserved !== undefined)
      return fail('INVALID_REQUEST', `${name}.${reserved} is not a variable of the template`);
    Object.assign(kwargs, value);
  }
  const effort = field(body, 'reasoning_effort');
  if (effort !== undefined) {
    if (typeof effort !== 'string') return fail('INVALID_REQUEST', 'reasoning_effort must be a string');
    kwargs.reasoning_effort = effort;
  }
  return succeed(kwargs);
}

function readFlag(body: JsonFields, name: string, byDefault: boolean): Outcome<boolean> {
  const value = field(body, name) ?? byDefault;
  return typeof value === 'boolean' ? succeed(value) : fail('INVALID_REQUEST', `${name} must be a boolean`);
}
