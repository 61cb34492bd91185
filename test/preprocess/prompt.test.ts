import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { parseBody } from '../../src/preprocess/body.ts';
import { readChat } from '../../src/preprocess/chat.ts';
import type { JsonValue } from '../../src/preprocess/json/value.ts';
import { type RenderedPrompt, renderChat } from '../../src/preprocess/prompt.ts';
import { RequestTemplates } from '../../src/preprocess/request-templates.ts';
import { openTemplate } from '../../src/preprocess/template.ts';
import type { Fault, Outcome } from '../../src/protocol/status.ts';

type Templates = string | Readonly<Record<string, string>>;

interface Operator {
  /** Variables of the template besides the request. */
  variables?: Record<string, JsonValue>;
  allowChatTemplate?: boolean;
  transformers?: 4 | 5;
}

/** The prompt of a chat body and its warnings, or why there is none. */
function renderWhole(
  templates: Templates,
  body: object | string,
  operator: Operator = {},
): Outcome<RenderedPrompt> {
  const bySource = typeof templates === 'string' ? { default: templates } : templates;
  const byName = new Map(
    Object.entries(bySource).map(([name, source]) => [name, openTemplate(source, `template ${name}`)]),
  );
  const parsed = parseBody(Buffer.from(typeof body === 'string' ? body : JSON.stringify(body)));
  assert.ok(parsed.ok);
  const chat = readChat(parsed.value);
  if (!chat.ok) return chat;
  const ofRequests = operator.allowChatTemplate ? new RequestTemplates() : undefined;
  const { variables = {}, transformers = 4 } = operator;
  return renderChat({ model: 'm', byName, variables, ofRequests, transformers }, chat.value);
}

/** The prompt of a chat body, or why there is none. */
function render(templates: Templates, body: object | string, operator?: Operator): string | Fault {
  const rendered = renderWhole(templates, body, operator);
  return rendered.ok ? rendered.value.pieces.join('') : rendered.fault;
}

const user = (content: unknown) => ({ messages: [{ role: 'user', content }] });
const DUMP = '{{ messages | tojson }}';
const LOOP =
  "{% for message in messages %}{% for part in message['content'] %}[{{ part.type }}:{{ part.text }}]{% endfor %}{% endfor %}";

