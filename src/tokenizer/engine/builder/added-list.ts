import { createTrie, type TokenTrie } from '../added-tokens.ts';
import { type NormalizerStep, SectionNormalizer } from '../normalizer.ts';
import { MOST_IDS } from '../pair-table.ts';
import { TextBuffer } from '../text-buffer.ts';
import { isObject, Refusal } from './json-shape.ts';
import type { Vocabulary } from './vocabulary.ts';

/** An entry of `added_tokens`. */
export type AddedEntry = {
  readonly id: number;
  readonly content: string;
  readonly special: boolean;
  readonly normalized: boolean;
  readonly singleWord: boolean;
  readonly leftStrip: boolean;
  readonly rightStrip: boolean;
};

/**
 * Reads `added_tokens`. The oracle does not take ids from the file: a token of the model keeps its id, and any other
 * takes the next free one. A file that says otherwise is refused, for its ids are not those that its author meant.
 */
export function readAddedTokens(list: unknown, vocabulary: Vocabulary): AddedEntry[] | Refusal {
  if (list === null || list === undefined) return [];
  if (!Array.isArray(list)) return new Refusal('added_tokens that are no list');
  const entries: AddedEntry[] = [];
  const seen = new Set<string>();
  const size = vocabulary.tokens.length;
  let highest = -1;
  for (const item of list as unknown[]) {
    if (!isObject(item) || typeof item.content !== 'string' || typeof item.id !== 'number')
      return new Refusal(`added token ${JSON.stringify(item)}`);
    const { content } = item;
    if (content === '' || seen.has(content))
      return new Refusal(`added token ${JSON.stringify(content)} twice or empty`);
    seen.add(content);
    const known = vocabulary.idOf(content);
    const id = known >= 0 ? known : highest >= size || (highest >= 0 && size === 0) ? highest + 1 : size;
    if (id !== item.id)
      return new Refusal(`added token ${JSON.stringify(content)} of id ${item.id}, which would be ${id}`);
    if (id >= MOST_IDS) return new Refusal(`added token id ${id}`);
    highest = Math.max(highest, id);
    entries.push({
      id,
      content,
      special: item.special === true,
      normalized: item.normalized === true,
      singleWord: item.single_word === true,
      leftStrip: item.lstrip === true,
      rightStrip: item.rstrip === true,
    });
  }
  return entries;
}

/** An entry as it is matched, and as the oracle decodes it: `bytes` are normalized if the entry is. */
export type MatchedEntry = AddedEntry & { readonly bytes: Uint8Array };

/** Normalizes the contents of those entries that are matched in normalized text. */
export function normalizeEntries(
  entries: readonly AddedEntry[],
  normalizer: readonly NormalizerStep[],
  classes: Uint8Array,
): MatchedEntry[] | Refusal {
  const sections = new SectionNormalizer(normalizer, classes);
  const seen = new Set<string>();
  const matched: MatchedEntry[] = [];
  for (const entry of entries) {
    const text = new TextBuffer(entry.content.length * 3);
    text.appendText(entry.content);
    let bytes = text.bytes.slice(0, text.length);
    if (entry.normalized) {
      sections.run(text, 0, text.length);
      bytes = sections.text.bytes.slice(sections.start, sections.end);
      if (bytes.length === 0)
        return new Refusal(`added token ${JSON.stringify(entry.content)} that normalizes to nothing`);
      // The oracle takes one of the two, not always the same one.
      const key = bytes.join();
      if (seen.has(key))
        return new Refusal(`added token ${JSON.stringify(entry.content)} that normalizes to another`);
      seen.add(key);
    }
    matched.push({ ...entry, bytes });
  }
  return matched;
}

export type AddedTries = { readonly literal: TokenTrie | null; readonly normalized: TokenTrie | null };

/** Tries for the two passes: over the text as given, and over normalized text, which may be folded. */
export function buildTries(entries: readonly MatchedEntry[], folded: boolean): AddedTries {
  return {
    literal: createTrie(
      entries.filter((entry) => !entry.normalized),
      false,
    ),
    normalized: createTrie(
      entries.filter((entry) => entry.normalized),
      folded,
    ),
  };
}
