"""What transformers' AutoTokenizer adds around a text, for small tokenizers of every kind and for real ones.

    python special_tokens.py OUTPUT MODEL_DIRECTORY...

Run it once per major version of transformers on the same OUTPUT: each run adds its answers under its own number.
A case that transformers cannot load or encode is left out for that version.
"""

import json
import logging
import os
import sys
import tempfile
from pathlib import Path

os.environ["TRANSFORMERS_VERBOSITY"] = "critical"
logging.disable(logging.CRITICAL)

import transformers  # noqa: E402
from transformers import AutoTokenizer  # noqa: E402

MAJOR = transformers.__version__.split(".")[0]
BYTE_LEVEL = {"type": "ByteLevel", "add_prefix_space": False, "trim_offsets": True, "use_regex": True}


def added(token_id, content, **flags):
    entry = {"id": token_id, "content": content, "single_word": False, "lstrip": False, "rstrip": False}
    return {**entry, "normalized": False, "special": True, **flags}


def tokenizer(post_processor, extra=(), prefix_space=False):
    vocabulary = {character: index for index, character in enumerate("abcdefgĠ")}
    return {
        "version": "1.0",
        "truncation": None,
        "padding": None,
        "added_tokens": [added(8, "<B>"), added(9, "<E>"), added(10, "<X>"), *extra],
        "normalizer": None,
        "pre_tokenizer": {**BYTE_LEVEL, "add_prefix_space": prefix_space},
        "post_processor": post_processor,
        "decoder": BYTE_LEVEL,
        "model": {
            "type": "BPE",
            "dropout": None,
            "unk_token": None,
            "continuing_subword_prefix": None,
            "end_of_word_suffix": None,
            "fuse_unk": False,
            "byte_fallback": False,
            "vocab": vocabulary,
            "merges": [],
        },
    }


def template(*single):
    text = {"Sequence": {"id": "A", "type_id": 0}}
    items = [text if item == "A" else {"SpecialToken": {"id": item, "type_id": 0}} for item in single]
    tokens = {name: {"id": name, "ids": [token_id], "tokens": [name]} for name, token_id in [("<B>", 8), ("<E>", 9)]}
    pair = [*items, {"Sequence": {"id": "B", "type_id": 1}}]
    return {"type": "TemplateProcessing", "single": items, "pair": pair, "special_tokens": tokens}


POST_PROCESSORS = {
    "none": None,
    "byte level": BYTE_LEVEL,
    "template bos": template("<B>", "A"),
    "template bos and eos": template("<B>", "A", "<E>"),
    "template two around": template("<B>", "<E>", "A", "<E>", "<B>"),
    "sequence": {"type": "Sequence", "processors": [BYTE_LEVEL, template("<B>", "A")]},
    "bert": {"type": "BertProcessing", "sep": ["<E>", 9], "cls": ["<B>", 8]},
    "roberta": {
        "type": "RobertaProcessing",
        "sep": ["<E>", 9],
        "cls": ["<B>", 8],
        "trim_offsets": True,
        "add_prefix_space": False,
    },
}
CLASSES = ["PreTrainedTokenizerFast", "LlamaTokenizerFast", "LlamaTokenizer", "GPTNeoXTokenizerFast", "Qwen2Tokenizer"]
CLASSES += ["CohereTokenizerFast", "GemmaTokenizerFast", "CodeLlamaTokenizerFast"]
FLAGS = {
    "silent": {},
    "bos": {"add_bos_token": True},
    "no bos": {"add_bos_token": False},
    "null": {"add_bos_token": None},
    "bos and eos": {"add_bos_token": True, "add_eos_token": True},
}


