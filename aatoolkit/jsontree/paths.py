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

from aatoolkit._util.text import plain_json, to_json_text

KEY_MARKER = "~"
"""The sign at the end of the path of a key, as in ``$.rate~``."""


@dataclass(frozen=True)
class Field:
    """A step from an object to its field ``name``."""

    name: str


@dataclass(frozen=True)
class Position:
    """A step from an array to its element at the position ``index``, counted from 0."""

    index: int


@dataclass(frozen=True)
class Elements:
    """A step from an array to all its elements.

    With ``container_index``, it leads to a single element, at the position that the current row
    has in its own array. For example, each row finds its date in a list of dates beside the rows.
    ``container_index`` is the number of the row's array on the path to the rows; 0 is the first.
    """

    container_index: int | None = None


@dataclass(frozen=True)
class Entries:
    """A step from an object to the values of all its keys, or of those in ``only_keys``.

    With ``container_index``, it leads to a single entry instead: the entry with the key that the
    current row has in its own object. ``container_index`` is the number of that object on the path
    to the rows.
    """

    only_keys: tuple[str, ...] = ()
    container_index: int | None = None


@dataclass(frozen=True)
class NamedColumn:
    """A step from an array (a row of a table) to its element in the column ``name``.

    The array at the path ``header`` has the names of the columns, in the order of the elements.
    """

    header: Steps
    name: str


Step = Field | Position | Elements | Entries | NamedColumn
Steps = tuple[Step, ...]
"""A parsed path."""

_STEP_PATTERN = re.compile(
    r"""\[(?P<position>[0-9]*)\]|\["(?P<header>(?:[^"\\]|\\.)*)"="(?P<of>(?:[^"\\]|\\.)*)"\]"""
    r"""|\[@(?P<element>[0-9]+)\]|\{@(?P<entry>[0-9]+)\}|\["(?P<bracketed>(?:[^"\\]|\\.)*)"\]|\{(?P<entries>[^{}]*)\}"""
    r"""|"(?P<quoted>(?:[^"\\]|\\.)*)"|(?P<name>[^.\[\]{}"]+)|\.(?=[^.\[\]{}])""",
    re.S,
)
_ROOT_PATTERN = re.compile(r"\$(?=[.\[{]|\Z)\.?")
_IDENTIFIER_PATTERN = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_UNQUOTED_NAME_PATTERN = re.compile(r"[^.\[\]{}\"@#^$&][^.\[\]{}\"]*")
_LENIENT_DECODER = json.JSONDecoder(strict=False)


@lru_cache(maxsize=4096)
def parse_path(path: str) -> Steps:
    """Parse a JSON path to a tuple of steps; raise ValueError if it is not a path.

    Examples
    --------
    >>> parse_path("kpis{}.value")
    (Field(name='kpis'), Entries(only_keys=(), container_index=None), Field(name='value'))
    >>> parse_path('"odd.key"[]') == parse_path('$["odd.key"][]')
    True
    >>> format_path(parse_path('rows[@0].cells["columns[]"="hits"]'))
    'rows[@0].cells["columns[]"="hits"]'
    >>> parse_path("$.points[3]")
    (Field(name='points'), Position(index=3))
    """
    steps: list[Step] = []
    root_match = _ROOT_PATTERN.match(path)
    character_offset = first_step_offset = root_match.end() if root_match else 0
    while character_offset < len(path):
        step_match = _STEP_PATTERN.match(path, character_offset)
        if step_match is None or (character_offset == first_step_offset and step_match[0] == "."):
            raise ValueError(
                f"{path!r} is not a path: it cannot be read from character {character_offset}"
            )
        character_offset = step_match.end()
        quoted_name = (
            step_match["quoted"] if step_match["bracketed"] is None else step_match["bracketed"]
        )
        if step_match["position"] is not None:
            steps.append(
                Position(int(step_match["position"])) if step_match["position"] else Elements()
            )
        elif step_match["header"] is not None:
            header_steps = parse_path(_unquote(path, step_match["header"]))
            steps.append(NamedColumn(header_steps, _unquote(path, step_match["of"])))
        elif step_match["element"] is not None:
            steps.append(Elements(int(step_match["element"])))
        elif step_match["entry"] is not None:
            steps.append(Entries(container_index=int(step_match["entry"])))
        elif step_match["entries"] is not None:
            steps.append(Entries(tuple(key for key in step_match["entries"].split(",") if key)))
        elif quoted_name is not None:
            steps.append(Field(_unquote(path, quoted_name)))
        elif step_match["name"] is not None:
            steps.append(Field(step_match["name"]))
    return tuple(steps)


