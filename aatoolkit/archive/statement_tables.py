"""The statement tables: what answers state of their availability, drift and extra values."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from typing import Any

import pyarrow as pa

from aatoolkit.archive.schema import CONTEXT_FIELDS
from aatoolkit.availability import Status
from aatoolkit.metadata.attrs import ColumnMetadata, FrameMetadata
from aatoolkit.metadata.serialize import dump_state, dump_statements, load_state, load_statements

FRAMES = "frames"
AVAILABILITY = "availability"
DRIFT = "drift"
HINTS = "hints"

COLUMNS: Mapping[str, tuple[tuple[str, pa.DataType], ...]] = {
    FRAMES: (
        ("section", pa.string()),
        ("table", pa.string()),
        ("rows", pa.int64()),
        ("states", pa.string()),
    ),
    AVAILABILITY: (
        ("section", pa.string()),
        ("scope", pa.string()),
        ("target", pa.string()),
        ("rows", pa.string()),
        ("status", pa.string()),
        ("cause", pa.string()),
        ("reason", pa.string()),
        ("sample_size", pa.int64()),
        ("as_of", pa.timestamp("us", tz="UTC")),
        ("evidence", pa.string()),
        ("rule", pa.string()),
        ("raw", pa.string()),
    ),
    DRIFT: (
        ("section", pa.string()),
        ("kind", pa.string()),
        ("path", pa.string()),
        ("count", pa.int64()),
        ("example", pa.string()),
    ),
    HINTS: (
        ("section", pa.string()),
        ("path", pa.string()),
        ("value", pa.string()),
        ("why", pa.string()),
    ),
}

BESIDE = {
    name: pa.schema([*CONTEXT_FIELDS, *(pa.field(*column) for column in columns)])
    for name, columns in COLUMNS.items()
}
"""The tables beside the declared ones: what answers say of themselves, one row a statement."""

Rows = list[tuple[Any, ...]]
"""Rows of such a table, without context."""


def dump_states(known: FrameMetadata) -> str:
    """Serialize the availability of columns to compact JSON; the commonest names no columns."""
    by_state: dict[Any, list[str]] = {}
    for name, column in known.columns.items():
        by_state.setdefault(dump_state(column.elsewhere), []).append(name)
    ordered = sorted(by_state.items(), key=lambda item: -len(item[1]))
    body: dict[str, Any] = {
        "states": [[state, None if at == 0 else names] for at, (state, names) in enumerate(ordered)]
    }
    stated = dump_statements(known.columns)
    if stated:
        body["statements"] = stated
    return json.dumps(body, ensure_ascii=False, separators=(",", ":"))


def load_states(text: str, columns: Iterable[str]) -> dict[str, ColumnMetadata]:
    """Parse the availability of columns, by their declared names."""
    body = json.loads(text)
    states = body["states"]
    usual = load_state(states[0][0] if states else (str(Status.UNKNOWN), None, None))
    others = {name: load_state(state) for state, names in states[1:] for name in names}
    stated = load_statements(body.get("statements", []))
    found = {}
    for name in columns:
        own = others.get(name, usual)
        found[name] = ColumnMetadata(None, own, *stated.get(name, ((), own)))
    return found
