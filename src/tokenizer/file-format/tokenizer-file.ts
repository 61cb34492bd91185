import { ScannedMerges, Vocabulary } from '../engine/index.ts';
import type { JsonReading } from '../json-reader.ts';
import { isObject } from '../tokenizer-json.ts';
import {
  boolean,
  type Check,
  count,
  exactlyOne,
  type FormatFault,
  fault,
  fields,
  fraction,
  id,
  list,
  oneOf,
  orNull,
  string,
  table,
} from './checks.ts';
import { decoder, normalizer, postProcessor, preTokenizer } from './components.ts';

const idsByToken = table(id);
const vocabulary: Check = (value, float, floats) =>
  value instanceof Vocabulary ? undefined : idsByToken(value, float, floats);

/** All of them lines or all of them pairs. */
const merges: Check = (value) => {
  if (value instanceof ScannedMerges) return undefined;
  if (!Array.isArray(value)) return fault('is not a list');
  const right = typeof value[0] === 'string' ? isString : isPairOfStrings;
  const wrong = value.findIndex((merge) => !right(merge));
  return wrong < 0 ? undefined : fault('is not a merge as the first one is written', wrong);
};

function isString(value: unknown): boolean {
  return typeof value === 'string';
}

function isPairOfStrings(value: unknown): boolean {
  return Array.isArray(value) && value.length === 2 && value.every(isString);
}

const bpe = fields(
  { vocab: vocabulary, merges },
  {
    type: string,
    dropout: orNull(fraction),
    unk_token: orNull(string),
    continuing_subword_prefix: orNull(string),
    end_of_word_suffix: orNull(string),
    fuse_unk: orNull(boolean),
    byte_fallback: orNull(boolean),
    ignore_merges: orNull(boolean),
  },
);

/** Other models are nothing that an encoder does, and are refused by their type. */
const model: Check = (value, float, floats) => {
  if (!isObject(value)) return fault('is not an object');
  return typeof value.type === 'string' && value.type !== 'BPE' ? undefined : bpe(value, float, floats);
};

const side = oneOf('Left', 'Right');
const truncation = fields(
  { max_length: count, strategy: oneOf('LongestFirst', 'OnlyFirst', 'OnlySecond'), stride: count },
  { direction: side },
);

const toFixedLength = exactlyOne({ Fixed: count });
const padding = fields(
  {
    strategy: (value, float, floats) =>
      value === 'BatchLongest' ? undefined : toFixedLength(value, float, floats),
    direction: side,
    pad_id: id,
    pad_type_id: id,
    pad_token: string,
  },
  { pad_to_multiple_of: orNull(count) },
);

const addedToken = fields({
  id,
  content: string,
  single_word: boolean,
  lstrip: boolean,
  rstrip: boolean,
  normalized: boolean,
  special: boolean,
});

const tokenizerFile = fields(
  { model },
  {
    version: oneOf('1.0'),
    truncation: orNull(truncation),
    padding: orNull(padding),
    added_tokens: list(addedToken),
    normalizer: orNull(normalizer),
    pre_tokenizer: orNull(preTokenizer),
    post_processor: orNull(postProcessor),
    decoder: orNull(decoder),
  },
  true,
);

/**
 * Finds what the Rust library, and with it every engine, would refuse in the fields of a tokenizer.json. Truncation and padding are
 * of no use here, but a file with wrong ones is no file that an engine loads.
 */
export function findFormatFault({ value, floats }: JsonReading): FormatFault | undefined {
  return tokenizerFile(value, false, floats);
}
