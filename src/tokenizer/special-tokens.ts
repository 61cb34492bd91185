import { fail, type Outcome, succeed } from '../protocol/status.ts';
import {
  type AddedToken,
  isObject,
  type JsonObject,
  modelTokenId,
  modelVocabularySize,
  readAddedToken,
  type TokenizerJson,
} from './tokenizer-json.ts';

/** Ids that stand before and after a text that is encoded with special tokens. */
export interface SpecialTokens {
  readonly prefix: readonly number[];
  readonly suffix: readonly number[];
}

/** Special tokens as `transformers` knows them after loading, by name: "bos_token" and so on. */
export type NamedTokens = Readonly<Record<string, string | readonly string[]>>;

/**
 * The major version of `transformers` that the engine runs on. Version 4 rebuilds the post-processor of some classes from
 * add_bos_token and add_eos_token; version 5 ignores both where there is a tokenizer.json, and uses the file's.
 */
export type TransformersMajor = 4 | 5;

interface TokenizerClass {
  readonly tokens: Readonly<Record<string, string>>;
  /** Defaults of add_bos_token and add_eos_token; absent for classes that leave the post-processor to the file. */
  readonly adds?: { readonly bos: boolean; readonly eos: boolean };
}

const LLAMA: TokenizerClass = {
  tokens: { bos_token: '<s>', eos_token: '</s>', unk_token: '<unk>' },
  adds: { bos: true, eos: false },
};
const END_OF_TEXT = '<|endoftext|>';

/** What the classes of transformers 4 assume where tokenizer_config.json is silent. */
const CLASSES: Readonly<Record<string, TokenizerClass>> = {
  LlamaTokenizer: LLAMA,
  CodeLlamaTokenizer: LLAMA,
  GemmaTokenizer: {
    tokens: { bos_token: '<bos>', eos_token: '<eos>', unk_token: '<unk>', pad_token: '<pad>' },
    adds: { bos: true, eos: false },
  },
  CohereTokenizer: {
    tokens: { bos_token: '<BOS_TOKEN>', eos_token: '<|END_OF_TURN_TOKEN|>', unk_token: '<UNK>' },
    adds: { bos: true, eos: false },
  },
  GPTNeoXTokenizer: {
    tokens: { bos_token: END_OF_TEXT, eos_token: END_OF_TEXT, unk_token: END_OF_TEXT },
    adds: { bos: false, eos: false },
  },
  Qwen2Tokenizer: { tokens: { eos_token: END_OF_TEXT, unk_token: END_OF_TEXT, pad_token: END_OF_TEXT } },
  GPT2Tokenizer: { tokens: { bos_token: END_OF_TEXT, eos_token: END_OF_TEXT, unk_token: END_OF_TEXT } },
};

/** The class that AutoTokenizer of transformers 4 takes when no file names one, by model_type. */
const CLASS_OF_MODEL_TYPE = new Map(
  Object.entries({
    LlamaTokenizer:
      'arcee aria chameleon colpali deepseek_v2 deepseek_v3 deepseek_vl deepseek_vl_hybrid diffllama ernie4_5 ' +
      'ernie4_5_moe idefics idefics2 idefics3 jamba janus jetmoe llama llama4 llama4_text llava llava_next ' +
      'llava_next_video llava_onevision mistral mixtral mllama paligemma persimmon phi3 phimoe video_llava vipllava ' +
      'voxtral zamba zamba2',
    CodeLlamaTokenizer: 'code_llama',
    GemmaTokenizer:
      'gemma gemma2 gemma3 gemma3_text gemma3n gemma3n_text recurrent_gemma shieldgemma2 siglip2 t5gemma',
    CohereTokenizer: 'aya_vision cohere cohere2',
    GPTNeoXTokenizer: 'falcon_mamba gpt_neox mamba mamba2 mpt olmo olmo2 olmoe rwkv stablelm xlstm',
    Qwen2Tokenizer: 'qwen2 qwen2_moe qwen2_vl qwen2_5_vl qwen3 qwen3_moe qwen3_next',
    GPT2Tokenizer: 'gpt2',
  }).flatMap(([name, types]) => types.split(' ').map((type) => [type, name] as const)),
);

