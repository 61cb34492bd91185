import { isObject } from '../tokenizer-json.ts';
import {
  all,
  boolean,
  byType,
  type Check,
  character,
  count,
  exactlyOne,
  fault,
  fields,
  id,
  list,
  oneOf,
  orNull,
  string,
  table,
  tuple,
} from './checks.ts';

// The parts of a tokenizer.json as the Rust library (tokenizers 0.23) takes them: which fields it needs, which it has a value of
// its own for, and for which of those null will do. Found by trying.

const bare = fields({});
const pattern = exactlyOne({ String: string, Regex: string });
const replace = fields({ pattern, content: string });
const behavior = oneOf('Isolated', 'Removed', 'MergedWithPrevious', 'MergedWithNext', 'Contiguous');
const byteLevel = fields({ add_prefix_space: boolean, trim_offsets: boolean }, { use_regex: boolean });
const metaspace = all(
  fields(
    { replacement: character },
    {
      prepend_scheme: oneOf('always', 'first', 'never'),
      split: orNull(boolean),
      add_prefix_space: orNull(boolean),
      str_rep: orNull(string),
    },
  ),
  (value) =>
    isObject(value) && value.add_prefix_space === false && value.prepend_scheme !== 'never'
      ? fault('contradicts its prepend_scheme', 'add_prefix_space')
      : undefined,
);

/** A part of any of `types`, or a Sequence of them under `members`. */
function component(members: string, types: Readonly<Record<string, Check>>): Check {
  const known = new Map(Object.entries(types));
  const check = byType(known);
  const sequence = fields({ [members]: list(check) });
  known.set('Sequence', types.Sequence ? all(types.Sequence, sequence) : sequence);
  return check;
}

export const normalizer = component('normalizers', {
  NFC: bare,
  NFD: bare,
  NFKC: bare,
  NFKD: bare,
  Nmt: bare,
  Lowercase: bare,
  StripAccents: bare,
  ByteLevel: bare,
  Strip: fields({ strip_left: boolean, strip_right: boolean }),
  Prepend: fields({ prepend: string }),
  Replace: replace,
  BertNormalizer: fields(
    { clean_text: boolean, handle_chinese_chars: boolean, lowercase: boolean },
    { strip_accents: orNull(boolean) },
  ),
  Precompiled: fields({ precompiled_charsmap: string }),
});

export const preTokenizer = component('pretokenizers', {
  ByteLevel: byteLevel,
  Metaspace: metaspace,
  Split: fields({ pattern, behavior, invert: boolean }),
  Whitespace: bare,
  WhitespaceSplit: bare,
  BertPreTokenizer: bare,
  UnicodeScripts: bare,
  Punctuation: fields({}, { behavior }),
  Digits: fields({ individual_digits: boolean }),
  CharDelimiterSplit: fields({ delimiter: character }),
  FixedLength: fields({}, { length: count }),
});

export const decoder = component('decoders', {
  ByteLevel: byteLevel,
  Metaspace: metaspace,
  ByteFallback: bare,
  Fuse: bare,
  Replace: replace,
  Strip: fields({ content: character, start: count, stop: count }),
  BPEDecoder: fields({ suffix: string }),
  WordPiece: fields({ prefix: string, cleanup: boolean }),
  CTC: fields({ pad_token: string, word_delimiter_token: string, cleanup: boolean }),
});

const piece = exactlyOne({
  Sequence: fields({ id: oneOf('A', 'B'), type_id: id }),
  SpecialToken: fields({ id: string, type_id: id }),
});
const pair = fields({ sep: tuple(string, id), cls: tuple(string, id) });

/**
 * The library does not go by the type of a post-processor: the first of RobertaProcessing, BertProcessing, ByteLevel,
 * TemplateProcessing and Sequence whose fields are all there is what it takes the object for.
 */
function without(...earlier: readonly string[]): Check {
  return (value) => {
    const found = isObject(value) ? earlier.find((key) => Object.hasOwn(value, key)) : undefined;
    return found === undefined ? undefined : fault('is a field of another type', found);
  };
}

export const postProcessor = component('processors', {
  ByteLevel: all(without('sep', 'cls'), byteLevel),
  BertProcessing: pair,
  RobertaProcessing: pair,
  TemplateProcessing: all(
    without('sep', 'cls'),
    fields({
      single: list(piece),
      pair: list(piece),
      special_tokens: table(fields({ id: string, ids: list(id), tokens: list(string) })),
    }),
  ),
  Sequence: without('sep', 'cls', 'single'),
});
