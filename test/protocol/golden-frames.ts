import type { RequestFrame } from '../../src/protocol/frame-layout.ts';
import { failure, type Response } from '../../src/protocol/messages.ts';

const utf8 = (text: string) => new TextEncoder().encode(text);

/** The messages whose frames lie in native-test/golden, read by the C tests as well. `npm run golden` writes them. */
export const GOLDEN_REQUESTS: Readonly<Record<string, RequestFrame>> = {
  'request-chat': {
    callId: 0x1122334455667788n,
    timeoutMs: 1500,
    request: {
      operation: 'tokenize',
      kind: 'chat',
      flags: 1,
      model: 'qwen3',
      body: utf8('{"messages":[{"role":"user","content":"grüß dich 👋"}]}'),
    },
  },
  'request-empty-text': {
    callId: 0n,
    timeoutMs: 30_000,
    request: { operation: 'tokenize', kind: 'text', flags: 4, model: '', body: new Uint8Array(0) },
  },
  'request-detokenize': {
    callId: 7n,
    timeoutMs: 250,
    request: { operation: 'detokenize', flags: 8, model: '', ids: Uint32Array.of(0, 1, 151_643, 0xffffffff) },
  },
  'request-stats': { callId: 0n, timeoutMs: 1000, request: { operation: 'stats' } },
  'request-ready': { callId: 0n, timeoutMs: 1, request: { operation: 'ready' } },
};

export const GOLDEN_RESPONSES: Readonly<Record<string, { callId: bigint; response: Response }>> = {
  'response-batch': {
    callId: 0x1122334455667788n,
    response: {
      status: 'OK',
      message: '',
      model: 'qwen3',
      provenance: 'tokenized',
      worker: 2,
      ids: Uint32Array.of(9707, 11, 1879, 0, 151_645),
      counts: [2, 0, 3],
      timings: { queue: 12, parse: 34, template: 56, encode: 78, total: 180 },
      prompt: '<|im_start|>user\nHi\u0000<|im_end|>\n',
      annotations: '{"token_ids":[9707,11]}',
      warnings: ['first', 'second'],
    },
  },
  'response-no-tokens': {
    callId: 1n,
    response: { ...failure('OK', ''), model: 'm', provenance: 'tokenized', worker: 1, counts: [0] },
  },
  'response-failure': { callId: 3n, response: failure('CONTEXT_TOO_LONG', '5000 ids, the context is 4096') },
  'response-text': { callId: 4n, response: { ...failure('OK', ''), worker: 1, text: 'naïve 文字' } },
};
