import type { Tokenizer } from 'tokenizers';

export type TokenizerClass = typeof Tokenizer;

export const CODE_POINTS = 0x110000;

/** Every code point that can stand in well-formed text. */
export function* scalarValues(): Generator<number> {
  for (let code = 0; code < CODE_POINTS; code++) if (code < 0xd800 || code > 0xdfff) yield code;
}

/** A tokenizer of the oracle that has only the given parts; its model knows nothing but the letter a. */
export function oracleWith(oracle: TokenizerClass, parts: Record<string, unknown>): Tokenizer {
  return oracle.fromString(
    JSON.stringify({
      version: '1.0',
      truncation: null,
      padding: null,
      added_tokens: [],
      normalizer: null,
      pre_tokenizer: null,
      post_processor: null,
      decoder: null,
      model: { type: 'BPE', vocab: { a: 0 }, merges: [] },
      ...parts,
    }),
  );
}

/** `normalizer` applied to each text on its own. No text may hold a line feed: it stands between them. */
export function normalizeEach(oracle: TokenizerClass, normalizer: unknown, texts: string[]): string[] {
  return oracleWith(oracle, { normalizer }).getNormalizer()!.normalizeString(texts.join('\n')).split('\n');
}
