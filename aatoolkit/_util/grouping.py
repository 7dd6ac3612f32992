"""Group values by a key."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TypeVar

K = TypeVar("K")
V = TypeVar("V")


def group_values(pairs: Iterable[tuple[K, V]]) -> dict[K, list[V]]:
    """Return a dict from each key to the list of its values, both in the order of the pairs.

    Examples
    --------
    >>> group_values([("a", 1), ("b", 2), ("a", 3)])
    {'a': [1, 3], 'b': [2]}
    """
    values_by_key: dict[K, list[V]] = {}
    for key, value in pairs:
        values_by_key.setdefault(key, []).append(value)
    return values_by_key
