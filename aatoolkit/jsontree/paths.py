"""JSON paths: one grammar for patterns and for the path of a single value.

======================  ==========================================================================
``domains[].byEngine``  a pattern: names joined by dots, ``[]`` for every element of an array,
                        ``{}`` for every entry of an object, ``{a,b}`` for those with some keys
``$.domains[0].id``     a concrete path: it begins at the document, ``$``, and numbers elements
``$.a["b.c"]``          a name of other characters is quoted, as JSON text, in brackets or not:
``a."b.c"``             concrete paths are written the first way, patterns the second
``days[@0]``            in the path of a column: the element at the row's own position in the
                        first array on the path to the row; ``hits{@0}`` the entry with its key
``rows[]["cols[]"="n"]``  the element at the position that the name ``n`` has in another array
======================  ==========================================================================

`parse_path` reads all of them and `parse_pattern` patterns alone; `format_path` writes patterns,
`format_json_path` concrete paths.
Names of the tables of `~aatoolkit.jsontree.shred.shred` are escaped in another way, since they must
be file names too.
"""

from __future__ import annotations

import json
import re
from collections.abc import Container, Iterable
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, Final

from aatoolkit._util.text import json_text, plain_json

KEY_SIGN: Final = "~"
"""The last character of the path of a key; the rest is the path of its value."""


@dataclass(frozen=True)
class Field:
    """One named field of an object."""

    name: str


@dataclass(frozen=True)
class Position:
    """One element of an array, by its position from 0."""

    number: int


@dataclass(frozen=True)
class Each:
    """All elements of an array; with ``at``, the element at the position of a row.

    ``at`` counts the arrays and objects on the path to the row from 0, the outermost first: the
    position is that of the row in this array.
    """

    at: int | None = None


@dataclass(frozen=True)
class Entries:
    """All entries of an object whose keys are data, or those with the keys ``only``.

    With ``at``, the entry with the key of a row; see `Each`.
    """

    only: tuple[str, ...] = ()
    at: int | None = None


@dataclass(frozen=True)
class Named:
    """One element of an array, at the position of a name in a header, which is another array."""

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
    """Parse a pattern or a concrete path.

    Parameters
    ----------
    path : str
        The path; a leading ``$`` is the document and is optional.

    Raises
    ------
    ValueError
        If it is not a path.

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
        quoted = token["quoted"] if token["bracketed"] is None else token["bracketed"]
        if token["position"] is not None:
            steps.append(Position(int(token["position"])) if token["position"] else Each())
        elif token["header"] is not None:
            header = parse_path(_unquoted(path, token["header"]))
            steps.append(Named(header, _unquoted(path, token["of"])))
        elif token["element"] is not None:
            steps.append(Each(int(token["element"])))
        elif token["entry"] is not None:
            steps.append(Entries(at=int(token["entry"])))
        elif token["entries"] is not None:
            steps.append(Entries(tuple(part for part in token["entries"].split(",") if part)))
        elif quoted is not None:
            steps.append(Field(_unquoted(path, quoted)))
        elif token["name"] is not None:
            steps.append(Field(token["name"]))
    return tuple(steps)


@lru_cache(maxsize=4096)
def parse_pattern(path: str) -> tuple[Step, ...]:
    """Parse a pattern, such as declarations have.

    Raises
    ------
    ValueError
        If it is not a path, or names one element of an array.

    Examples
    --------
    >>> parse_pattern("domains[]")
    (Field(name='domains'), Each(at=None))
    """
    steps = parse_path(path)
    if any(isinstance(step, Position) for step in steps):
        raise ValueError(f"{path!r} is not a path of all elements; write [] in place of a number")
    return steps


def _unquoted(path: str, text: str) -> str:
    try:
        name: str = _LENIENT.decode(f'"{text}"')
    except ValueError:
        raise ValueError(f"{path!r} is not a path: {text!r} is not JSON text") from None
    return name


def format_path(steps: Iterable[Step]) -> str:
    """Format steps as a pattern; the keys to which `Entries` are limited are left out.

    Examples
    --------
    >>> format_path((Field("evidence"), Entries(("urls",)), Each(), Field("a.b")))
    'evidence{}[]."a.b"'
    """
    text = ""
    for step in steps:
        if isinstance(step, Field):
            is_plain = step.name.isprintable() and _PATTERN_NAME.fullmatch(step.name)
            name = step.name if is_plain else json_text(step.name)
            text += f".{name}" if text else name
        elif isinstance(step, Position):
            text += f"[{step.number}]"
        elif isinstance(step, Named):
            text += f"[{json_text(format_path(step.header))}={json_text(step.name)}]"
        else:
            at = "" if step.at is None else f"@{step.at}"
            text += f"[{at}]" if isinstance(step, Each) else f"{{{at}}}"
    return text


def format_json_path(steps: Iterable[Step]) -> str:
    """Format steps as a concrete path, which starts at the document, ``$``.

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
    """Format one key as a step of a concrete path.

    Examples
    --------
    >>> key_step("rate"), key_step("a b")
    ('.rate', '["a b"]')
    """
    return f".{key}" if _IDENTIFIER.fullmatch(key) else f"[{json_text(key)}]"


def is_within(path: str, outer: str) -> bool:
    """Whether a concrete path is equal to another one, or inside of it.

    Examples
    --------
    >>> is_within("$.points[0].rate", "$.points"), is_within("$.points~", "$.points")
    (True, True)
    >>> is_within("$.points", "$.point")
    False
    """
    value_path = path.removesuffix(KEY_SIGN)
    return outer in (path, value_path) or value_path.startswith((f"{outer}.", f"{outer}["))


def leaf_values(value: Any, path: str, ends: Container[str] = ()) -> list[tuple[str, str]]:
    """List the leaf values of a JSON value: their concrete paths and JSON texts.

    A leaf value is a scalar, an empty object or array, or any value at a path of ``ends``.

    Examples
    --------
    >>> leaf_values({"a": [1, {}], "b c": None}, "$")
    [('$.a[0]', '1'), ('$.a[1]', '{}'), ('$["b c"]', 'null')]
    """
    texts = []
    pending_values = [(value, path)]
    while pending_values:
        value, path = pending_values.pop()
        if not value or not isinstance(value, dict | list) or path in ends:
            texts.append((path, plain_json(value)))
        elif isinstance(value, dict):
            pending_values += reversed(
                [(item, path + key_step(key)) for key, item in value.items()]
            )
        else:
            pending_values += reversed([(item, f"{path}[{i}]") for i, item in enumerate(value)])
    return texts
