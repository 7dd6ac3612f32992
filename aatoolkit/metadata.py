"""Carries what is known of columns on DataFrames: the only module that touches ``attrs``.

The carrier is one canonical JSON string under ``df.attrs["aatoolkit"]``: pandas copies a
string for free, compares it by value, writes it to Parquet, and unpickles it where this
package is not installed. It is parsed through a cache. What it does not say is unknown: a
column that was renamed has no entry, and one that was declared unmeasured and yet holds
values was overwritten, so that its claim is dropped.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from aatoolkit.availability import UNKNOWN, Availability, Cause, Status
from aatoolkit.errors import MetadataError

if TYPE_CHECKING:
    import pandas as pd

ATTRIBUTE = "aatoolkit"
"""The key in ``DataFrame.attrs``, and in the schema of a Parquet file."""

VERSION = "1.0"
"""The version of the carrier; a newer major version is refused."""


@dataclass(frozen=True)
class Source:
    """One answer that a frame was read from."""

    host: str | None = None
    section: str | None = None
    scope: str | None = None
    url: str | None = None
    fetched_at: str | None = None
    sha256: str | None = None
    stale: bool = False


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
    """What is known of a frame: its columns, its key, and the answers it was read from."""

    columns: Mapping[str, ColumnMetadata] = field(default_factory=dict)
    key: tuple[str, ...] = ()
    sources: tuple[Source, ...] = ()

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


def attach(frame: pd.DataFrame, metadata: FrameMetadata) -> pd.DataFrame:
    """Put metadata on a frame, and return the frame."""
    frame.attrs[ATTRIBUTE] = metadata.dumps()
    return frame


def metadata_of(frame: pd.DataFrame) -> FrameMetadata:
    """What is known of a frame: one entry for each of its columns, in their order.

    Columns that the carrier does not name are unknown. So is a column that could not be
    measured and yet holds values: it was overwritten.

    Raises
    ------
    MetadataError
        If the carrier is damaged, or of a newer major version.
    """
    text = frame.attrs.get(ATTRIBUTE)
    known = FrameMetadata() if text is None else FrameMetadata.loads(text)
    columns = {
        name: _believed(frame, name, known.columns.get(name, _NOTHING))
        for name in map(str, frame.columns)
    }
    return replace(known, columns=columns, key=tuple(k for k in known.key if k in columns))


def _believed(frame: pd.DataFrame, name: str, claim: ColumnMetadata) -> ColumnMetadata:
    empty_by_claim = claim.availability.status in (Status.UNAVAILABLE, Status.NOT_APPLICABLE)
    if empty_by_claim and name in frame.columns and frame[name].notna().to_numpy().any():
        return ColumnMetadata(None, Availability(Status.UNKNOWN, None, "overwritten"))
    return claim


_NOTHING = ColumnMetadata()


def _state(availability: Availability) -> tuple[str | None, ...]:
    cause = availability.cause
    return (str(availability.status), None if cause is None else str(cause), availability.reason)


@lru_cache(maxsize=256)
def _loads(text: str) -> FrameMetadata:
    try:
        body = json.loads(text)
        version = str(body["version"])
    except (ValueError, TypeError, KeyError):
        raise _damaged() from None
    if version.split(".")[0] != VERSION.split(".")[0]:
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


def _damaged(version: str | None = None) -> MetadataError:
    return MetadataError(
        "the frame's aatoolkit metadata is damaged; drop it with df.attrs.pop('aatoolkit')",
        version=version,
    )
