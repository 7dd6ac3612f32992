"""Column metadata in ``DataFrame.attrs``: the only module that touches ``attrs``.

It is stored as one canonical JSON string under ``df.attrs["aatoolkit"]``: pandas copies a
string for free, compares it by value, writes it to Parquet, and unpickles it where this
package is not installed. It is parsed through a cache.

The metadata of a column says which declared column it is, and whether the service could
measure it in the rows that were read. A column without metadata is unknown, so a column that
was renamed has none. Metadata counts only for what was read: the `Fingerprint` detects that
pandas kept the string but not the values, and then the column is unknown. The metadata of a
column that could not be measured counts as long as the column holds no value.
"""

from __future__ import annotations

import json
import struct
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from aatoolkit.availability import UNKNOWN, Availability, Cause, Status
from aatoolkit.errors import MetadataError
from aatoolkit.metadata.fingerprint import (
    OVERWRITTEN,
    Fingerprint,
    FingerprintCheck,
    fingerprint_of,
)

if TYPE_CHECKING:
    import pandas as pd
    import pyarrow as pa

ATTRIBUTE = "aatoolkit"
"""The key in ``DataFrame.attrs``, and in the schema of a Parquet file."""

VERSION = "1.0"
"""The version of the carrier; a newer major version is refused."""


@dataclass(frozen=True)
class Source:
    """An answer that a frame was read from; its window's days where the answer gives them."""

    host: str | None = None
    section: str | None = None
    scope: str | None = None
    url: str | None = None
    fetched_at: str | None = None
    sha256: str | None = None
    stale: bool = False
    window_start: str | None = None
    window_end: str | None = None


@dataclass(frozen=True)
class ColumnMetadata:
    """The metadata of one column.

    Parameters
    ----------
    of : str, optional
        The declared column it is: ``table.column``.
    availability : Availability
        Whether it could be measured.
    """

    of: str | None = None
    availability: Availability = UNKNOWN


@dataclass(frozen=True)
class FrameMetadata:
    """The metadata of a frame: its columns, its key, and the answers it was read from.

    The fingerprint tells whether the frame still holds what was read.
    """

    columns: Mapping[str, ColumnMetadata] = field(default_factory=dict)
    key: tuple[str, ...] = ()
    sources: tuple[Source, ...] = ()
    fingerprint: Fingerprint | None = field(default=None, compare=False, repr=False)

    def dumps(self) -> str:
        """The canonical JSON text: equal metadata gives equal text.

        Examples
        --------
        >>> FrameMetadata.loads(FrameMetadata(key=("brand",)).dumps()).key
        ('brand',)
        """
        states = sorted({_state(column.availability) for column in self.columns.values()}, key=repr)
        body: dict[str, Any] = {
            "version": VERSION,
            "key": list(self.key),
            "states": [list(state) for state in states],
            "columns": {
                name: [column.of, states.index(_state(column.availability))]
                for name, column in self.columns.items()
            },
            "sources": [
                {k: v for k, v in vars(source).items() if v not in (None, False)}
                for source in self.sources
            ],
        }
        if self.fingerprint is not None:
            body["fingerprint"] = _dump_fingerprint(self.fingerprint)
        return json.dumps(body, sort_keys=True, separators=(",", ":"), ensure_ascii=False)

    @staticmethod
    def loads(text: str) -> FrameMetadata:
        """Read the JSON text back.

        Raises
        ------
        MetadataError
            If it is damaged, or of a newer major version.
        """
        if not isinstance(text, str):
            raise _damaged()
        return _loads(text)


def attach(
    frame: pd.DataFrame, metadata: FrameMetadata, table: pa.Table | None = None
) -> pd.DataFrame:
    """Put metadata on a frame, with a fingerprint of its rows, and return the frame.

    The ``table`` is the Arrow table that a new frame was made of, if it was made of one.
    """
    measured = [
        name
        for name, column in metadata.columns.items()
        if column != NOTHING and column.availability.status not in EMPTY
    ]
    fingerprint = fingerprint_of(frame, measured, metadata.key, table=table)
    frame.attrs[ATTRIBUTE] = replace(metadata, fingerprint=fingerprint).dumps()
    return frame


def attach_unchecked(frame: pd.DataFrame, metadata: FrameMetadata) -> pd.DataFrame:
    """Put metadata on a frame without hashing its rows again, and return the frame."""
    frame.attrs[ATTRIBUTE] = metadata.dumps()
    return frame


def metadata_of(frame: pd.DataFrame, *, levels: bool = False) -> FrameMetadata:
    """The metadata of a frame: one entry for each of its columns, in their order.

    Columns without metadata are unknown. So is a column that no longer holds what was read.

    Parameters
    ----------
    frame : pandas.DataFrame
        The frame.
    levels : bool
        Whether named levels of the index are included, after the columns.

    Raises
    ------
    MetadataError
        If the metadata is damaged, or of a newer major version.
    """
    known = _stored(frame)
    names = [str(name) for name in frame.columns]
    inside = [str(name) for name in frame.index.names if name is not None]
    check = FingerprintCheck(frame, known.fingerprint or Fingerprint(), known.key)
    columns = {
        name: _verified(known, name, check) for name in (*names, *(inside if levels else ()))
    }
    key = tuple(name for name in known.key if name in names or name in inside)
    return FrameMetadata(columns, key, known.sources)


