import { classOf, type TokenizerSettings } from './tokenizer-class.ts';
import {
  type AddedToken,
  isObject,
  type JsonObject,
  modelTokenId,
  modelVocabularySize,
  readAddedToken,
  type TokenizerJson,
} from './tokenizer-json.ts';

/** Special tokens as `transformers` knows them after loading, by name: "bos_token" and so on. */
export type NamedTokens = Readonly<Record<string, string | readonly string[]>>;

const NAMES = ['bos_token', 'eos_token', 'unk_token', 'sep_token', 'pad_token', 'cls_token', 'mask_token'];

/** An entry is the token itself or an object of it. */
function contentOf(entry: unknown): string | undefined {
  if (typeof entry === 'string') return entry;
  return isObject(entry) && typeof entry.content === 'string' ? entry.content : undefined;
}

/** The special tokens by name. An explicit null in tokenizer_config.json takes a class's default away. */
export function namedTokens(settings: TokenizerSettings): NamedTokens {
  const { tokenizerConfig } = settings;
  const { tokens: defaults, additional = [] } = classOf(settings);
  const named: Record<string, string | readonly string[]> = {};
  for (const name of NAMES) {
    const token = name in tokenizerConfig ? contentOf(tokenizerConfig[name]) : defaults[name];
    if (token !== undefined) named[name] = token;
  }
  const extra = tokenizerConfig.extra_special_tokens;
  if (isObject(extra)) {
    for (const [name, entry] of Object.entries(extra)) {
      const token = contentOf(entry);
      if (token !== undefined) named[name] = token;
    }
  }
  const list = tokenizerConfig.additional_special_tokens ?? (Array.isArray(extra) ? extra : undefined);
  const listed = Array.isArray(list) ? list.map(contentOf).filter((token) => token !== undefined) : [];
  if (listed.length + additional.length > 0) named.additional_special_tokens = [...listed, ...additional];
  return named;
}

/**
 * All added tokens, as `transformers` leaves them: an entry of added_tokens_decoder brings its flags with it even where
 * tokenizer.json has the token, and a special token that neither has is added behind the last id.
 */
export function addedTokens(tokenizer: TokenizerJson, settings: TokenizerSettings): readonly AddedToken[] {
  const named = Object.values(namedTokens(settings)).flat();
  const added = new Map(tokenizer.added_tokens.map((token) => [token.content, token]));
  let next = tokenizer.added_tokens.reduce(
    (bound, token) => Math.max(bound, token.id + 1),
    modelVocabularySize(tokenizer),
  );
  const add = (content: string, flags: JsonObject) => {
    const known = added.get(content)?.id ?? modelTokenId(tokenizer, content);
    const token = readAddedToken({ ...flags, content }, known ?? next);
    if (content === '' || token === undefined) return;
    if (known === undefined) next++;
    added.set(content, token);
  };
  const decoder = settings.tokenizerConfig.added_tokens_decoder;
  const listed = isObject(decoder) ? Object.entries(decoder) : [];
  for (const [, entry] of listed.sort(([a], [b]) => Number(a) - Number(b))) {
    const content = contentOf(entry);
    if (content === undefined || !isObject(entry)) continue;
    add(content, { ...entry, special: entry.special === true || named.includes(content) });
  }
  for (const content of named) if (!added.has(content)) add(content, { special: true });
  return [...added.values()];
}
