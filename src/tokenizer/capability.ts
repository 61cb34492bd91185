import { buildEngine, type EngineTables } from './engine/index.ts';

/** Which encoder does a tokenizer.json exactly, or the construct for which none does. */
export type Capability =
  | { readonly encoder: 'engine'; readonly tables: EngineTables }
  | { readonly encoder: 'none'; readonly construct: string };

/**
 * The gate that every model passes at load, given its parsed tokenizer.json. Wrong ids are worse than none, so a file
 * with a construct that is not done exactly is refused by its name.
 *
 * `@huggingface/tokenizers` stands in for nothing here. Held against the Rust library on 3,000 texts of all scripts it
 * differed for every WordPiece and Unigram file tried: on 2 texts at best, on 150 to 2,600 as a rule. Its character
 * classes and its normalization are those of the JavaScript engine it runs in.
 */
export function capabilityOf(tokenizerJson: unknown): Capability {
  const verdict = buildEngine(tokenizerJson);
  return verdict.ok
    ? { encoder: 'engine', tables: verdict.tables }
    : { encoder: 'none', construct: verdict.construct };
}
