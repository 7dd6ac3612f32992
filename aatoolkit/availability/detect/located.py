"""Errors that name the place they are about, as GraphQL's do: ``{"path": ["crawl"]}``."""

from __future__ import annotations

from typing import Any

from aatoolkit.availability import Availability, Cause, Status
from aatoolkit.availability.detect.context import Answer
from aatoolkit.availability.detect.parts import reason_in, words_in
from aatoolkit.availability.detect.phrases import STRONG
from aatoolkit.availability.detect.vocabulary import Word, best, in_prose
from aatoolkit.jsontree.vectors import MISSING, step

_ROOTS = ("", "data", "result")


def read(answer: Answer) -> bool:
    """Read errors that say where they belong; whether all of an answer's errors do."""
    document = answer.document
    listed = document.get("errors") if isinstance(document, dict) else None
    if not isinstance(listed, list) or not listed:
        return False
    found = [_place(document, error) for error in listed]
    for at, (error, place) in enumerate(zip(listed, found, strict=True)):
        if place is not None:
            row = any(isinstance(part, int) for part in place)
            state = _state(error)
            answer.add(
                "row" if row else "field", _target(place), state, f"$.errors[{at}]", "error", error
            )
    return all(place is not None for place in found)


def _state(error: dict[str, Any]) -> Availability:
    reason, known = reason_in(error), _word(error)
    if known is None:
        return Availability(Status.UNAVAILABLE, Cause.FAILED, reason)
    return Availability(known.availability.status, known.availability.cause, reason)


def _word(error: dict[str, Any]) -> Word | None:
    """What an error says by its codes, or else in its sentence."""
    reason = reason_in(error)
    known = best(words_in(error), STRONG) or (in_prose(reason) if reason else None)
    return None if known is None or known.canonical == "available" else known


def _place(document: dict[str, Any], error: Any) -> list[str | int] | None:
    """Where an error belongs: the keys and positions from the top, to a place that is empty."""
    path = error.get("path") if isinstance(error, dict) else None
    if not isinstance(path, list) or not path:
        return None
    if not all(isinstance(part, str) or type(part) is int for part in path):
        return None
    sure = _word(error) is not None
    for root in _ROOTS if sure else _ROOTS[1:]:
        steps = [root, *path] if root else [*path]
        if _at(document, steps[:-1]) is not MISSING and _at(document, steps) in (None, MISSING, []):
            return steps
    return None


def _at(document: Any, steps: list[str | int]) -> Any:
    for part in steps:
        if isinstance(document, dict) and isinstance(part, str):
            document = document.get(part, MISSING)
        elif isinstance(document, list) and type(part) is int and 0 <= part < len(document):
            document = document[part]
        else:
            return MISSING
    return document


def _target(place: list[str | int]) -> str:
    parts = (f"[{part}]" if isinstance(part, int) else step(part) for part in place)
    return "".join(parts).removeprefix(".")
