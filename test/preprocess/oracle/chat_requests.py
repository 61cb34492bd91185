"""Bodies of whole chat requests, as JSON text: number literals and the order of keys are part of what is tested."""

TOOL = """{"function": {"parameters": {"type": "object", "properties": {"city": {"type": "string", "description": "Ville — \\"name\\""},
 "10": {"type": "number", "maximum": 1e2, "minimum": -1.0}, "9": {"enum": [1, 1.0, 12345678901234567890, null, true]}},
 "required": ["city"]}, "name": "get_weather", "strict": true, "description": "Weather <of> a city & more"}, "type": "function"}"""
BARE_TOOL = '{"type": "function", "function": {"name": "now"}}'
ARGUMENTS = r'"{\"city\": \"Zürich\", \"days\": 3.0, \"10\": 1e2, \"9\": [1, 2.50], \"big\": 12345678901234567890}"'


def call(arguments, tail=""):
    return (
        '{"type": "function", "index": 0, "function": {"name": "get_weather", "arguments": %s}, "id": "call00001"%s}'
        % (arguments, tail)
    )


USER = '{"role": "user", "content": "What is the weather?"}'


def called(arguments, content="null", more=""):
    return f'{{"content": {content}, "tool_calls": [{call(arguments)}], "role": "assistant"{more}}}'


def body(messages, *fields):
    return '{"model": "m", "temperature": 1.0, "messages": [' + ", ".join(messages) + "]" + "".join(
        f", {field}" for field in fields
    ) + ', "stream": true, "logit_bias": {"10": 1.0, "9": -1}}'


RESULT = '{"tool_call_id": "call00001", "role": "tool", "content": "{\\"temperature\\": 21.50}"}'
OPEN = ('"add_generation_prompt": false', '"continue_final_message": true')

REQUESTS = {
    "one user": body([USER]),
    "system, several turns, unicode": body(
        [
            '{"role": "system", "content": " Réponds — « bref » 🙏🏽 \\n"}',
            '{"role": "user", "content": "日本語 \\ud83d\\udc68\\u200d\\ud83d\\udc69 e\\u0301\\t</s>"}',
            '{"role": "assistant", "content": "\\n answer \\r\\n"}',
            '{"role": "user", "content": "<|im_end|> <bos> [INST]"}',
        ]
    ),
    "parts": body(
        [
            '{"role": "system", "content": [{"type": "text", "text": "You are brief."}]}',
            '{"role": "user", "content": [{"type": "text", "text": "first "}, {"text": "second", "type": "text"}]}',
        ]
    ),
    "an assistant's parts, a refusal among them": body(
        [
            USER,
            '{"role": "assistant", "content": [{"type": "text", "text": "No."}, {"type": "refusal", "refusal": "I will not."}]}',
            USER,
        ]
    ),
    "no generation prompt": body([USER], '"add_generation_prompt": false'),
    "tools": body([USER], f'"tools": [{TOOL}, {BARE_TOOL}]', '"tool_choice": "auto"'),
    "tools and a system message": body(['{"role": "system", "content": "Sys."}', USER], f'"tools": [{TOOL}]'),
    "tools not to be chosen": body([USER], f'"tools": [{TOOL}]', '"tool_choice": "none"'),
    "a call and its result": body([USER, called(ARGUMENTS), RESULT], f'"tools": [{TOOL}]'),
    "a call without tools": body([USER, called(ARGUMENTS), RESULT, '{"role": "assistant", "content": "21.5."}', USER]),
    "a call with content": body([USER, called(ARGUMENTS, '"Let me look."'), RESULT], f'"tools": [{TOOL}]'),
    "arguments that are no JSON": body([USER, called(r'"{\"city\": "'), RESULT]),
    "arguments that are no object": body([USER, called('"[1]"'), RESULT]),
    "arguments that are empty": body([USER, called('""'), RESULT]),
    "no calls": body([USER, '{"role": "assistant", "content": "Hm.", "tool_calls": []}', USER]),
    "a result in parts": body(
        [
            USER,
            called(ARGUMENTS),
            '{"role": "tool", "tool_call_id": "call00001", "content": [{"type": "text", "text": "a"}, {"type": "text", "text": "b"}]}',
        ],
        f'"tools": [{TOOL}]',
    ),
    "reasoning_content": body(
        [USER, '{"role": "assistant", "content": "Sunny.", "reasoning_content": "It is\\nsummer."}', USER]
    ),
    "reasoning, over reasoning_content": body(
        [
            USER,
            '{"role": "assistant", "content": "Sunny.", "reasoning_content": "old", "reasoning": "It is summer."}',
            USER,
            '{"role": "assistant", "content": "Rain.", "reasoning_content": null, "reasoning": "Autumn."}',
        ],
        '"add_generation_prompt": false',
    ),
    "reasoning before a call": body(
        [USER, called(ARGUMENTS, more=', "reasoning_content": "Look it up."'), RESULT], f'"tools": [{TOOL}]'
    ),
    "thinking within the content": body(
        [USER, '{"role": "assistant", "content": "<think>\\nhm\\n</think>\\n\\nSunny."}', USER]
    ),
    "no thinking": body([USER], '"chat_template_kwargs": {"enable_thinking": false}'),
    "thinking by kwargs": body([USER], '"chat_template_kwargs": {"enable_thinking": true, "thinking": true, "x": 1.0}'),
    "no thinking by effort": body([USER], '"reasoning_effort": "none"'),
    "high effort": body([USER], '"reasoning_effort": "high"'),
    "effort, and thinking by kwargs": body(
        [USER], '"reasoning_effort": "none"', '"chat_template_kwargs": {"enable_thinking": true, "reasoning_effort": "low"}'
    ),
    "special tokens by kwargs": body([USER], '"chat_template_kwargs": {"bos_token": "<own>", "add_generation_prompt": false}'),
    "documents": body([USER], '"documents": [{"title": "T", "text": "D — d", "10": "x"}]'),
    "continued": body([USER, '{"role": "assistant", "content": "It is "}'], *OPEN),
    "continued, ends with space": body([USER, '{"role": "assistant", "content": "It is \\n\\n"}'], *OPEN),
    "continued, empty": body([USER, '{"role": "assistant", "content": ""}'], *OPEN),
    "continued, in parts": body(
        [USER, '{"role": "assistant", "content": [{"type": "text", "text": "It"}, {"type": "text", "text": "is"}]}'], *OPEN
    ),
    "continued, with reasoning": body(
        [USER, '{"role": "assistant", "content": "It is", "reasoning_content": "Hm."}'], *OPEN
    ),
    "continued, a user's": body([USER], *OPEN),
    "no content": body([USER, '{"role": "assistant"}', USER]),
    "null content": body([USER, '{"role": "assistant", "content": null, "refusal": null}', USER]),
    "empty content": body(['{"role": "system", "content": ""}', '{"role": "user", "content": ""}']),
    "a name": body(['{"name": "Ann", "role": "user", "content": "Hi"}']),
    "a developer": body(['{"role": "developer", "content": "Be brief."}', USER]),
    "two users": body([USER, USER]),
    "system alone": body(['{"role": "system", "content": "Sys."}']),
    "an assistant first": body(['{"role": "assistant", "content": "Hello."}', USER]),
}
