import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { parseBody } from '../../src/preprocess/body.ts';
import { readChat } from '../../src/preprocess/chat.ts';
import { renderChat } from '../../src/preprocess/prompt.ts';
import { openTemplate } from '../../src/preprocess/template.ts';
import type { Fault } from '../../src/protocol/status.ts';

type Templates = string | Readonly<Record<string, string>>;

/** The prompt of a chat body, or why there is none. */
function render(templates: Templates, body: object, variables = {}): string | Fault {
  const bySource = typeof templates === 'string' ? { default: templates } : templates;
  const byName = new Map(
    Object.entries(bySource).map(([name, source]) => [name, openTemplate(source, `template ${name}`)]),
  );
  const parsed = parseBody(Buffer.from(JSON.stringify(body)));
  assert.ok(parsed.ok);
  const chat = readChat(parsed.value);
  assert.ok(chat.ok, chat.ok ? '' : chat.fault.message);
  const rendered = renderChat({ model: 'm', byName, variables }, chat.value);
  return rendered.ok ? rendered.value.join('') : rendered.fault;
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

  test('that is not text is refused by the part', () => {
    for (const type of ['image_url', 'input_audio', 'video_url', 'file', 'image']) {
      const fault = {
        status: 'UNSUPPORTED',
        message: `messages[0].content[1] is a part of type ${type}, which is not supported`,
      };
      assert.deepEqual(render(DUMP, user(['a', { type }])), fault);
      assert.deepEqual(render(DUMP, user(['a', { [type]: 'x' }])), fault);
    }
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

  test('have tool call arguments as values', () => {
    const call = (args: unknown) => ({ id: '1', type: 'function', function: { name: 'f', arguments: args } });
    const calls = (...args: unknown[]) =>
      dump({ role: 'assistant', content: null, tool_calls: args.map(call) });
    const expected = (value: string) =>
      `[{"role": "assistant", "content": "", "tool_calls": [{"id": "1", "type": "function", "function": {"name": "f", "arguments": ${value}}}]}]`;
    assert.equal(calls('{"a": [1, "é"]}'), expected('{"a": [1, "é"]}'));
    assert.equal(calls({ a: 1 }), expected('{"a": 1}'));
    for (const none of ['', 'no JSON', null]) assert.equal(calls(none), expected('{}'));
    assert.equal(calls(), '[{"role": "assistant", "content": ""}]');
  });

  test('with tool calls of a wrong form are refused by path', () => {
    const message = { role: 'assistant', tool_calls: [{ id: '1' }] };
    assert.deepEqual(dump(message), {
      status: 'INVALID_REQUEST',
      message: 'messages[0].tool_calls[0].function must be an object',
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
      render(template, { ...body, chat_template_kwargs: { x: 'k' } }, { bos_token: '<s>' }),
      '<s>|True|True|True|k',
    );
    const documents = [{ title: 't', text: 'd' }];
    assert.equal(render('{{ documents[0].text }}', { ...body, documents }), 'd');
    assert.equal(
      render(
        '{{ bos_token }}',
        { ...body, chat_template_kwargs: { bos_token: 'own' } },
        { bos_token: '<s>' },
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
