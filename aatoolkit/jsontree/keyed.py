"""Detect objects whose keys are data, as in ``{"2026-11-20": …}``: they are rows with a key."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection
from functools import lru_cache
from itertools import chain

from aatoolkit.jsontree.grouping import ObjectBatch

MAX_FIELDS = 1000
"""Objects with more keys than this are rows with a key, not columns."""

_FEW, _MANY, _COMMON = 3, 64, 8
_DATE_OR_NUMBER, _ADDRESS = r"[+-]?\d.*", r"[a-z]+://.*|[^\s@]+@\S+\.\w+"
_HOST, _UUID = r"(?:[\w-]+\.)+[a-z]{2,}(?:/.*)?", r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}"
_DATA = re.compile("|".join((_DATE_OR_NUMBER, _ADDRESS, _HOST, _UUID)), re.I | re.S)
_WORD = re.compile(r"[^\W\d]\w*|[$@_#].*", re.S)
_DATA_LIKE, _NAME, _OTHER = range(3)
_NULL = type(None)


class KeyTraits:
    """The keys and kinds of values of the objects at one path, whatever their order.

    They are rows with a key, one an entry, if they have three keys at least and

    * four fifths of the keys look like data (dates, numbers, hosts, addresses, UUIDs), or look
      like no field's name, as ``Acme CRM``, above values that are all numbers or all containers;
    * or they have more than 64 keys, and each object few of them, or all values are of one kind
      and the objects are fewer than the keys;
    * or all values are objects with the same fields, four fifths of them; or there are eight
      keys at least, and one field that nine tenths of the values have.

    * or they have more than `MAX_FIELDS` keys, whatever they are.

    Null values do not count.
    """

    def __init__(self) -> None:
        self.objects = 0
        self.keys: Counter[str] = Counter()
        self._too_many = False
        self._kinds: set[type] = set()
        self._inner_objects = 0
        self._inner: Counter[str] = Counter()

    def update(self, batch: ObjectBatch) -> None:
        """Add the keys and values of more objects."""
        if self._too_many or batch.distinct > MAX_FIELDS:
            self._too_many = True
            return
        self.objects += len(batch.objects)
        self.keys.update(batch.counts)
        self._too_many = len(self.keys) > MAX_FIELDS
        values = batch.values
        odd = self._share(_DATA_LIKE, _OTHER) >= 0.8 or len(self.keys) > _MANY
        if not odd and values and type(values[0]) not in (dict, _NULL):
            # They are no rows, whatever the other values are; most objects end here.
            self._kinds.add(type(values[0]))
            return
        self._kinds |= set(map(type, values)) - {_NULL}
        if self._kinds <= {dict}:
            inner = [value for value in values if value]
            self._inner_objects += len(inner)
            self._inner.update(chain.from_iterable(inner))

    @property
    def are_settled(self) -> bool:
        """Whether more objects of the same keys and kinds of values cannot change `are_keyed`."""
        if self._too_many:
            return True
        return len(self.keys) < _FEW or (len(self.keys) <= _MANY and self._kinds != {dict})

    def are_keyed(self) -> bool:
        """Whether the objects are rows with a key."""
        if self._too_many:
            return True
        if len(self.keys) < _FEW:
            return False
        if self._share(_DATA_LIKE) >= 0.8:
            return True
        return self._nameless() or self._varied() or self._alike()

    def _share(self, *looks: int) -> float:
        if len(self.keys) > _MANY:
            return _share_of(self.keys, looks)
        return _known_share(tuple(self.keys), looks)

    def _of_one_kind(self) -> bool:
        return len(self._kinds) <= 1 or self._kinds == {int, float}

    def _nameless(self) -> bool:
        odd = self._share(_DATA_LIKE, _OTHER) >= 0.8
        return odd and self._of_one_kind() and str not in self._kinds

    def _varied(self) -> bool:
        keys = len(self.keys)
        if keys <= _MANY:
            return False
        few = self.keys.total() * 3 < keys * self.objects
        return few or (self._of_one_kind() and self.objects < keys)

    def _alike(self) -> bool:
        if self._kinds != {dict} or not self._inner:
            return False
        without_nulls = self._inner.total() / (len(self._inner) * self._inner_objects)
        common = max(self._inner.values()) / self._inner_objects
        return without_nulls >= 0.8 or (len(self.keys) >= _COMMON and common >= 0.9)


def _share_of(keys: Collection[str], looks: tuple[int, ...]) -> float:
    """The share of keys that look like some kinds."""
    return sum(map(looks.__contains__, map(_classify, keys))) / max(1, len(keys))


_known_share = lru_cache(1 << 12)(_share_of)
"""The same; most objects have the keys of others that were seen."""


@lru_cache(1 << 14)
def _classify(key: str) -> int:
    if _DATA.fullmatch(key):
        return _DATA_LIKE
    return _NAME if _WORD.fullmatch(key) else _OTHER
