"""Decode one JSON document by the standard library, with hooks that refuse what it lets pass."""

from __future__ import annotations

import json
import math
import re
from collections import Counter
from typing import Any, NoReturn

import numpy as np

from aatoolkit._util.text import visible

MAX_DEPTH = 128
"""The deepest nesting that is read."""

MAX_DIGITS = 4300
"""The longest number that is read, in digits; Python's own limit for whole numbers."""

_EXCERPT = 200
_STRING = re.compile(rb'"(?:[^"\\]|\\.)*+(?:"|\\?\Z)', re.DOTALL)
_SURROGATE = re.compile(rb"\\u[dD][89a-fA-F]")
_LONG_NUMBER = re.compile(rb"[0-9]{%d}" % (MAX_DIGITS + 1))
_NOT_BRACKETS = bytes(set(range(256)) - set(b"[]{}"))


class InvalidDocument(Exception):
    """The problem of a document: the word for it and the sentence."""

    def __init__(self, problem: str, sentence: str) -> None:
        super().__init__(sentence)
        self.problem = problem


def excerpt(body: bytes) -> str:
    r"""The beginning of a body as one safe line of at most 200 characters.

    Examples
    --------
    >>> excerpt(b"a\x1b[31m\nb")
    'a\\x1b[31m\\nb'
    """
    text = body[: 4 * _EXCERPT].decode("utf-8", "backslashreplace")
    return visible(text[:_EXCERPT])[:_EXCERPT]


def read(body: bytes) -> Any:
    """Decode one document, or raise `Refused`."""
    text = _text(body)
    bare = _STRING.sub(b'""', body)
    shallowest, deepest = _depths(bare)
    if deepest > MAX_DEPTH:
        raise InvalidDocument("too_deep", f"it is nested more than {MAX_DEPTH} deep")
    if _LONG_NUMBER.search(bare):
        raise InvalidDocument("not_json", f"it holds a number of more than {MAX_DIGITS} digits")
    try:
        value = json.loads(
            text, object_pairs_hook=_object, parse_constant=_constant, parse_float=_float
        )
    except (ValueError, RecursionError) as error:
        # An object or list that is cut off never closes the bracket it begins with.
        cut = shallowest > 0 and body.lstrip()[:1] in (b"{", b"[")
        why = "it breaks off before its end" if cut else f"{error}"
        raise InvalidDocument("truncated" if cut else "not_json", why) from None
    if _SURROGATE.search(body):
        _check_text(value)
    return value


def _depths(bare: bytes) -> tuple[int, int]:
    """The least and the greatest depth that a body without its strings reaches."""
    brackets = np.frombuffer(bare.translate(None, _NOT_BRACKETS), np.uint8)
    # One bit distinguishes an opening bracket from a closing one, be it square or curly.
    opens = (brackets & 0b10) != 0
    if not len(opens):
        return 0, 0
    depths = np.cumsum(np.where(opens, np.int8(1), np.int8(-1)), dtype=np.int32)
    return int(depths.min()), int(depths.max())


def _text(body: bytes) -> str:
    start = body[:512].lstrip()
    if not body.strip():
        raise InvalidDocument("empty", "it is empty")
    if start.startswith(b"<"):
        raise InvalidDocument(
            "html", "it is a web page; is this a login page, or a wrong base URL?"
        )
    if b"\0" in start[:4]:
        raise InvalidDocument("encoding", "it is not in UTF-8")
    try:
        return body.decode("utf-8")
    except UnicodeDecodeError as error:
        raise InvalidDocument("encoding", f"it is not in UTF-8 (byte {error.start})") from None


def _check_text(value: Any) -> None:
    """Raise if a text holds half a surrogate pair, which no file could hold."""
    try:
        json.dumps(value, ensure_ascii=False).encode("utf-8")
    except UnicodeEncodeError:
        raise InvalidDocument(
            "encoding", "it holds half a surrogate pair, which is no text"
        ) from None


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        ((twice, _),) = Counter(key for key, _ in pairs).most_common(1)
        shown = excerpt(repr(twice).encode("utf-8", "backslashreplace"))
        raise InvalidDocument("duplicate_key", f"the key {shown} is given twice in one object")
    return found


def _constant(name: str) -> NoReturn:
    raise InvalidDocument("not_finite", f"{name} is no JSON number")


def _float(text: str) -> float:
    value = float(text)
    if math.isinf(value):
        raise InvalidDocument("not_finite", f"the number {excerpt(text.encode())} is too large")
    return value
