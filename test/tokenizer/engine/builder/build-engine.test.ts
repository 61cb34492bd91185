import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { buildEngine } from '../../../../src/tokenizer/engine/index.ts';
import { type FileParts, type SmallFile, smallFile } from '../small-files.ts';

const byteLevel = { type: 'ByteLevel', add_prefix_space: false, trim_offsets: true, use_regex: true };
const BASE: FileParts = { vocabulary: { unit: 'bytes' }, preTokenizer: byteLevel, decoder: byteLevel };

function constructOf(
  parts: Partial<FileParts>,
  change: (file: SmallFile) => unknown = (file) => file,
): string | undefined {
  const verdict = buildEngine(change(smallFile({ ...BASE, ...parts })));
  return verdict.ok ? undefined : verdict.construct;
}

const FIRST: Partial<FileParts> = {
  vocabulary: { unit: 'characters', byteTokens: 'all' },
  preTokenizer: { type: 'Metaspace', replacement: '\u2581', prepend_scheme: 'first', split: true },
};

const withModel = (file: SmallFile, model: Record<string, unknown>): unknown => ({
  ...file,
  model: { ...file.model, ...model },
});
const split = (regex: string): unknown => ({
  type: 'Split',
  pattern: { Regex: regex },
  behavior: 'Isolated',
  invert: false,
});

describe('the engine that is built of a tokenizer.json', () => {
  it('takes a byte-level file, and leaves padding and truncation out of account', () => {
    const file = { ...smallFile(BASE), padding: { strategy: 'BatchLongest' }, truncation: { max_length: 2 } };
    assert.ok(buildEngine(file).ok);
  });

  const refused: [construct: RegExp, actual: string | undefined][] = [
    [/^model WordPiece$/, constructOf({}, (file) => withModel(file, { type: 'WordPiece' }))],
    [/^model Unigram$/, constructOf({}, (file) => withModel(file, { type: 'Unigram' }))],
    [/^model with dropout$/, constructOf({ model: { dropout: 0.1 } })],
    [/^normalizer BertNormalizer$/, constructOf({ normalizer: { type: 'BertNormalizer' } })],
    [
      /^normalizer Precompiled$/,
      constructOf({ normalizer: { type: 'Precompiled', precompiled_charsmap: '' } }),
    ],
    [/^pre_tokenizer UnicodeScripts$/, constructOf({ preTokenizer: { type: 'UnicodeScripts' } })],
    [/^pre_tokenizer Split .*Han.* Isolated$/, constructOf({ preTokenizer: split('\\p{Han}+') })],
    [/^pre_tokenizer Split .*\\\\w.* Isolated$/, constructOf({ preTokenizer: split('\\w+') })],
    [/^pre_tokenizer Split .*&&/, constructOf({ preTokenizer: split('[\\p{L}&&[^a]]+') })],
    // Case folding that crosses letters: `ß` would match.
    [/^pre_tokenizer Split .*ss/, constructOf({ preTokenizer: split('(?i:ss)') })],
    [/^pre_tokenizer Split .*é/, constructOf({ preTokenizer: split('(?i:é)') })],
    // May match nothing, and so cut between any two characters.
    [/^pre_tokenizer Split .*a\*/, constructOf({ preTokenizer: split('a*') })],
    // Exponential on some text.
    [/^pre_tokenizer Split .*a\+\)\+/, constructOf({ preTokenizer: split('(?:a+)+b') })],
    [
      /^pre_tokenizer Digits after ByteLevel$/,
      constructOf({ preTokenizer: { type: 'Sequence', pretokenizers: [byteLevel, { type: 'Digits' }] } }),
    ],
    // The oracle's alignments decide whether what stands for several characters is the start of the text.
    ...[{ String: 'ab' }, { Regex: '[0-9]+' }, { Regex: 'a' }].map(
      (pattern): [RegExp, string | undefined] => [
        /^pre_tokenizer Metaspace first after a normalizer that may take the start away$/,
        constructOf({ ...FIRST, normalizer: { type: 'Replace', pattern, content: 'x' } }),
      ],
    ),
    [/^decoder CTC$/, constructOf({ decoder: { type: 'CTC' } })],
    [
      /^post_processor with id 99999 outside the vocabulary$/,
      constructOf({ postProcessor: { type: 'BertProcessing', cls: ['a', 99_999], sep: ['b', 1] } }),
    ],
    [
      /^vocabulary with two tokens of id 5$/,
      constructOf({}, (file) => withModel(file, { vocab: { ...file.model.vocab, other: 5 } })),
    ],
    [
      /^vocabulary id -1 /,
      constructOf({}, (file) => withModel(file, { vocab: { ...file.model.vocab, other: -1 } })),
    ],
    [
      /^merge "zz qq" of tokens outside the vocabulary$/,
      constructOf({}, (file) => withModel(file, { merges: [...file.model.merges, 'zz qq'] })),
    ],
    [
      /^unk_token <none> outside the vocabulary$/,
      constructOf({
        vocabulary: { unit: 'bytes', without: (byte) => byte === 0xff },
        model: { unk_token: '<none>' },
      }),
    ],
    [/^added token "Q" of id 7, which would be \d+$/, constructOf({ added: [{ content: 'Q', id: 7 }] })],
    [/^added token "Q" twice or empty$/, constructOf({ added: [{ content: 'Q' }, { content: 'Q' }] })],
    [
      /^added token "q" that normalizes to another$/,
      constructOf({
        normalizer: { type: 'Lowercase' },
        added: [
          { content: 'Q', normalized: true },
          { content: 'q', normalized: true },
        ],
      }),
    ],
    [
      /^added token " " that normalizes to nothing$/,
      constructOf({
        normalizer: { type: 'Strip', strip_left: true, strip_right: true },
        added: [{ content: ' ', normalized: true }],
      }),
    ],
    [/^a tokenizer.json without a model$/, constructOf({}, () => ({}))],
  ];
  for (const [construct, actual] of refused)
    it(`names what it refuses: ${construct.source}`, () =>
      assert.match(actual ?? 'nothing was refused', construct));
});
