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

# Fewer than 3 distinct keys are names of fields. More than 64 are probably data.
_MIN_DATA_KEY_COUNT = 3
_MANY_KEY_COUNT = 64
_DATE_OR_NUMBER_REGEX = r"[+-]?\d.*"
_URL_OR_EMAIL_REGEX = r"[a-z]+://.*|[^\s@]+@\S+\.\w+"
_HOST_REGEX = r"(?:[\w-]+\.)+[a-z]{2,}(?:/.*)?"
_UUID_REGEX = r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}"
_DATA_KEY_PATTERN = re.compile(
    "|".join((_DATE_OR_NUMBER_REGEX, _URL_OR_EMAIL_REGEX, _HOST_REGEX, _UUID_REGEX)), re.I | re.S
)
_FIELD_NAME_PATTERN = re.compile(r"[^\W\d]\w*|[$@_#].*", re.S)


class InexactDecoding(Exception):
    """Raised if the decoder orjson may have changed a document: a large number or duplicate key."""


class StructureCounter:
    """Counts the distinct paths and the keys of a JSON document, and checks the number of paths.

    ``max_paths`` is the maximum number of distinct paths. ``has_exact_integers`` says whether the
    document was decoded by Python's own decoder, which keeps large integers exact.
    """

    def __init__(self, max_paths: int = 2**63, has_exact_integers: bool = False) -> None:
        self.max_paths = max_paths
        self.has_exact_integers = has_exact_integers
        # max_key_count is the largest number of keys in one object, or in all objects of one array.
        self.path_count = self.key_count = self.max_key_count = 0

    def count_path(self, values: Sequence[Any], value_types: set[type], depth: int) -> None:
        """Count one more path of the document, and check its values against the limits.

        ``values`` are all values at the path, and ``value_types`` is the set of their types.
        ``depth`` is the depth of nesting. Raise `PayloadError` if there are too many paths. Raise
        `InexactDecoding` if orjson may have rounded a value, or if values are nested too deeply.
        """
        self.path_count += 1
        if self.path_count > self.max_paths:
            raise PayloadError(
                f"the response has more than {self.max_paths:,} different paths; if that is right, "
                "raise the limit of `normalize` or `shred` (max_nodes)",
                limit=self.max_paths,
                problems=[f"more than {self.max_paths:,} different paths @ $"],
            )

        # Python's decoder then reports the depth, or reads large numbers exactly.
        if depth >= MAX_DEPTH and not value_types.isdisjoint((dict, list)):
            raise InexactDecoding
        # Beyond 64 bits orjson makes floats of whole numbers.
        if float in value_types and not self.has_exact_integers:
            floats = [value for value in values if type(value) is float]
            if max(floats) >= 2**63 or min(floats) <= -(2**63):
                raise InexactDecoding

    def count_keys(self, objects: Sequence[dict[str, Any]], record_field_count: int = 0) -> None:
        """Update ``key_count`` and ``max_key_count`` by the objects at one path.

        If the objects are elements of an array, ``record_field_count`` is the number of distinct
        keys in all of them together.
        """
        key_counts = [*map(len, objects)]
        self.key_count += sum(key_counts)
        self.max_key_count = max(self.max_key_count, record_field_count, *key_counts)

    def count_values(
        self, values: Sequence[Any], value_types: set[type], depth: int, are_records: bool = False
    ) -> None:
        """Count the path of some values, and all paths and keys nested in these values.

        ``are_records`` says whether the values are elements of an array.
        """
        self.count_path(values, value_types, depth)
        if not value_types.isdisjoint((dict, list)):
            self.count_descendants(values, depth, are_records)

    def count_descendants(
        self, values: Sequence[Any], depth: int = 0, are_records: bool = False
    ) -> None:
        """Count the paths and keys nested in some values, but not the path of the values itself.

        ``are_records`` says whether the values are elements of an array.
        """
        arrays = [value for value in values if type(value) is list]
        objects = [value for value in values if type(value) is dict]
        child_values_by_name: dict[str | None, list[Any]] = {}
        if arrays:
            child_values_by_name[None] = [*chain.from_iterable(arrays)]
        if objects:
            values_by_field = group_by_key(objects)
            self.count_keys(objects, len(values_by_field) if are_records else 0)
            # Values under keys that are data count as one path.
            if len(values_by_field) > _MANY_KEY_COUNT and are_keys_data(objects):
                child_values_by_name[""] = [*chain.from_iterable(map(dict.values, objects))]
            else:
                child_values_by_name.update(values_by_field.items())
        for name, child_values in child_values_by_name.items():
            self.count_values(child_values, {*map(type, child_values)}, depth + 1, name is None)


def group_by_key(objects: Sequence[dict[str, Any]]) -> dict[str, list[Any]]:
    """Group the values of objects by key.

    Examples
    --------
    >>> dict(group_by_key([{"a": 1}, {"a": 2, "b": 3}]))
    {'a': [1, 2], 'b': [3]}
    """
    values_by_key = group_by_common_key(objects)
    if not values_by_key:
        values_by_key = defaultdict(list)
        for json_object in objects:
            for key, value in json_object.items():
                values_by_key[key].append(value)
    return values_by_key


def group_by_common_key(objects: Sequence[dict[str, Any]]) -> dict[str, list[Any]]:
    """Return a dict from key to the values of all objects; it is empty if their keys differ."""
    if {*map(len, objects)} == {len(objects[0])}:
        try:
            return {key: [*map(itemgetter(key), objects)] for key in objects[0]}
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
    count_by_key = Counter(chain.from_iterable(objects))
    if not _MIN_DATA_KEY_COUNT <= len(count_by_key) <= MAX_FIELDS:
        return len(count_by_key) > MAX_FIELDS
    child_values = [
        value for value in chain.from_iterable(map(dict.values, objects)) if value is not None
    ]
    value_types = {*map(type, child_values)}
    has_one_type = len(value_types) <= 1 or value_types == {int, float}
    count_by_key_kind = Counter(map(_classify_key, count_by_key))
    # 80 % of the keys look like data. So do keys such as "Acme CRM" if all values have one type.
    if count_by_key_kind["data"] + count_by_key_kind["other"] * (
        has_one_type and str not in value_types
    ) >= 0.8 * len(count_by_key):
        return True
    # The objects have on average less than a third of the keys.
    is_sparse = count_by_key.total() * 3 < len(count_by_key) * len(objects)
    if len(count_by_key) > _MANY_KEY_COUNT and (
        is_sparse or (has_one_type and len(objects) < len(count_by_key))
    ):
        return True
    records = [value for value in child_values if value] if value_types == {dict} else []
    count_by_field = Counter(chain.from_iterable(records))
    # All values are objects that share 80 % of their fields.
    return bool(count_by_field) and count_by_field.total() >= 0.8 * len(count_by_field) * len(
        records
    )


@lru_cache(1 << 14)
def _classify_key(key: str) -> str:
    """Return ``"data"`` for a key such as a date, ``"name"`` for a field name, else ``"other"``."""
    if _DATA_KEY_PATTERN.fullmatch(key):
        return "data"
    return "name" if _FIELD_NAME_PATTERN.fullmatch(key) else "other"
