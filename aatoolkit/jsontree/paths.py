"""Paths into an answer: names joined by dots, ``[]`` and ``{}`` for any of many.

``domains[].byEngine{}`` are the entries of the object ``byEngine`` of each element of
``domains``; ``evidence{a,b}`` are those of some keys only.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache


@dataclass(frozen=True)
class Field:
    """One named field of an object."""

    name: str


@dataclass(frozen=True)
class Each:
    """The elements of an array."""


@dataclass(frozen=True)
class Entries:
    """The entries of an object whose keys are data; ``only`` some keys where given."""

    only: tuple[str, ...] = ()


Step = Field | Each | Entries

_TOKEN = re.compile(
    r"""(?P<each>\[\])|\{(?P<entries>[^{}]*)\}|"(?P<quoted>(?:[^"\\]|\\.)*)"|(?P<name>[^.\[\]{}"]+)|\.(?=[^.\[\]{}])"""
)


@lru_cache(maxsize=4096)
def parse_path(path: str) -> tuple[Step, ...]:
    """The steps of a path.

    Raises
    ------
    ValueError
        If it is not a path.

    Examples
    --------
    >>> parse_path("kpis{}")
    (Field(name='kpis'), Entries(only=()))
    >>> parse_path('"odd.key"[]')
    (Field(name='odd.key'), Each())
    """
    steps: list[Step] = []
    at = 0
    while at < len(path):
        token = _TOKEN.match(path, at)
        if token is None or (at == 0 and token[0] == "."):
            raise ValueError(f"{path!r} is not a path: it cannot be read from character {at}")
        at = token.end()
        if token["each"]:
            steps.append(Each())
        elif token["entries"] is not None:
            listed = tuple(part for part in token["entries"].split(",") if part)
            steps.append(Entries(listed))
        elif token["quoted"] is not None:
            steps.append(Field(re.sub(r"\\(.)", r"\1", token["quoted"])))
        elif token["name"] is not None:
            steps.append(Field(token["name"]))
    return tuple(steps)


def format_path(steps: tuple[Step, ...]) -> str:
    """A path as text; the keys an object is limited to are left out.

    Examples
    --------
    >>> format_path((Field("evidence"), Entries(("urls",)), Each()))
    'evidence{}[]'
    """
    text = ""
    for step in steps:
        if isinstance(step, Field):
            plain = re.fullmatch(r"[^.\[\]{}\"@#^$][^.\[\]{}\"]*", step.name)
            name = step.name if plain else '"' + re.sub(r'(["\\])', r"\\\1", step.name) + '"'
            text += f".{name}" if text else name
        else:
            text += "[]" if isinstance(step, Each) else "{}"
    return text
