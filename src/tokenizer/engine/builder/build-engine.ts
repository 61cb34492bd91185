import { classTable } from '../classes.ts';
import { ABSENT } from '../decoder.ts';
import type { EngineTables } from '../engine.ts';
import type { NormalizerStep } from '../normalizer.ts';
import type { SplitterStep } from '../splitter.ts';
import { lengthOfLead } from '../symbols.ts';
import {
  type AddedEntry,
  buildTries,
  type MatchedEntry,
  normalizeEntries,
  readAddedTokens,
} from './added-list.ts';
import { planDecoder } from './decoder-steps.ts';
import { isObject, Refusal } from './json-shape.ts';
import { buildModel } from './model-tables.ts';
import { planNormalizer } from './normalizer-steps.ts';
import { planSurroundings } from './post-processor-ids.ts';
import { ScannedMerges } from './scanned-merges.ts';
import { planSplitter } from './splitter-steps.ts';
import { buildTokenTexts } from './token-texts.ts';
import { Vocabulary } from './vocabulary.ts';

/** Either tables, or the construct of the file that the engine does not do exactly. */
export type Verdict =
  | { readonly ok: true; readonly tables: EngineTables }
  | { readonly ok: false; readonly construct: string };

/**
 * Compiles a tokenizer.json (as `JSON.parse` or `scanTokenizer` gives it) whose model is BPE. Its `padding` and `truncation` are left
 * out: they are for batches of a model, not for counting a prompt's ids.
 */
export function buildEngine(tokenizerJson: unknown): Verdict {
  const tables = compile(tokenizerJson);
  return tables instanceof Refusal ? { ok: false, construct: tables.construct } : { ok: true, tables };
}

function compile(file: unknown): EngineTables | Refusal {
  if (!isObject(file) || !isObject(file.model)) return new Refusal('a tokenizer.json without a model');
  const { model } = file;
  // Old files leave the type out; merges tell that it is BPE.
  const listsMerges = Array.isArray(model.merges) || model.merges instanceof ScannedMerges;
  if (model.type !== 'BPE' && !(model.type === undefined && listsMerges))
    return new Refusal(`model ${String(model.type)}`);
  const normalizer = planNormalizer(file.normalizer);
  if (normalizer instanceof Refusal) return normalizer;
  const splitter = planSplitter(file.pre_tokenizer, normalizer.folded);
  if (splitter instanceof Refusal) return splitter;
  const loses =
    splitter.steps.some((step) => 'prepend' in step && step.firstOnly) && losesStart(normalizer.steps);
  if (loses)
    return new Refusal('pre_tokenizer Metaspace first after a normalizer that may take the start away');
  const surroundings = planSurroundings(file.post_processor);
  if (surroundings instanceof Refusal) return surroundings;
  const steps = planDecoder(file.decoder);
  if (steps instanceof Refusal) return steps;

  const vocabulary = Vocabulary.of(model.vocab);
  if (vocabulary instanceof Refusal) return vocabulary;
  const added = readAddedTokens(file.added_tokens, vocabulary);
  if (added instanceof Refusal) return added;
  const classes = classTable();
  const matched = normalizeEntries(added, normalizer.steps, classes);
  if (matched instanceof Refusal) return matched;
  const tries = buildTries(matched, normalizer.folded);
  const tables = buildModel(model, vocabulary, splitter);
  if (tables instanceof Refusal) return tables;

  const texts = buildTokenTexts(
    vocabulary,
    withNormalizedContent(matched, normalizer.folded),
    steps === 'bytes' ? 'mapped' : 'plain',
  );
  for (const id of [...surroundings.prefix, ...surroundings.suffix])
    if ((texts.state[id] ?? ABSENT) === ABSENT)
      return new Refusal(`post_processor with id ${id} outside the vocabulary`);
  return {
    vocabularySize: texts.state.length,
    classes,
    literalTokens: tries.literal,
    normalizer: normalizer.steps,
    normalizedTokens: tries.normalized,
    splitter: withLastScanner(splitter.steps, splitter.unit, tables.words !== null),
    model: tables,
    prefix: surroundings.prefix,
    suffix: surroundings.suffix,
    decoder: { texts, steps },
  };
}

/**
 * Whether a step other than a leading Strip may take characters off the start of a text: where the text then starts,
 * for Metaspace `first`, is a matter of the oracle's alignments. A Replace does so by putting nothing in their place, and
 * also by putting anything in the place of several.
 */
function losesStart(steps: readonly NormalizerStep[]): boolean {
  return steps.some(
    (step, index) =>
      (step.kind === 'strip' && index > 0) ||
      step.kind === 'replaceRegex' ||
      (step.kind === 'replace' && (step.content.length === 0 || !isOneCharacter(step.pattern))),
  );
}

function isOneCharacter(bytes: Uint8Array): boolean {
  return bytes.length === lengthOfLead(bytes[0]!);
}

/** Where no step scans last, a section is one word; it is cut at once where only merges decide. */
function withLastScanner(
  steps: readonly SplitterStep[],
  unit: 'bytes' | 'characters',
  wholeWords: boolean,
): readonly SplitterStep[] {
  const last = steps.at(-1);
  if (last !== undefined && 'scan' in last) return steps;
  return [...steps, { scan: unit === 'characters' && !wholeWords ? 'crossings' : 'whole' }];
}

/**
 * The oracle decodes a token that matches normalized text to its normalized content, and skips it as special when that
 * content is the content of a special token.
 */
function withNormalizedContent(entries: readonly MatchedEntry[], folded: boolean): AddedEntry[] {
  const special = new Set(entries.filter((entry) => entry.special).map((entry) => entry.content));
  return entries.map((entry) => {
    if (!entry.normalized) return entry;
    const decoded = new TextDecoder('utf-8', { ignoreBOM: true }).decode(entry.bytes);
    const content = folded ? decoded.replaceAll(' ', '\u2581') : decoded;
    return { ...entry, content, special: special.has(content) };
  });
}
