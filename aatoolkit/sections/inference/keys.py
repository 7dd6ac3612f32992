"""Find the key of a relation: the fewest columns that are unique in every answer."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import combinations
from typing import Any

from aatoolkit.jsontree.vectors import MISSING
from aatoolkit.sections.inference.readings import FieldReading
from aatoolkit.sections.inference.relations import Measure, Relation
from aatoolkit.sections.inference.vocabulary import words_of
from aatoolkit.sections.inference.words import is_id_name, is_measure_name, is_numbered, tokens

_MOST, _CANDIDATES = 3, 12
_LABELS = words_of(
    """
    name title label brand engine topic category term query keyword text metric bot path url
    domain host theme sku merchant competitor rival week date day month hour entity slug
    """
)
_IDENTIFIERS = words_of("id uuid guid key sku slug hash code")
_CURSORS = frozenset(["cursor", "etag", "checksum"])


def find_key(relation: Relation, readings: Mapping[str, FieldReading]) -> tuple[str, ...]:
    """Find the key of a relation, with keys of what encloses it; empty if none is unique.

    Identifiers come before labels, and measures, instants and flags are never part of a key.

    Parameters
    ----------
    relation : Relation
        The rows.
    readings : mapping of str to FieldReading
        How each of its columns is read.
    """
    given = [column for column in relation.columns if column.label or column.inherited]
    own = [column for column in relation.columns if column not in given]
    groups = [tuple(one) for one in zip(relation.answer.tolist(), strict=True)]
    if _is_unique(groups, given) and given:
        return tuple(column.name for column in given)
    ranked = sorted(
        (column for column in own if _may_be_key(column, readings[column.name], relation)),
        key=lambda column: _rank(column, readings[column.name], relation),
    )[:_CANDIDATES]
    for count in range(1, _MOST + 1):
        for columns in combinations(ranked, count):
            # Keys of what encloses the rows are part of the key only where they are needed.
            if _is_unique(groups, [*given, *columns]):
                return (*(column.name for column in given), *(c.name for c in columns))
    return ()


def _may_be_key(column: Measure, reading: FieldReading, relation: Relation) -> bool:
    words = tokens(column.name)
    if any(one is None or one is MISSING for one in column.values) or words[-1] in _CURSORS:
        return False
    if reading.dtype in ("boolean", "list<string>", "Float64", "timestamp") or reading.missing:
        return False
    if reading.parse == "currency":
        return True
    named = column.path.rpartition(".")[2]
    if reading.dtype == "Int64":
        return is_id_name(column.name) or words[-1] in (
            "rank",
            "position",
            "place",
            "index",
            "number",
        )
    return not is_measure_name(named) or (reading.dtype == "string" and reading.parse is None)


def _rank(column: Measure, reading: FieldReading, relation: Relation) -> tuple[int, int]:
    words = tokens(column.name)
    length = max((len(one) for one in column.values if isinstance(one, str)), default=0)
    if _is_place(column, relation):
        order = 6
    elif words[-1] in _IDENTIFIERS or is_numbered(words):
        order = 0
    elif words[-1] in _LABELS and reading.dtype != "date":
        order = 1
    elif reading.dtype == "date":
        order = 2
    elif reading.dtype == "Int64":
        order = 5
    else:
        order = 4 if length > 120 else 3
    return order, len(words)


def _is_place(column: Measure, relation: Relation) -> bool:
    """Whether a column only numbers the rows of each answer: 1, 2, 3 …"""
    first, places = "", 0
    before = -1
    for value, answer in zip(column.values, relation.answer.tolist(), strict=True):
        places = 0 if answer != before else places + 1
        before, text = answer, str(value).lstrip("#")
        first = text if places == 0 else first
        if first not in ("0", "1") or text != str(int(first) + places):
            return False
    return len(relation) > 1


def _is_unique(groups: list[tuple[Any, ...]], columns: list[Measure]) -> bool:
    rows = list(zip(groups, *(column.values for column in columns), strict=True))
    try:
        return len(set(rows)) == len(rows)
    except TypeError:  # a list or an object among them
        return len(set(map(repr, rows))) == len(rows)
