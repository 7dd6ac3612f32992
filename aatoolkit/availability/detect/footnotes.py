"""Footnotes: what is said elsewhere in an answer of a field, or of rows that bear its mark."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from aatoolkit.availability import Availability
from aatoolkit.availability.detect import roles
from aatoolkit.availability.detect.context import Answer
from aatoolkit.availability.detect.parts import reason_in
from aatoolkit.availability.detect.phrases import STRONG
from aatoolkit.availability.detect.vocabulary import best, in_prose
from aatoolkit.jsontree.vectors import step

_MARKS = ("id", "mark", "marker", "symbol", "key", "ref", "code")
_ABOUT = ("fields", "metrics", "columns", "engines", "appliesTo", "applies_to")


def read(answer: Answer, key: str, value: Any, path: str) -> bool:
    """Read footnotes that name the field or engine they are about; whether any did."""
    found = False
    for target, text, at, item in _named(value, path) if roles.is_footnotes(key) else ():
        state = said(text)
        if state is None:
            continue
        if answer.is_engine(target):
            answer.add("engine", target, state, at, "footnote", item)
        elif answer.knows(target) and not answer.holds(target):
            answer.add("field", answer.about(target), state, at, "footnote", item)
        else:
            continue
        found = True
    return found


def said(text: str) -> Availability | None:
    """What a footnote says of a value that is not there."""
    known = best([text], STRONG) or in_prose(text)
    if known is None or known.canonical == "available":
        return None
    return Availability(known.availability.status, known.availability.cause, text)


def marks(document: Any) -> dict[str, str]:
    """The footnotes of an answer by their marks."""
    notes = document.items() if isinstance(document, dict) else ()
    found: dict[str, str] = {}
    for value in (value for key, value in notes if roles.is_footnotes(key)):
        if isinstance(value, dict):
            found |= {mark: text for mark, text in value.items() if isinstance(text, str)}
        for note in value if isinstance(value, list) else ():
            mark = (
                next((note[name] for name in _MARKS if name in note), None) if _is(note) else None
            )
            text = reason_in(note) if _is(note) else None
            if isinstance(mark, str | int) and text:
                found[str(mark)] = text
    return found


def _is(note: Any) -> bool:
    return isinstance(note, dict)


def _named(value: Any, path: str) -> Iterator[tuple[str, str, str, Any]]:
    """The targets of footnotes, each with its text."""
    if isinstance(value, dict):
        for name, text in value.items():
            if isinstance(text, str):
                yield name, text, path + step(name), text
    for at, note in enumerate(value if isinstance(value, list) else ()):
        given = note if isinstance(note, dict) else {}
        text = reason_in(given) or given.get("code")
        named = roles.name_of(given)
        targets = [named[1]] if named else []
        for name in _ABOUT:
            listed = given.get(name)
            targets += (
                [each for each in listed if isinstance(each, str)]
                if isinstance(listed, list)
                else []
            )
        if isinstance(text, str):
            for target in dict.fromkeys(targets):
                yield target, text, f"{path}[{at}]", note
