"""Rows of tables, and objects grouped by their keys, by loops in C."""

from __future__ import annotations

from collections.abc import Container
from itertools import chain, compress
from operator import itemgetter
from typing import Any, NamedTuple

import numpy as np

RowIndex = np.ndarray[tuple[int], np.dtype[np.int64]]
Flags = np.ndarray[tuple[int], np.dtype[np.bool_]]
Rows = range | RowIndex
"""Row numbers in a table, rising: a range where there is no gap."""


def select_rows(rows: Rows, at: RowIndex) -> Rows:
    """Select rows by position."""
    return at + rows.start if isinstance(rows, range) else rows[at]


def row_numbers(rows: Rows) -> RowIndex:
    """Convert rows to an array."""
    return np.arange(rows.start, rows.stop) if isinstance(rows, range) else rows


def rows_apart(rows: RowIndex, others: RowIndex) -> RowIndex:
    """Return the rows that are not among others, rising; each row is there once."""
    return np.sort(np.setdiff1d(rows, others, assume_unique=True))


MAX_NUMBERS = 1000
"""Of more keys than this the numbers are not kept for the next objects."""


class KeyCodes(NamedTuple):
    """Keys as numbers, and how often each occurs."""

    codes: np.ndarray[tuple[int], np.dtype[Any]]
    counts: dict[str, int]


def encode_keys(keys: list[str], numbers: dict[str, int]) -> KeyCodes:
    """Number keys in the order of their first occurrence, after those that have a number.

    ``numbers`` gets the new ones, unless they are many: then no later keys are likely the same.
    """
    try:
        codes = lookup_codes(numbers, keys)
    except KeyError:
        all_keys = dict.fromkeys(chain(numbers, keys))
        known = dict(zip(all_keys, range(len(all_keys)), strict=True))
        codes = lookup_codes(known, keys)
        if len(known) <= MAX_NUMBERS:
            numbers.update(known)
    else:
        known = numbers
    counts = zip(known, np.bincount(codes, minlength=len(known)).tolist(), strict=True)
    return KeyCodes(codes, {key: count for key, count in counts if count})


def lookup_codes(numbers: dict[Any, int], keys: list[Any]) -> np.ndarray[tuple[int], np.dtype[Any]]:
    """Look up the number of each key, in as few bytes as will do: short ones sort fast."""
    # One call with all keys takes a third of the time of a call for each.
    found = itemgetter(*keys, keys[0])(numbers)[:-1]
    if len(numbers) < 2**8:
        return np.frombuffer(bytes(found), np.uint8)
    return np.array(found, np.int16 if len(numbers) < 2**15 else np.int32)


class ObjectBatch:
    """Objects, with all their keys and values in two flat lists.

    Attributes
    ----------
    objects : list of dict
        The objects; at least one.
    keys, values : list
        Their keys and values, one object after the other.

    ``numbers`` has keys of earlier objects at the same path, and gets those of these.
    """

    def __init__(
        self, objects: list[dict[str, Any]], numbers: dict[str, int] | None = None
    ) -> None:
        self.objects = objects
        self.keys: list[str] = list(chain.from_iterable(objects))
        self.values: list[Any] = list(chain.from_iterable(map(dict.values, objects)))
        # None if all objects have the same keys in the same order.
        first, size = list(objects[0]), len(objects)
        regular = len(self.keys) == len(first) * size and self.keys == first * size
        self._codes = (
            None if regular else encode_keys(self.keys, {} if numbers is None else numbers)
        )

    @property
    def distinct(self) -> int:
        """The number of different keys."""
        return len(self.objects[0]) if self._codes is None else len(self._codes.counts)

    @property
    def counts(self) -> dict[str, int]:
        """The number of objects that have each key."""
        if self._codes is None:
            return dict.fromkeys(self.objects[0], len(self.objects))
        return self._codes.counts

    @property
    def lengths(self) -> RowIndex:
        """The number of keys of each object."""
        return np.fromiter(map(len, self.objects), np.int64, len(self.objects))

    def by_key(self, rows: Rows) -> list[tuple[str, list[Any], Rows]]:
        """Group the values by key, each with its rows: a sort, not a search."""
        if self._codes is None:
            first = list(self.objects[0])
            return [(key, self.values[n :: len(first)], rows) for n, key in enumerate(first)]
        order = np.argsort(self._codes.codes, kind="stable")
        owners = np.repeat(row_numbers(rows), self.lengths)[order]
        values = np.fromiter(self.values, object, len(self.values))[order].tolist()
        found: list[tuple[str, list[Any], Rows]] = []
        start = 0
        for key, count in self._codes.counts.items():
            end = start + count
            there = rows if count == len(self.objects) else owners[start:end]
            found.append((key, values[start:end], there))
            start = end
        return found

    def partition(
        self, known: Container[str]
    ) -> tuple[ObjectBatch, list[str], list[Any], RowIndex]:
        """Split off the entries whose keys are not known.

        Returns the objects without them; their keys and values; and how many each object had.
        """
        others = [key not in known for key in self.keys]
        owners = np.repeat(np.arange(len(self.objects)), self.lengths)
        lengths = np.bincount(owners[np.array(others, np.bool_)], minlength=len(self.objects))
        kept = [{key: one[key] for key in one if key in known} for one in self.objects]
        keys, values = list(compress(self.keys, others)), list(compress(self.values, others))
        return ObjectBatch(kept), keys, values, lengths
