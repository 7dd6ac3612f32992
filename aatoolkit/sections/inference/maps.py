"""Detect maps: objects whose keys are data, so that each entry is a row."""

from __future__ import annotations

from collections import Counter
from itertools import chain
from typing import Any

from aatoolkit.jsontree.keyed import are_keyed
from aatoolkit.sections.inference.charts import blocks, header_words
from aatoolkit.sections.inference.vocabulary import Vocabulary, singular, snake
from aatoolkit.sections.inference.words import is_measure_name

_SCALARS = (str, int, float, bool)
_FEWEST_ALIKE, _ALIKE, _NAMES = 3, 0.8, 64


def map_key(
    objects: list[dict[str, Any]], field: str, vocabulary: Vocabulary, top: bool
) -> str | None:
    """Name the key of objects that are maps; None if their keys are field names.

    Parameters
    ----------
    objects : list of dict
        The objects at one path, of all rows and answers.
    field : str
        The name of the field that holds them; ``byEngine`` says what its keys are.
    vocabulary : Vocabulary
        What keys may be.
    top : bool
        Whether the objects are outside all rows: objects of the same fields, side by side, are
        then read as rows, while those in a row are read as columns.

    Examples
    --------
    >>> engines = Vocabulary({"engine": ["chatgpt", "gemini"]})
    >>> map_key([{"chatgpt": 3, "gemini": 1}], "hits", engines, top=True)
    'engine'
    >>> map_key([{"hits": 3, "errors": 1}], "totals", engines, top=True) is None
    True
    """
    keys = list(dict.fromkeys(chain.from_iterable(objects)))
    if not keys:
        return None
    word = snake(field)
    suffix = (
        word.removeprefix("by_").removeprefix("per_") if word.startswith(("by_", "per_")) else ""
    )
    values = [one for one in chain.from_iterable(map(dict.values, objects)) if one is not None]
    dimension = vocabulary.dimension(keys)
    if dimension is not None:
        return suffix if suffix and dimension in ("number", "path", "uuid") else dimension
    if suffix and _of_one_kind(values) and not _is_table(objects):
        return singular(suffix)
    if _of_one_kind(values):
        elsewhere = vocabulary.field_of(keys)
        if elsewhere is not None and not _are_names_of_measures(keys):
            return elsewhere
    if _is_varied(objects, values):
        return f"{singular(word)}_key" if field else "key"
    if top and _are_alike(values, keys):
        return "metric" if word in ("metrics", "kpis", "measures", "summary") else singular(word)
    return None


def root_key(objects: list[dict[str, Any]], vocabulary: Vocabulary) -> str | None:
    """Name the key, if whole answers are maps: all their keys are data, or very many.

    Examples
    --------
    >>> root_key([{"2026-11-03": {"hits": 3}, "2026-11-04": {"hits": 1}}], Vocabulary({}))
    'date'
    >>> root_key([{"2026-11-03": {"hits": 3}, "meta": {"at": 1}}], Vocabulary({})) is None
    True
    """
    keys = list(dict.fromkeys(chain.from_iterable(objects)))
    dimension = vocabulary.dimension(keys) if len(keys) > 1 else None
    if dimension is not None and all(vocabulary.dimension([key]) == dimension for key in keys):
        return dimension
    values = [one for one in chain.from_iterable(map(dict.values, objects)) if one is not None]
    return "key" if _is_varied(objects, values) else None


def _is_table(objects: list[dict[str, Any]]) -> bool:
    """Whether objects are one table each: a header beside its rows, or an axis beside series."""
    for one in objects:
        widths = {len(value) for value in one.values() if header_words(value) is not None}
        grids = [value for value in one.values() if isinstance(value, list) and value]
        if any(
            all(isinstance(row, list) and len(row) in widths for row in value) for value in grids
        ):
            return True
    return next(blocks(objects), None) is not None


def _of_one_kind(values: list[Any]) -> bool:
    kinds = set(map(type, values))
    return len(kinds) <= 1 or kinds == {int, float}


def _are_names_of_measures(keys: list[str]) -> bool:
    """Whether the keys read like the names of counts and rates rather than of things."""
    return sum(map(is_measure_name, keys)) * 2 >= len(keys)


def _is_varied(objects: list[dict[str, Any]], values: list[Any]) -> bool:
    """Whether the keys could not be names of fields, or there are too many of them."""
    keys = Counter(chain.from_iterable(objects))
    if len(keys) <= _NAMES and not _odd(list(keys)):
        return False
    return are_keyed(objects)


def _odd(keys: list[str]) -> bool:
    """Whether most keys could not be the name of a field."""
    return sum(not key.replace("_", "a").isalnum() for key in keys) > 0.5 * len(keys)


def _are_alike(values: list[Any], keys: list[str]) -> bool:
    """Whether all values are objects of the same fields, mostly, with values of the same types."""
    if len(keys) < _FEWEST_ALIKE or not values or not all(type(one) is dict for one in values):
        return False
    inner = Counter(chain.from_iterable(values))
    if not inner or inner.total() < _ALIKE * len(inner) * len(values):
        return False
    below = chain.from_iterable(map(dict.values, values))
    if all(one is None or isinstance(one, _SCALARS) for one in below):
        return True
    # With lists in them, rows have plain fields too, and each field is of one type throughout.
    held = {name: {_kind(one.get(name)) for one in values} - {None} for name in inner}
    plain = sum(kinds <= {"plain"} for kinds in held.values())
    return (
        plain >= 2
        and "object" not in set().union(*held.values())
        and all(len(kinds) <= 1 for kinds in held.values())
    )


def _kind(value: Any) -> str | None:
    if value is None:
        return None
    return "object" if isinstance(value, dict) else "list" if isinstance(value, list) else "plain"
