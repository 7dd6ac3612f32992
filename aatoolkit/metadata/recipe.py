"""Recipes: how a frame was made, as an expression of JSON values that can be replayed.

======================================  ==========================================================
``["read", 0, "source_domains"]``       a table of an answer: the number of its source, its name
``["do", verb, arguments, [inputs]]``   the result of a verb of ``df.aa``
``["view", input, {…}]``                what plain pandas left of a frame: its ``rows``, ``columns``
                                        and ``index``, and the ``values`` that it set
``["archived", "read", {…}]``           a frame of an archive: the method and its arguments
``["end", why]``                        a frame whose origin is not known
======================================  ==========================================================

A frame carries the recipe of what it was when its metadata was attached; whatever pandas did to it
since is found out when somebody asks, or when the next verb records its input. A recipe of more
than a kilobyte loses its largest parts, and says so.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any

from aatoolkit.metadata.serialize import pack, unpack

Recipe = list[Any]
"""An expression: a list whose first element is the kind."""

READ, DO, VIEW, ARCHIVED, END = "read", "do", "view", "archived", "end"

LIMIT = 1000
"""The most bytes of a recipe that a frame carries."""

_PACKED = 200
_MOST_DEEP = 60
_LARGE = "is too large for a frame to carry along"


def read_from(source: int, table: str) -> Recipe:
    """Return the recipe of a table that was read from an answer.

    Examples
    --------
    >>> read_from(0, "source_domains")
    ['read', 0, 'source_domains']
    """
    return [READ, source, table]


def ended(why: str) -> Recipe:
    """Return the recipe of a frame whose origin is not known."""
    return [END, why]


def renumbered(recipe: Recipe, numbers: Mapping[int, int]) -> Recipe:
    """Replace the numbers of the sources in a recipe.

    Examples
    --------
    >>> renumbered(["do", "concat", {}, [["read", 0, "t"]]], {0: 3})
    ['do', 'concat', {}, [['read', 3, 't']]]
    """
    kind, *rest = recipe
    if kind == READ:
        return [READ, numbers.get(rest[0], -1), rest[1]]
    if kind == DO:
        return [DO, rest[0], rest[1], [renumbered(each, numbers) for each in rest[2]]]
    return [VIEW, renumbered(rest[0], numbers), rest[1]] if kind == VIEW else recipe


def dump_recipe(recipe: Recipe) -> Recipe | str:
    """Serialize a recipe: as it is, compressed, or without its largest parts if it is too long."""
    text = _text(recipe)
    if len(text) <= _PACKED:
        return recipe
    while len(packed := pack(text)) > LIMIT:
        smaller = _trimmed(recipe)
        if smaller is None:
            return ended(f"how it was made {_LARGE}")
        recipe = smaller
        text = _text(recipe)
    return packed


def _trimmed(recipe: Recipe) -> Recipe | None:
    """Remove the largest part of a recipe; None if no part can be removed."""
    copied: Recipe = json.loads(_text(recipe))
    parts = [*_parts(copied, 0)]
    if not parts:
        return None
    _, holder, name = max(parts, key=lambda part: part[0])
    if name == "rows":
        holder["lost"] = f"which rows were taken {_LARGE}"
        del holder["rows"]
    elif isinstance(name, int):
        holder[name] = ended(f"how it was made {_LARGE}")
    else:
        column = max(holder["values"], key=lambda each: len(_text(holder["values"][each])))
        del holder["values"][column]
        holder.setdefault("unknown", []).append(column)
    return copied


def _parts(recipe: Recipe, depth: int) -> Iterator[tuple[int, Any, Any]]:
    """Yield the parts that can be removed: rows and values of views, and nested inputs."""
    kind, *rest = recipe
    if kind == VIEW:
        for name in ("rows", "values"):
            if rest[1].get(name):
                yield len(_text(rest[1][name])), rest[1], name
        yield from _parts(rest[0], depth)
    elif kind == DO:
        for number, each in enumerate(rest[2]):
            if depth and each[0] != END:
                yield len(_text(each)) // 4, rest[2], number
            yield from _parts(each, depth + 1)


def load_recipe(body: Any) -> Recipe | None:
    """Parse and validate a serialized recipe.

    Raises
    ------
    ValueError
        If it is none.
    """
    if isinstance(body, str):
        body = json.loads(unpack(body))
    return None if body is None else _checked(body, 0)


def _checked(body: Any, depth: int) -> Recipe:
    if depth > _MOST_DEEP or not isinstance(body, list) or not body:
        raise ValueError("not a recipe")
    kind, *rest = body
    shapes: dict[str, tuple[type, ...]] = {
        READ: (int, str),
        DO: (str, dict, list),
        VIEW: (list, dict),
        ARCHIVED: (str, dict),
        END: (str,),
    }
    shape = shapes.get(kind) if isinstance(kind, str) else None
    if shape is None or len(rest) != len(shape) or not all(map(isinstance, rest, shape)):
        raise ValueError("not a recipe")
    for each in rest[2] if kind == DO else rest[:1] if kind == VIEW else ():
        _checked(each, depth + 1)
    return body


def _text(value: Any) -> str:
    return json.dumps(value, separators=(",", ":"), ensure_ascii=False)
