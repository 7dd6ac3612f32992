"""Watched places: what is at the paths that a declaration says may be about availability."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import Any

from aatoolkit.availability.detect import Signal
from aatoolkit.availability.detect.context import Hint, raw
from aatoolkit.errors import AAToolkitError
from aatoolkit.jsontree import decode
from aatoolkit.jsontree.paths import parse_pattern
from aatoolkit.jsontree.vectors import MISSING, Vector
from aatoolkit.payload import Payload
from aatoolkit.sections.section import Section

_WHY = "a place of the profile that may be about availability, and that no rule reads"


def watched_hints(section: Section, answer: Any, signals: list[Signal]) -> Iterator[Hint]:
    """What an answer has at the watched places; of many rows, the value that is rarest."""
    if not section.watched:
        return
    whole = Vector([_document(answer)])
    read = [signal.path for signal in signals if signal.path]
    for watched in section.watched:
        found = whole.descend(parse_pattern(watched))
        there = [
            at
            for at, value in enumerate(found.values)
            if value is not MISSING and value not in (None, "", [], {})
        ]
        counts = Counter(repr(found.values[at]) for at in there)
        at = min(there, key=lambda at: counts[repr(found.values[at])], default=None)
        if at is None:
            continue
        path = found.path(at)
        if not any(_touch(path, one) or _touch(one, path) for one in read):
            yield Hint(path, raw(found.values[at]), _WHY)


def _touch(path: str, above: str) -> bool:
    """Whether a path is another one, or below it."""
    return above != "$" and (path == above or path.startswith((f"{above}.", f"{above}[")))


def _document(answer: Any) -> Any:
    try:
        if isinstance(answer, Payload):
            return answer.json
        if isinstance(answer, str):
            answer = answer.encode("utf-8", "surrogatepass")
        return decode.decode(answer) if isinstance(answer, bytes) else answer
    except AAToolkitError:
        return None
