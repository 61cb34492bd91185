import { type Outcome, succeed } from '../protocol/status.ts';
import { paddedVocabularyOf, readModelDirectory } from '../tokenizer/load.ts';
import { namedTokens } from '../tokenizer/named-tokens.ts';
import { overridesOf } from '../tokenizer/overrides.ts';
import { prepareEncoder } from '../tokenizer/prepared-encoder.ts';
import { specialTokensAround } from '../tokenizer/special-tokens.ts';
import type { ModelSpec, PreparedModel } from './model.ts';

/** Reads a model directory. Takes some hundred milliseconds: not for an event loop. */
export function prepareModel(spec: ModelSpec): Outcome<PreparedModel> {
  const read = readModelDirectory(spec.directory);
  if (!read.ok) return read;
  const { tokenizerConfig, modelConfig, chatTemplates } = read.value;
  const transformers = spec.transformers ?? 4;
  const settings = { tokenizerConfig, modelConfig, transformers };
  const overrides = overridesOf(read.value.tokenizer, settings);
  const around = specialTokensAround({ ...read.value.tokenizer, ...overrides }, settings);
  if (!around.ok) return around;
  const encoder = prepareEncoder(spec.encoder ?? 'compiled', read.value, overrides, around.value);
  if (!encoder.ok) return encoder;
  return succeed({
    name: spec.name,
    engine: spec.engine ?? 'vllm',
    contextLength: spec.contextLength || read.value.contextLength,
    encoder: encoder.value,
    paddedVocabulary: paddedVocabularyOf(modelConfig),
    chatTemplates,
    variables: namedTokens(settings),
    transformers,
    allowChatTemplate: spec.allowChatTemplate ?? false,
  });
}
