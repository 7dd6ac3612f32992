"""Check the size of a JSON document, and find objects whose keys are data, such as dates."""

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
"""The default limit on the distinct paths of a document; responses have some hundreds."""

MAX_FIELDS = 1000
"""If an object has more keys than this, they are data, and not names of fields."""

MAX_DEPTH = 128
"""The maximum depth of nesting in a document."""

_MIN_KEYS, _MANY_KEYS = 3, 64
_DATE_OR_NUMBER, _ADDRESS = r"[+-]?\d.*", r"[a-z]+://.*|[^\s@]+@\S+\.\w+"
_HOST, _UUID = r"(?:[\w-]+\.)+[a-z]{2,}(?:/.*)?", r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}"
_DATA_KEY = re.compile("|".join((_DATE_OR_NUMBER, _ADDRESS, _HOST, _UUID)), re.I | re.S)
_FIELD_NAME = re.compile(r"[^\W\d]\w*|[$@_#].*", re.S)


class Inexact(Exception):
    """Raised if the decoder orjson may have rounded a number or dropped a duplicate key."""


class StructureCounter:
    """Counts the distinct paths and the keys of a document, and checks their limits.

    ``limit`` is the maximum number of paths. ``is_exact`` says whether the document was decoded by
    Python's own decoder, which keeps large integers exact.
    """

    def __init__(self, limit: int = 2**63, is_exact: bool = False) -> None:
        self.limit, self.is_exact = limit, is_exact
        # most_keys is the largest number of keys in one object, or in all objects of one array.
        self.paths = self.keys = self.most_keys = 0

    def count_path(self, values: Sequence[Any], kinds: set[type], depth: int) -> None:
        """Count one path.

        ``values`` are all values at the path, and ``kinds`` is the set of their types. Raise
        `PayloadError` if there are too many paths. Raise `Inexact` if orjson may have rounded a
        value, or if the values are nested too deeply.
        """
        self.paths += 1
        if self.paths > self.limit:
            raise PayloadError(
                f"the response has more than {self.limit:,} different paths; if that is right, "
                "raise the limit of `normalize` or `shred` (max_nodes)",
                limit=self.limit,
                problems=[f"more than {self.limit:,} different paths @ $"],
            )

        # Python's decoder then reports the depth, or reads large numbers exactly.
        if depth >= MAX_DEPTH and not kinds.isdisjoint((dict, list)):
            raise Inexact
        # Beyond 64 bits orjson makes floats of whole numbers.
        if float in kinds and not self.is_exact:
            floats = [value for value in values if type(value) is float]
            if max(floats) >= 2**63 or min(floats) <= -(2**63):
                raise Inexact

    def count_keys(self, objects: Sequence[dict[str, Any]], record_field_count: int = 0) -> None:
        """Count the keys of all objects at one path."""
        sizes = [*map(len, objects)]
        self.keys += sum(sizes)
        self.most_keys = max(self.most_keys, record_field_count, *sizes)

    def count_values(
        self, values: Sequence[Any], kinds: set[type], depth: int, are_records: bool = False
    ) -> None:
        """Count the values at one path, and the paths and keys nested in these values."""
        self.count_path(values, kinds, depth)
        if not kinds.isdisjoint((dict, list)):
            self.count_inside(values, depth, are_records)

    def count_inside(
        self, values: Sequence[Any], depth: int = 0, are_records: bool = False
    ) -> None:
        """Count the paths and keys nested in some values, without the path of the values."""
        arrays = [value for value in values if type(value) is list]
        objects = [value for value in values if type(value) is dict]
        children: dict[str | None, list[Any]] = {}
        if arrays:
            children[None] = [*chain.from_iterable(arrays)]
        if objects:
            columns = values_by_key(objects)
            self.count_keys(objects, len(columns) if are_records else 0)
            # Values under keys that are data count as one path.
            if len(columns) > _MANY_KEYS and are_keys_data(objects):
                children[""] = [*chain.from_iterable(map(dict.values, objects))]
            else:
                children.update(columns.items())
        for name, items in children.items():
            self.count_values(items, {*map(type, items)}, depth + 1, name is None)


def values_by_key(objects: Sequence[dict[str, Any]]) -> dict[str, list[Any]]:
    """Group the values of objects by key.

    Examples
    --------
    >>> dict(values_by_key([{"a": 1}, {"a": 2, "b": 3}]))
    {'a': [1, 2], 'b': [3]}
    """
    columns = values_by_common_key(objects)
    if not columns:
        columns = defaultdict(list)
        for item in objects:
            for name, value in item.items():
                columns[name].append(value)
    return columns


def values_by_common_key(objects: Sequence[dict[str, Any]]) -> dict[str, list[Any]]:
    """Return a dict from key to the values of all objects; it is empty if their keys differ."""
    if {*map(len, objects)} == {len(objects[0])}:
        try:
            return {name: [*map(itemgetter(name), objects)] for name in objects[0]}
        except KeyError:
            pass
    return {}


def are_keys_data(objects: Sequence[dict[str, Any]]) -> bool:
    """Return whether the keys of objects are data, such as dates, and not names of fields.

    Examples
    --------
    >>> are_keys_data([{"2026-11-18": 1, "2026-11-19": 2, "2026-11-20": 0}])
    True
    >>> are_keys_data([{"rank": 1, "name": "Acme", "share": 0.5}])
    False
    """
    key_counts = Counter(chain.from_iterable(objects))
    if not _MIN_KEYS <= len(key_counts) <= MAX_FIELDS:
        return len(key_counts) > MAX_FIELDS
    values = [
        value for value in chain.from_iterable(map(dict.values, objects)) if value is not None
    ]
    types = {*map(type, values)}
    has_one_type = len(types) <= 1 or types == {int, float}
    kind_counts = Counter(map(_classify_key, key_counts))
    # 80 % of the keys look like data. So do keys such as "Acme CRM" if all values have one type.
    if kind_counts["data"] + kind_counts["other"] * (
        has_one_type and str not in types
    ) >= 0.8 * len(key_counts):
        return True
    # The objects have on average less than a third of the keys.
    is_sparse = key_counts.total() * 3 < len(key_counts) * len(objects)
    if len(key_counts) > _MANY_KEYS and (
        is_sparse or (has_one_type and len(objects) < len(key_counts))
    ):
        return True
    records = [value for value in values if value] if types == {dict} else []
    field_counts = Counter(chain.from_iterable(records))
    # All values are objects that share 80 % of their fields.
    return bool(field_counts) and field_counts.total() >= 0.8 * len(field_counts) * len(records)


@lru_cache(1 << 14)
def _classify_key(key: str) -> str:
    """Return ``"data"`` for a key such as a date, ``"name"`` for a field name, else ``"other"``."""
    if _DATA_KEY.fullmatch(key):
        return "data"
    return "name" if _FIELD_NAME.fullmatch(key) else "other"
