"""Splitting the combined view, whose shape is documented nowhere, by the names of sections."""

from __future__ import annotations

import json
from collections.abc import Iterator, Set
from dataclasses import replace
from typing import Any

from aatoolkit import sections
from aatoolkit.payload import Payload

_FEWEST = 2
"""Fewer names than this may be fields that happen to be called like a section."""


def split(payload: Payload) -> dict[str, Payload]:
    """One payload a section, in the order of the answer; none where no sections are found.

    They may sit at the top or below others, under their names or as entries with a ``section``
    field; the place that names most of them is taken, the outermost of several. A list that
    has two entries of one section is no such place: neither would be the section's answer.
    A part keeps the address and the time of the whole; its bytes are its own, so its hash is
    that of the part.
    """
    known = frozenset(sections.names())
    parts = max(
        (_named(value, known) for value in _places(payload.json, len(known))), key=len, default={}
    )
    if len(parts) < _FEWEST:
        return {}
    return {
        name: replace(payload, body=_encoded(part), section=name) for name, part in parts.items()
    }


def _places(document: Any, longest: int) -> Iterator[Any]:
    """All objects and lists, level by level, but those in lists too long to be an envelope."""
    level = [document] if isinstance(document, dict | list) else []
    while level:
        yield from level
        level = [
            below
            for one in level
            for below in (one.values() if isinstance(one, dict) else one)
            if isinstance(below, dict) or (isinstance(below, list) and len(below) <= longest)
        ]


def _named(value: Any, known: Set[str]) -> dict[str, Any]:
    """The sections that an object holds by name, or a list by its entries' ``section``."""
    if isinstance(value, dict):
        return {name: part for name, part in value.items() if name in known}
    entries = [entry for entry in value if isinstance(entry, dict)]
    named = [entry for entry in entries if _says(entry) in known]
    parts = {_says(entry): entry for entry in named}
    return parts if len(parts) == len(named) else {}


def _says(entry: dict[str, Any]) -> str:
    """The section that an entry says it is; nothing where it does not say."""
    said = entry.get("section")
    return said if isinstance(said, str) else ""


def _encoded(part: Any) -> bytes:
    return json.dumps(part, ensure_ascii=False, separators=(",", ":")).encode()