const NAMES = ['bos_token', 'eos_token', 'unk_token', 'sep_token', 'pad_token', 'cls_token', 'mask_token'];

function classOf(tokenizerConfig: JsonObject, modelConfig: JsonObject): TokenizerClass {
  const named = tokenizerConfig.tokenizer_class ?? modelConfig.tokenizer_class;
  const name =
    typeof named === 'string' ? named : CLASS_OF_MODEL_TYPE.get(String(modelConfig.model_type ?? ''));
  return CLASSES[(name ?? '').replace(/Fast$/, '')] ?? { tokens: {} };
}

/** An entry is the token itself or an object of it. */
function contentOf(entry: unknown): string | undefined {
  if (typeof entry === 'string') return entry;
  return isObject(entry) && typeof entry.content === 'string' ? entry.content : undefined;
}

/** The special tokens by name. An explicit null in tokenizer_config.json takes a class's default away. */
export function namedTokens(tokenizerConfig: JsonObject, modelConfig: JsonObject): NamedTokens {
  const defaults = classOf(tokenizerConfig, modelConfig).tokens;
  const named: Record<string, string | readonly string[]> = {};
  for (const name of NAMES) {
    const token = name in tokenizerConfig ? contentOf(tokenizerConfig[name]) : defaults[name];
    if (token !== undefined) named[name] = token;
  }
  const extra = tokenizerConfig.extra_special_tokens;
  if (isObject(extra)) {
    for (const [name, entry] of Object.entries(extra)) {
      const token = contentOf(entry);
      if (token !== undefined) named[name] = token;
    }
  }
  const list = tokenizerConfig.additional_special_tokens ?? (Array.isArray(extra) ? extra : undefined);
  if (Array.isArray(list) && list.length > 0) {
    named.additional_special_tokens = list.map(contentOf).filter((token) => token !== undefined);
  }
  return named;
}

/**
 * The tokens that `transformers` adds to those of tokenizer.json: entries of added_tokens_decoder and special tokens that
 * the file does not have. An entry that it has keeps the file's flags.
 */
export function addedByConfig(
  tokenizer: TokenizerJson,
  tokenizerConfig: JsonObject,
  modelConfig: JsonObject,
): readonly AddedToken[] {
  const known = new Set(tokenizer.added_tokens.map((token) => token.content));
  const named = Object.values(namedTokens(tokenizerConfig, modelConfig)).flat();
  const decoder = tokenizerConfig.added_tokens_decoder;
  const listed = isObject(decoder) ? Object.entries(decoder) : [];
  const wanted: { content: string; entry: unknown }[] = [];
  for (const [, entry] of listed.sort(([a], [b]) => Number(a) - Number(b))) {
    const content = contentOf(entry);
    if (content !== undefined) wanted.push({ content, entry });
  }
  for (const content of named) wanted.push({ content, entry: { content, special: true } });

  const size = modelVocabularySize(tokenizer);
  let next = tokenizer.added_tokens.reduce((max, token) => Math.max(max, token.id + 1), size);
  const added: AddedToken[] = [];
  for (const { content, entry } of wanted) {
    if (content === '' || known.has(content)) continue;
    known.add(content);
    const own = modelTokenId(tokenizer, content);
    const flags = isObject(entry)
      ? { ...entry, special: entry.special === true || named.includes(content) }
      : entry;
    const token = readAddedToken(flags, own ?? next);
    if (token === undefined) continue;
    if (own === undefined) next++;
    added.push(token);
  }
  return added;
}

/**
 * What `transformers`' AutoTokenizer puts around a text. `tokenizer` already has the tokens of `addedByConfig`.
 * Only a single text is ever encoded, never a pair, so a prefix and a suffix say it all.
 */
