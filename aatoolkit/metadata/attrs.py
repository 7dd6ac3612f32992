"""Column metadata in ``DataFrame.attrs``: the only module that touches ``attrs``.

It is stored as one canonical JSON string under ``df.attrs["aatoolkit"]``: pandas copies a
string for free, compares it by value, writes it to Parquet, and unpickles it where this
package is not installed. It is parsed through a cache.

The metadata of a column names which declared column it is, and whether the service could
measure it in the rows that were read. A column without metadata is unknown, so a column that
was renamed has none. Metadata counts only for what was read: the `Fingerprint` detects that
pandas kept the string but not the values, and then the column is unknown. The metadata of a
column that could not be measured counts as long as the column holds no value.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from contextvars import ContextVar
from dataclasses import dataclass, field, replace
from functools import cache, lru_cache
from typing import TYPE_CHECKING, Any

from aatoolkit.availability import Availability, Status
from aatoolkit.errors import MetadataError
from aatoolkit.metadata.carrier import Carrier as Carrier
from aatoolkit.metadata.carrier import HeldAnswer
from aatoolkit.metadata.column import EMPTY as EMPTY
from aatoolkit.metadata.column import NOTHING as NOTHING
from aatoolkit.metadata.column import ColumnMetadata as ColumnMetadata
from aatoolkit.metadata.column import Source as Source
from aatoolkit.metadata.fingerprint import (
    OVERWRITTEN,
    Fingerprint,
    arrays_of,
    fingerprint_of,
)
from aatoolkit.metadata.fingerprint_check import FingerprintCheck
from aatoolkit.metadata.recipe import Recipe, dump_recipe, load_recipe, read_from
from aatoolkit.metadata.row_status import RowStatus
from aatoolkit.metadata.serialize import (
    dump_fingerprint,
    dump_state,
    dump_statements,
    load_fingerprint,
    load_state,
    load_statements,
    source_fields,
    unpack,
)

if TYPE_CHECKING:
    import pandas as pd
    import pyarrow as pa

ATTRIBUTE = "aatoolkit"
"""The key in ``DataFrame.attrs``, and in the schema of a Parquet file."""

VERSION = "1.0"
"""The version of the carrier; a newer major version is refused."""


@dataclass(frozen=True)
class FrameMetadata:
    """The metadata of a frame: its columns, its key, and the answers it was read from.

    The fingerprint shows whether the frame still holds what was read, and the recipe how it was
    made: see `aatoolkit.metadata.recipe`.
    """

    columns: Mapping[str, ColumnMetadata] = field(default_factory=dict)
    key: tuple[str, ...] = ()
    sources: tuple[Source, ...] = ()
    grains: Mapping[str, tuple[str, ...]] = field(default_factory=dict, compare=False)
    repeated: tuple[str, ...] = field(default=(), compare=False)
    fingerprint: Fingerprint | None = field(default=None, compare=False, repr=False)
    recipe: Recipe | None = field(default=None, compare=False, repr=False)

    def grain(self, table: str, key: tuple[str, ...] | None) -> tuple[str, ...] | None:
        """The columns of the frame that identify a row of a declared table.

        Parameters
        ----------
        table : str
            The declared table.
        key : tuple of str, optional
            Its declared key.
        """
        if table in self.grains:
            return self.grains[table]
        names = {column.of: name for name, column in self.columns.items()}
        return tuple(names.get(f"{table}.{name}", name) for name in key) if key else None

    def holds(self, name: str) -> bool:
        """Whether a column has metadata, and still holds what was read."""
        column = self.columns.get(name, NOTHING)
        return bool(column.of) or column.availability.status != Status.UNKNOWN

    def dumps(self) -> str:
        """Serialize to canonical JSON: equal metadata gives equal text.

        Examples
        --------
        >>> FrameMetadata.loads(FrameMetadata(key=("brand",)).dumps()).key
        ('brand',)
        """
        states = sorted(
            {dump_state(column.availability) for column in self.columns.values()}, key=repr
        )
        body: dict[str, Any] = {
            "version": VERSION,
            "key": list(self.key),
            "states": [list(state) for state in states],
            "columns": {
                name: [column.of, states.index(dump_state(column.availability))]
                for name, column in self.columns.items()
            },
            "sources": [
                {k: v for k, v in vars(source).items() if v not in (None, False)}
                for source in self.sources
            ],
        }
        if self.grains:
            body["grains"] = {table: list(grain) for table, grain in self.grains.items()}
        if self.repeated:
            body["repeated"] = sorted(self.repeated)
        stated = dump_statements(self.columns)
        if stated:
            body["statements"] = stated
        if self.recipe is not None:
            whole = [read_from(0, table) for table in tables_of(self)]
            body["recipe"] = 0 if [self.recipe] == whole else dump_recipe(self.recipe)
        if self.fingerprint is not None:
            body["fingerprint"] = dump_fingerprint(self.fingerprint)
        return json.dumps(body, sort_keys=True, separators=(",", ":"), ensure_ascii=False)

    @staticmethod
    def loads(text: str) -> FrameMetadata:
        """Parse the JSON text.

        Raises
        ------
        MetadataError
            If it is damaged, or of a newer major version.
        """
        if not isinstance(text, str):
            raise _damaged()
        return _loads(text)


CHECKS: ContextVar[dict[int, tuple[pd.DataFrame, FingerprintCheck]] | None] = ContextVar(
    "checks", default=None
)
"""The frames checked while a verb runs, which changes none of them, so that it checks each once."""


def attach(
    frame: pd.DataFrame,
    metadata: FrameMetadata,
    table: pa.Table | None = None,
    answers: Iterable[HeldAnswer] = (),
) -> pd.DataFrame:
    """Put metadata on a frame, with a fingerprint of its rows, and return the frame.

    The ``table`` is the Arrow table that a new frame was made of, if it was made of one; the
    ``answers`` are those it was read from, as far as they are at hand.
    """
    measured = [
        name
        for name, column in metadata.columns.items()
        if column != NOTHING and column.availability.status not in EMPTY
    ]
    fingerprint = fingerprint_of(frame, measured, metadata.key, table=table)
    described = replace(metadata, fingerprint=fingerprint)
    text = Carrier(described.dumps())
    text.hash_later(frame if table is None else table, measured, metadata.key)
    text.holding(answers).described = described
    frame.attrs[ATTRIBUTE] = text
    return frame


def attach_unchecked(frame: pd.DataFrame, metadata: FrameMetadata) -> pd.DataFrame:
    """Put metadata on a frame without hashing its rows again, and return the frame."""
    frame.attrs[ATTRIBUTE] = metadata.dumps()
    return frame


def metadata_of(frame: pd.DataFrame, *, levels: bool = False) -> FrameMetadata:
    """Return the metadata of a frame, checked: one entry per column, in their order.

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
    stored = frame.attrs.get(ATTRIBUTE)
    whole = stored.fingerprint if isinstance(stored, Carrier) else None
    names = [str(name) for name in frame.columns]
    inside = [str(name) for name in frame.index.names if name is not None]
    fingerprint = whole or known.fingerprint or Fingerprint()
    check = FingerprintCheck(frame, fingerprint, known.key)
    shared = CHECKS.get()
    if shared is not None:
        shared[id(frame)] = frame, check
    columns = {name: _verified(known, name, check) for name in dict.fromkeys((*names, *inside))}
    columns = over_rows(frame, columns)
    for name in {*inside} - {*names} if not levels else ():
        del columns[name]
    key = tuple(name for name in known.key if name in names or name in inside)
    return FrameMetadata(columns, key, known.sources, known.grains, known.repeated)


