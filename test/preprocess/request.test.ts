import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import fc from 'fast-check';
import { type ParsedRequest, readBody, readRequest } from '../../src/preprocess/request.ts';
import type { Kind } from '../../src/protocol/messages.ts';
import type { Outcome } from '../../src/protocol/status.ts';

const VOCABULARY = 100;

function parse(body: unknown, kind: Kind = 'auto'): Outcome<ParsedRequest> {
  const bytes =
    body instanceof Uint8Array ? body : Buffer.from(typeof body === 'string' ? body : JSON.stringify(body));
  const read = readBody(kind, bytes);
  return read.ok ? readRequest(kind, read.value, VOCABULARY) : read;
}

function accepted(body: unknown, kind?: Kind): ParsedRequest {
  const outcome = parse(body, kind);
  assert.ok(outcome.ok, outcome.ok ? '' : outcome.fault.message);
  return outcome.value;
}

function refuses(body: unknown, message: string | RegExp, kind?: Kind, status = 'INVALID_REQUEST'): void {
  const outcome = parse(body, kind);
  assert.ok(!outcome.ok, `accepted ${JSON.stringify(body)}`);
  assert.equal(outcome.fault.status, status);
  if (typeof message === 'string') assert.equal(outcome.fault.message, message);
  else assert.match(outcome.fault.message, message);
}

const HELLO = [{ role: 'user', content: 'Hello' }];

describe('the bytes', () => {
  test('must be UTF-8', () => {
    refuses(Uint8Array.of(0x7b, 0x22, 0xff, 0x22, 0x7d), 'the body: the document is not valid UTF-8');
    refuses(Uint8Array.of(0xed, 0xa0, 0x80), 'the body is not valid UTF-8', 'text');
    refuses(Uint8Array.of(0xc0, 0x80), 'the body is not valid UTF-8', 'text');
  });

  test('must be a JSON object, and are not quoted when they are not', () => {
    refuses('{"prompt": secret}', 'prompt: not JSON at byte 11');
    refuses('', 'the body: not JSON at byte 0');
    refuses('[1]', 'the body must be a JSON object');
    refuses('null', 'the body must be a JSON object');
    refuses('\ufeff{"prompt":"x"}', 'the body: not JSON at byte 0');
    refuses('{"prompt":"x"} trailing', 'the body: not JSON at byte 15');
  });

  test('must hold no lone surrogate escape, wherever it stands', () => {
    refuses('{"prompt":"\\ud83d"}', 'prompt: a string holds the escape of a lone surrogate');
    refuses('{"prompt":"\\udc00\\ud83d"}', 'prompt: a string holds the escape of a lone surrogate');
    refuses(
      '{"messages":[{"role":"user","content":[{"type":"text","text":"a\\uDC00"}]}]}',
      'messages[0].content[0].text: a string holds the escape of a lone surrogate',
    );
    refuses(
      '{"prompt":"x","metadata":{"\\ud800":1}}',
      'metadata["\ufffd"]: a string holds the escape of a lone surrogate',
    );
    refuses('{"prompt":"x","\\ud800":1}', '["\ufffd"]: a string holds the escape of a lone surrogate');
    assert.deepEqual(accepted('{"prompt":"\\ud83d\\ude00"}').source, { from: 'texts', texts: ['😀'] });
  });

  test('must not be nested without end', () => {
    const nested = (depth: number) => `{"prompt":"x","deep":${'['.repeat(depth)}${']'.repeat(depth)}}`;
    accepted(nested(127));
    const deep = /^deep(\[0\])+\.\.\.: arrays and objects are nested deeper than 128$/;
    refuses(nested(128), deep);
    refuses(nested(1_000_000), deep);
    refuses('['.repeat(1_000_000), /nested deeper than 128$/);
  });

  test('are the text itself for kind text', () => {
    assert.deepEqual(accepted('{"prompt": no JSON', 'text').source, {
      from: 'texts',
      texts: ['{"prompt": no JSON'],
    });
    assert.deepEqual(accepted('\ufeffx', 'text').source, { from: 'texts', texts: ['\ufeffx'] });
  });
});