export function specialTokensAround(
  tokenizer: TokenizerJson,
  tokenizerConfig: JsonObject,
  modelConfig: JsonObject,
  transformers: TransformersMajor,
): Outcome<SpecialTokens> {
  const { adds } = classOf(tokenizerConfig, modelConfig);
  if (adds === undefined || transformers === 5) return fromPostProcessor(tokenizer.post_processor);
  const named = namedTokens(tokenizerConfig, modelConfig);
  const side = (option: string, byDefault: boolean, name: string): Outcome<readonly number[]> => {
    const value = tokenizerConfig[option] ?? byDefault;
    if (value !== true) return succeed([]);
    const token = named[name];
    if (typeof token !== 'string')
      return fail('INIT_FAILED', `tokenizer_config.json: ${option} without a ${name}`);
    const id =
      tokenizer.added_tokens.find((added) => added.content === token)?.id ?? modelTokenId(tokenizer, token);
    return id === undefined ? fail('INIT_FAILED', `the ${name} is not in the vocabulary`) : succeed([id]);
  };
  const prefix = side('add_bos_token', adds.bos, 'bos_token');
  if (!prefix.ok) return prefix;
  const suffix = side('add_eos_token', adds.eos, 'eos_token');
  if (!suffix.ok) return suffix;
  return succeed({ prefix: prefix.value, suffix: suffix.value });
}

/** What a post-processor of tokenizer.json puts around a single text; UNSUPPORTED if that is no prefix and suffix. */
export function fromPostProcessor(processor: unknown): Outcome<SpecialTokens> {
  if (processor === null) return succeed({ prefix: [], suffix: [] });
  if (!isObject(processor)) return unsupported('of an unknown form');
  switch (processor.type) {
    case 'ByteLevel': // moves offsets, which nobody asks for
      return succeed({ prefix: [], suffix: [] });
    case 'BertProcessing':
    case 'RobertaProcessing':
      return fromPair(processor.cls, processor.sep);
    case 'TemplateProcessing':
      return fromTemplate(processor);
    case 'Sequence': {
      // Each wraps what the one before it made.
      let around: SpecialTokens = { prefix: [], suffix: [] };
      for (const step of Array.isArray(processor.processors) ? processor.processors : []) {
        const next = fromPostProcessor(step);
        if (!next.ok) return next;
        around = {
          prefix: [...next.value.prefix, ...around.prefix],
          suffix: [...around.suffix, ...next.value.suffix],
        };
      }
      return succeed(around);
    }
    default:
      return unsupported(`of type ${String(processor.type)}`);
  }
}

function unsupported(what: string) {
  return fail('UNSUPPORTED', `tokenizer.json: a post-processor ${what}`);
}

/** `cls` and `sep` are [token, id]. */
function fromPair(cls: unknown, sep: unknown): Outcome<SpecialTokens> {
  const first = Array.isArray(cls) ? cls[1] : undefined;
  const last = Array.isArray(sep) ? sep[1] : undefined;
  if (typeof first !== 'number' || typeof last !== 'number') return unsupported('without cls and sep');
  return succeed({ prefix: [first], suffix: [last] });
}

function fromTemplate(processor: JsonObject): Outcome<SpecialTokens> {
  const { single, special_tokens: tokens } = processor;
  if (!Array.isArray(single) || !isObject(tokens)) return unsupported('whose template is missing');
  const prefix: number[] = [];
  const suffix: number[] = [];
  let texts = 0;
  for (const item of single) {
    if (isObject(item) && isObject(item.Sequence)) {
      texts++;
      continue;
    }
    const name = isObject(item) && isObject(item.SpecialToken) ? item.SpecialToken.id : undefined;
    const token = typeof name === 'string' ? tokens[name] : undefined;
    if (!isObject(token) || !Array.isArray(token.ids))
      return unsupported('whose template names an unknown token');
    (texts === 0 ? prefix : suffix).push(...(token.ids as number[]));
  }
  return texts === 1
    ? succeed({ prefix, suffix })
    : unsupported('whose template does not hold the text once');
}