def carrier_of(frame: pd.DataFrame) -> str | None:
    """Return the metadata text that a frame carries; None where it carries none."""
    text: str | None = frame.attrs.get(ATTRIBUTE)
    return text


def carry(frame: pd.DataFrame, carrier: Carrier) -> None:
    """Put the text of metadata on a frame as it is."""
    frame.attrs[ATTRIBUTE] = carrier


def stored_of(frame: pd.DataFrame) -> tuple[FrameMetadata, tuple[HeldAnswer, ...]]:
    """Return the metadata as it was attached, unchecked, and the answers held in memory.

    Raises
    ------
    MetadataError
        If it is damaged, or of a newer major version.
    """
    stored = frame.attrs.get(ATTRIBUTE)
    if not isinstance(stored, Carrier):
        return _stored(frame), ()
    return stored.described or _stored(frame), stored.answers


def tables_of(known: FrameMetadata) -> list[str]:
    """The declared tables that the columns of a frame are of."""
    named = ((column.of or "").partition(".")[0] for column in known.columns.values())
    return [*dict.fromkeys(filter(None, named))]


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


def over_rows(
    frame: pd.DataFrame, columns: Mapping[str, ColumnMetadata]
) -> dict[str, ColumnMetadata]:
    """Recompute the columns' availability over the rows that the frame has."""
    if not any(column.statements for column in columns.values()):
        return {**columns}
    rows = rows_of(frame, FrameMetadata(columns))
    overall = cache(rows.overall)
    return {
        name: replace(
            column,
            availability=overall(column.elsewhere, column.statements),
            otherwise=column.elsewhere,
        )
        if column.statements
        else column
        for name, column in columns.items()
    }


def rows_of(frame: pd.DataFrame, known: FrameMetadata) -> RowStatus:
    """Build the `RowStatus` of a frame, from columns that still hold what was read."""
    trusted = [*filter(known.holds, known.columns)]
    return RowStatus(arrays_of(frame), len(frame), trusted)


@lru_cache(maxsize=256)
def _loads(text: str) -> FrameMetadata:
    try:
        body = json.loads(unpack(text))
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
        states = [load_state(state) for state in body["states"]]
        stated = load_statements(body.get("statements", []))
        return FrameMetadata(
            {
                name: ColumnMetadata(of, states[state], *stated.get(name, ()))
                for name, (of, state) in body["columns"].items()
            },
            tuple(body["key"]),
            tuple(Source(**source_fields(source)) for source in body["sources"]),
            {table: tuple(grain) for table, grain in body.get("grains", {}).items()},
            tuple(body.get("repeated", ())),
            load_fingerprint(body.get("fingerprint")),
            load_recipe(_recipe_of(body)),
        )
    except (ValueError, TypeError, KeyError, IndexError, AttributeError):
        raise _damaged(version) from None


def _recipe_of(body: Mapping[str, Any]) -> Any:
    """The recipe in a frame's metadata; 0 is short for one table, read from the first answer."""
    if body.get("recipe") != 0:
        return body.get("recipe")
    named = [of for of, _ in body["columns"].values() if of]
    return read_from(0, named[0].partition(".")[0])


def _damaged(version: str | None = None) -> MetadataError:
    return MetadataError(
        "the frame's aatoolkit metadata is damaged; drop it with df.attrs.pop('aatoolkit')",
        version=version,
    )
