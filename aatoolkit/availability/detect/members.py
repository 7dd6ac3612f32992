"""The members of the objects about a whole answer: it, its metadata, its wrappers."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

from aatoolkit.availability.detect import roles
from aatoolkit.availability.detect.roles import fold, words
from aatoolkit.jsontree.paths import key_step

_DEEPEST = 4
_PAGING = words("paging pagination links page cursor cursors")


class ObjectMember(NamedTuple):
    """A member of an object outside lists, with the object that holds it."""

    key: str
    value: Any
    path: str
    beside: Mapping[str, Any]


def members(document: Any, *, deepest: int = _DEEPEST) -> Iterator[ObjectMember]:
    """The members of the objects about a whole answer: it, its metadata, its wrappers."""
    waiting = [(document, "$", 0)]
    while waiting:
        given, path, depth = waiting.pop()
        for key, value in given.items() if isinstance(given, dict) else ():
            at = path + key_step(key)
            yield ObjectMember(key, value, at, given)
            outer = roles.is_holder(key) or roles.is_wrapper(key) or fold(key) in _PAGING
            outer |= isinstance(value, dict) and isinstance(value.get("conditions"), list)
            if isinstance(value, dict) and depth < deepest and outer:
                waiting.append((value, at, depth + 1))
