import type { ChatTemplates } from '../preprocess/prompt.ts';
import { RequestTemplates } from '../preprocess/request-templates.ts';
import { openTemplate } from '../preprocess/template.ts';
import { type Outcome, succeed } from '../protocol/status.ts';
import type { Encoder } from '../tokenizer/encoder.ts';
import type { NamedTokens } from '../tokenizer/named-tokens.ts';
import { openEncoder } from '../tokenizer/open-encoder.ts';
import type { EncoderName, PreparedEncoder } from '../tokenizer/prepared-encoder.ts';
import type { TransformersMajor } from '../tokenizer/tokenizer-class.ts';
import type { CacheCounters } from './metrics/cache-counters.ts';

/** Whose special tokens: what vLLM adds around completions, embeddings and text, or none, as Dynamo. */
export type Engine = 'vllm' | 'dynamo';

/** A model to load; plain data. */
export interface ModelSpec {
  readonly name: string;
  readonly directory: string;
  readonly engine?: Engine | undefined;
  /** Overrides the length that the files say; 0 and undefined: the files'. */
  readonly contextLength?: number | undefined;
  /** The major version of `transformers` that the engine runs on; 4 unless set. */
  readonly transformers?: TransformersMajor | undefined;
  /** Whether requests may bring a template of their own; not unless set. */
  readonly allowChatTemplate?: boolean | undefined;
  /** `compiled` unless set. */
  readonly encoder?: EncoderName | undefined;
}

/** A model that has been read and prepared: plain data, posted to every worker. What is large is in shared memory. */
export interface PreparedModel {
  readonly name: string;
  readonly engine: Engine;
  readonly contextLength: number | undefined;
  readonly encoder: PreparedEncoder;
  /** The vocab_size of config.json, to which engines pad the tokenizer's own; 0 if no file says. */
  readonly paddedVocabulary: number;
  readonly chatTemplates: Readonly<Record<string, string>>;
  readonly variables: NamedTokens;
  readonly transformers: TransformersMajor;
  readonly allowChatTemplate: boolean;
}

/** A model as one worker uses it. */
export interface Model {
  readonly name: string;
  readonly encoder: Encoder;
  /** Ids that a request may bring are below this: the tokenizer's, and those that the engine pads its vocabulary with. */
  readonly idLimit: number;
  readonly templates: ChatTemplates;
  readonly contextLength: number | undefined;
  readonly engine: Engine;
}

export type Models = ReadonlyMap<string, Model>;

/** Opens a prepared model in this worker. */
export function openModel(prepared: PreparedModel, lookups?: Float64Array): Outcome<Model> {
  const encoder = openEncoder(prepared.encoder, lookups);
  if (!encoder.ok) return encoder;
  // A template that cannot be compiled refuses chat requests, and no others.
  const byName = new Map(
    Object.entries(prepared.chatTemplates).map(([name, source]) => [
      name,
      openTemplate(source, `the chat template ${name} of model ${prepared.name}`),
    ]),
  );
  return succeed({
    name: prepared.name,
    encoder: encoder.value,
    idLimit: Math.max(encoder.value.vocabularySize, prepared.paddedVocabulary),
    templates: {
      model: prepared.name,
      byName,
      variables: prepared.variables,
      ofRequests: prepared.allowChatTemplate ? new RequestTemplates() : undefined,
      transformers: prepared.transformers,
    },
    contextLength: prepared.contextLength,
    engine: prepared.engine,
  });
}

/** Opens all models of a worker; the first that fails decides. `counters` are told what the encoders' caches find. */
export function openModels(prepared: readonly PreparedModel[], counters?: CacheCounters): Outcome<Models> {
  const models = new Map<string, Model>();
  for (const [index, one] of prepared.entries()) {
    const model = openModel(one, counters?.of(index));
    if (!model.ok) return model;
    models.set(one.name, model.value);
  }
  return succeed(models);
}
