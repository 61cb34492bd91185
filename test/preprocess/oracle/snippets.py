"""Renders small templates over typed values; writes fixtures/snippets.json.

    python test/preprocess/oracle/snippets.py

Snippets come from the files in snippets/ (one a line; in statements.txt, which has some of several lines, between lines of
%%), and from every filter, test, method and operator applied to every value of a list.
"""

import json
import pathlib

from jinja_oracle import compile_template, outcome, versions

HERE = pathlib.Path(__file__).resolve().parent
CONTEXT = json.dumps(
    {
        "messages": [
            {"role": "system", "content": " Be brief.\nPlease. "},
            {"role": "user", "content": "Hi 👍"},
            {"role": "assistant", "content": "Hello"},
        ],
        "tools": None,
        "users": [
            {"name": "Ann", "age": 31, "admin": True, "address": {"city": "Bern"}},
            {"name": "bob", "age": 25, "admin": False, "address": {"city": "Zug"}},
            {"name": "Cy", "age": 31, "admin": False, "address": {"city": "Bern"}},
        ],
        "tree": [{"name": "a", "children": [{"name": "b", "children": []}, {"name": "c", "children": [{"name": "d"}]}]}, {"name": "e"}],
        "data": {"a.b": 1, "a": {"b": 2}},
    },
    ensure_ascii=False,
)
# JSON literals: what a request holds.
VALUES = [
    "null", "true", "false", "0", "7", "-3", "9007199254740993", "12345678901234567890", "1.0", "-0.0", "2.5", "1e20",
    "1e-7", "0.1", '""', '"abc"', '"Hello World"', '"12"', '" 3.50 "', '"é👍ß"', '"<a> & \'b\'"', "[]", "[1, 2.0, null]",
    '["b", "a"]', "[[1, 2], [3]]", "{}", '{"a": 1, "b": [true]}', '{"10": 1.0, "9": null, "x": "y"}',
]
FILTERS = (
    "abs capitalize center(9) count default('x') default('x',true) dictsort e first float forceescape int items|list join"
    " join('-') last length list lower map('string')|list max min reject|list replace('a','b') reverse|list round round(1)"
    " select|list slice(2)|list sort string striptags sum title tojson tojson(indent=1) trim truncate(5,true,'.',0)"
    " unique|list upper urlencode wordcount batch(2)|list filesizeformat indent format xmlattr safe escape attr('upper')"
    " tojson(ensure_ascii=true) tojson(separators=(',',':'),sort_keys=true) groupby(0) reverse"
).split(" ")
TESTS = (
    "odd even defined none boolean false true integer float number string mapping sequence iterable callable escaped lower"
    " upper divisibleby(3) eq(1) ne('abc') lt(5) in([1,'abc',none])"
).split(" ")
METHODS = (
    "upper() lower() title() strip() split() split('l') splitlines() startswith('a') find('l') replace('l','L') items()"
    " keys() get('a') get('zz',5) count('a') index('a') join(['x','y']) isdigit() zfill(6) nope nope() copy() format(1)"
    " a x isalpha() encode values()|list"
).split(" ")
OPERATORS = "+ - * / // % ** ~ == != < <= > >= in and or".split(" ")
OPERANDS = [
    "null", "true", "0", "7", "-3", "2.5", "1.0", "9007199254740993", '"abc"', '"a"', '""', "[1]", "[]", '{"a": 1}', "{}",
]
SUBSCRIPTS = ["[0]", "[-1]", "[1:]", "[::-1]", "['a']", "['items']", ".0", "[1.5]", "[none]", "[:2]", "[true]"]


def written():
    for path in sorted((HERE / "snippets").iterdir()):
        text = path.read_text(encoding="utf-8")
        for snippet in text.split("%%\n") if path.name == "statements.txt" else text.splitlines():
            yield snippet, CONTEXT


def generated():
    for value in VALUES:
        context = f'{{"v": {value}}}'
        for name in FILTERS:
            yield "{{ v|%s }}" % name, context
        for name in TESTS:
            yield "{{ v is %s }}" % name, context
        for name in METHODS:
            yield "{{ v.%s }}" % name, context
        for name in SUBSCRIPTS:
            yield "{{ v%s }}" % name, context
        yield "{{ v }}{{ [v] }}{{ (v,) }}{{ {'k': v} }}{% if v %}t{% endif %}{% for x in v %}{{ x }};{% endfor %}", context
        yield "{{ [v]|tojson }}{{ v ~ v }}{{ -v }}", context
        yield "{{ '%s %r' % (v, v) }}{{ '{}'.format(v) }}", context
    for left in OPERANDS:
        for right in OPERANDS:
            context = f'{{"a": {left}, "b": {right}}}'
            for operator in OPERATORS:
                # Python would compute for hours what our limits refuse.
                if operator == "**" and "9007199254740993" in (left, right):
                    continue
                yield "{{ a %s b }}" % operator, context


def main():
    results = []
    seen = set()
    contexts = {}
    for template, context in [*written(), *generated()]:
        if (template, context) in seen:
            continue
        seen.add((template, context))
        try:
            result = outcome(compile_template(template), json.loads(context))
        except Exception:
            result = {"error": "compile"}
        if " at 0x" in str(result):
            result = {"error": "address"}
        results.append([template, contexts.setdefault(context, len(contexts)), result])
    path = HERE.parent / "fixtures" / "snippets.json"
    fixture = {"versions": versions(), "contexts": list(contexts), "snippets": results}
    path.write_text(json.dumps(fixture, ensure_ascii=False, separators=(",", ":")) + "\n")
    print(len(results), "snippets,", path.stat().st_size, "bytes")


main()
