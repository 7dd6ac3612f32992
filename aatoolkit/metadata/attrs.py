"""Carries what is known of columns on DataFrames: the only module that touches ``attrs``.

The carrier is one canonical JSON string under ``df.attrs["aatoolkit"]``: pandas copies a
string for free, compares it by value, writes it to Parquet, and unpickles it where this
package is not installed. It is parsed through a cache.

A claim says of a column: it is this declared column, and the service could or could not
measure it, in the rows that were read. What the carrier does not say is unknown, so a column
that was renamed has no claim. And a claim is believed only of what was read: `Witnesses` among
the rows tell when pandas kept the carrier but not the values, and then the column is unknown.
A column that could not be measured is believed as long as it holds no value.
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
from aatoolkit.metadata.fingerprint import OVERWRITTEN, Trial, Witnesses, witnesses_of

if TYPE_CHECKING:
    import pandas as pd
    import pyarrow as pa

ATTRIBUTE = "aatoolkit"
"""The key in ``DataFrame.attrs``, and in the schema of a Parquet file."""

VERSION = "1.0"
"""The version of the carrier; a newer major version is refused."""


@dataclass(frozen=True)
class Source:
    """One answer that a frame was read from; the window's days where the answer gives them."""

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
    """What is known of one column.

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
    """What is known of a frame: its columns, its key, and the answers it was read from.

    The witnesses stand beside it: they tell whether a frame is the one that was described.
    """

    columns: Mapping[str, ColumnMetadata] = field(default_factory=dict)
    key: tuple[str, ...] = ()
    sources: tuple[Source, ...] = ()
    witnesses: Witnesses | None = field(default=None, compare=False, repr=False)

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
        if self.witnesses is not None:
            body["witnesses"] = _remembered(self.witnesses)
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
    """Put metadata on a frame, with witnesses of its rows, and return the frame.

    The ``table`` is the one that a new frame was made of, if it was made of one.
    """
    claims = [
        name
        for name, column in metadata.columns.items()
        if column != NOTHING and column.availability.status not in EMPTY
    ]
    witnesses = witnesses_of(frame, claims, metadata.key, table=table)
    frame.attrs[ATTRIBUTE] = replace(metadata, witnesses=witnesses).dumps()
    return frame


def carry(frame: pd.DataFrame, metadata: FrameMetadata) -> pd.DataFrame:
    """Put metadata on a frame with the witnesses that it came with, and return the frame."""
    frame.attrs[ATTRIBUTE] = metadata.dumps()
    return frame


def metadata_of(frame: pd.DataFrame, *, levels: bool = False) -> FrameMetadata:
    """What is known of a frame: one entry for each of its columns, in their order.

    Columns that the carrier does not name are unknown. So is a column that no longer holds
    what was read.

    Parameters
    ----------
    frame : pandas.DataFrame
        The frame.
    levels : bool
        Whether named levels of the index are told too, after the columns.

    Raises
    ------
    MetadataError
        If the carrier is damaged, or of a newer major version.
    """
    known = _carried(frame)
    names = [str(name) for name in frame.columns]
    inside = [str(name) for name in frame.index.names if name is not None]
    trial = Trial(frame, known.witnesses or Witnesses(), known.key)
    columns = {
        name: _believed(known, name, trial) for name in (*names, *(inside if levels else ()))
    }
    key = tuple(name for name in known.key if name in names or name in inside)
    return FrameMetadata(columns, key, known.sources)


def carrier_of(frame: pd.DataFrame) -> str:
    """The text that a frame should travel with: its own, if all of it still holds."""
    known, believed = _carried(frame), metadata_of(frame, levels=True)
    if known.columns == believed.columns and known.key == believed.key:
        return known.dumps()
    bare = frame.copy(deep=False)
    attach(bare, believed)
    return str(bare.attrs[ATTRIBUTE])


def _carried(frame: pd.DataFrame) -> FrameMetadata:
    text = frame.attrs.get(ATTRIBUTE)
    return FrameMetadata() if text is None else FrameMetadata.loads(text)


def _believed(known: FrameMetadata, name: str, trial: Trial) -> ColumnMetadata:
    claim = known.columns.get(name, NOTHING)
    if claim == NOTHING:
        return claim
    if claim.availability.status in EMPTY:
        objection = None if trial.is_empty(name) else OVERWRITTEN
    else:
        objection = trial.objection(name) if known.witnesses else None
    if objection is None:
        return claim
    return ColumnMetadata(None, Availability(Status.UNKNOWN, None, objection))


EMPTY = (Status.UNAVAILABLE, Status.NOT_APPLICABLE)
"""The statuses of columns that hold no value."""

NOTHING = ColumnMetadata()
"""What is known of a column of which nothing is known."""


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
            _recalled(body.get("witnesses")),
        )
    except (ValueError, TypeError, KeyError, IndexError, AttributeError):
        raise _damaged(version) from None


def _known(source: Mapping[str, Any]) -> dict[str, Any]:
    """The facts of a source that this version knows."""
    known = Source.__dataclass_fields__
    facts = {name: fact for name, fact in source.items() if name in known}
    if not all(isinstance(fact, bool if name == "stale" else str) for name, fact in facts.items()):
        raise TypeError("a fact of a source is of the wrong type")
    return facts


def _remembered(witnesses: Witnesses) -> dict[str, Any]:
    return {
        "rows": witnesses.rows,
        "index": list(witnesses.index),
        "span": witnesses.span and list(witnesses.span),
        "labels": _hexadecimal([word >> 16 for word in witnesses.labels], "I"),
        "keys": _hexadecimal([word >> 16 for word in witnesses.keys], "I"),
        "cells": {
            name: [missing, _hexadecimal(digests, "H")]
            for name, (missing, digests) in witnesses.cells.items()
        },
    }


def _recalled(body: Mapping[str, Any] | None) -> Witnesses | None:
    if body is None:
        return None
    least_and_greatest = body["span"]
    return Witnesses(
        int(body["rows"]),
        tuple(body["index"]),
        least_and_greatest and (int(least_and_greatest[0]), int(least_and_greatest[1])),
        tuple(word << 16 for word in _numbers(body["labels"])),
        tuple(word << 16 for word in _numbers(body["keys"])),
        {
            name: (int(missing), tuple(_numbers(text, 4)))
            for name, (missing, text) in body["cells"].items()
        },
    )


def _hexadecimal(words: Sequence[int], kind: str) -> str:
    """Words of two bytes (``H``) or four (``I``) as one text."""
    return struct.pack(f">{len(words)}{kind}", *words).hex()


def _numbers(text: str, digits: int = 8) -> list[int]:
    return [int(text[at : at + digits], 16) for at in range(0, len(text), digits)]


def _damaged(version: str | None = None) -> MetadataError:
    return MetadataError(
        "the frame's aatoolkit metadata is damaged; drop it with df.attrs.pop('aatoolkit')",
        version=version,
    )
