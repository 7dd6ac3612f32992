"""Parse and format JSON paths: paths of single values, and patterns for many values.

======================  ==========================================================================
``domains[].byEngine``  a pattern: names joined by dots; ``[]`` for every element of an array,
                        ``{}`` for every entry of an object, ``{a,b}`` for some of its entries
``$.domains[0].id``     the path of one value: it begins with ``$``, and has positions of elements
``$.a["b.c"]``          in paths of one value, unusual names are quoted as JSON text in brackets
``a."b.c"``             in patterns, unusual names are quoted after a dot; both forms can be read
``days[@0]``            only in paths of columns: the element of ``days`` that has the same
                        position as the row has in the first array on the path to the rows
``hits{@0}``            the same for objects: the entry of ``hits`` with the same key
``rows[]["cols[]"="n"]``  in each array in ``rows``, the element at the position at which the array
                        ``cols`` has the name ``n``
======================  ==========================================================================
"""

from __future__ import annotations

import json
import re
from collections.abc import Container, Iterable
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from aatoolkit._util.text import json_text, plain_json

KEY_SIGN = "~"
"""The sign at the end of the path of a key, as in ``$.rate~``."""


@dataclass(frozen=True)
class Field:
    """A step from an object to its field ``name``."""

    name: str


@dataclass(frozen=True)
class Position:
    """A step from an array to its element at the position ``number``, counted from 0."""

    number: int


@dataclass(frozen=True)
class Each:
    """A step from an array to all its elements.

    With ``at``, it leads to one element, at the position of the current row in another array: 0 is
    the first array on the path to the rows, 1 the second. So each row finds its own date in a list
    of dates beside the rows.
    """

    at: int | None = None


@dataclass(frozen=True)
class Entries:
    """A step from an object to the values of all its keys, or of the keys in ``only``.

    With ``at``, it leads to a single entry instead: the entry with the same key as the row.
    """

    only: tuple[str, ...] = ()
    at: int | None = None


@dataclass(frozen=True)
class Named:
    """A step from an array to the element of a named column.

    The array at the path ``header`` has the column names, in the same order as the elements.
    """

    header: tuple[Step, ...]
    name: str


Step = Field | Position | Each | Entries | Named

_TOKEN = re.compile(
    r"""\[(?P<position>[0-9]*)\]|\["(?P<header>(?:[^"\\]|\\.)*)"="(?P<of>(?:[^"\\]|\\.)*)"\]"""
    r"""|\[@(?P<element>[0-9]+)\]|\{@(?P<entry>[0-9]+)\}|\["(?P<bracketed>(?:[^"\\]|\\.)*)"\]|\{(?P<entries>[^{}]*)\}"""
    r"""|"(?P<quoted>(?:[^"\\]|\\.)*)"|(?P<name>[^.\[\]{}"]+)|\.(?=[^.\[\]{}])""",
    re.S,
)
_ROOT = re.compile(r"\$(?=[.\[{]|\Z)\.?")
_IDENTIFIER = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_PATTERN_NAME = re.compile(r"[^.\[\]{}\"@#^$&][^.\[\]{}\"]*")
_LENIENT = json.JSONDecoder(strict=False)


@lru_cache(maxsize=4096)
def parse_path(path: str) -> tuple[Step, ...]:
    """Parse a JSON path to a tuple of steps; raise ValueError if it is not a path.

    Examples
    --------
    >>> parse_path("kpis{}.value")
    (Field(name='kpis'), Entries(only=(), at=None), Field(name='value'))
    >>> parse_path('"odd.key"[]') == parse_path('$["odd.key"][]')
    True
    >>> format_path(parse_path('rows[@0].cells["columns[]"="hits"]'))
    'rows[@0].cells["columns[]"="hits"]'
    >>> parse_path("$.points[3]")
    (Field(name='points'), Position(number=3))
    """
    steps: list[Step] = []
    root = _ROOT.match(path)
    offset = start = root.end() if root else 0
    while offset < len(path):
        token = _TOKEN.match(path, offset)
        if token is None or (offset == start and token[0] == "."):
            raise ValueError(f"{path!r} is not a path: it cannot be read from character {offset}")
        offset = token.end()
        quoted_name = token["quoted"] if token["bracketed"] is None else token["bracketed"]
        if token["position"] is not None:
            steps.append(Position(int(token["position"])) if token["position"] else Each())
        elif token["header"] is not None:
            header = parse_path(_unquote(path, token["header"]))
            steps.append(Named(header, _unquote(path, token["of"])))
        elif token["element"] is not None:
            steps.append(Each(int(token["element"])))
        elif token["entry"] is not None:
            steps.append(Entries(at=int(token["entry"])))
        elif token["entries"] is not None:
            steps.append(Entries(tuple(key for key in token["entries"].split(",") if key)))
        elif quoted_name is not None:
            steps.append(Field(_unquote(path, quoted_name)))
        elif token["name"] is not None:
            steps.append(Field(token["name"]))
    return tuple(steps)


