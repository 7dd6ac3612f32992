"""Watched paths: hints about what is at the paths that a declaration lists."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import Any

from aatoolkit.availability.detect import Hint, Signal, raw
from aatoolkit.errors import AAToolkitError
from aatoolkit.jsontree import decode
from aatoolkit.jsontree.paths import Field, parse_pattern
from aatoolkit.jsontree.vectors import MISSING, Vector
from aatoolkit.payload import Payload
from aatoolkit.sections.section import Section

_SILENT = "empty, as where nothing was measured, and nothing says which it is: no zero"
_WHY = "a place of the profile that may be about availability, and that no rule reads"


def watched_hints(section: Section, answer: Any, signals: list[Signal]) -> Iterator[Hint]:
    """Yield hints of the values at the watched paths; of many rows, the rarest value."""
    if not section.watched and not section.emptied:
        return
    document = _document(answer)
    yield from _emptied(section, document, signals)
    whole = Vector([document])
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


def _emptied(section: Section, document: Any, signals: list[Signal]) -> Iterator[Hint]:
    """Yield a hint where an answer without rows states nothing: it may not have been measured."""
    if any(signal.rule != "options" for signal in signals):
        return
    for place in section.emptied:
        value = document
        for step in parse_pattern(place) if place != "$" else ():
            is_key = isinstance(step, Field) and isinstance(value, dict)
            value = value.get(step.name) if is_key and isinstance(step, Field) else None
        if value in (None, [], {}):
            yield Hint("$" if place == "$" else f"$.{place}", raw(value), _SILENT)


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
