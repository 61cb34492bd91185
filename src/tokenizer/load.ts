import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { fail, type Outcome, succeed } from '../protocol/status.ts';
import { readTokenizerText } from './file-format/read-text.ts';
import { isObject, type JsonObject, readTokenizerJson, type TokenizerJson } from './tokenizer-json.ts';

/** What a model directory says. */
export interface ModelFiles {
  readonly directory: string;
  /** The bytes of tokenizer.json. */
  readonly tokenizerBytes: Uint8Array;
  readonly tokenizer: TokenizerJson;
  /** tokenizer_config.json, overlaid with special_tokens_map.json as `transformers` does. */
  readonly tokenizerConfig: JsonObject;
  readonly modelConfig: JsonObject;
  /** Chat templates by name; a single one is named "default". */
  readonly chatTemplates: Readonly<Record<string, string>>;
  /** Tokens that prompt and output share; undefined if no file says. */
  readonly contextLength: number | undefined;
}

/** transformers writes 10^30 where a tokenizer has no limit of its own. */
const ABSURD_LENGTH = 1e18;
const OTHER_FILES = [
  'tokenizer_config.json',
  'config.json',
  'special_tokens_map.json',
  'chat_template.jinja',
];

/** Reads a model directory. Every failure is INIT_FAILED and names the file and the cause, never its content. */
export function readModelDirectory(directory: string): Outcome<ModelFiles> {
  const missing = refuseDirectory(directory);
  if (missing !== undefined) return fail('INIT_FAILED', missing);
  const path = join(directory, 'tokenizer.json');
  const bytes = readBytes(path);
  if (!bytes.ok) return bytes;
  if (bytes.value === undefined) return fail('INIT_FAILED', tokenizerIsMissing(directory));
  const text = decodeText(bytes.value, path);
  if (!text.ok) return text;
  const tokenizer = readTokenizerText(text.value, path);
  if (!tokenizer.ok) return tokenizer;

  const tokenizerConfig = readOptionalObject(directory, 'tokenizer_config.json');
  if (!tokenizerConfig.ok) return tokenizerConfig;
  const specialTokensMap = readOptionalObject(directory, 'special_tokens_map.json');
  if (!specialTokensMap.ok) return specialTokensMap;
  const modelConfig = readOptionalObject(directory, 'config.json');
  if (!modelConfig.ok) return modelConfig;
  // A tokenizer_config.json that lists its added tokens is of the newer layout, which the older file no longer overrides.
  const config =
    'added_tokens_decoder' in tokenizerConfig.value
      ? tokenizerConfig.value
      : { ...tokenizerConfig.value, ...specialTokensMap.value };
  const chatTemplates = readChatTemplates(directory, config);
  if (!chatTemplates.ok) return chatTemplates;

  return succeed({
    directory,
    tokenizerBytes: bytes.value,
    tokenizer: tokenizer.value,
    tokenizerConfig: config,
    modelConfig: modelConfig.value,
    chatTemplates: chatTemplates.value,
    contextLength: contextLengthOf(modelConfig.value, config),
  });
}

/** Parses the bytes of a tokenizer.json that has been read before. */
export function parseTokenizerBytes(bytes: SharedArrayBuffer, directory: string): Outcome<TokenizerJson> {
  const path = join(directory, 'tokenizer.json');
  // TextDecoder takes no view of shared memory.
  const parsed = parseJson(new Uint8Array(bytes).slice(), path);
  return parsed.ok ? readTokenizerJson(parsed.value, path) : parsed;
}

function refuseDirectory(directory: string): string | undefined {
  try {
    return statSync(directory).isDirectory() ? undefined : `model directory ${directory} is not a directory`;
  } catch (error) {
    return codeOf(error) === 'ENOENT'
      ? `model directory ${directory} does not exist`
      : `model directory ${directory} cannot be read (${codeOf(error)})`;
  }
}

function tokenizerIsMissing(directory: string): string {
  const present = OTHER_FILES.filter((name) => existsSync(join(directory, name)));
  const half = present.length > 0 ? `; the directory is incomplete, it has only ${present.join(', ')}` : '';
  return `tokenizer.json is missing in model directory ${directory}${half}`;
}

/** undefined when there is no such file. */
function readBytes(path: string): Outcome<Uint8Array | undefined> {
  try {
    return succeed(readFileSync(path));
  } catch (error) {
    const code = codeOf(error);
    if (code === 'ENOENT') return succeed(undefined);
    return fail('INIT_FAILED', `${path} cannot be read (${code})`);
  }
}

