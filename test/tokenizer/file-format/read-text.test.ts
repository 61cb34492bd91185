import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { openEngine } from '../../../src/tokenizer/engine/index.ts';
import { readTokenizerText } from '../../../src/tokenizer/file-format/read-text.ts';
import { prepareEncoder } from '../../../src/tokenizer/prepared-encoder.ts';
import { fromPostProcessor } from '../../../src/tokenizer/special-tokens.ts';
import { SEED } from '../engine/oracle.ts';
import { type Judgement, judge } from './judge.ts';
import { Members, mutantsOf, type Tree, textOf, treeOf } from './mutants.ts';
import { WELL_FORMED, type WellFormed } from './small-parts.ts';

const TEXTS = ['', ' ab  abc xy', 'Abc é12.-, a\n', '▁xab<s>é€ ab.Ab'];
/** EPPTOK_TEST_MUTANTS: of how many changes one is tried, for the whole takes longer than the rest of the tests. */
const ONE_OF = Number(process.env.EPPTOK_TEST_MUTANTS ?? 16);

interface Answer {
  /** As a Judgement. */
  readonly ids: Judgement;
  readonly message: string;
}

function answer(text: string): Answer {
  const read = readTokenizerText(text, 'tokenizer.json');
  if (!read.ok) return { ids: null, message: read.fault.message };
  const tokenizer = read.value;
  const special = fromPostProcessor(tokenizer.post_processor);
  if (!special.ok) return { ids: null, message: special.fault.message };
  const files = {
    directory: '',
    tokenizerBytes: new Uint8Array(),
    tokenizer,
    tokenizerConfig: {},
    modelConfig: {},
    chatTemplates: {},
    contextLength: undefined,
  };
  const prepared = prepareEncoder('compiled', files, tokenizer, special.value);
  if (!prepared.ok) return { ids: null, message: prepared.fault.message };
  assert.ok(prepared.value.with === 'compiled');
  const engine = openEngine(prepared.value.tables, { cacheBytes: 1 });
  const ids = [false, true].flatMap((add) => TEXTS.map((text) => [...engine.encode([text], add)]));
  return { ids, message: '' };
}

/** What the library loads and no encoder here does: constructs that are refused by their name, as all of their kind. */
const NOT_DONE = [
  'normalizer (Nmt|StripAccents|ByteLevel|BertNormalizer)',
  'pre_tokenizer (BertPreTokenizer|UnicodeScripts|FixedLength|CharDelimiterSplit)',
  '(normalizer|decoder) Replace with pattern ',
  'pre_tokenizer Metaspace with replacement "(x|😀)"',
  'pre_tokenizer (Digits|ByteLevel) after ByteLevel',
  'pre_tokenizer Split {"(String|Regex)":"(|\\\\\\\\p{l}.*)"}',
  'decoder (WordPiece|CTC)',
  'decoder BPEDecoder with an empty suffix',
  'post_processor with id \\d+ outside the vocabulary',
  'model (WordLevel|WordPiece|Unigram)',
  'model with dropout',
  'unk_token .* outside the vocabulary',
  'merge ".*" without the continuing_subword_prefix',
  'vocabulary with two tokens of id \\d+',
  'vocabulary id 4294967295 ',
  'added token .* (twice or empty|of id \\d+, which would be \\d+)',
];

/** What the library loads and we refuse, by change and message: all of it what no file of a model holds. */
const REFUSED_HERE: readonly RegExp[] = [
  new RegExp(`=> .* uses what is not done exactly: (${NOT_DONE.join('|')})`, 's'),
  /=> tokenizer\.json: a post-processor (whose template does not hold the text once|in which two steps add tokens)$/,
  // Of a key that is there twice the library takes the last value, but not in every part.
  / twice(, first null)? => .* has the key ".*" twice$/,
  // Parts that are told by their fields, of whatever type they say they are.
  /=> .*\.type" is (missing or not a string|the unknown ".*")$/s,
  / of type \w+ => .*"(post_processor|normalizer).*" is missing$/,
  /^post_processor.* => .*\.(sep|single)" is a field of another type$/,
  // A struct as the list of its fields, an enum as an object.
  / = \[.*\] => .* is not an object$/,
  / = \{"\w+":null\} => .* is not ("\w+"|a string)/,
  // What is in fields that nobody reads is not looked at, there alone.
  /^(truncation|padding|\.truncation|\.padding) and .* => .*\.unknown" (is a number beyond all floats|has a string with a lone surrogate)$/,
  // Without a type, what is no BPE model is one of words.
  /^untyped model.* => .*("model[."]|: merge ".*)/,
];