def serialized(frame: pd.DataFrame) -> str:
    """The metadata of a frame as text: its own, if all of it still holds."""
    known, verified = _stored(frame), metadata_of(frame, levels=True)
    if known.columns == verified.columns and known.key == verified.key:
        return known.dumps()
    bare = frame.copy(deep=False)
    attach(bare, verified)
    return str(bare.attrs[ATTRIBUTE])


def _stored(frame: pd.DataFrame) -> FrameMetadata:
    text = frame.attrs.get(ATTRIBUTE)
    return FrameMetadata() if text is None else FrameMetadata.loads(text)


def _verified(known: FrameMetadata, name: str, check: FingerprintCheck) -> ColumnMetadata:
    column = known.columns.get(name, NOTHING)
    if column == NOTHING:
        return column
    if column.availability.status in EMPTY:
        change = None if check.is_empty(name) else OVERWRITTEN
    else:
        change = check.change(name) if known.fingerprint else None
    if change is None:
        return column
    return ColumnMetadata(None, Availability(Status.UNKNOWN, None, change))


EMPTY = (Status.UNAVAILABLE, Status.NOT_APPLICABLE)
"""The statuses of columns that hold no value."""

NOTHING = ColumnMetadata()
"""The metadata of a column that has none."""


def _state(availability: Availability) -> tuple[str | None, ...]:
    cause = availability.cause
    return (str(availability.status), None if cause is None else str(cause), availability.reason)


@lru_cache(maxsize=256)
def _loads(text: str) -> FrameMetadata:
    try:
        body = json.loads(text)
        version = str(body["version"])
        major = int(version.split(".")[0])
    except (ValueError, TypeError, KeyError):
        raise _damaged() from None
    if major != int(VERSION.split(".")[0]):
        raise MetadataError(
            f"this metadata has version {version}, newer than {VERSION}; update aatoolkit",
            version=version,
        )
    try:
        states = [
            Availability(Status(status), None if cause is None else Cause(cause), reason)
            for status, cause, reason in body["states"]
        ]
        return FrameMetadata(
            {
                name: ColumnMetadata(of, states[state])
                for name, (of, state) in body["columns"].items()
            },
            tuple(body["key"]),
            tuple(Source(**_known(source)) for source in body["sources"]),
            _load_fingerprint(body.get("fingerprint")),
        )
    except (ValueError, TypeError, KeyError, IndexError, AttributeError):
        raise _damaged(version) from None


def _known(source: Mapping[str, Any]) -> dict[str, Any]:
    """The fields of a source that this version knows."""
    known = Source.__dataclass_fields__
    facts = {name: fact for name, fact in source.items() if name in known}
    if not all(isinstance(fact, bool if name == "stale" else str) for name, fact in facts.items()):
        raise TypeError("a fact of a source is of the wrong type")
    return facts


def _dump_fingerprint(fingerprint: Fingerprint) -> dict[str, Any]:
    return {
        "rows": fingerprint.rows,
        "index": list(fingerprint.index),
        "span": fingerprint.span and list(fingerprint.span),
        "labels": _hexadecimal([number >> 16 for number in fingerprint.labels], "I"),
        "keys": _hexadecimal([number >> 16 for number in fingerprint.keys], "I"),
        "cells": {
            name: [missing, _hexadecimal(hashes, "H")]
            for name, (missing, hashes) in fingerprint.cells.items()
        },
    }


def _load_fingerprint(body: Mapping[str, Any] | None) -> Fingerprint | None:
    if body is None:
        return None
    span = body["span"]
    return Fingerprint(
        int(body["rows"]),
        tuple(body["index"]),
        span and (int(span[0]), int(span[1])),
        tuple(number << 16 for number in _numbers(body["labels"])),
        tuple(number << 16 for number in _numbers(body["keys"])),
        {
            name: (int(missing), tuple(_numbers(text, 4)))
            for name, (missing, text) in body["cells"].items()
        },
    )


def _hexadecimal(numbers: Sequence[int], kind: str) -> str:
    """Numbers of two bytes (``H``) or four (``I``) as one text."""
    return struct.pack(f">{len(numbers)}{kind}", *numbers).hex()


def _numbers(text: str, digits: int = 8) -> list[int]:
    return [int(text[at : at + digits], 16) for at in range(0, len(text), digits)]


def _damaged(version: str | None = None) -> MetadataError:
    return MetadataError(
        "the frame's aatoolkit metadata is damaged; drop it with df.attrs.pop('aatoolkit')",
        version=version,
    )