describe('content', () => {
  const parts = [
    { type: 'text', text: 'a' },
    'b',
    { type: 'input_text', text: 'c' },
    { type: 'refusal', refusal: 'd' },
  ];

  test('is one string for most templates, its parts on lines of their own', () => {
    assert.equal(render('{{ messages[0].content }}', user(parts)), 'a\nb\nc\nd');
    assert.equal(render('{{ messages[0].content }}', user('x')), 'x');
    assert.equal(render('[{{ messages[0].content }}]', user(null)), '[]');
    assert.equal(render('[{{ messages[0].content }}]', { messages: [{ role: 'user' }] }), '[]');
  });

  test('is a list of parts for a template that loops over it', () => {
    assert.equal(render(LOOP, user(parts)), '[text:a][text:b][text:c][text:d]');
    assert.equal(render(LOOP, user('x')), '[text:x]');
    assert.equal(render(LOOP, user(null)), '');
  });

  for (const [how, template] of [
    ['attribute', '{% for m in messages %}{% for c in m.content %}{{ c.text }}{% endfor %}{% endfor %}'],
    ['slice', "{% for m in messages[0:] %}{% for c in m['content'] %}{{ c.text }}{% endfor %}{% endfor %}"],
    [
      'alias',
      '{% set all = messages %}{% for m in all %}{% for c in m.content %}{{ c.text }}{% endfor %}{% endfor %}',
    ],
    ['filter', '{% for m in messages %}{% for c in m.content | list %}{{ c.text }}{% endfor %}{% endfor %}'],
  ] as const) {
    test(`a loop over it by ${how} is seen`, () => assert.equal(render(template, user(['x', 'y'])), 'xy'));
  }

  test('a loop over a variable that holds it is not seen, as vLLM does not: content is a string', () => {
    const template =
      '{% for m in messages %}{% set p = m.content %}{% for c in p %}[{{ c }}]{% endfor %}{% endfor %}';
    assert.equal(render(template, user(['x', 'y'])), '[x][\n][y]');
  });

  test('of a tool is a string for every template', () => {
    const body = { messages: [{ role: 'tool', content: ['x', 'y'], tool_call_id: '1' }] };
    const template =
      "{% for m in messages %}{% if m.role == 'tool' %}{{ m | tojson }}{% else %}" +
      '{% for c in m.content %}{{ c.text }}{% endfor %}{% endif %}{% endfor %}';
    assert.equal(render(template, body), '{"role": "tool", "content": "x\\ny", "tool_call_id": "1"}');
  });

  test('keeps the fields of a part that its type does not declare, for the template', () => {
    const dumps = LOOP.replace('{{ part.text }}', '{{ part | tojson }}');
    const text = '{"b": 1.0, "10": 2, "text": "x", "uuid": "1", "type": "text", "9": 3}';
    assert.equal(
      render(dumps, `{"messages": [{"role": "user", "content": [${text}]}]}`),
      '[text:{"type": "text", "text": "x", "b": 1.0, "10": 2, "9": 3}]',
    );
  });

  test('of a wrong form is refused by its path', () => {
    const refused = (content: unknown, message: string) =>
      assert.deepEqual(render(DUMP, user(content)), { status: 'INVALID_REQUEST', message });
    refused(7, 'messages[0].content must be a string or an array of parts');
    refused([7], 'messages[0].content[0] must be a string or an object');
    refused([{}], 'messages[0].content[0].type must be a string');
    refused([{ type: 'secret' }], 'messages[0].content[0].type is not a known type of part');
    refused([{ type: 'constructor' }], 'messages[0].content[0].type is not a known type of part');
    refused([{ type: 'text', text: 1 }], 'messages[0].content[0].text must be a string');
  });
});

describe('images, audio and video', () => {
  const PLACEHOLDERS =
    "{% for m in messages %}{% for p in m.content %}{% if p.type == 'text' %}{{ p.text }}" +
    "{% elif p.type == 'image' %}<image>{% elif p.type == 'video' %}<video>{% endif %}{% endfor %}{% endfor %}";
  const image = { type: 'image_url', image_url: { url: 'data:,' } };
  const video = { type: 'video_url', video_url: { url: 'data:,' } };
  const audio = { type: 'input_audio', input_audio: { data: '', format: 'wav' } };
  const unsupported = (index: number, type: string, why: string) => ({
    status: 'UNSUPPORTED',
    message: `messages[0].content[${index}] is a part of type ${type}, and the chat template ${why}`,
  });

  test('are rendered where the template has a placeholder, and a warning says that the engine expands it', () => {
    assert.deepEqual(renderWhole(PLACEHOLDERS, user(['a', image, 'b', video, image])), {
      ok: true,
      value: {
        pieces: ['a', '<image>', 'b', '<video>', '<image>'],
        warnings: [
          'the engine expands the placeholder of each image and video part, so ids from the first on may differ in number',
        ],
      },
    });
    const texts = renderWhole(PLACEHOLDERS, user(['a']));
    assert.deepEqual(texts.ok && texts.value.warnings, []);
  });

  test('are told by type, or by their field where there is none', () => {
    const dumps = LOOP.replace('{{ part.text }}', '{{ part | tojson }}');
    for (const [modality, type, name = type] of [
      ['image', 'image_url'],
      ['image', 'input_image', 'image_url'],
      ['image', 'image_embeds'],
      ['audio', 'audio_url'],
      ['audio', 'input_audio'],
      ['audio', 'audio_embeds'],
      ['video', 'video_url'],
    ] as const) {
      const expected = `[${modality}:{"type": "${modality}"}]`;
      assert.equal(render(dumps, user([{ type, [name]: 'x', uuid: 'u' }])), expected);
      assert.equal(render(dumps, user([{ [name]: 'x' }])), expected);
    }
  });

  test('are refused by the part where the template renders nothing for it', () => {
    const nothing = 'renders nothing for it';
    assert.deepEqual(render(PLACEHOLDERS, user(['a', audio])), unsupported(1, 'input_audio', nothing));
    assert.deepEqual(
      render(PLACEHOLDERS, user([image, audio, audio])),
      unsupported(1, 'input_audio', nothing),
    );
  });

  test('are refused by the part where content is text: where a placeholder goes is known to the engine alone', () => {
    for (const part of [image, video, audio]) {
      assert.deepEqual(
        render('{{ messages[0].content }}', user(['a', part])),
        unsupported(1, part.type, 'takes content as text'),
      );
    }
  });

  test('that vLLM does not take are refused by the part', () => {
    for (const type of ['file', 'image', 'audio', 'video', 'image_pil', 'prompt_embeds', 'tool_reference']) {
      const fault = {
        status: 'UNSUPPORTED',
        message: `messages[0].content[1] is a part of type ${type}, which is not supported`,
      };
      assert.deepEqual(render(PLACEHOLDERS, user(['a', { type }])), fault);
      assert.deepEqual(render(PLACEHOLDERS, user(['a', { [type]: 'x' }])), fault);
    }
  });

  test('keep the content of a tool a list', () => {
    const body = { messages: [{ role: 'tool', content: ['x', image], tool_call_id: '1' }] };
    assert.equal(render(PLACEHOLDERS, body), 'x<image>');
  });

  test('may stand before the text that is continued, and after it are cut off', () => {
    const body = {
      messages: [{ role: 'assistant', content: ['a', image] }],
      add_generation_prompt: false,
      continue_final_message: true,
    };
    assert.deepEqual(render(PLACEHOLDERS, body), unsupported(1, 'image_url', 'renders nothing for it'));
    assert.equal(
      render(PLACEHOLDERS, { ...body, messages: [{ role: 'assistant', content: [image, 'a'] }] }),
      '<image>a',
    );
  });
});