describe('the kind', () => {
  test('is told by the field that is there', () => {
    assert.equal(accepted({ messages: HELLO }).kind, 'chat');
    assert.equal(accepted({ prompt: 'x' }).kind, 'completion');
    assert.equal(accepted({ input: 'x', prompt: null }).kind, 'embedding');
  });

  test('cannot be told from none or several', () => {
    refuses({ model: 'm' }, 'the body has none of messages, prompt and input: its kind cannot be told');
    refuses({ messages: HELLO, prompt: 'x' }, 'the body has messages and prompt: its kind cannot be told');
    refuses({ prompt: 'x', input: 'x' }, 'the body has prompt and input: its kind cannot be told');
  });

  test('that is given needs its field', () => {
    refuses({ prompt: 'x' }, 'messages is missing', 'chat');
    refuses({ messages: HELLO }, 'prompt is missing', 'completion');
    refuses({ prompt: null }, 'prompt is missing', 'completion');
    refuses({}, 'input is missing', 'embedding');
  });
});

for (const [kind, name] of [
  ['completion', 'prompt'],
  ['embedding', 'input'],
] as const) {
  describe(`${name} of a ${kind}`, () => {
    const source = (value: unknown) => accepted({ [name]: value }, kind).source;

    test('takes four shapes', () => {
      assert.deepEqual(source('x'), { from: 'texts', texts: ['x'] });
      assert.deepEqual(source(''), { from: 'texts', texts: [''] });
      assert.deepEqual(source(['x', '']), { from: 'texts', texts: ['x', ''] });
      assert.deepEqual(source([0, 99]), { from: 'ids', sequences: [Uint32Array.of(0, 99)] });
      assert.deepEqual(source([[1], [], [2, 3]]), {
        from: 'ids',
        sequences: [Uint32Array.of(1), new Uint32Array(0), Uint32Array.of(2, 3)],
      });
    });

    test('takes no others', () => {
      const shape = `${name} must be a string, or an array of strings, of token ids or of arrays of token ids`;
      for (const value of [7, true, {}, [true], [{}], [null]]) refuses({ [name]: value }, shape, kind);
      refuses({ [name]: [] }, `${name} must not be an empty array`, kind);
      refuses({ [name]: ['x', 1] }, `${name}[1] must be a string`, kind);
      refuses({ [name]: [[1], 2] }, `${name}[1] must be an array of token ids`, kind);
    });

    test('names the first id that is none', () => {
      const id = (where: string) => `${name}${where} must be a token id, an integer from 0 to 99`;
      for (const wrong of [100, -1, 1.5, '1', null, 2 ** 32]) {
        refuses({ [name]: [1, 2, 3, wrong] }, id('[3]'), kind);
        refuses({ [name]: [[1], [2, wrong]] }, id('[1][1]'), kind);
      }
    });
  });
}

