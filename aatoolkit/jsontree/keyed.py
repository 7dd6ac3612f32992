"""Detect objects whose keys are data, as in ``{"2026-11-20": …}``: they are rows with a key."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Sequence
from functools import lru_cache
from itertools import chain
from typing import Any

from aatoolkit.jsontree.vectors import MAX_FIELDS

_FEW, _MANY, _COMMON = 3, 64, 8
_DATE_OR_NUMBER, _ADDRESS = r"[+-]?\d.*", r"[a-z]+://.*|[^\s@]+@\S+\.\w+"
_HOST, _UUID = r"(?:[\w-]+\.)+[a-z]{2,}(?:/.*)?", r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}"
_DATA = re.compile("|".join((_DATE_OR_NUMBER, _ADDRESS, _HOST, _UUID)), re.I | re.S)
_WORD = re.compile(r"[^\W\d]\w*|[$@_#].*", re.S)
_DATA_LIKE, _NAME, _OTHER = range(3)


def are_keyed(objects: Sequence[dict[str, Any]]) -> bool:
    """Whether the objects at one path are rows with a key.

    They are if they have three keys at least and

    * four fifths of the keys look like data (dates, numbers, hosts, addresses, UUIDs), or look
      like no field's name, as ``Acme CRM``, above values that are all numbers or all containers;
    * or they have more than 64 keys, and each object few of them, or all values are of one kind
      and the objects are fewer than the keys;
    * or all values are objects with the same fields, four fifths of them; or there are eight
      keys at least, and one field that nine tenths of the values have;
    * or they have more than `MAX_FIELDS` keys, whatever they are.

    Null values do not count.
    """
    keys = Counter(chain.from_iterable(objects))
    if not _FEW <= len(keys) <= MAX_FIELDS:
        return len(keys) > MAX_FIELDS
    names = tuple(keys)
    if _share(names, (_DATA_LIKE,)) >= 0.8:
        return True
    values = [
        value for value in chain.from_iterable(map(dict.values, objects)) if value is not None
    ]
    kinds = set(map(type, values))
    is_one_kind = len(kinds) <= 1 or kinds == {int, float}
    if is_one_kind and str not in kinds and _share(names, (_DATA_LIKE, _OTHER)) >= 0.8:
        return True
    if len(keys) > _MANY:
        few = keys.total() * 3 < len(keys) * len(objects)
        if few or (is_one_kind and len(objects) < len(keys)):
            return True
    records = [value for value in values if value] if kinds == {dict} else []
    fields = Counter(chain.from_iterable(records))
    if not fields:
        return False
    is_full = fields.total() >= 0.8 * len(fields) * len(records)
    return is_full or (len(keys) >= _COMMON and max(fields.values()) >= 0.9 * len(records))


@lru_cache(1 << 12)
def _share(keys: Collection[str], looks: tuple[int, ...]) -> float:
    """The share of keys that look like some kinds."""
    return sum(map(looks.__contains__, map(_look, keys))) / len(keys)


@lru_cache(1 << 14)
def _look(key: str) -> int:
    if _DATA.fullmatch(key):
        return _DATA_LIKE
    return _NAME if _WORD.fullmatch(key) else _OTHER
