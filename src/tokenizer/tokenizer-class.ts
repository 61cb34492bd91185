import type { JsonObject } from './tokenizer-json.ts';

/**
 * The major version of `transformers` that the engine runs on. Version 4 rebuilds the post-processor of some classes from
 * add_bos_token and add_eos_token; version 5 ignores both where there is a tokenizer.json, and uses the file's.
 */
export type TransformersMajor = 4 | 5;

/** What decides, besides tokenizer.json, on the tokens that `transformers` makes of it. */
export interface TokenizerSettings {
  readonly tokenizerConfig: JsonObject;
  readonly modelConfig: JsonObject;
  readonly transformers: TransformersMajor;
}

export interface TokenizerClass {
  readonly tokens: Readonly<Record<string, string>>;
  /** Tokens that the class has besides those of additional_special_tokens. */
  readonly additional?: readonly string[];
  /** Defaults of add_bos_token and add_eos_token; absent for classes that leave the post-processor to the file. */
  readonly adds?: { readonly bos: boolean; readonly eos: boolean };
  /** The class makes a post-processor of its own that adds nothing, whatever tokenizer.json says. */
  readonly ignoresFile?: boolean;
}

const LLAMA: TokenizerClass = {
  tokens: { bos_token: '<s>', eos_token: '</s>', unk_token: '<unk>' },
  adds: { bos: true, eos: false },
};
const END_OF_TEXT = '<|endoftext|>';
const GPT_NEOX: TokenizerClass = {
  tokens: { bos_token: END_OF_TEXT, eos_token: END_OF_TEXT, unk_token: END_OF_TEXT },
  adds: { bos: false, eos: false },
};

/** What the classes of transformers 4 assume where tokenizer_config.json is silent. */
const CLASSES: ReadonlyMap<string, TokenizerClass> = new Map(
  Object.entries({
    LlamaTokenizer: LLAMA,
    CodeLlamaTokenizer: { ...LLAMA, additional: ['▁<PRE>', '▁<MID>', '▁<SUF>', '▁<EOT>'] },
    GemmaTokenizer: {
      tokens: { bos_token: '<bos>', eos_token: '<eos>', unk_token: '<unk>', pad_token: '<pad>' },
      adds: { bos: true, eos: false },
    },
    CohereTokenizer: {
      tokens: { bos_token: '<BOS_TOKEN>', eos_token: '<|END_OF_TURN_TOKEN|>', unk_token: '<UNK>' },
      adds: { bos: true, eos: false },
    },
    GPTNeoXTokenizer: GPT_NEOX,
    Qwen2Tokenizer: { tokens: { eos_token: END_OF_TEXT, unk_token: END_OF_TEXT, pad_token: END_OF_TEXT } },
    GPT2Tokenizer: { tokens: { bos_token: END_OF_TEXT, eos_token: END_OF_TEXT, unk_token: END_OF_TEXT } },
  }),
);

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

function nameOf({ tokenizerConfig, modelConfig }: TokenizerSettings): string {
  const named = tokenizerConfig.tokenizer_class ?? modelConfig.tokenizer_class;
  const name =
    typeof named === 'string' ? named : CLASS_OF_MODEL_TYPE.get(String(modelConfig.model_type ?? ''));
  return (name ?? '').replace(/Fast$/, '');
}

export function classOf(settings: TokenizerSettings): TokenizerClass {
  const known = CLASSES.get(nameOf(settings)) ?? { tokens: {} };
  if (settings.transformers === 4 || known.adds === undefined) return known;
  return { tokens: {}, ignoresFile: known === GPT_NEOX };
}

/** Whether the class sets the prefix space of a byte-level pre-tokenizer: in version 4 all do. */
export function setsPrefixSpace(settings: TokenizerSettings): boolean {
  return settings.transformers === 4 || ['GPT2Tokenizer', 'Qwen2Tokenizer'].includes(nameOf(settings));
}
