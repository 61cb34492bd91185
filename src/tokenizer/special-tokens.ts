import { fail, type Outcome, succeed } from '../protocol/status.ts';
import { namedTokens } from './named-tokens.ts';
import { classOf, type TokenizerSettings } from './tokenizer-class.ts';
import { isObject, type JsonObject, modelTokenId, type TokenizerJson } from './tokenizer-json.ts';

/** Ids that stand before and after a text that is encoded with special tokens. */
export interface SpecialTokens {
  readonly prefix: readonly number[];
  readonly suffix: readonly number[];
}

/**
 * What `transformers`' AutoTokenizer puts around a text. `tokenizer` already has the tokens of `addedTokens`.
 * Only a single text is ever encoded, never a pair, so a prefix and a suffix say it all.
 */
export function specialTokensAround(
  tokenizer: TokenizerJson,
  settings: TokenizerSettings,
): Outcome<SpecialTokens> {
  const { tokenizerConfig } = settings;
  const { adds, ignoresFile } = classOf(settings);
  if (ignoresFile) return succeed({ prefix: [], suffix: [] });
  if (adds === undefined) return fromPostProcessor(tokenizer.post_processor);
  const named = namedTokens(settings);
  const side = (option: string, byDefault: boolean, name: string): Outcome<readonly number[]> => {
    // An explicit null is false.
    const value = option in tokenizerConfig ? tokenizerConfig[option] : byDefault;
    if (value !== true) return succeed([]);
    const token = named[name];
    if (typeof token !== 'string')
      return fail('INIT_FAILED', `tokenizer_config.json: ${option} without a ${name}`);
    const id =
      tokenizer.added_tokens.find((added) => added.content === token)?.id ?? modelTokenId(tokenizer, token);
    return id === undefined ? fail('INIT_FAILED', `the ${name} is not in the vocabulary`) : succeed([id]);
  };
  const prefix = side('add_bos_token', adds.bos, 'bos_token');
  if (!prefix.ok) return prefix;
  const suffix = side('add_eos_token', adds.eos, 'eos_token');
  if (!suffix.ok) return suffix;
  return succeed({ prefix: prefix.value, suffix: suffix.value });
}

/** What a post-processor of tokenizer.json puts around a single text; UNSUPPORTED if that is no prefix and suffix. */
export function fromPostProcessor(processor: unknown): Outcome<SpecialTokens> {
  if (processor === null) return succeed({ prefix: [], suffix: [] });
  if (!isObject(processor)) return unsupported('of an unknown form');
  switch (processor.type) {
    case 'ByteLevel': // moves offsets, which nobody asks for
      return succeed({ prefix: [], suffix: [] });
    case 'BertProcessing':
    case 'RobertaProcessing':
      return fromPair(processor.cls, processor.sep);
    case 'TemplateProcessing':
      return fromTemplate(processor);
    case 'Sequence': {
      // The Rust library hands the pieces that one step made to the next one separately: only one step may add anything.
      const around: SpecialTokens[] = [];
      for (const step of Array.isArray(processor.processors) ? processor.processors : []) {
        const next = fromPostProcessor(step);
        if (!next.ok) return next;
        if (next.value.prefix.length + next.value.suffix.length > 0) around.push(next.value);
      }
      if (around.length > 1) return unsupported('in which two steps add tokens');
      return succeed(around[0] ?? { prefix: [], suffix: [] });
    }
    default:
      return unsupported(`of type ${String(processor.type)}`);
  }
}

function unsupported(what: string) {
  return fail('UNSUPPORTED', `tokenizer.json: a post-processor ${what}`);
}

/** `cls` and `sep` are [token, id]. */
function fromPair(cls: unknown, sep: unknown): Outcome<SpecialTokens> {
  const first = Array.isArray(cls) ? cls[1] : undefined;
  const last = Array.isArray(sep) ? sep[1] : undefined;
  if (typeof first !== 'number' || typeof last !== 'number') return unsupported('without cls and sep');
  return succeed({ prefix: [first], suffix: [last] });
}

function fromTemplate(processor: JsonObject): Outcome<SpecialTokens> {
  const { single, special_tokens: tokens } = processor;
  if (!Array.isArray(single) || !isObject(tokens)) return unsupported('whose template is missing');
  const prefix: number[] = [];
  const suffix: number[] = [];
  let texts = 0;
  for (const item of single) {
    if (isObject(item) && isObject(item.Sequence)) {
      texts++;
      continue;
    }
    const name = isObject(item) && isObject(item.SpecialToken) ? item.SpecialToken.id : undefined;
    const token = typeof name === 'string' ? tokens[name] : undefined;
    if (!isObject(token) || !Array.isArray(token.ids))
      return unsupported('whose template names an unknown token');
    (texts === 0 ? prefix : suffix).push(...(token.ids as number[]));
  }
  return texts === 1
    ? succeed({ prefix, suffix })
    : unsupported('whose template does not hold the text once');
}