describe('a chat', () => {
  test('has messages with roles', () => {
    refuses({ messages: 'x' }, 'messages must be an array');
    refuses({ messages: [] }, 'messages must hold at least one message');
    refuses({ messages: [...HELLO, 'x'] }, 'messages[1] must be an object');
    refuses({ messages: [{ content: 'x' }] }, 'messages[0].role must be a string');
    refuses({ messages: [{ role: 1 }] }, 'messages[0].role must be a string');
  });

  test('has fields of the right types', () => {
    const wrong = (others: object, message: string) => refuses({ messages: HELLO, ...others }, message);
    wrong({ tools: {} }, 'tools must be an array');
    wrong({ tools: [{ type: 'function' }] }, 'tools[0].function must be an object');
    wrong({ tools: [{ function: {} }] }, 'tools[0].function.name must be a string');
    wrong({ tools: [{ type: 'custom', function: { name: 'f' } }] }, 'tools[0].type must be "function"');
    wrong(
      { tools: [{ function: { name: 'f', parameters: 'x' } }] },
      'tools[0].function.parameters must be an object',
    );
    wrong(
      { tools: [{ function: { name: 'f', description: 1 } }] },
      'tools[0].function.description must be a string',
    );
    wrong({ documents: [1] }, 'documents[0] must be an object');
    wrong({ documents: [{ a: 'x' }, { b: 1 }] }, 'documents[1] must hold strings only');
    wrong({ chat_template: 1 }, 'chat_template must be a string');
    wrong(
      { chat_template_kwargs: { documents: [1] } },
      'chat_template_kwargs.documents[0] must be an object',
    );
    wrong(
      { chat_template_kwargs: { padding: true } },
      'chat_template_kwargs.padding is not a variable of the template',
    );
    wrong({ tool_choice: 1 }, 'tool_choice must be a string or an object');
    wrong({ chat_template_kwargs: [] }, 'chat_template_kwargs must be an object');
    wrong({ chat_template_args: 'x' }, 'chat_template_args must be an object');
    wrong(
      { chat_template_kwargs: { messages: [] } },
      'chat_template_kwargs.messages is not a variable of the template',
    );
    wrong({ add_generation_prompt: 1 }, 'add_generation_prompt must be a boolean');
    wrong(
      { continue_final_message: 'yes', add_generation_prompt: false },
      'continue_final_message must be a boolean',
    );
    wrong({ add_special_tokens: 0 }, 'add_special_tokens must be a boolean');
    wrong({ model: 1 }, 'model must be a string');
    wrong({ reasoning_effort: 3 }, 'reasoning_effort must be a string');
  });

  test('adds a generation prompt unless told not to, and never to a continued message', () => {
    const chat = (others: object) => {
      const { source } = accepted({ messages: HELLO, ...others });
      assert.ok(source.from === 'chat');
      return source.chat;
    };
    assert.equal(chat({}).addGenerationPrompt, true);
    assert.equal(chat({ add_generation_prompt: null }).addGenerationPrompt, true);
    assert.equal(chat({ add_generation_prompt: false }).addGenerationPrompt, false);
    assert.equal(
      chat({ add_generation_prompt: false, continue_final_message: true }).continueFinalMessage,
      true,
    );
    refuses({ messages: HELLO, continue_final_message: true }, /exclude each other/);
  });

  test('takes template variables under both names', () => {
    const { source } = accepted({
      messages: HELLO,
      chat_template_args: { a: 1, b: 1 },
      chat_template_kwargs: { b: 2 },
      reasoning_effort: 'low',
    });
    assert.ok(source.from === 'chat');
    assert.deepEqual(source.chat.kwargs, { a: 1, b: 2, reasoning_effort: 'low', enable_thinking: true });
  });

  test('takes reasoning_effort as vLLM does: a variable, and thinking on or off unless a variable says', () => {
    const kwargs = (others: object) => {
      const { source } = accepted({ messages: HELLO, ...others });
      assert.ok(source.from === 'chat');
      return source.chat.kwargs;
    };
    const told = { chat_template_kwargs: { enable_thinking: true, reasoning_effort: 'low' } };
    assert.deepEqual(kwargs({ reasoning_effort: 'none' }), {
      reasoning_effort: 'none',
      enable_thinking: false,
    });
    assert.deepEqual(kwargs({ reasoning_effort: 'high' }), {
      reasoning_effort: 'high',
      enable_thinking: true,
    });
    assert.deepEqual(kwargs({ reasoning_effort: 'none', ...told }), {
      reasoning_effort: 'none',
      enable_thinking: true,
    });
    assert.deepEqual(kwargs(told), told.chat_template_kwargs);
  });

  test('takes no variable for an argument: continue_final_message is the request’s own', () => {
    const body =
      '{"messages": [{"role": "user"}], "chat_template_kwargs": {"continue_final_message": true, "__proto__": {"a": 1}, "b": 2}}';
    const { source } = accepted(body);
    assert.ok(source.from === 'chat');
    assert.equal(source.chat.continueFinalMessage, false);
    assert.deepEqual(Object.keys(source.chat.kwargs), ['__proto__', 'b']);
    assert.equal('a' in source.chat.kwargs, false);
  });

  test('hands tools on in the order and with the nulls that vLLM gives them', () => {
    const { source } = accepted({
      messages: HELLO,
      tools: [{ function: { strict: true, parameters: { z: 1, a: 2 }, name: 'f' }, type: 'function', x: 0 }],
    });
    assert.ok(source.from === 'chat');
    assert.equal(
      JSON.stringify(source.chat.tools),
      '[{"type":"function","function":{"name":"f","description":null,"parameters":{"z":1,"a":2},"strict":true},"x":0}]',
    );
  });
});

