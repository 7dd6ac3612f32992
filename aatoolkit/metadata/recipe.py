"""Recipes: how a frame was made, as an expression of JSON values that can be replayed.

======================================  ==========================================================
``["read", 0, "source_domains"]``       a table of an answer: the number of its source, its name
``["do", verb, arguments, [inputs]]``   the result of a verb of ``df.aa``
``["view", input, {…}]``                what plain pandas left of a frame: its ``rows``, ``columns``
                                        and ``index``, and ``values`` that were set
``["end", why]``                        a frame whose origin is not known
======================================  ==========================================================

A frame carries the recipe of what it was when its metadata was attached; whatever pandas did to it
since is found out when somebody asks.
"""

from __future__ import annotations

from typing import Any

Recipe = list[Any]
"""An expression: a list whose first element is the kind."""

READ, DO, VIEW, END = "read", "do", "view", "end"

_MOST_DEEP = 100


def read_from(source: int, table: str) -> Recipe:
    """The recipe of a table of an answer.

    Examples
    --------
    >>> read_from(0, "source_domains")
    ['read', 0, 'source_domains']
    """
    return [READ, source, table]


def ended(why: str) -> Recipe:
    """The recipe of a frame whose origin is not known."""
    return [END, why]


def load_recipe(body: Any, depth: int = 0) -> Recipe | None:
    """A recipe from its JSON value, checked.

    Raises
    ------
    ValueError
        If it is none.
    """
    if body is None:
        return None
    if depth > _MOST_DEEP or not isinstance(body, list) or not body:
        raise ValueError("not a recipe")
    kind, *rest = body
    shapes = {READ: (int, str), END: (str,), VIEW: (list, dict), DO: (str, dict, list)}
    shape = shapes.get(kind) if isinstance(kind, str) else None
    if shape is None or len(rest) != len(shape) or not all(map(isinstance, rest, shape)):
        raise ValueError("not a recipe")
    for each in rest[2] if kind == DO else [rest[0]] if kind == VIEW else []:
        if load_recipe(each, depth + 1) is None:
            raise ValueError("not a recipe")
    return body
