"""Column metadata in ``DataFrame.attrs``: the only module that touches ``attrs``.

It is stored as one canonical JSON string under ``df.attrs["aatoolkit"]``: pandas copies a
string for free, compares it by value, writes it to Parquet, and unpickles it where this
package is not installed. It is made when somebody reads ``attrs``, and parsed through a cache.

The metadata of a column names which declared column it is, and whether the service could
measure it in the rows that were read. A column without metadata is unknown, so a column that
was renamed has none. Metadata counts only for what was read: the `Fingerprint` detects that
pandas kept the string but not the values, and then the column is unknown. The metadata of a
column that could not be measured counts as long as the column holds no value.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from contextvars import ContextVar
from typing import TYPE_CHECKING, Any

from aatoolkit.availability import Availability, Status
from aatoolkit.metadata.carrier import Carrier, HashedLater, HeldAnswer, HeldMetadata
from aatoolkit.metadata.column import EMPTY as EMPTY
from aatoolkit.metadata.column import NOTHING as NOTHING
from aatoolkit.metadata.column import ColumnMetadata as ColumnMetadata
from aatoolkit.metadata.column import Source as Source
from aatoolkit.metadata.fingerprint import OVERWRITTEN, Fingerprint, arrays_of
from aatoolkit.metadata.fingerprint_check import FingerprintCheck
from aatoolkit.metadata.frame_metadata import VERSION as VERSION
from aatoolkit.metadata.frame_metadata import FrameMetadata as FrameMetadata
from aatoolkit.metadata.frame_metadata import tables_of as tables_of
from aatoolkit.metadata.lazy_attrs import ATTRIBUTE as ATTRIBUTE
from aatoolkit.metadata.lazy_attrs import LazyAttrs
from aatoolkit.metadata.row_status import RowStatus

if TYPE_CHECKING:
    import pandas as pd
    import pyarrow as pa

_NOTHING_KNOWN = FrameMetadata().dumps()
"""What stands in the place of a text that was not made yet."""

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
    others = _other_attrs(frame)
    rows: pd.DataFrame | pa.Table = table
    if table is None:
        frame.attrs = {}
        rows = frame.copy(deep=False)
    hashed = HashedLater(rows, lambda: metadata, metadata.key)
    _put(frame, others, HeldMetadata(lambda: metadata, hashed, answers))
    return frame


def attach_later(
    frame: pd.DataFrame,
    metadata: Callable[[], FrameMetadata],
    key: tuple[str, ...],
    table: pa.Table,
    answers: Iterable[HeldAnswer],
) -> pd.DataFrame:
    """Put metadata on a new frame that is made when somebody asks for it; see `attach`."""
    _put(frame, {}, HeldMetadata(metadata, HashedLater(table, metadata, key), answers))
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
    known, _ = stored_of(frame)
    names = [str(name) for name in frame.columns]
    inside = [str(name) for name in frame.index.names if name is not None]
    is_hashed = fingerprint_in(frame, known) is not None
    check = check_of(frame, anew=True)
    columns = {
        name: _verified(known, name, check, is_hashed) for name in dict.fromkeys((*names, *inside))
    }
    columns = over_rows(frame, columns)
    for name in {*inside} - {*names} if not levels else ():
        del columns[name]
    key = tuple(name for name in known.key if name in names or name in inside)
    repeated = {*known.repeated, *check.repeated(columns_of_tables(columns))}
    return FrameMetadata(columns, key, known.sources, known.grains, tuple(sorted(repeated)))


def check_of(frame: pd.DataFrame, *, anew: bool = False) -> FingerprintCheck:
    """Return the check of a frame against its fingerprint; while a verb runs, that made before."""
    shared = CHECKS.get()
    if shared is not None and id(frame) in shared and not anew:
        return shared[id(frame)][1]
    known, _ = stored_of(frame)
    check = FingerprintCheck(frame, fingerprint_in(frame, known) or Fingerprint(), known.key)
    if shared is not None:
        shared[id(frame)] = frame, check
    return check


def columns_of_tables(columns: Mapping[str, ColumnMetadata]) -> dict[str, list[str]]:
    """The columns of a frame by the table that they are of."""
    tables: dict[str, list[str]] = {}
    for name, column in columns.items():
        if column.table:
            tables.setdefault(column.table, []).append(name)
    return tables


def has_metadata(frame: pd.DataFrame) -> bool:
    """Whether a frame carries metadata, damaged or not."""
    return ATTRIBUTE in frame.attrs


def text_of(frame: pd.DataFrame) -> str | None:
    """Return the metadata of a frame as the text that it carries; None where it carries none."""
    text: str | None = frame.attrs.get(ATTRIBUTE)
    return text


def description_of(frame: pd.DataFrame) -> HeldMetadata | None:
    """Return the metadata of a frame with what is in memory beside it; None where that is lost."""
    attrs = frame.attrs
    if isinstance(attrs, LazyAttrs) and attrs.is_pending:
        return attrs.source
    text = attrs.get(ATTRIBUTE)
    return text.description if isinstance(text, Carrier) else None


def describe_anew(
    frame: pd.DataFrame, metadata: FrameMetadata, answers: Iterable[HeldAnswer]
) -> None:
    """Replace the metadata of a frame whose rows are still those that it was attached to."""
    known = description_of(frame)
    if known is None:
        attach(frame, metadata, answers=answers)
    else:
        _put(frame, _other_attrs(frame), known.rewritten(metadata, answers))


def fingerprint_in(frame: pd.DataFrame, known: FrameMetadata) -> Fingerprint | None:
    """Return the fingerprint of all rows, or the sample that the stored metadata holds."""
    found = description_of(frame)
    return known.fingerprint if found is None else found.fingerprint


def stored_of(frame: pd.DataFrame) -> tuple[FrameMetadata, tuple[HeldAnswer, ...]]:
    """Return the metadata as it was attached, unchecked, and the answers held in memory.

    Raises
    ------
    MetadataError
        If it is damaged, or of a newer major version.
    """
    found = description_of(frame)
    if found is not None:
        return found.metadata, found.answers
    text = frame.attrs.get(ATTRIBUTE)
    return (FrameMetadata() if text is None else FrameMetadata.loads(text)), ()


def _put(frame: pd.DataFrame, others: Mapping[Any, Any], description: HeldMetadata) -> None:
    """Put a description on a frame, whose text is made when somebody reads it."""
    lazy = LazyAttrs(others, description, _NOTHING_KNOWN)
    object.__setattr__(frame, "_attrs", lazy)  # the property would copy it to a plain dict
    if frame.attrs is not lazy:  # pandas keeps it elsewhere
        frame.attrs = {**others, ATTRIBUTE: description.text}


def _other_attrs(frame: pd.DataFrame) -> dict[Any, Any]:
    attrs = frame.attrs
    if isinstance(attrs, LazyAttrs):
        return attrs.others()
    return {name: value for name, value in attrs.items() if name != ATTRIBUTE}


def _verified(
    known: FrameMetadata, name: str, check: FingerprintCheck, is_hashed: bool
) -> ColumnMetadata:
    column = known.columns.get(name, NOTHING)
    if column == NOTHING:
        return column
    if column.availability.status in EMPTY and name not in check.hashed:
        change = None if check.is_empty(name) else OVERWRITTEN
    else:
        change = check.change(name) if is_hashed else None
    if change is None:
        return column
    return ColumnMetadata(None, Availability(Status.UNKNOWN, None, change))


def over_rows(
    frame: pd.DataFrame, columns: Mapping[str, ColumnMetadata]
) -> dict[str, ColumnMetadata]:
    """Recompute the columns' availability over the rows that the frame has."""
    if not any(column.statements or column.absent for column in columns.values()):
        return {**columns}
    rows = rows_of(frame, FrameMetadata(columns))
    return {
        name: rows.over(column) if column.statements or column.absent else column
        for name, column in columns.items()
    }


def rows_of(frame: pd.DataFrame, known: FrameMetadata) -> RowStatus:
    """Build the `RowStatus` of a frame, from columns that still hold what was read."""
    trusted = [*filter(known.holds, known.columns)]
    return RowStatus(arrays_of(frame), len(frame), trusted)
