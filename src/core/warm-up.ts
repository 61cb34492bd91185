import type { Kind, Request } from '../protocol/messages.ts';
import { warmUp as warmUpEncoder } from '../tokenizer/engine/index.ts';
import type { Models } from './model.ts';
import { serve } from './serve.ts';

const utf8 = new TextEncoder();
/** For the encoder alone. Twice as long makes the first prompts no faster. */
const ENCODER_MS = 75;
/** So many times the way of a request is gone then: without, the first one takes 2 ms and more, with it 0.4 ms. */
const ROUNDS = 15;

const SAMPLE = 'Warm up: 1, 2, 3, dix, elf, "двенадцать", 十三.\n';
const MESSAGES = [
  { role: 'system', content: SAMPLE },
  { role: 'user', content: [{ type: 'text', text: SAMPLE }] },
  { role: 'assistant', content: SAMPLE },
  { role: 'user', content: SAMPLE.repeat(8) },
];
const BODIES: readonly (readonly [Kind, object])[] = [
  ['chat', { model: '', messages: MESSAGES, temperature: 0.7, stream: true }],
  ['auto', { messages: MESSAGES.slice(-1), max_tokens: 100, add_generation_prompt: true }],
  ['completion', { prompt: SAMPLE.repeat(2), n: 1 }],
];

/**
 * Goes the whole way of a request with each model, from its bytes to ids, until it is compiled: without it the first requests
 * of a worker take twenty times as long as later ones. What a model refuses, such as a chat without a template, it refuses.
 */
export function warmUp(models: Models): void {
  for (const { name, encoder } of models.values()) {
    warmUpEncoder(encoder, ENCODER_MS);
    const requests = BODIES.map(([kind, body]): Request => {
      const bytes = utf8.encode(JSON.stringify(body));
      return { operation: 'tokenize', kind, flags: 0, model: name, body: bytes };
    });
    for (let round = 0; round < ROUNDS; round++) for (const request of requests) serve(request, models, 0);
  }
}