/** Changes in two places are tried too, so many times. */
const PAIRS = Math.ceil(3000 / ONE_OF);

interface Trial {
  readonly change: string;
  readonly text: string;
}

/** The text of `file` with another `part`. */
function textWith({ file, part }: WellFormed, value: Tree): string {
  const whole = treeOf(file);
  assert.ok(whole instanceof Members);
  return textOf(
    part === '' ? value : new Members(whole.list.map(([key, old]) => [key, key === part ? value : old])),
  );
}

/** Every file that differs from a well-formed one in one place. */
function trialsOf(wellFormed: WellFormed): Trial[] {
  const mutants = mutantsOf(partOf(wellFormed), nameOf(wellFormed));
  return Array.from(mutants, ({ change, tree }) => ({ change, text: textWith(wellFormed, tree) }));
}

function partOf({ file, part }: WellFormed): Tree {
  return treeOf(part === '' ? file : file[part]);
}

function nameOf({ file, part }: WellFormed): string {
  return part === 'model' && !Object.hasOwn(file.model as object, 'type') ? 'untyped model' : part;
}

/** Numbers from 0 to 1, the same for each seed. */
function random(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    return state / 2 ** 32;
  };
}

function pick<T>(items: readonly T[], next: () => number): T {
  return items[Math.floor(next() * items.length)]!;
}

/** What is wrong with our answer, in words; undefined if nothing is. */
function complaint({ change }: Trial, judged: Judgement, { ids, message }: Answer): string | undefined {
  if (ids === null) {
    if (judged === null) return undefined;
    const refusal = `${change} => ${message}`;
    return REFUSED_HERE.some((pattern) => pattern.test(refusal)) ? undefined : `only we refuse: ${refusal}`;
  }
  if (judged === null) return `only we load: ${change}`;
  const wrong = ids.findIndex((list, index) => list?.join() !== judged[index]?.join());
  if (wrong < 0) return undefined;
  return `other ids for ${JSON.stringify(TEXTS[wrong % TEXTS.length])}: ${change}: ${ids[wrong]} and not ${judged[wrong]}`;
}

async function complaintsOf(trials: readonly Trial[]): Promise<{ complaints: string[]; loaded: number }> {
  const judging = judge(
    trials.map((trial) => trial.text),
    TEXTS,
  );
  const answers = trials.map((trial) => answer(trial.text));
  const judgements = await judging;
  const complaints = trials.map((trial, index) => complaint(trial, judgements[index]!, answers[index]!));
  return {
    complaints: complaints.filter((text) => text !== undefined),
    loaded: answers.filter(({ ids }) => ids !== null).length,
  };
}

describe('a tokenizer.json is loaded or refused as by the Rust library', () => {
  it('as it is well-formed, with parts of every type', async () => {
    const trials = WELL_FORMED.map(({ file, part }) => ({ change: part, text: JSON.stringify(file) }));
    const { complaints, loaded } = await complaintsOf(trials);
    assert.deepEqual(complaints, []);
    assert.equal(loaded, trials.length);
  });

  it(`with a change in one place, of which one of ${ONE_OF} is tried (seed ${SEED})`, async () => {
    const next = random(SEED);
    const trials = WELL_FORMED.flatMap((file) => [...trialsOf(file)]).filter(() => next() < 1 / ONE_OF);
    const { complaints, loaded } = await complaintsOf(trials);
    assert.deepEqual(complaints, []);
    assert.ok(
      loaded > trials.length / 50 && loaded < trials.length / 2,
      `${loaded} of ${trials.length} were loaded`,
    );
  });

  it(`with changes in two places (seed ${SEED})`, async () => {
    const next = random(SEED);
    const trials = Array.from({ length: PAIRS }, () => {
      const wellFormed = pick(WELL_FORMED, next);
      const once = pick([...mutantsOf(partOf(wellFormed), nameOf(wellFormed))], next);
      const twice = pick([...mutantsOf(once.tree, `${once.change}, then `)], next);
      return { change: twice.change, text: textWith(wellFormed, twice.tree) };
    });
    const { complaints } = await complaintsOf(trials);
    assert.deepEqual(
      complaints.filter((text) => !text.startsWith('only we refuse')),
      [],
    );
  });
});

