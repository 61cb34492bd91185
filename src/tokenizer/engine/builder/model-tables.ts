import { BYTE_CHARACTERS } from '../decoder.ts';
import { sharedInt32 } from '../hashing.ts';
import { NO_MERGE, type PairTable, rankOf } from '../pair-table.ts';
import { createCodeMap, idOfByte, idOfCode, type SymbolTable } from '../symbols.ts';
import type { ModelTables } from '../word-encoder.ts';
import { createWordIndex } from '../word-index.ts';
import { type JsonObject, Refusal } from './json-shape.ts';
import { readMerges } from './merges.ts';
import { packTexts } from './token-texts.ts';
import { Vocabulary } from './vocabulary.ts';

export type ModelShape = {
  readonly unit: 'bytes' | 'characters';
  /** A space stands for U+2581. */
  readonly folded: boolean;
};

const MARKER = '\u2581';

/** Tables of a `model` of type BPE. */
export function buildModel(
  model: JsonObject,
  vocabulary: Vocabulary,
  shape: ModelShape,
): ModelTables | Refusal {
  if (model.dropout !== null && model.dropout !== undefined && model.dropout !== 0)
    return new Refusal('model with dropout');
  const symbols = buildSymbols(model, vocabulary, shape);
  if (symbols instanceof Refusal) return symbols;
  const prefix = affix(model.continuing_subword_prefix);
  const merges = readMerges(model.merges, vocabulary, {
    ...shape,
    prefix,
    opaque: opaqueIds(model, symbols),
  });
  if (merges instanceof Refusal) return merges;
  return {
    symbols,
    pairs: merges.pairs,
    byteRanks: symbols.plain ? buildByteRanks(symbols, merges.pairs) : null,
    crossings: symbols.plain ? merges.crossings : null,
    words: model.ignore_merges === true ? buildWords(vocabulary, shape) : null,
  };
}

/** What of the vocabulary and the merges of a BPE `model` nothing can be made of; undefined if they are sound. */
export function unsoundMerges(model: JsonObject): string | undefined {
  const vocabulary = Vocabulary.of(model.vocab);
  if (vocabulary instanceof Refusal) return vocabulary.construct;
  const shape = {
    unit: 'bytes',
    folded: false,
    prefix: affix(model.continuing_subword_prefix),
    opaque: new Set<number>(),
  } as const;
  const merges = readMerges(model.merges, vocabulary, shape);
  return merges instanceof Refusal ? merges.construct : undefined;
}

function affix(value: unknown): string {
  return typeof value === 'string' ? value : '';
}

function buildSymbols(model: JsonObject, vocabulary: Vocabulary, shape: ModelShape): SymbolTable | Refusal {
  const prefix = affix(model.continuing_subword_prefix);
  const suffix = affix(model.end_of_word_suffix);
  const unknownToken = typeof model.unk_token === 'string' ? model.unk_token : undefined;
  const unknown = unknownToken === undefined ? -1 : vocabulary.idOf(unknownToken);
  if (shape.folded && vocabulary.idOf(MARKER) < 0) return new Refusal('U+2581 for spaces without that token');

  const inside = unitIds(vocabulary, shape, '', '');
  const last = suffix === '' ? inside : unitIds(vocabulary, shape, '', suffix);
  const later = prefix === '' ? inside : unitIds(vocabulary, shape, prefix, '');
  const laterLast = suffix === '' ? later : prefix === '' ? last : unitIds(vocabulary, shape, prefix, suffix);
  const fallback = model.byte_fallback === true ? fallbackIds(vocabulary) : null;
  if (fallback !== null && (prefix !== '' || suffix !== ''))
    return new Refusal('byte_fallback with a subword prefix or suffix');
  const complete =
    shape.unit === 'bytes'
      ? BYTE_CHARACTERS.every((_, byte) => idOfCode(inside, byte) >= 0)
      : (fallback?.every((id) => id >= 0) ?? false);
  const plain = complete && prefix === '' && suffix === '';
  // Where every unit has a token, nothing is unknown.
  if (unknownToken !== undefined && unknown < 0 && !plain)
    return new Refusal(`unk_token ${unknownToken} outside the vocabulary`);
  return {
    unit: shape.unit,
    byPlace: [inside, last, later, laterLast],
    fallback,
    unknown,
    fuseUnknown: model.fuse_unk === true,
    plain,
  };
}

/** Ids of the tokens that are `prefix`, one unit, `suffix`; by byte or by code point. */
function unitIds(
  vocabulary: Vocabulary,
  shape: ModelShape,
  prefix: string,
  suffix: string,
): SymbolTable['byPlace'][0] {
  const ids = new Map<number, number>();
  if (shape.unit === 'bytes') {
    for (const [byte, character] of BYTE_CHARACTERS.entries()) {
      const id = vocabulary.idOf(prefix + String.fromCharCode(character) + suffix);
      if (id >= 0) ids.set(byte, id);
    }
    return createCodeMap(ids);
  }
  const around = prefix.length + suffix.length;
  for (const [entry, token] of vocabulary.tokens.entries()) {
    const length = token.length - around;
    if (length < 1 || length > 2 || !token.startsWith(prefix) || !token.endsWith(suffix)) continue;
    const code = token.codePointAt(prefix.length)!;
    if (length === (code > 0xffff ? 2 : 1)) ids.set(code, vocabulary.ids[entry]!);
  }
  const marker = ids.get(MARKER.charCodeAt(0));
  if (shape.folded && marker !== undefined) ids.set(0x20, marker);
  return createCodeMap(ids);
}

function fallbackIds(vocabulary: Vocabulary): Int32Array {
  const ids = sharedInt32(256);
  for (let byte = 0; byte < 256; byte++)
    ids[byte] = vocabulary.idOf(`<0x${byte.toString(16).toUpperCase().padStart(2, '0')}>`);
  return ids;
}

/** Ids whose token string does not say what text they stand for: a merge of one says nothing of where to cut. */
function opaqueIds(model: JsonObject, symbols: SymbolTable): ReadonlySet<number> {
  const ids = new Set<number>(symbols.fallback ?? []);
  if (typeof model.unk_token === 'string') ids.add(symbols.unknown);
  ids.delete(-1);
  return ids;
}

function buildByteRanks(symbols: SymbolTable, pairs: PairTable): Int32Array {
  const ranks = sharedInt32(1 << 16).fill(NO_MERGE);
  const ids = Array.from({ length: 256 }, (_, byte) => idOfByte(symbols, byte));
  for (const [left, leftId] of ids.entries())
    for (const [right, rightId] of ids.entries())
      if (leftId >= 0 && rightId >= 0)
        ranks[(left << 8) | right] = rankOf(pairs.entries, pairs.filter, pairs.shift, leftId, rightId);
  return ranks;
}

function buildWords(vocabulary: Vocabulary, shape: ModelShape): ModelTables['words'] {
  const texts = packTexts(vocabulary, shape.unit === 'bytes' ? 'mapped' : shape.folded ? 'folded' : 'plain');
  return createWordIndex(texts.faithful, texts.faithful.length, texts.bytes, texts.offsets);
}
