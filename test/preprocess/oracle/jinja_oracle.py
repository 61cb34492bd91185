"""Renders templates with Jinja2 as transformers sets it up, and says what came of it. Shared by the two oracle scripts.

Needs the packages transformers and jinja2; the versions used stand in each fixture.
"""

import datetime
import hashlib
import platform

import jinja2
import transformers
from transformers.utils import chat_template_utils

# What strftime_now reads: tests give the same to our renderer.
NOW = (2025, 3, 7, 9, 5, 3)


class FrozenDatetime(datetime.datetime):
    @classmethod
    def now(cls, tz=None):
        return cls(*NOW)


chat_template_utils.datetime = FrozenDatetime


def versions():
    return {
        "python": platform.python_version(),
        "jinja2": jinja2.__version__,
        "transformers": transformers.__version__,
        "now": list(NOW),
    }


def compile_template(source):
    return chat_template_utils._compile_jinja_template(source)


def outcome(compiled, context):
    """{"text": ...}, or {"error": "raised", "message": ...} of raise_exception, {"error": "limit"} of what
    goes too deep or grows too large, or {"error": "template"}."""
    try:
        return {"text": compiled.render(**context)}
    except jinja2.exceptions.TemplateError as error:
        if type(error) is jinja2.exceptions.TemplateError:
            return {"error": "raised", "message": str(error)}
        return {"error": "template"}
    except (RecursionError, MemoryError):
        return {"error": "limit"}
    except OverflowError as error:
        return {"error": "limit" if "too long" in str(error) else "template"}
    except Exception:
        return {"error": "template"}


def digest(text):
    return hashlib.sha256(text.encode("utf-8")).hexdigest()[:24]
