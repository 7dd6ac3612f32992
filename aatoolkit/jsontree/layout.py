"""What a document has before it is trusted: how many paths and keys, and which keys are data."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Sequence
from functools import lru_cache
from itertools import chain
from operator import itemgetter
from typing import Any

from aatoolkit.errors import PayloadError

MAX_NODES = 100_000
"""How many paths a document may have by default; responses have some hundreds."""

MAX_FIELDS = 1000
"""Objects with more keys than this are rows with a key, not columns."""

MAX_DEPTH = 128
"""The deepest nesting that is read."""

_FEW, _MANY = 3, 64
_DATE_OR_NUMBER, _ADDRESS = r"[+-]?\d.*", r"[a-z]+://.*|[^\s@]+@\S+\.\w+"
_HOST, _UUID = r"(?:[\w-]+\.)+[a-z]{2,}(?:/.*)?", r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}"
_DATA = re.compile("|".join((_DATE_OR_NUMBER, _ADDRESS, _HOST, _UUID)), re.I | re.S)
_WORD = re.compile(r"[^\W\d]\w*|[$@_#].*", re.S)


class Inexact(Exception):
    """orjson may not have decoded a body exactly."""


class Census:
    """Counts what a document has, and raises where that is too much, or may not be exact.

    Parameters
    ----------
    limit : int
        How many different paths it may have.
    is_exact : bool
        Whether it is exact for certain, however large its numbers are.

    Attributes
    ----------
    paths, keys, most_keys : int
        How many paths it has values at, how many keys all objects have, and the most of
        one object or of the records at one path.
    """

    def __init__(self, limit: int = 2**63, is_exact: bool = False) -> None:
        self.limit, self.is_exact = limit, is_exact
        self.paths = self.keys = self.most_keys = 0

    def look(self, values: Sequence[Any], kinds: set[type], depth: int) -> None:
        """Look at the values of one path.

        Raises
        ------
        PayloadError
            If that are too many paths.
        Inexact
            If a number may have been a larger one, or it is nested too deep.
        """
        self.paths += 1
        if self.paths > self.limit:
            raise PayloadError(
                f"the response has values at more than {self.limit:,} different paths; raise "
                "the limit (max_nodes, or --max-nodes on the command line) if that is how it "
                "should be",
                limit=self.limit,
                problems=[f"more than {self.limit:,} different paths @ $"],
            )

        if depth >= MAX_DEPTH and not kinds.isdisjoint((dict, list)):
            raise Inexact
        # Beyond 64 bits orjson makes floats of whole numbers.
        if float in kinds and not self.is_exact:
            floats = [value for value in values if type(value) is float]
            if max(floats) >= 2**63 or min(floats) <= -(2**63):
                raise Inexact

    def add_keys(self, objects: Sequence[dict[str, Any]], fields: int = 0) -> None:
        """Add the keys of the objects at one path; records have some fields in common."""
        sizes = [*map(len, objects)]
        self.keys += sum(sizes)
        self.most_keys = max(self.most_keys, fields, *sizes)

    def survey(
        self, values: Sequence[Any], kinds: set[type], depth: int, are_records: bool = False
    ) -> None:
        """Look at the values of one path, and count what is below them."""
        self.look(values, kinds, depth)
        if not kinds.isdisjoint((dict, list)):
            self.walk(values, depth, are_records)

    def walk(self, values: Sequence[Any], depth: int = 0, are_records: bool = False) -> None:
        """Count what is below the values of one path; keys that are data are one path."""
        arrays = [value for value in values if type(value) is list]
        objects = [value for value in values if type(value) is dict]
        below: dict[str | None, list[Any]] = {}
        if arrays:
            below[None] = [*chain.from_iterable(arrays)]
        if objects:
            columns = columns_of(objects)
            self.add_keys(objects, len(columns) if are_records else 0)
            if len(columns) > _MANY and are_keyed(objects):
                below[""] = [*chain.from_iterable(map(dict.values, objects))]
            else:
                below.update(columns.items())
        for name, part in below.items():
            self.survey(part, {*map(type, part)}, depth + 1, name is None)


def columns_of(objects: Sequence[dict[str, Any]]) -> dict[str, list[Any]]:
    """The values under each key of some objects.

    The work is that of all keys that are there, however many different ones they are.
    """
    columns = common_fields(objects)
    if not columns:
        columns = defaultdict(list)
        for item in objects:
            for name, value in item.items():
                columns[name].append(value)
    return columns


def common_fields(objects: Sequence[dict[str, Any]]) -> dict[str, list[Any]]:
    """The values under each key, where all objects have the same keys; else none."""
    if {*map(len, objects)} == {len(objects[0])}:
        try:
            return {name: [*map(itemgetter(name), objects)] for name in objects[0]}
        except KeyError:
            pass
    return {}


def are_keyed(objects: Sequence[dict[str, Any]]) -> bool:
    """Whether the objects at one path are rows with a key.

    They are if they have three keys at least and

    * four fifths of the keys look like data (dates, numbers, hosts, addresses, UUIDs), or look
      like no field's name, as ``Acme CRM``, above values that are all numbers or all containers;
    * or they have more than 64 keys, and each object few of them, or all values are of one kind
      and the objects are fewer than the keys;
    * or all values are objects with the same fields, four fifths of them;
    * or they have more than `MAX_FIELDS` keys, whatever they are.

    Null values do not count.
    """
    keys = Counter(chain.from_iterable(objects))
    if not _FEW <= len(keys) <= MAX_FIELDS:
        return len(keys) > MAX_FIELDS
    values = [v for v in chain.from_iterable(map(dict.values, objects)) if v is not None]
    kinds = {*map(type, values)}
    is_one_kind = len(kinds) <= 1 or kinds == {int, float}
    looks = Counter(map(_look, keys))
    if looks["data"] + looks["odd"] * (is_one_kind and str not in kinds) >= 0.8 * len(keys):
        return True
    is_sparse = keys.total() * 3 < len(keys) * len(objects)
    if len(keys) > _MANY and (is_sparse or (is_one_kind and len(objects) < len(keys))):
        return True
    records = [value for value in values if value] if kinds == {dict} else []
    fields = Counter(chain.from_iterable(records))
    return bool(fields) and fields.total() >= 0.8 * len(fields) * len(records)


@lru_cache(1 << 14)
def _look(key: str) -> str:
    if _DATA.fullmatch(key):
        return "data"
    return "name" if _WORD.fullmatch(key) else "odd"