describe('messages', () => {
  const dump = (message: object) => render(DUMP, { messages: [message] });

  test('carry the fields that vLLM passes on, and no others', () => {
    assert.equal(
      dump({ name: 'n', refusal: null, other: 1, content: 'x', role: 'user', tool_calls: [1] }),
      '[{"role": "user", "content": "x", "name": "n"}]',
    );
    assert.equal(
      dump({ role: 'assistant', content: 'x', reasoning_content: 'r' }),
      '[{"role": "assistant", "content": "x", "reasoning": "r", "reasoning_content": "r"}]',
    );
  });

  test('have reasoning under a third name and in front, and no nulls, where transformers is of version 5', () => {
    const message = { role: 'assistant', content: 'x', reasoning: 'r', reasoning_content: 'other' };
    assert.equal(
      render(DUMP, { messages: [message] }, { transformers: 5 }),
      '[{"thinking": "r", "role": "assistant", "content": "x", "reasoning": "r", "reasoning_content": "r"}]',
    );
    const developer = { messages: [{ role: 'developer', content: 'x' }] };
    assert.equal(render(DUMP, developer, { transformers: 5 }), '[{"role": "developer", "content": "x"}]');
    const without = '[{"role": "assistant", "content": "x"}]';
    assert.equal(
      render(DUMP, { messages: [{ role: 'assistant', content: 'x' }] }, { transformers: 5 }),
      without,
    );
  });

  test('of a developer have tools, of a tool the id of the call, null where it is null', () => {
    assert.equal(
      dump({ role: 'developer', content: 'x' }),
      '[{"role": "developer", "content": "x", "tools": null}]',
    );
    assert.equal(
      dump({ role: 'tool', content: 'x', tool_call_id: null }),
      '[{"role": "tool", "content": "x", "tool_call_id": null}]',
    );
    assert.equal(dump({ role: 'tool', content: 'x' }), '[{"role": "tool", "content": "x"}]');
  });

  test('have tool calls in the order of vLLM’s request types, what these do not declare at the end', () => {
    const call = {
      index: 0,
      type: 'function',
      id: 'c',
      function: { x: 1, name: 'f', arguments: '{"b": 1.0}' },
    };
    assert.equal(
      dump({ role: 'assistant', content: null, tool_calls: [call] }),
      '[{"role": "assistant", "content": "", "tool_calls": [{"id": "c", "function": ' +
        '{"arguments": {"b": 1.0}, "name": "f", "x": 1}, "type": "function", "index": 0}]}]',
    );
  });

  test('have tool call arguments as values', () => {
    const call = (args: unknown) => ({ id: '1', type: 'function', function: { name: 'f', arguments: args } });
    const calls = (...args: unknown[]) =>
      dump({ role: 'assistant', content: null, tool_calls: args.map(call) });
    const expected = (value: string) =>
      `[{"role": "assistant", "content": "", "tool_calls": [{"id": "1", "function": {"arguments": ${value}, "name": "f"}, "type": "function"}]}]`;
    assert.equal(calls('{"a": [1, "é"]}'), expected('{"a": [1, "é"]}'));
    assert.equal(calls({ a: 1 }), expected('{"a": 1}'));
    for (const none of ['', 'no JSON', null, 'null', '[1]', '"x"', '7', [1], 7])
      assert.equal(calls(none), expected('{}'));
    assert.equal(calls(), '[{"role": "assistant", "content": ""}]');
  });

  test('with tool calls of a wrong form are refused by path', () => {
    const message = { role: 'assistant', tool_calls: [{ id: '1' }] };
    assert.deepEqual(dump(message), {
      status: 'INVALID_REQUEST',
      message: 'messages[0].tool_calls[0].function must be an object',
    });
    assert.deepEqual(dump({ role: 'assistant', tool_calls: [{ type: 'custom', function: {} }] }), {
      status: 'INVALID_REQUEST',
      message: 'messages[0].tool_calls[0].type must be "function"',
    });
    assert.deepEqual(dump({ role: 'assistant', tool_calls: 'x' }), {
      status: 'INVALID_REQUEST',
      message: 'messages[0].tool_calls must be an array',
    });
  });
});

