import { fail, type Outcome, succeed } from '../protocol/status.ts';
import { Vocabulary } from './engine/index.ts';

/** A JSON object whose fields have not been looked at yet. */
export type JsonObject = { readonly [key: string]: unknown };

/** One entry of `added_tokens`, as tokenizer.json and tokenizer_config.json both write it. */
export interface AddedToken {
  readonly id: number;
  readonly content: string;
  readonly single_word: boolean;
  readonly lstrip: boolean;
  readonly rstrip: boolean;
  readonly normalized: boolean;
  readonly special: boolean;
}

/**
 * tokenizer.json, checked as far as every encoder relies on it; the parts stay as the file has them, but for a vocabulary and
 * merges that were scanned.
 */
export interface TokenizerJson {
  readonly normalizer: unknown;
  readonly pre_tokenizer: unknown;
  readonly post_processor: unknown;
  readonly decoder: unknown;
  readonly added_tokens: readonly AddedToken[];
  readonly model: JsonObject;
}

export function isObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/**
 * Checks what `JSON.parse` made of tokenizer.json. Truncation and padding are left out: baked into the file they change the
 * ids of a single prompt (6 tokens once became 54,000), and no engine applies them to one.
 * `where` names the file in a failure.
 */
export function readTokenizerJson(json: unknown, where: string): Outcome<TokenizerJson> {
  const refuse = (what: string) => fail('INIT_FAILED', `${where}: ${what}`);
  if (!isObject(json)) return refuse('not a JSON object');
  const { model } = json;
  if (!isObject(model)) return refuse('"model" is missing');
  if (!isObject(model.vocab) && !Array.isArray(model.vocab)) return refuse('"model.vocab" is missing');
  const entries = json.added_tokens ?? [];
  if (!Array.isArray(entries)) return refuse('"added_tokens" is not an array');
  const added: AddedToken[] = [];
  for (const [index, entry] of entries.entries()) {
    const token = readAddedToken(entry, isObject(entry) ? entry.id : undefined);
    if (token === undefined) return refuse(`"added_tokens[${index}]" has no id or no content`);
    added.push(token);
  }
  return succeed({
    normalizer: json.normalizer ?? null,
    pre_tokenizer: json.pre_tokenizer ?? null,
    post_processor: json.post_processor ?? null,
    decoder: json.decoder ?? null,
    added_tokens: added,
    model,
  });
}

/** The defaults are those of the Rust library: a special token is matched before normalization. */
export function readAddedToken(entry: unknown, id: unknown): AddedToken | undefined {
  if (!isObject(entry) || typeof entry.content !== 'string') return undefined;
  if (typeof id !== 'number' || !Number.isInteger(id) || id < 0) return undefined;
  const special = entry.special === true;
  return {
    id,
    content: entry.content,
    single_word: entry.single_word === true,
    lstrip: entry.lstrip === true,
    rstrip: entry.rstrip === true,
    normalized: typeof entry.normalized === 'boolean' ? entry.normalized : !special,
    special,
  };
}

/** Id of a token of the model's own vocabulary. */
export function modelTokenId(tokenizer: TokenizerJson, token: string): number | undefined {
  const { vocab } = tokenizer.model;
  if (vocab instanceof Vocabulary) {
    const id = vocab.idOf(token);
    return id < 0 ? undefined : id;
  }
  if (Array.isArray(vocab)) {
    const index = vocab.findIndex((entry) => Array.isArray(entry) && entry[0] === token);
    return index === -1 ? undefined : index;
  }
  const id = isObject(vocab) && Object.hasOwn(vocab, token) ? vocab[token] : undefined;
  return typeof id === 'number' ? id : undefined;
}

/** Number of entries of the model's own vocabulary, without added tokens. */
export function modelVocabularySize(tokenizer: TokenizerJson): number {
  const { vocab } = tokenizer.model;
  if (vocab instanceof Vocabulary) return vocab.tokens.length;
  return Array.isArray(vocab) ? vocab.length : Object.keys(vocab as JsonObject).length;
}

/** One more than the highest id of vocabulary and added tokens; undefined if an id is no integer. */
export function idBound(tokenizer: TokenizerJson): number | undefined {
  const { vocab } = tokenizer.model;
  let bound = Array.isArray(vocab) ? vocab.length : 0;
  if (isObject(vocab)) {
    for (const token in vocab) {
      const id = vocab[token];
      if (typeof id !== 'number' || !Number.isInteger(id) || id < 0) return undefined;
      if (id >= bound) bound = id + 1;
    }
  }
  for (const token of tokenizer.added_tokens) if (token.id >= bound) bound = token.id + 1;
  return bound;
}
