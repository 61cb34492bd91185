import { EncodeError } from '../encode-error.ts';
import type { Encoder } from '../encoder.ts';
import { type SectionSink, splitAtTokens, type TokenTrie } from './added-tokens.ts';
import { cacheLookups, PASSAGE_HITS, PASSAGE_MISSES, WORD_HITS, WORD_MISSES } from './cache-lookups.ts';
import { type DecoderTables, decodeIds } from './decoder.ts';
import { MOST_SYMBOLS } from './merge-long.ts';
import { type NormalizerStep, SectionNormalizer } from './normalizer.ts';
import { PassageCache } from './passage-cache.ts';
import { SectionEncoder } from './section-encoder.ts';
import { createSplitter, type Splitter, type SplitterStep } from './splitter.ts';
import { TextBuffer } from './text-buffer.ts';
import { type ModelTables, WordEncoder } from './word-encoder.ts';

/**
 * A compiled tokenizer: flat arrays in shared memory and a little plain data. Immutable, and structured-cloneable:
 * posting it to a worker shares the arrays.
 */
export type EngineTables = {
  readonly vocabularySize: number;
  readonly classes: Uint8Array;
  /** Added tokens found in the text as given. */
  readonly literalTokens: TokenTrie | null;
  readonly normalizer: readonly NormalizerStep[];
  /** Added tokens found in the normalized text between those. */
  readonly normalizedTokens: TokenTrie | null;
  readonly splitter: readonly SplitterStep[];
  readonly model: ModelTables;
  /** Ids put around a text with addSpecialTokens. */
  readonly prefix: readonly number[];
  readonly suffix: readonly number[];
  readonly decoder: DecoderTables;
};

export type EngineOptions = {
  /** Bytes for what is remembered of texts, about. Default 8 MiB. */
  readonly cacheBytes?: number;
  /** Bytes of text, at most, that are remembered as one passage. */
  readonly passageBytes?: number;
  /** Counts of the caches' lookups are added here, once a text; see cache-lookups.ts. */
  readonly lookups?: Float64Array;
};

const DEFAULT_CACHE_BYTES = 8 << 20;
/** A longer text than this gives its buffers back once it is encoded. */
const KEPT_TEXT_BYTES = 1 << 20;

/** An encoder over `tables`, with scratch and caches of its own: one for each worker. */
export function openEngine(tables: EngineTables, options: EngineOptions = {}): Encoder {
  return new Engine(tables, options);
}

class Engine implements Encoder {
  readonly vocabularySize: number;
  readonly #tables: EngineTables;
  readonly #words: WordEncoder;
  readonly #sectionEncoder: SectionEncoder;
  readonly #lookups: Float64Array;
  #normalizer: SectionNormalizer;
  #splitter: Splitter;
  readonly #sections: SectionSink;
  readonly #normalizedSections: SectionSink;
  #text = new TextBuffer(1 << 12);
  /** Whether the section at hand is the first thing in its text. */
  #textStart = true;

  constructor(tables: EngineTables, options: EngineOptions) {
    const cacheBytes = options.cacheBytes ?? DEFAULT_CACHE_BYTES;
    this.#tables = tables;
    this.#lookups = options.lookups ?? cacheLookups();
    this.vocabularySize = tables.vocabularySize;
    this.#words = new WordEncoder(tables.model, cacheBytes - cacheBytes / 4);
    const passages = new PassageCache(cacheBytes / 4, options.passageBytes);
    this.#sectionEncoder = new SectionEncoder(this.#words, passages, tables.classes);
    this.#normalizer = this.#openNormalizer();
    this.#splitter = this.#openSplitter();
    const token = (id: number): void => this.#words.push(id);
    this.#sections = { token, section: (start, end) => this.#encodeSection(start, end) };
    this.#normalizedSections = {
      token,
      section: (start, end) =>
        this.#splitter.split(
          this.#normalizer.text,
          start,
          end,
          this.#textStart && start === this.#normalizer.start,
        ),
    };
  }

  encode(pieces: readonly string[], addSpecialTokens: boolean): Uint32Array {
    try {
      return this.#encode(pieces, addSpecialTokens);
    } catch (error) {
      // Buffers may be large by now, and a byte of theirs still lent to a sentinel.
      this.#renewBuffers();
      throw error;
    }
  }

  #encode(pieces: readonly string[], addSpecialTokens: boolean): Uint32Array {
    const text = this.#text;
    const words = this.#words;
    const { literalTokens, prefix, suffix, classes } = this.#tables;
    text.length = 0;
    for (const piece of pieces) text.appendText(piece);
    const { length } = text;
    refuseLength(length, 'the text');
    this.#normalizer.open(text);
    words.count = 0;
    if (addSpecialTokens) for (const id of prefix) words.push(id);
    if (literalTokens !== null) splitAtTokens(literalTokens, classes, text, 0, length, this.#sections);
    else if (length > 0) this.#encodeSection(0, length);
    if (addSpecialTokens) for (const id of suffix) words.push(id);
    const ids = words.ids.slice(0, words.count);
    this.#countLookups();
    if (length > KEPT_TEXT_BYTES) this.#renewBuffers();
    return ids;
  }

  #renewBuffers(): void {
    this.#text = new TextBuffer(1 << 12);
    this.#normalizer = this.#openNormalizer();
    this.#splitter = this.#openSplitter();
    this.#words.shrink();
  }

  decode(ids: Uint32Array, skipSpecialTokens: boolean): string {
    return decodeIds(this.#tables.decoder, ids, skipSpecialTokens);
  }

  #countLookups(): void {
    const words = this.#words;
    const sections = this.#sectionEncoder;
    const lookups = this.#lookups;
    lookups[WORD_HITS]! += words.words - words.merged;
    lookups[WORD_MISSES]! += words.merged;
    lookups[PASSAGE_HITS]! += sections.found;
    lookups[PASSAGE_MISSES]! += sections.missed;
    words.words = words.merged = sections.found = sections.missed = 0;
  }

  #openNormalizer(): SectionNormalizer {
    return new SectionNormalizer(this.#tables.normalizer, this.#tables.classes);
  }

  #openSplitter(): Splitter {
    const { splitter, model, classes } = this.#tables;
    return createSplitter(splitter, model.crossings, classes, this.#sectionEncoder);
  }

  #encodeSection(start: number, end: number): void {
    const normalizer = this.#normalizer;
    const { normalizedTokens, classes } = this.#tables;
    normalizer.run(this.#text, start, end);
    refuseLength(normalizer.end - normalizer.start, 'the normalized text');
    this.#textStart = start === 0 && !normalizer.startLost;
    if (normalizer.start === normalizer.end) return;
    if (normalizedTokens === null)
      this.#splitter.split(normalizer.text, normalizer.start, normalizer.end, this.#textStart);
    else
      splitAtTokens(
        normalizedTokens,
        classes,
        normalizer.text,
        normalizer.start,
        normalizer.end,
        this.#normalizedSections,
      );
  }
}

/** A section may be a single word, and a byte of it a symbol. */
function refuseLength(bytes: number, what: string): void {
  if (bytes < MOST_SYMBOLS) return;
  const most = MOST_SYMBOLS - 1;
  throw new EncodeError(`${what} has ${bytes} bytes, and no more than ${most} are encoded`, 'UNSUPPORTED');
}