describe('the template', () => {
  const body = user('x');
  const tools = [{ type: 'function', function: { name: 'f' } }];

  test('is tool_use for requests with tools, where there is one', () => {
    const named = { default: 'd', tool_use: 't' };
    assert.equal(render(named, body), 'd');
    assert.equal(render(named, { ...body, tools }), 't');
    assert.equal(render('d', { ...body, tools }), 'd');
  });

  test('that is missing is named', () => {
    assert.deepEqual(render({}, body), {
      status: 'UNSUPPORTED',
      message: 'model m has no chat template, so it takes no chat requests',
    });
    assert.deepEqual(render({ rag: 'r', tool_use: 't' }, body), {
      status: 'UNSUPPORTED',
      message: 'model m has chat templates (rag, tool_use), but none named default',
    });
  });

  test('is the one of the request where the operator allows it, and refused where not', () => {
    const asking = (chat_template: string) => ({ ...body, tools, chat_template });
    const allowed = { allowChatTemplate: true };
    assert.equal(render('d', asking('{{ messages[0].content }}!'), allowed), 'x!');
    assert.equal(render({}, asking(LOOP), allowed), '[text:x]');
    assert.equal(render('d', asking(''), allowed), 'd');
    assert.equal(render('d', asking('')), 'd');
    assert.deepEqual(render('d', asking('x')), {
      status: 'UNSUPPORTED',
      message: 'chat_template is not allowed here: the option allowChatTemplate is off',
    });
    assert.deepEqual(render('d', asking('{% if %}'), allowed), {
      status: 'UNSUPPORTED',
      message:
        "the chat_template of the request cannot be compiled: line 1: expected an expression, found '%}'",
    });
    assert.deepEqual(render('d', asking("{{ raise_exception('no') }}"), allowed), {
      status: 'INVALID_REQUEST',
      message: 'the chat_template of the request refused the request: no',
    });
  });

  test('of several may be asked for by name, and gets content as text then', () => {
    const named = {
      default: 'd',
      rag: 'r{% for m in messages %}{% for p in m.content %}[{{ p }}]{% endfor %}{% endfor %}',
    };
    const allowed = { allowChatTemplate: true };
    assert.equal(render(named, { ...user(['x']), chat_template: 'rag' }, allowed), 'r[x]');
    assert.equal(render(named, { ...body, chat_template: 'none' }, allowed), 'none');
    assert.equal(render('d', { ...body, chat_template: 'default' }, allowed), 'default');
    assert.deepEqual(render(named, { ...body, chat_template: 'rag' }), {
      status: 'UNSUPPORTED',
      message: 'chat_template is not allowed here: the option allowChatTemplate is off',
    });
  });

  test('that cannot be compiled is named', () => {
    const fault = render('{% if %}', body) as Fault;
    assert.equal(fault.status, 'UNSUPPORTED');
    assert.match(fault.message, /^template default cannot be compiled: /);
  });

  test('that raises is quoted', () => {
    assert.deepEqual(render("{{ raise_exception('roles must alternate') }}", body), {
      status: 'INVALID_REQUEST',
      message: 'template default refused the request: roles must alternate',
    });
  });

  test('sees special tokens, the arguments of the request, and null for those that it has not', () => {
    const template =
      '{{ bos_token }}|{{ tools is none }}|{{ documents is none }}|{{ add_generation_prompt }}|{{ x }}';
    assert.equal(
      render(template, { ...body, chat_template_kwargs: { x: 'k' } }, { variables: { bos_token: '<s>' } }),
      '<s>|True|True|True|k',
    );
    const documents = [{ title: 't', text: 'd' }];
    assert.equal(render('{{ documents[0].text }}', { ...body, documents }), 'd');
    assert.equal(
      render(
        '{{ bos_token }}',
        { ...body, chat_template_kwargs: { bos_token: 'own' } },
        { variables: { bos_token: '<s>' } },
      ),
      'own',
    );
  });

  test('prints JSON as Python does', () => {
    const parameters = {
      type: 'object',
      properties: { größe: { type: 'number', enum: [1, null, true, []] } },
    };
    assert.equal(
      render('{{ tools[0] | tojson }}', { ...body, tools: [{ function: { name: 'f', parameters } }] }),
      '{"type": "function", "function": {"name": "f", "description": null, "parameters": ' +
        '{"type": "object", "properties": {"größe": {"type": "number", "enum": [1, null, true, []]}}}}}',
    );
  });
});

