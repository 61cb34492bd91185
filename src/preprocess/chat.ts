import { fail, type Outcome, succeed } from '../protocol/status.ts';
import { field, isList } from './body.ts';
import { isJsonObject, type JsonObject, type JsonValue, member, members, objectFrom } from './json/value.ts';

/** A chat request, its fields checked and not yet put into the form that templates expect. */
export interface ChatRequest {
  /** Objects with a `role`; at least one. */
  readonly messages: readonly JsonObject[];
  readonly tools: readonly JsonObject[] | undefined;
  readonly documents: readonly JsonObject[] | undefined;
  /** Variables for the template. */
  readonly kwargs: Readonly<Record<string, JsonValue>>;
  readonly addGenerationPrompt: boolean;
  readonly continueFinalMessage: boolean;
  /** A template, or the name of one of the model's, that the request wants instead of the model's choice. */
  readonly chatTemplate: string | undefined;
}

/** Names of chat_template_kwargs that are arguments of apply_chat_template and no variables of a template. */
const RESERVED = [
  ...['messages', 'conversation', 'tools', 'chat_template', 'tokenize', 'self'],
  ...['padding', 'truncation', 'max_length', 'return_tensors', 'return_dict'],
  ...['return_assistant_tokens_mask', 'tokenizer_kwargs', 'sanitize_control_tokens'],
];

export function readChat(body: JsonObject): Outcome<ChatRequest> {
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
  const documents = readDocuments(body);
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
  if (toolChoice !== undefined && typeof toolChoice !== 'string' && !isJsonObject(toolChoice)) {
    return fail('INVALID_REQUEST', 'tool_choice must be a string or an object');
  }
  const chatTemplate = field(body, 'chat_template');
  if (chatTemplate !== undefined && typeof chatTemplate !== 'string') {
    return fail('INVALID_REQUEST', 'chat_template must be a string');
  }
  return succeed({
    messages: messages.value,
    tools: tools.value,
    documents: documents.value,
    kwargs: kwargs.value,
    addGenerationPrompt: addGenerationPrompt.value,
    continueFinalMessage: continueFinalMessage.value,
    // An empty one is none, as in vLLM.
    chatTemplate: chatTemplate || undefined,
  });
}

function readObjects(body: JsonObject, name: string): Outcome<readonly JsonObject[] | undefined> {
  const value = field(body, name);
  if (value === undefined) return succeed(undefined);
  if (!isList(value)) return fail('INVALID_REQUEST', `${name} must be an array`);
  const wrong = value.findIndex((item) => !isJsonObject(item));
  if (wrong !== -1) return fail('INVALID_REQUEST', `${name}[${wrong}] must be an object`);
  return succeed(value as readonly JsonObject[]);
}

/** Documents are objects of strings: vLLM refuses all others. */
function readDocuments(body: JsonObject): Outcome<readonly JsonObject[] | undefined> {
  const documents = readObjects(body, 'documents');
  if (!documents.ok || documents.value === undefined) return documents;
  for (const [index, document] of documents.value.entries()) {
    const wrong = members(document).find(([, value]) => typeof value !== 'string');
    if (wrong !== undefined) return fail('INVALID_REQUEST', `documents[${index}] must hold strings only`);
  }
  return documents;
}

/**
 * Tools as vLLM hands them to the template: type, then function with name, description and parameters, null where the
 * request is silent, then what else the request has. Templates print them whole, so order and nulls are part of the prompt.
 */
function readTools(body: JsonObject): Outcome<readonly JsonObject[] | undefined> {
  const tools = readObjects(body, 'tools');
  if (!tools.ok || tools.value === undefined) return tools;
  const normal: JsonObject[] = [];
  for (const [index, tool] of tools.value.entries()) {
    const path = `tools[${index}]`;
    const definition = field(tool, 'function');
    if (!isJsonObject(definition)) return fail('INVALID_REQUEST', `${path}.function must be an object`);
    if ((field(tool, 'type') ?? 'function') !== 'function') {
      return fail('INVALID_REQUEST', `${path}.type must be "function"`);
    }
    const name = field(definition, 'name');
    const description = field(definition, 'description') ?? null;
    const parameters = field(definition, 'parameters') ?? null;
    if (typeof name !== 'string') return fail('INVALID_REQUEST', `${path}.function.name must be a string`);
    if (description !== null && typeof description !== 'string') {
      return fail('INVALID_REQUEST', `${path}.function.description must be a string`);
    }
    if (parameters !== null && !isJsonObject(parameters)) {
      return fail('INVALID_REQUEST', `${path}.function.parameters must be an object`);
    }
    const normalized = objectFrom([
      ['name', name],
      ['description', description],
      ['parameters', parameters],
      ...membersExcept(definition, ['name', 'description', 'parameters']),
    ]);
    normal.push(
      objectFrom([
        ['type', 'function'],
        ['function', normalized],
        ...membersExcept(tool, ['type', 'function']),
      ]),
    );
  }
  return succeed(normal);
}

function membersExcept(object: JsonObject, names: readonly string[]): [string, JsonValue][] {
  return members(object).filter(([name]) => !names.includes(name));
}

/** vLLM's name and Dynamo's for the same thing. */
function readKwargs(body: JsonObject): Outcome<Record<string, JsonValue>> {
  const kwargs = new Map<string, JsonValue>();
  for (const name of ['chat_template_args', 'chat_template_kwargs']) {
    const value = field(body, name);
    if (value === undefined) continue;
    if (!isJsonObject(value)) return fail('INVALID_REQUEST', `${name} must be an object`);
    const reserved = RESERVED.find((key) => member(value, key) !== undefined);
    if (reserved !== undefined)
      return fail('INVALID_REQUEST', `${name}.${reserved} is not a variable of the template`);
    const documents = readObjects(value, 'documents');
    if (!documents.ok) return fail(documents.fault.status, `${name}.${documents.fault.message}`);
    for (const [key, item] of members(value)) kwargs.set(key, item);
  }
  // The request's own field decides, and never as a variable.
  kwargs.delete('continue_final_message');
  const effort = field(body, 'reasoning_effort');
  if (effort !== undefined) {
    if (typeof effort !== 'string') return fail('INVALID_REQUEST', 'reasoning_effort must be a string');
    kwargs.set('reasoning_effort', effort);
    // vLLM turns thinking on or off by it, unless told otherwise.
    if (!kwargs.has('enable_thinking')) kwargs.set('enable_thinking', effort !== 'none');
  }
  return succeed(Object.fromEntries(kwargs));
}

function readFlag(body: JsonObject, name: string, byDefault: boolean): Outcome<boolean> {
  const value = field(body, name) ?? byDefault;
  return typeof value === 'boolean' ? succeed(value) : fail('INVALID_REQUEST', `${name} must be a boolean`);
}