@lru_cache(maxsize=4096)
def parse_pattern(pattern: str) -> Steps:
    """Parse a path to many values, such as ``domains[]``.

    Raise ValueError if the path has the position of an array element, such as ``domains[0]``.

    Examples
    --------
    >>> parse_pattern("domains[]")
    (Field(name='domains'), Elements(container_index=None))
    """
    steps = parse_path(pattern)
    if any(isinstance(step, Position) for step in steps):
        raise ValueError(
            f"{pattern!r} is not a path of all elements; write [] in place of a number"
        )
    return steps


def _unquote(path_text: str, quoted_name: str) -> str:
    """Decode the escape sequences of a quoted name; ``path_text`` is for the error message."""
    try:
        unquoted_name: str = _LENIENT_DECODER.decode(f'"{quoted_name}"')
    except ValueError:
        raise ValueError(f"{path_text!r} is not a path: {quoted_name!r} is not JSON text") from None
    return unquoted_name


def format_path(steps: Iterable[Step]) -> str:
    """Format steps as a path that stands for many values, such as ``domains[].id``.

    In it, ``[]`` stands for any element of an array, and ``{}`` for any value of an object.

    Examples
    --------
    >>> format_path((Field("evidence"), Entries(("urls",)), Elements(), Field("a.b")))
    'evidence{}[]."a.b"'
    """
    path = ""
    for step in steps:
        if isinstance(step, Field):
            is_unquoted = step.name.isprintable() and _UNQUOTED_NAME_PATTERN.fullmatch(step.name)
            field_name = step.name if is_unquoted else to_json_text(step.name)
            path += f".{field_name}" if path else field_name
        elif isinstance(step, Position):
            path += f"[{step.index}]"
        elif isinstance(step, NamedColumn):
            path += f"[{to_json_text(format_path(step.header))}={to_json_text(step.name)}]"
        else:
            container_reference = "" if step.container_index is None else f"@{step.container_index}"
            path += (
                f"[{container_reference}]"
                if isinstance(step, Elements)
                else f"{{{container_reference}}}"
            )
    return path


def format_json_path(steps: Iterable[Step]) -> str:
    """Format steps as the path of one value, such as ``$.domains[0].id``.

    Examples
    --------
    >>> format_json_path((Field("points"), Position(0), Field("a.b")))
    '$.points[0]["a.b"]'
    """
    return "$" + "".join(
        format_key(step.name) if isinstance(step, Field) else format_path((step,)) for step in steps
    )


@lru_cache(maxsize=4096)
def format_key(key: str) -> str:
    """Format a key of an object as one step of a JSON path.

    Examples
    --------
    >>> format_key("rate"), format_key("a b")
    ('.rate', '["a b"]')
    """
    return f".{key}" if _IDENTIFIER_PATTERN.fullmatch(key) else f"[{to_json_text(key)}]"


def is_within(path: str, outer_path: str) -> bool:
    """Return whether a JSON path equals ``outer_path``, or leads to a value or key inside of it.

    Examples
    --------
    >>> is_within("$.points[0].rate", "$.points"), is_within("$.points~", "$.points")
    (True, True)
    >>> is_within("$.points", "$.point")
    False
    """
    value_path = path.removesuffix(KEY_MARKER)
    return outer_path in (path, value_path) or value_path.startswith(
        (f"{outer_path}.", f"{outer_path}[")
    )


def list_leaf_paths_and_texts(
    value: Any, path: str, stop_paths: Container[str] = ()
) -> list[tuple[str, str]]:
    """Return a list of tuples: the JSON path and the JSON text of each scalar in a JSON value.

    Empty objects and arrays are listed, too. ``path`` is the path of the value itself. A value at a
    path in ``stop_paths`` is listed as one item, even if it is an object or array.

    Examples
    --------
    >>> list_leaf_paths_and_texts({"a": [1, {}], "b c": None}, "$")
    [('$.a[0]', '1'), ('$.a[1]', '{}'), ('$["b c"]', 'null')]
    """
    paths_and_texts = []
    pending_values_and_paths = [(value, path)]
    while pending_values_and_paths:
        value, path = pending_values_and_paths.pop()
        if not value or not isinstance(value, dict | list) or path in stop_paths:
            paths_and_texts.append((path, plain_json(value)))
        elif isinstance(value, dict):
            pending_values_and_paths += reversed(
                [(child_value, path + format_key(key)) for key, child_value in value.items()]
            )
        else:
            pending_values_and_paths += reversed(
                [(child_value, f"{path}[{position}]") for position, child_value in enumerate(value)]
            )
    return paths_and_texts
