"""Column metadata as JSON values, and back."""

from __future__ import annotations

import base64
import zlib
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from aatoolkit.availability import Availability, Cause, Status
from aatoolkit.availability.subject import AbsentRows, Condition, Statement
from aatoolkit.metadata.column import ColumnMetadata, Source
from aatoolkit.metadata.fingerprint import Fingerprint, row_numbers

if TYPE_CHECKING:
    from aatoolkit.metadata.cell_hash import Hashes

PACKED = "zlib:"
"""What packed text begins with."""

Stated = (
    tuple[tuple[Statement, ...], Availability]
    | tuple[tuple[Statement, ...], Availability, tuple[AbsentRows, ...]]
)
"""Of a column its statements, the status of other rows, and what is stated of absent ones."""

_MOST = 1 << 26
"""The largest text that is unpacked, in bytes: more than any frame carries."""


def pack(text: str) -> str:
    """Compress a text to a text that JSON can hold.

    Examples
    --------
    >>> unpack(pack("text")), unpack("text")
    ('text', 'text')
    """
    return PACKED + base64.b85encode(zlib.compress(text.encode(), 9)).decode()


def unpack(text: str) -> str:
    """Decompress a text that may have been packed.

    Raises
    ------
    ValueError
        If it is damaged, or larger than anything that was packed.
    """
    if not text.startswith(PACKED):
        return text
    stream = zlib.decompressobj()
    try:
        found = stream.decompress(base64.b85decode(text[len(PACKED) :]), _MOST)
    except zlib.error:
        found = None
    if found is None or not stream.eof:
        raise ValueError("packed text is damaged")
    return found.decode()


def dump_state(availability: Availability) -> tuple[str | None, ...]:
    """Convert an availability to status, cause and reason."""
    cause = availability.cause
    return (str(availability.status), None if cause is None else str(cause), availability.reason)


def load_state(state: Sequence[Any]) -> Availability:
    """Build an availability from status, cause and reason."""
    status, cause, reason = state
    return Availability(Status(status), None if cause is None else Cause(cause), reason)


def dump_statements(columns: Mapping[str, ColumnMetadata]) -> list[Any]:
    """Serialize statements about rows: their columns, the status of other rows, conditions."""
    alike: dict[Any, list[str]] = {}
    for name, column in columns.items():
        if column.statements and not column.absent:
            alike.setdefault((column.elsewhere, column.statements), []).append(name)
    return sorted(
        [sorted(names), dump_state(elsewhere), _dump_rows(statements)]
        for (elsewhere, statements), names in alike.items()
    )


def load_statements(body: Sequence[Any]) -> dict[str, Stated]:
    """Parse statements about rows and the status of other rows, by column."""
    found: dict[str, Stated] = {}
    for names, elsewhere, listed in body:
        found |= dict.fromkeys(names, (_load_rows(listed), load_state(elsewhere)))
    return found


def dump_lacking(columns: Mapping[str, ColumnMetadata]) -> list[Any]:
    """Serialize what is stated of columns that lack rows, of those rows and of the others.

    It is no part of the other statements: a reader that does not know of absent rows then takes
    the status of the whole column for that of each row, and no total for a whole one.
    """
    alike: dict[Any, list[str]] = {}
    for name, column in columns.items():
        if column.absent:
            alike.setdefault((column.elsewhere, column.statements, column.absent), []).append(name)
    return sorted(
        [
            sorted(names),
            dump_state(elsewhere),
            _dump_rows(statements),
            [
                [
                    list(dump_state(each.availability)),
                    each.rows and _dump_condition(each.rows),
                    list(each.others),
                ]
                for each in absent
            ],
        ]
        for (elsewhere, statements, absent), names in alike.items()
    )


def load_lacking(body: Sequence[Any]) -> dict[str, Stated]:
    """Parse what is stated of columns that lack rows, by column."""
    found: dict[str, Stated] = {}
    for names, elsewhere, listed, absent in body:
        lacking = tuple(
            AbsentRows(load_state(state), rows and _load_condition(rows), tuple(others))
            for state, rows, others in absent
        )
        stated = (_load_rows(listed), load_state(elsewhere), lacking)
        found |= dict.fromkeys(names, stated)
    return found


def _dump_condition(rows: Condition) -> list[Any]:
    return [rows.column, rows.op, list(rows.values)]


def _load_condition(body: Sequence[Any]) -> Condition:
    column, op, values = body
    return Condition(column, op, tuple(values))


def _dump_rows(statements: Sequence[Statement]) -> list[Any]:
    return [
        [list(dump_state(each.availability)), [*map(_dump_condition, each.rows)]]
        for each in statements
    ]


def _load_rows(body: Sequence[Any]) -> tuple[Statement, ...]:
    return tuple(
        Statement(load_state(state), tuple(map(_load_condition, rows))) for state, rows in body
    )


def source_fields(source: Mapping[str, Any]) -> dict[str, Any]:
    """Select the fields of a source that this version knows."""
    known = Source.__dataclass_fields__
    facts = {name: fact for name, fact in source.items() if name in known}
    if not all(isinstance(fact, bool if name == "stale" else str) for name, fact in facts.items()):
        raise TypeError("a fact of a source is of the wrong type")
    return facts


def dump_fingerprint(fingerprint: Fingerprint) -> dict[str, Any]:
    """Serialize a fingerprint, its hashes as hexadecimal text."""
    # What labels are is known where they are the numbers of rows.
    labels = () if _is_numbered(fingerprint) else fingerprint.labels
    return {
        "rows": fingerprint.rows,
        "index": list(fingerprint.index),
        "span": fingerprint.span and list(fingerprint.span),
        "labels": _hexadecimal(labels, ">u4", 16),
        "keys": _hexadecimal(fingerprint.keys, ">u4", 16),
        "cells": {
            name: [missing, _hexadecimal(hashes, ">u2")]
            for name, (missing, hashes) in fingerprint.cells.items()
        },
    }


def load_fingerprint(body: Mapping[str, Any] | None) -> Fingerprint | None:
    """Parse a fingerprint from its JSON value."""
    if body is None:
        return None
    span, rows = body["span"], int(body["rows"])
    labels = _numbers(body["labels"], ">u4", 16)
    if not len(labels) and 0 < rows < 1 << 62 and span == [0, rows - 1]:
        labels = row_numbers(rows)
    return Fingerprint(
        rows,
        tuple(body["index"]),
        span and (int(span[0]), int(span[1])),
        labels,
        _numbers(body["keys"], ">u4", 16),
        {
            name: (int(missing), _numbers(text, ">u2"))
            for name, (missing, text) in body["cells"].items()
        },
    )


def _is_numbered(fingerprint: Fingerprint) -> bool:
    """Whether the labels are the numbers of rows from 0 on."""
    import numpy as np

    is_plain = fingerprint.index == (None,) and fingerprint.span == (0, fingerprint.rows - 1)
    return is_plain and np.array_equal(fingerprint.labels, row_numbers(fingerprint.rows))


def _hexadecimal(hashes: Any, kind: str, shift: int = 0) -> str:
    """Hashes as one text of numbers of some bytes, without low bits that are 0."""
    import numpy as np

    return (np.asarray(hashes, np.uint64) >> np.uint64(shift)).astype(kind).tobytes().hex()


def _numbers(text: str, kind: str, shift: int = 0) -> Hashes:
    """Parse such a text."""
    import numpy as np

    return np.frombuffer(bytes.fromhex(text), kind).astype(np.uint64) << np.uint64(shift)