@lru_cache(maxsize=4096)
def parse_pattern(path: str) -> tuple[Step, ...]:
    """Parse a path of many values, such as ``domains[]``; raise ValueError for a position.

    Examples
    --------
    >>> parse_pattern("domains[]")
    (Field(name='domains'), Each(at=None))
    """
    steps = parse_path(path)
    if any(isinstance(step, Position) for step in steps):
        raise ValueError(f"{path!r} is not a path of all elements; write [] in place of a number")
    return steps


def _unquote(path: str, text: str) -> str:
    try:
        name: str = _LENIENT.decode(f'"{text}"')
    except ValueError:
        raise ValueError(f"{path!r} is not a path: {text!r} is not JSON text") from None
    return name


def format_path(steps: Iterable[Step]) -> str:
    """Format steps as the path of many values, such as ``domains[].id``.

    Examples
    --------
    >>> format_path((Field("evidence"), Entries(("urls",)), Each(), Field("a.b")))
    'evidence{}[]."a.b"'
    """
    text = ""
    for step in steps:
        if isinstance(step, Field):
            is_unquoted = step.name.isprintable() and _PATTERN_NAME.fullmatch(step.name)
            name = step.name if is_unquoted else json_text(step.name)
            text += f".{name}" if text else name
        elif isinstance(step, Position):
            text += f"[{step.number}]"
        elif isinstance(step, Named):
            text += f"[{json_text(format_path(step.header))}={json_text(step.name)}]"
        else:
            at_text = "" if step.at is None else f"@{step.at}"
            text += f"[{at_text}]" if isinstance(step, Each) else f"{{{at_text}}}"
    return text


def format_json_path(steps: Iterable[Step]) -> str:
    """Format steps as the path of one value, such as ``$.domains[0].id``.

    Examples
    --------
    >>> format_json_path((Field("points"), Position(0), Field("a.b")))
    '$.points[0]["a.b"]'
    """
    return "$" + "".join(
        key_step(step.name) if isinstance(step, Field) else format_path((step,)) for step in steps
    )


@lru_cache(maxsize=4096)
def key_step(key: str) -> str:
    """Format a key of an object as one step of a JSON path.

    Examples
    --------
    >>> key_step("rate"), key_step("a b")
    ('.rate', '["a b"]')
    """
    return f".{key}" if _IDENTIFIER.fullmatch(key) else f"[{json_text(key)}]"


def is_within(path: str, outer: str) -> bool:
    """Return whether a JSON path equals ``outer``, or leads to a value or key inside that value.

    Examples
    --------
    >>> is_within("$.points[0].rate", "$.points"), is_within("$.points~", "$.points")
    (True, True)
    >>> is_within("$.points", "$.point")
    False
    """
    value_path = path.removesuffix(KEY_SIGN)
    return outer in (path, value_path) or value_path.startswith((f"{outer}.", f"{outer}["))


def leaf_values(value: Any, path: str, end_paths: Container[str] = ()) -> list[tuple[str, str]]:
    """Return a list of tuples: the JSON path and the JSON text of each scalar in a JSON value.

    Empty objects and arrays are listed, too. ``path`` is the path of the value itself. A value at a
    path in ``end_paths`` is listed as one item, even if it is an object or array.

    Examples
    --------
    >>> leaf_values({"a": [1, {}], "b c": None}, "$")
    [('$.a[0]', '1'), ('$.a[1]', '{}'), ('$["b c"]', 'null')]
    """
    paths_and_texts = []
    pending_values = [(value, path)]
    while pending_values:
        value, path = pending_values.pop()
        if not value or not isinstance(value, dict | list) or path in end_paths:
            paths_and_texts.append((path, plain_json(value)))
        elif isinstance(value, dict):
            pending_values += reversed(
                [(item, path + key_step(key)) for key, item in value.items()]
            )
        else:
            pending_values += reversed([(item, f"{path}[{i}]") for i, item in enumerate(value)])
    return paths_and_texts
