"""Split the combined view, whose shape is not documented, by the names of sections."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Set
from dataclasses import replace
from functools import partial
from typing import Any

from aatoolkit.client.dataset import Dataset
from aatoolkit.client.read_many import normalized, section_names, to_tables
from aatoolkit.jsontree.layout import MAX_NODES
from aatoolkit.payload import Payload
from aatoolkit.sections import Profile

_FEWEST = 2
"""With fewer names than this, they may be fields that happen to have the name of a section."""


def read_combined(
    payload: Payload, profile: Profile | None = None, max_nodes: int = MAX_NODES
) -> Dataset:
    """Return the tables of a combined view, by section; under ``combined`` where none is found."""
    parts = split(payload, section_names(profile))
    if not parts:
        whole = profile or Profile("undescribed")
        tables = to_tables("combined", payload, profile=whole, max_nodes=max_nodes)
        return Dataset({"combined": tables})
    answers = ((name, partial(_result, part)) for name, part in parts.items())
    return normalized(answers, profile, max_nodes)


def split(payload: Payload, names: Iterable[str]) -> dict[str, Payload]:
    """Return one payload per section, in the order of the answer; empty if none is found.

    Sections may be at any level, as fields of an object or as entries of a list with a
    ``section`` field; the container with most of them is used, the outermost of several. A list
    with two entries of one section is not used: neither would be the section's answer. A part
    keeps the URL and the time of the whole; its body, and so its hash, is its own.
    """
    known = frozenset(names)
    parts = max(
        (_named(value, known) for value in _containers(payload.json, len(known))),
        key=len,
        default={},
    )
    if len(parts) < _FEWEST:
        return {}
    return {
        name: replace(payload, body=_encoded(part), section=name) for name, part in parts.items()
    }


def _containers(document: Any, longest: int) -> Iterator[Any]:
    """All objects and lists, level by level, except in lists too long to be an envelope."""
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
    named = [entry for entry in entries if _section_of(entry) in known]
    parts = {_section_of(entry): entry for entry in named}
    return parts if len(parts) == len(named) else {}


def _section_of(entry: dict[str, Any]) -> str:
    """The ``section`` field of an entry; empty where it has none."""
    named = entry.get("section")
    return named if isinstance(named, str) else ""


def _encoded(part: Any) -> bytes:
    return json.dumps(part, ensure_ascii=False, separators=(",", ":")).encode()


def _result(payload: Payload) -> Payload:
    return payload
