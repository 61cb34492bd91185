import { addedTokens } from './named-tokens.ts';
import { setsPrefixSpace, type TokenizerSettings } from './tokenizer-class.ts';
import { isObject, type TokenizerJson } from './tokenizer-json.ts';

/** Parts of tokenizer.json that `transformers` replaces by what the other files say. */
export type Overrides = Pick<TokenizerJson, 'added_tokens' | 'pre_tokenizer'>;

export function overridesOf(tokenizer: TokenizerJson, settings: TokenizerSettings): Overrides {
  return {
    added_tokens: addedTokens(tokenizer, settings),
    pre_tokenizer: withPrefixSpace(tokenizer.pre_tokenizer, settings),
  };
}

/** A byte-level pre-tokenizer that stands alone takes its prefix space from tokenizer_config.json, where silence is false. */
function withPrefixSpace(preTokenizer: unknown, settings: TokenizerSettings): unknown {
  if (!isObject(preTokenizer) || preTokenizer.type !== 'ByteLevel' || !setsPrefixSpace(settings))
    return preTokenizer;
  return { ...preTokenizer, add_prefix_space: settings.tokenizerConfig.add_prefix_space === true };
}