describe('a refusal names what is at fault', () => {
  const plain = { version: '1.0', model: { type: 'BPE', vocab: { a: 0, b: 1, ab: 2 }, merges: ['a b'] } };
  const token = { id: 3, content: 'c', single_word: false, lstrip: false, rstrip: false, normalized: false };
  const text = JSON.stringify({ ...plain, added_tokens: [{ ...token, special: true }] });
  const withPart = (part: object) => JSON.stringify({ ...plain, ...part });
  const integer = 'is not an integer from 0 to 4294967295';
  const messages: readonly [message: string, text: string][] = [
    [`"model.vocab.ab" ${integer}`, text.replace('"ab":2', '"ab":2.0')],
    [`"model.vocab.ab" ${integer}`, text.replace('"ab":2', '"ab":2e0')],
    [`"model.vocab.a" ${integer}`, text.replace('"a":0', '"a":-0')],
    [`"model.vocab.ab" ${integer}`, text.replace('"ab":2', '"ab":4294967296')],
    [`"added_tokens[0].id" ${integer}`, text.replace('"id":3', '"id":3.0')],
    [`"added_tokens[0].id" ${integer}`, text.replace('"id":3', '"id":"3"')],
    ['"added_tokens[0].special" is missing', withPart({ added_tokens: [token] })],
    ['"added_tokens[0]" has the key "id" twice', text.replace('"id":3', '"id":3,"id":3')],
    ['"model.vocab" has a string with a lone surrogate', text.replace('"ab"', '"ab":3,"\\ud800"')],
    ['"added_tokens[0].content" has a string with a lone surrogate', text.replace('"c"', '"\\udc00"')],
    ['"decoder.add_prefix_space" is missing', withPart({ decoder: { type: 'ByteLevel' } })],
    [
      '"decoder.decoders[1].start" is not an integer from 0 to 9007199254740991',
      withPart({
        decoder: {
          type: 'Sequence',
          decoders: [{ type: 'Fuse' }, { type: 'Strip', content: ' ', start: -1, stop: 0 }],
        },
      }),
    ],
    [
      '"pre_tokenizer.behavior" is not "Isolated" or "Removed" or "MergedWithPrevious" or "MergedWithNext" or "Contiguous"',
      withPart({
        pre_tokenizer: { type: 'Split', pattern: { String: 'a' }, behavior: 'isolated', invert: false },
      }),
    ],
    ['"normalizer.type" is the unknown "NFX"', withPart({ normalizer: { type: 'NFX' } })],
    [
      '"post_processor.cls" is missing',
      withPart({ post_processor: { type: 'BertProcessing', sep: ['a', 0] } }),
    ],
    ['"version" is not "1.0"', withPart({ version: '2.0' })],
    ['"remark" is not a part of this file', withPart({ remark: '' })],
    ['"model.dropout" is a number beyond all floats', text.replace('"type":"BPE"', '"dropout":1e400')],
  ];
  for (const [message, changed] of messages)
    it(message, () => {
      assert.notEqual(changed, text);
      const read = readTokenizerText(changed, 'tokenizer.json');
      assert.ok(!read.ok);
      assert.deepEqual(read.fault, { status: 'INIT_FAILED', message: `tokenizer.json: ${message}` });
    });
});
