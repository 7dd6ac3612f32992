"""Splitting the combined view, whose shape is documented nowhere, by the names of sections."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Any

from aatoolkit import sections
from aatoolkit.payload import Payload

_DEEPEST = 5
_FEWEST = 2
"""Fewer names than this may be fields that happen to be called like a section."""


def split(payload: Payload) -> dict[str, Payload]:
    """One payload a section, in the order of the answer; none where no sections are found.

    They may sit at the top or below other objects, under their names or as entries with a
    ``section`` field; the place that names most of them is taken, the outermost of several.
    A part keeps the address and the time of the whole; its bytes are its
    own, so its hash is that of the part.
    """
    parts = max(_candidates(payload.json), key=len, default={})
    if len(parts) < _FEWEST:
        return {}
    return {
        name: replace(payload, body=_encoded(part), section=name) for name, part in parts.items()
    }


def _candidates(document: Any) -> Iterable[dict[str, Any]]:
    """What each object and list names, level by level; no deeper than an envelope would be."""
    level = [document]
    for _ in range(_DEEPEST):
        yield from map(_named, level)
        level = [below for one in level if isinstance(one, Mapping) for below in one.values()]


def _named(value: Any) -> dict[str, Any]:
    """The sections that an object holds by name, or a list by its entries' ``section``."""
    known = set(sections.names())
    if isinstance(value, Mapping):
        return {name: part for name, part in value.items() if name in known}
    entries = value if isinstance(value, list) else []
    return {
        entry["section"]: entry
        for entry in entries
        if isinstance(entry, Mapping) and entry.get("section") in known
    }


def _encoded(part: Any) -> bytes:
    return json.dumps(part, ensure_ascii=False, separators=(",", ":")).encode()
