"""The conversations and options of the render matrix, as JSON text."""

import json

WEATHER_CALL = '{"id": "call_1", "type": "function", "function": {"name": "get_weather", "arguments": %s}}'
ARGUMENTS = '{"city": "Zürich", "days": 3, "unit": null, "detailed": true}'
NUMBERS = (
    '{"10": "ten", "9": "nine", "a": 1.0, "b": 1e20, "c": 12345678901234567890, "d": 1.00, "e": 1e2, "f": 0.1,'
    ' "g": -0.0, "h": 1E-7, "i": -5, "j": 123456789.123456789, "k": 1e16, "l": 0.0001, "m": 0.00001, "n": -0, "2": [1.5, 2.0]}'
)


def text(value):
    return json.dumps(value, ensure_ascii=False)


def message(role, content, **extra):
    return text({"role": role, "content": content, **extra})


def conversation(*messages):
    return "[" + ", ".join(messages) + "]"


def call(arguments, content="null", extra=""):
    return (
        f'{{"role": "assistant", "content": {content}, "tool_calls": [' + WEATHER_CALL % arguments + f"]{extra}}}"
    )


USER = message("user", "What is the weather in Zürich?")
SYSTEM = message("system", "You are a helpful assistant.")
RESULT = message("tool", '{"temperature": 21.5, "sky": "clear"}', name="get_weather", tool_call_id="call_1")
LONG = [
    message("user" if turn % 2 == 0 else "assistant", f"Turn {turn}: " + "lorem ipsum dolor " * (turn % 5))
    for turn in range(23)
]

CONVERSATIONS = {
    "one user": conversation(message("user", "Hello")),
    "system and user": conversation(SYSTEM, USER),
    "three turns": conversation(USER, message("assistant", "Sunny."), message("user", "And tomorrow?")),
    "system, three turns": conversation(
        SYSTEM, USER, message("assistant", "Sunny."), message("user", "And tomorrow?")
    ),
    "ends with the assistant": conversation(SYSTEM, USER, message("assistant", "It is")),
    "many turns": conversation(*LONG),
    "unicode": conversation(
        message("system", "Réponds en français — « s'il te plaît » 🙏🏽"),
        message("user", "👨‍👩‍👧‍👦 日本語 עברית \u200b\u00a0\u2028 é e\u0301 \U0001f600\t𝔘"),
        message("assistant", "ﬁ ß İ ǅ \u0085 \u001f\u007f \\ \" ' </s> \ufeff"),
        message("user", "\ud7ff\ue000\U0010ffff"),
    ),
    "space around": conversation(
        message("system", "  spaced \n"),
        message("user", "\n\n  leading and trailing\u2003 \n"),
        message("assistant", "\n answer \r\n"),
        message("user", "\u001c next \u0085"),
    ),
    "empty content": conversation(message("system", ""), message("user", ""), message("assistant", ""), USER),
    "tool call": conversation(SYSTEM, USER, call(ARGUMENTS), RESULT, message("assistant", "21.5 °C."), USER),
    "tool call, text arguments": conversation(USER, call(text(ARGUMENTS), '"Let me look."'), RESULT),
    "tool call, empty content": conversation(USER, call("{}", '""'), RESULT, message("user", "Thanks")),
    "two tool calls": conversation(
        USER,
        '{"role": "assistant", "content": "", "tool_calls": ['
        + WEATHER_CALL % ARGUMENTS
        + ", "
        + (WEATHER_CALL % '{"city": "<Bern> & \'Basel\'", "nested": {"list": [1, [2, {"x": []}]], "empty": {}}}').replace(
            "call_1", "call_2"
        )
        + "]}",
        RESULT,
        RESULT.replace("call_1", "call_2"),
        message("assistant", "Both are sunny."),
    ),
    "numbers": conversation(USER, call(NUMBERS), RESULT, message("assistant", "Done"), USER),
    "reasoning": conversation(
        SYSTEM,
        USER,
        message("assistant", "Sunny.", reasoning_content="The user asks.\nI look."),
        message("user", "Sure?"),
        message("assistant", "Yes.", reasoning_content="Think again.\n"),
    ),
    "think tags": conversation(
        USER,
        message("assistant", "<think>\nThe user asks.\n</think>\n\nSunny."),
        message("user", "<tool_response>no</tool_response>"),
        message("assistant", "<think>a</think>b</think>c"),
    ),
    "reasoning and tools": conversation(
        USER,
        call(ARGUMENTS, '""', ', "reasoning_content": "I call a tool."'),
        RESULT,
        message("assistant", "It is 21.5 °C.", reasoning_content="Now I answer."),
        message("user", "Thanks"),
    ),
    "parts": conversation(
        message("system", [{"type": "text", "text": "Be brief. "}]),
        message("user", [{"type": "text", "text": "What is"}, {"type": "text", "text": " this? "}]),
        message("assistant", [{"type": "text", "text": "A test."}]),
        message("user", [{"type": "text", "text": "I see."}]),
    ),
    "image part": conversation(
        message("user", [{"type": "image"}, {"type": "text", "text": "Describe it."}, {"type": "image_url", "image_url": "x"}])
    ),
    "roles out of order": conversation(message("user", "a"), message("user", "b"), message("system", "late"), USER),
    "assistant first": conversation(message("assistant", "Welcome."), USER),
    "developer": conversation(message("developer", "Use metric units."), USER),
    "named": conversation(message("user", "Hi, I am Ann.", name="ann"), message("assistant", "Hi Ann.", name="bot"), USER),
    "functions": conversation(SYSTEM, message("functions", "[f1, f2]"), USER, call(text(ARGUMENTS), '"Calling."')),
    "tool content parts": conversation(
        USER,
        call(ARGUMENTS, '""'),
        message("tool", [{"type": "text", "text": "21.5"}, {"type": "tool_reference", "name": "get_weather"}], name="get_weather"),
    ),
    "none": "[]",
    "no content": '[{"role": "user"}]',
    "system override": conversation(message("system", "/no_think /system_override Only this."), USER),
}

