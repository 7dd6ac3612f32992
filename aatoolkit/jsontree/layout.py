"""The limits of a document: paths and depth; and the test for objects whose keys are data."""

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
"""The most different paths of a document, by default; responses have some hundreds."""

MAX_FIELDS = 1000
"""The keys of an object with more keys than this are data, not names of fields."""

MAX_DEPTH = 128
"""The deepest nesting that a document may have."""

_FEWEST_KEYS, _MANY_KEYS = 3, 64
_DATE_OR_NUMBER, _ADDRESS = r"[+-]?\d.*", r"[a-z]+://.*|[^\s@]+@\S+\.\w+"
_HOST, _UUID = r"(?:[\w-]+\.)+[a-z]{2,}(?:/.*)?", r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}"
_DATA = re.compile("|".join((_DATE_OR_NUMBER, _ADDRESS, _HOST, _UUID)), re.I | re.S)
_WORD = re.compile(r"[^\W\d]\w*|[$@_#].*", re.S)


class Inexact(Exception):
    """A document that orjson may not have decoded exactly."""


class Census:
    """Counts the paths and keys of a document, and checks its limits and numbers while counting.

    Parameters
    ----------
    limit : int
        The most different paths that the document may have.
    is_exact : bool
        Whether the document was decoded exactly, however large its numbers are.

    Attributes
    ----------
    paths, keys, most_keys : int
        The number of different paths, the number of keys of all objects, and the most keys of one
        object, or of the records at one path together.
    """

    def __init__(self, limit: int = 2**63, is_exact: bool = False) -> None:
        self.limit, self.is_exact = limit, is_exact
        self.paths = self.keys = self.most_keys = 0

    def count_path(self, values: Sequence[Any], kinds: set[type], depth: int) -> None:
        """Count one path, and check the values at it.

        Raises
        ------
        PayloadError
            If the document has too many paths.
        Inexact
            If a number may not be exact, or the values are nested too deep.
        """
        self.paths += 1
        if self.paths > self.limit:
            raise PayloadError(
                f"the response has more than {self.limit:,} different paths; if that is right, "
                "raise the limit of `normalize` or `shred` (max_nodes)",
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

    def add_keys(self, objects: Sequence[dict[str, Any]], field_count: int = 0) -> None:
        """Add the keys of the objects at one path to the counts.

        If the objects are records, i.e. elements of arrays, ``field_count`` is the number of their
        different fields.
        """
        sizes = [*map(len, objects)]
        self.keys += sum(sizes)
        self.most_keys = max(self.most_keys, field_count, *sizes)

    def survey(
        self, values: Sequence[Any], kinds: set[type], depth: int, are_records: bool = False
    ) -> None:
        """Count one path, then the paths and keys inside of the values at it.

        ``kinds`` are the types of the values; ``are_records`` says that they are elements of
        arrays.
        """
        self.count_path(values, kinds, depth)
        if not kinds.isdisjoint((dict, list)):
            self.walk(values, depth, are_records)

    def walk(self, values: Sequence[Any], depth: int = 0, are_records: bool = False) -> None:
        """Count the paths and keys inside of values; all keys that are data count as one path."""
        arrays = [value for value in values if type(value) is list]
        objects = [value for value in values if type(value) is dict]
        children: dict[str | None, list[Any]] = {}
        if arrays:
            children[None] = [*chain.from_iterable(arrays)]
        if objects:
            columns = columns_of(objects)
            self.add_keys(objects, len(columns) if are_records else 0)
            if len(columns) > _MANY_KEYS and are_keyed(objects):
                children[""] = [*chain.from_iterable(map(dict.values, objects))]
            else:
                children.update(columns.items())
        for name, items in children.items():
            self.survey(items, {*map(type, items)}, depth + 1, name is None)


def columns_of(objects: Sequence[dict[str, Any]]) -> dict[str, list[Any]]:
    """Return the values of objects by key, in time proportional to the number of values."""
    columns = common_fields(objects)
    if not columns:
        columns = defaultdict(list)
        for item in objects:
            for name, value in item.items():
                columns[name].append(value)
    return columns


def common_fields(objects: Sequence[dict[str, Any]]) -> dict[str, list[Any]]:
    """Return the values of objects by key if all have the same keys; else an empty dict."""
    if {*map(len, objects)} == {len(objects[0])}:
        try:
            return {name: [*map(itemgetter(name), objects)] for name in objects[0]}
        except KeyError:
            pass
    return {}


def are_keyed(objects: Sequence[dict[str, Any]]) -> bool:
    """Whether the keys of the objects at one path are data, such as dates, and not field names.

    They are if there are three or more different keys and

    * 80 % of the keys look like data (dates, numbers, hosts, addresses, UUIDs). If all values are
      numbers, or all have one other type than text, keys that cannot be names of fields, such as
      ``Acme CRM``, look like data as well;
    * or there are more than 64 keys, and the objects have less than a third of them on average;
    * or there are more than 64 keys, all values have one type and there are fewer objects than
      keys;
    * or all values are objects that have 80 % of their fields in common;
    * or there are more than `MAX_FIELDS` keys.

    Null values do not count.
    """
    keys = Counter(chain.from_iterable(objects))
    if not _FEWEST_KEYS <= len(keys) <= MAX_FIELDS:
        return len(keys) > MAX_FIELDS
    values = [
        value for value in chain.from_iterable(map(dict.values, objects)) if value is not None
    ]
    types = {*map(type, values)}
    is_one_kind = len(types) <= 1 or types == {int, float}
    kind_counts = Counter(map(_key_kind, keys))
    if kind_counts["data"] + kind_counts["other"] * (is_one_kind and str not in types) >= 0.8 * len(
        keys
    ):
        return True
    is_sparse = keys.total() * 3 < len(keys) * len(objects)
    if len(keys) > _MANY_KEYS and (is_sparse or (is_one_kind and len(objects) < len(keys))):
        return True
    records = [value for value in values if value] if types == {dict} else []
    field_counts = Counter(chain.from_iterable(records))
    return bool(field_counts) and field_counts.total() >= 0.8 * len(field_counts) * len(records)


@lru_cache(1 << 14)
def _key_kind(key: str) -> str:
    """Classify a key: it looks like ``data``, like the ``name`` of a field, or like ``other``."""
    if _DATA.fullmatch(key):
        return "data"
    return "name" if _WORD.fullmatch(key) else "other"