/** Nothing when there is no such folder. */
function listFolder(path: string): Outcome<readonly string[]> {
  try {
    return succeed(readdirSync(path));
  } catch (error) {
    const code = codeOf(error);
    if (code === 'ENOENT' || code === 'ENOTDIR') return succeed([]);
    return fail('INIT_FAILED', `${path} cannot be read (${code})`);
  }
}

function readText(path: string): Outcome<string | undefined> {
  const bytes = readBytes(path);
  return !bytes.ok || bytes.value === undefined
    ? (bytes as Outcome<undefined>)
    : decodeText(bytes.value, path);
}

function decodeText(bytes: Uint8Array, path: string): Outcome<string> {
  try {
    return succeed(new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes));
  } catch {
    return fail('INIT_FAILED', `${path} is not valid UTF-8`);
  }
}

function parseJson(bytes: Uint8Array, path: string): Outcome<unknown> {
  const text = decodeText(bytes, path);
  if (!text.ok) return text;
  try {
    return succeed(JSON.parse(text.value));
  } catch {
    return fail('INIT_FAILED', `${path} is not valid JSON`);
  }
}

function readOptionalObject(directory: string, name: string): Outcome<JsonObject> {
  const path = join(directory, name);
  const bytes = readBytes(path);
  if (!bytes.ok) return bytes;
  if (bytes.value === undefined) return succeed({});
  const parsed = parseJson(bytes.value, path);
  if (!parsed.ok) return parsed;
  return isObject(parsed.value) ? succeed(parsed.value) : fail('INIT_FAILED', `${path} is not a JSON object`);
}

/** Template files of their own come before the entry of tokenizer_config.json, as in `transformers`. */
function readChatTemplates(directory: string, config: JsonObject): Outcome<Record<string, string>> {
  const files = readTemplateFiles(directory);
  if (!files.ok || Object.keys(files.value).length > 0) return files;
  const legacy = readOptionalObject(directory, 'chat_template.json');
  if (!legacy.ok) return legacy;
  if ('chat_template' in legacy.value) {
    return namedTemplates(legacy.value.chat_template, join(directory, 'chat_template.json'));
  }
  return namedTemplates(config.chat_template, join(directory, 'tokenizer_config.json'));
}

function readTemplateFiles(directory: string): Outcome<Record<string, string>> {
  const templates: Record<string, string> = {};
  const paths = new Map([['default', join(directory, 'chat_template.jinja')]]);
  const folder = join(directory, 'additional_chat_templates');
  const files = listFolder(folder);
  if (!files.ok) return files;
  for (const file of files.value) {
    if (file.endsWith('.jinja')) paths.set(file.slice(0, -'.jinja'.length), join(folder, file));
  }
  for (const [name, path] of paths) {
    const text = readText(path);
    if (!text.ok) return text;
    if (text.value !== undefined) templates[name] = text.value;
  }
  return succeed(templates);
}

/** A string, a list of {name, template}, or an object of name and template. */
function namedTemplates(value: unknown, path: string): Outcome<Record<string, string>> {
  if (value === undefined || value === null) return succeed({});
  if (typeof value === 'string') return succeed({ default: value });
  const pairs: [unknown, unknown][] = Array.isArray(value)
    ? value.map((entry) => (isObject(entry) ? [entry.name, entry.template] : [undefined, undefined]))
    : isObject(value)
      ? Object.entries(value)
      : [[undefined, undefined]];
  const templates: Record<string, string> = {};
  for (const [name, template] of pairs) {
    if (typeof name !== 'string' || typeof template !== 'string') {
      return fail(
        'INIT_FAILED',
        `${path}: "chat_template" is neither a string nor a list of named templates`,
      );
    }
    templates[name] = template;
  }
  return succeed(templates);
}

function contextLengthOf(modelConfig: JsonObject, tokenizerConfig: JsonObject): number | undefined {
  const textConfig = isObject(modelConfig.text_config) ? modelConfig.text_config : {};
  const candidates = [
    modelConfig.max_position_embeddings,
    textConfig.max_position_embeddings,
    tokenizerConfig.model_max_length,
  ];
  return candidates.find(
    (length): length is number => typeof length === 'number' && length > 0 && length < ABSURD_LENGTH,
  );
}

/** The vocab_size of config.json; 0 if it does not say. */
export function paddedVocabularyOf(modelConfig: JsonObject): number {
  const textConfig = isObject(modelConfig.text_config) ? modelConfig.text_config : {};
  const size = modelConfig.vocab_size ?? textConfig.vocab_size;
  return typeof size === 'number' && Number.isInteger(size) && size > 0 ? size : 0;
}

function codeOf(error: unknown): string {
  return isObject(error) && typeof error.code === 'string' ? error.code : 'unknown error';
}