GET_WEATHER = text(
    {
        "type": "function",
        "function": {
            "name": "get_weather",
            "description": "Weather of a city — today & tomorrow",
            "parameters": {
                "type": "object",
                "properties": {
                    "city": {"type": "string", "description": "The city's name"},
                    "unit": {"type": "string", "enum": ["celsius", "fahrenheit"], "description": "Unit"},
                    "days": {"type": ["integer", "null"], "description": "Days", "default": None},
                },
                "required": ["city"],
            },
            "return": {"type": "string", "description": "A report"},
        },
    }
)
NESTED = (
    '{"type": "function", "function": {"name": "plan", "description": "Plans 🗺️ \\"trips\\"", "strict": true, "parameters":'
    ' {"type": "object", "properties": {"stops": {"type": "array", "description": "Stops", "items": {"type": "object",'
    ' "properties": {"lat": {"type": "number", "minimum": -90.0, "maximum": 9e1, "description": "y"}, "when":'
    ' {"type": "integer", "default": 12345678901234567890, "description": "t"}}, "additionalProperties": false}},'
    ' "10": {"type": "boolean", "description": "ten"}, "9": {"type": "object", "description": "nine",'
    ' "additionalProperties": {"type": "number"}}, "budget": {"type": "number", "default": 1e20, "multipleOf": 1.0,'
    ' "description": "money"}}, "required": ["stops"]}}}'
)
FLAT = (
    '{"name": "internet_search", "description": "Searches", "parameter_definitions": {"query": {"description": "What",'
    ' "type": "str", "required": true}, "limit": {"description": "How many", "type": "int", "required": false}},'
    ' "parameters": {"properties": {}}}'
)
SPECIAL = {"bos_token": '"<s>"', "eos_token": '"</s>"', "pad_token": '"<pad>"', "unk_token": '"<unk>"'}
BASE = {**SPECIAL, "tools": "null", "documents": "null"}
DOCUMENTS = '[{"title": "Alps", "text": "High."}, {"title": "Jura", "text": "Lower.", "10": 1.0, "9": 2}]'

OPTIONS = {
    "plain": {**BASE, "add_generation_prompt": "false"},
    "prompt": {**BASE, "add_generation_prompt": "true"},
    "nothing given": {"bos_token": '"<s>"', "eos_token": '"</s>"'},
    "one tool": {**BASE, "tools": f"[{GET_WEATHER}]", "add_generation_prompt": "true"},
    "two tools": {**BASE, "tools": f"[{GET_WEATHER}, {NESTED}]", "add_generation_prompt": "true"},
    "flat tools": {**BASE, "tools": f"[{FLAT}]", "add_generation_prompt": "false"},
    "no tools": {**BASE, "tools": "[]", "add_generation_prompt": "true"},
    "documents": {**BASE, "documents": DOCUMENTS, "add_generation_prompt": "true"},
    "no thinking": {**BASE, "enable_thinking": "false", "add_generation_prompt": "true"},
    "thinking": {**BASE, "enable_thinking": "true", "clear_thinking": "false", "add_generation_prompt": "true"},
    "no thinking, tools": {**BASE, "tools": f"[{NESTED}]", "enable_thinking": "false", "add_generation_prompt": "true"},
    "tools for the system": {
        **BASE,
        "tools": f"[{GET_WEATHER}, {NESTED}]",
        "tools_in_user_message": "false",
        "date_string": '"1 Jan 2025"',
        "builtin_tools": '["code_interpreter", "brave_search"]',
        "add_generation_prompt": "true",
    },
    "other kwargs": {
        **BASE,
        "custom_tools": f"[{GET_WEATHER}]",
        "xml_tools": f"[{NESTED}]",
        "python_tools": f"[{GET_WEATHER}]",
        "add_vision_id": "true",
        "add_generation_prompt": "true",
    },
}
