import { createRequire } from 'node:module';
import type { Tokenizer } from '@huggingface/tokenizers';
import { fail, type Outcome, succeed } from '../protocol/status.ts';
import { EncodeError } from './encode-error.ts';
import type { Encoder } from './encoder.ts';
import type { SpecialTokens } from './special-tokens.ts';
import { idBound, type TokenizerJson } from './tokenizer-json.ts';

const require = createRequire(import.meta.url);

/**
 * The reference encoder, over `@huggingface/tokenizers`. `special` is what surrounds a text with `addSpecialTokens`; the
 * post-processor of `tokenizer` is not used.
 * Takes over `tokenizer`: its vocabulary is emptied once the library has made tables of it, so that it is not kept twice.
 */
export function openLibraryEncoder(tokenizer: TokenizerJson, special: SpecialTokens): Outcome<Encoder> {
  const vocabularySize = idBound(tokenizer);
  if (vocabularySize === undefined)
    return fail('INIT_FAILED', 'tokenizer.json: an id of "model.vocab" is no integer');
  try {
    const config = { clean_up_tokenization_spaces: false };
    // Here, and not at the start of every worker: few have it as their encoder.
    const { Tokenizer } = require('@huggingface/tokenizers') as typeof import('@huggingface/tokenizers');
    const library = new Tokenizer({ ...tokenizer, post_processor: null }, config);
    const encoder = new LibraryEncoder(library, vocabularySize, tokenizer, special);
    Object.assign(tokenizer.model, { vocab: {}, merges: [] });
    return succeed(encoder);
  } catch (error) {
    // The library names the construct that it does not know.
    return fail(
      'UNSUPPORTED',
      `tokenizer.json: ${error instanceof Error ? error.message : 'it cannot be opened'}`,
    );
  }
}

class LibraryEncoder implements Encoder {
  readonly vocabularySize: number;
  readonly #library: Tokenizer;
  readonly #special: SpecialTokens;
  readonly #specialIds: ReadonlySet<number>;

  constructor(library: Tokenizer, vocabularySize: number, tokenizer: TokenizerJson, special: SpecialTokens) {
    this.#library = library;
    this.vocabularySize = vocabularySize;
    this.#special = special;
    this.#specialIds = new Set(
      tokenizer.added_tokens.filter((token) => token.special).map((token) => token.id),
    );
  }

  encode(pieces: readonly string[], addSpecialTokens: boolean): Uint32Array {
    const text = pieces.length === 1 ? (pieces[0] ?? '') : pieces.join('');
    const { ids } = this.#library.encode(text, { add_special_tokens: false });
    const { prefix, suffix } = addSpecialTokens ? this.#special : NOTHING_AROUND;
    const all = new Uint32Array(prefix.length + ids.length + suffix.length);
    all.set(prefix);
    let at = prefix.length;
    for (const id of ids as readonly unknown[]) {
      if (typeof id !== 'number' || !Number.isInteger(id) || id < 0 || id >= this.vocabularySize) {
        throw new EncodeError('the encoder met a piece of text that the vocabulary has no token for');
      }
      all[at++] = id;
    }
    all.set(suffix, at);
    return all;
  }

  decode(ids: Uint32Array, skipSpecialTokens: boolean): string {
    const kept: number[] = [];
    for (const [index, id] of ids.entries()) {
      if (id >= this.vocabularySize) {
        throw new RangeError(`ids[${index}] is ${id}, and the vocabulary has ${this.vocabularySize} ids`);
      }
      // An id inside the range may still have no token; like the Rust library, leave it out.
      const token = this.#library.id_to_token(id);
      if (token !== undefined && !(skipSpecialTokens && this.#specialIds.has(id))) kept.push(id);
    }
    return kept.length === 0 ? '' : this.#library.decode(kept, { clean_up_tokenization_spaces: false });
  }
}

const NOTHING_AROUND: SpecialTokens = { prefix: [], suffix: [] };