def cases():
    tokens = {"bos_token": "<B>", "eos_token": "<E>", "unk_token": None, "pad_token": None}
    for processor_name, processor in POST_PROCESSORS.items():
        for class_name in CLASSES:
            for flags_name, flags in FLAGS.items():
                name = f"{processor_name}, {class_name}, {flags_name}"
                config = {"tokenizer_class": class_name, **tokens, **flags}
                yield name, (processor_name, []), config, {}, ["ab", ""]
    plain = {"tokenizer_class": "PreTrainedTokenizerFast"}
    byte_level = ("byte level", [])
    stripping = {**added(0, "<Y>", lstrip=True, rstrip=True)}
    del stripping["id"]
    other_flags = {**plain, "added_tokens_decoder": {"11": stripping}}
    has_token = ("byte level", [added(11, "<Y>", special=False)])
    yield "config gives a known token other flags", has_token, other_flags, {}, ["a <Y> b", "a<Y>b"]
    yield "config adds a token that strips", byte_level, other_flags, {}, ["a <Y> b", "a<Y>b"]
    plain_token = {"content": "ab", "lstrip": False, "rstrip": False, "single_word": False, "special": False}
    config = {**plain, "added_tokens_decoder": {"30": {**plain_token, "normalized": True}, "20": stripping}}
    yield "config adds tokens in the order of their ids", byte_level, config, {}, ["cab<Y>a"]
    config = {**plain, "eos_token": "<W>", "additional_special_tokens": ["<V>", "ab"], "pad_token": "<P>"}
    yield "special tokens that the file does not have", byte_level, config, {}, ["a<W>b<V>", "cab<P>"]
    config = {**plain, "eos_token": {"__type": "AddedToken", "content": "<E>"}, "bos_token": "<B>"}
    yield "special tokens as objects", byte_level, config, {}, ["ab<E>"]
    for flag in ["lstrip", "rstrip", "single_word", "normalized"]:
        token = {"__type": "AddedToken", "content": "<E>", "lstrip": False, "rstrip": False, "single_word": False}
        config = {**plain, "eos_token": {**token, "normalized": False, flag: True}}
        if flag != "single_word":
            yield f"special token as an object with {flag}", byte_level, config, {}, ["a <E> b", "a<E>b", "<E> <E>"]
            listed = {**token, "special": True, "normalized": False, flag: True}
            del listed["__type"]
            config = {**plain, "eos_token": "<E>", "added_tokens_decoder": {"9": listed}}
            yield f"special token listed with {flag}", byte_level, config, {}, ["a <E> b", "a<E>b", "<E> <E>"]
    for in_file in [True, False]:
        for in_config in [{}, {"add_prefix_space": True}, {"add_prefix_space": False}]:
            for class_name in ["PreTrainedTokenizerFast", "GPT2TokenizerFast", "Qwen2TokenizerFast"]:
                name = f"prefix space {in_file} in tokenizer.json, {in_config} in the config, {class_name}"
                files = ("byte level", [], in_file)
                yield name, files, {**plain, **in_config, "tokenizer_class": class_name}, {}, ["ab<E>a", " ab"]
    yield "extra special tokens by name", byte_level, {**plain, "extra_special_tokens": {"i_token": "<K>"}}, {}, ["a<K>"]
    for class_name in ["LlamaTokenizerFast", "Qwen2TokenizerFast", "GPT2TokenizerFast"]:
        texts = ["ab<s>", "a</s>", "<unk>", "<|endoftext|>a"] if class_name[0] == "L" else ["a<|endoftext|>"]
        yield f"defaults of {class_name}", byte_level, {"tokenizer_class": class_name}, {}, texts
    llama = {"tokenizer_class": "LlamaTokenizerFast", "eos_token": "<E>"}
    yield "bos in the model's vocabulary", byte_level, {**llama, "bos_token": "c"}, {}, ["abc"]
    config = {"bos_token": "<B>", "eos_token": "<E>", "unk_token": None}
    yield "class by model type", byte_level, config, {"model_type": "llama"}, ["ab"]
    yield "class by model type that adds none", byte_level, config, {"model_type": "qwen2"}, ["ab"]
    model_config = {"model_type": "qwen2", "tokenizer_class": "LlamaTokenizerFast"}
    yield "class by config.json", byte_level, config, model_config, ["ab"]


TEXTS = ["Hello world", "", "Der Preis beträgt 12,50 €.", "你好，世界", "a\n\n  b\t123456"]


def ids_of(directory, texts):
    try:
        loaded = AutoTokenizer.from_pretrained(directory)
        return [loaded(text).input_ids for text in texts]
    except Exception:
        return None


def main():
    output, *models = sys.argv[1:]
    path = Path(output)
    fixture = json.loads(path.read_text()) if path.exists() else {"versions": {}, "cases": {}, "models": {}}
    fixture["versions"][MAJOR] = transformers.__version__
    for name, (processor, extra, *prefix_space), config, model_config, texts in cases():
        files = tokenizer(POST_PROCESSORS[processor], extra, *prefix_space)
        with tempfile.TemporaryDirectory() as directory:
            for file, content in [("tokenizer", files), ("tokenizer_config", config), ("config", model_config)]:
                if content:
                    Path(directory, f"{file}.json").write_text(json.dumps(content))
            ids = ids_of(directory, texts)
        entry = fixture["cases"].setdefault(name, {"ids": {}})
        # A tokenizer is the shared one with this post-processor and these tokens added.
        entry.update({"post_processor": processor, "added_tokens": extra, "tokenizer_config": config})
        entry.update({"config": model_config, "texts": texts, "prefix_space": prefix_space == [True]})
        if ids is not None:
            entry["ids"][MAJOR] = ids
    fixture.update({"tokenizer": tokenizer(None), "post_processors": POST_PROCESSORS})
    for directory in models:
        name = Path(directory).parent.name.removeprefix("tokenizer-")
        entry = fixture["models"].setdefault(name, {"texts": TEXTS, "ids": {}})
        entry["ids"][MAJOR] = ids_of(directory, TEXTS)
    path.write_text(json.dumps(fixture, ensure_ascii=False, separators=(",", ":")) + "\n")
    print(transformers.__version__, len(fixture["cases"]), "cases,", len(fixture["models"]), "models")


main()