describe('nvext', () => {
  test('token_data is the answer, whatever else the body holds', () => {
    const { precomputed } = accepted({ messages: HELLO, nvext: { token_data: [1, 2] } });
    assert.deepEqual(precomputed, Uint32Array.of(1, 2));
    assert.deepEqual(accepted({ nvext: { token_data: [] } }).precomputed, new Uint32Array(0));
    refuses(
      { messages: HELLO, nvext: { token_data: [1, 100] } },
      'nvext.token_data[1] must be a token id, an integer from 0 to 99',
    );
    refuses(
      { messages: HELLO, nvext: { token_data: 'x' } },
      'nvext.token_data must be an array of token ids',
    );
  });

  test('backend_instance_id without token_data is a warning', () => {
    const body = { messages: HELLO, nvext: { backend_instance_id: 7 } };
    assert.deepEqual(accepted(body).warnings, [
      'nvext.backend_instance_id without nvext.token_data; the prompt was tokenized',
    ]);
    const both = { messages: HELLO, nvext: { backend_instance_id: 7, token_data: [1] } };
    assert.deepEqual(accepted(both).warnings, []);
  });

  test('use_raw_prompt takes the prompt beside the messages in place of the template', () => {
    const nvext = { use_raw_prompt: true };
    const raw = accepted({ messages: HELLO, prompt: 'raw', nvext });
    assert.equal(raw.kind, 'chat');
    assert.deepEqual(raw.source, { from: 'texts', texts: ['raw'] });
    const none = accepted({ messages: HELLO, nvext });
    assert.equal(none.source.from, 'chat');
    assert.deepEqual(none.warnings, ['nvext.use_raw_prompt without a prompt; the chat template was applied']);
    assert.deepEqual(accepted({ prompt: 'x', nvext }).source, { from: 'texts', texts: ['x'] });
  });

  test('annotations are those that are known', () => {
    const annotations = ['token_ids', 'llm_metrics', 'formatted_prompt'];
    assert.deepEqual(accepted({ prompt: 'x', nvext: { annotations } }).annotations, [
      'formatted_prompt',
      'token_ids',
    ]);
    refuses({ prompt: 'x', nvext: { annotations: 'x' } }, 'nvext.annotations must be an array of strings');
    refuses({ prompt: 'x', nvext: [] }, 'nvext must be an object');
    refuses({ prompt: 'x', nvext: { use_raw_prompt: 'x' } }, 'nvext.use_raw_prompt must be a boolean');
  });
});

test('fields that would change the prompt unseen are refused by name', () => {
  for (const name of ['prompt_embeds', 'truncate_prompt_tokens', 'suffix']) {
    refuses({ prompt: 'x', [name]: 'y' }, `${name} is not supported`, 'auto', 'UNSUPPORTED');
    accepted({ prompt: 'x', [name]: null });
  }
});

test('no body makes it throw, and no refusal quotes a string of the body', () => {
  const anything = fc.jsonValue({ maxDepth: 4 });
  const names = fc.constantFrom(
    'messages',
    'prompt',
    'input',
    'nvext',
    'tools',
    'chat_template_kwargs',
    'model',
  );
  const body = fc.dictionary(names, anything, { maxKeys: 4 });
  fc.assert(
    fc.property(body, (value) => {
      const outcome = parse(value);
      if (outcome.ok) return;
      assert.ok(['INVALID_REQUEST', 'UNSUPPORTED'].includes(outcome.fault.status));
      assert.match(outcome.fault.message, /^[\w .,:"[\]()]+$/);
    }),
    { numRuns: 2000 },
  );
});
