import { fail, type Outcome, succeed } from '../protocol/status.ts';
import { buildEngine, type EngineTables, unsoundMerges } from './engine/index.ts';
import { inexactConstruct } from './library-gate.ts';
import type { ModelFiles } from './load.ts';
import type { Overrides } from './overrides.ts';
import type { SpecialTokens } from './special-tokens.ts';

/**
 * Which encoder: our own compiled one, or `@huggingface/tokenizers`, the reference implementation, which is slower and goes with
 * the Unicode version of the JavaScript engine that it runs in.
 */
export type EncoderName = 'compiled' | 'library';

/** An encoder as plain data, posted to every worker. The compiled one's tables are in memory that all workers share. */
export type PreparedEncoder =
  | { readonly with: 'compiled'; readonly tables: EngineTables }
  | {
      readonly with: 'library';
      readonly directory: string;
      readonly tokenizerBytes: SharedArrayBuffer;
      readonly overrides: Overrides;
      readonly special: SpecialTokens;
    };

/**
 * The gate that every model passes at load. Wrong ids are worse than none, so a construct that the chosen encoder does not do
 * exactly is UNSUPPORTED, by its name.
 *
 * `@huggingface/tokenizers` stands in for nothing that the compiled encoder refuses. Held against the Rust library on 3,000
 * texts of all scripts it differed for every WordPiece and Unigram file tried: on 2 texts at best, on 150 to 2,600 as a rule.
 * Its character classes and its normalization are those of the JavaScript engine it runs in.
 */
export function prepareEncoder(
  name: EncoderName,
  files: ModelFiles,
  overrides: Overrides,
  special: SpecialTokens,
): Outcome<PreparedEncoder> {
  const { directory, tokenizerBytes } = files;
  const tokenizer = { ...files.tokenizer, ...overrides };
  const unsupported = (construct: string) =>
    fail('UNSUPPORTED', `${directory}/tokenizer.json uses what is not done exactly: ${construct}`);
  if (name === 'library') {
    const construct = inexactConstruct(tokenizer) ?? unsoundMerges(tokenizer.model);
    if (construct !== undefined) return unsupported(construct);
    // Shared: each worker parses them for itself, so that no parsed copy outlives the loading.
    const shared = new SharedArrayBuffer(tokenizerBytes.length);
    new Uint8Array(shared).set(tokenizerBytes);
    return succeed({ with: 'library', directory, tokenizerBytes: shared, overrides, special });
  }
  // What surrounds a text is known already, from more files than this one.
  const verdict = buildEngine({ ...tokenizer, post_processor: null });
  if (!verdict.ok) return unsupported(verdict.construct);
  const { tables } = verdict;
  const beyond = [...special.prefix, ...special.suffix].find((id) => id >= tables.vocabularySize);
  if (beyond !== undefined) return unsupported(`post_processor with id ${beyond} outside the vocabulary`);
  return succeed({ with: 'compiled', tables: { ...tables, ...special } });
}