describe('continue_final_message', () => {
  const PLAIN = '{% for m in messages %}<{{ m.role }}>{{ m.content }}</>{% endfor %}';
  const TRIM = '{% for m in messages %}<{{ m.role }}>{{ m.content | trim }}</>{% endfor %}';
  const body = (content: unknown) => ({
    messages: [
      { role: 'user', content: 'q' },
      { role: 'assistant', content },
    ],
    add_generation_prompt: false,
    continue_final_message: true,
  });

  test('ends the prompt where the final message ends', () => {
    assert.equal(render(PLAIN, body('It is ')), '<user>q</><assistant>It is ');
    assert.equal(render(PLAIN, body('')), '<user>q</><assistant>');
  });

  test('leaves no space that the template trimmed', () => {
    assert.equal(render(TRIM, body('It is \n ')), '<user>q</><assistant>It is');
  });

  test('continues the last text of a list of parts', () => {
    assert.equal(render(LOOP, body(['a', 'b'])), '[text:q][text:a][text:b');
  });

  test('is refused where there is nothing to continue', () => {
    assert.deepEqual(render(LOOP, body([])), {
      status: 'INVALID_REQUEST',
      message: 'messages[1] has no text that continue_final_message could continue',
    });
    assert.deepEqual(render('{{ messages[0].content }}', body('x')), {
      status: 'INVALID_REQUEST',
      message: 'messages[1] does not appear in the prompt, so it cannot be continued',
    });
  });
});
