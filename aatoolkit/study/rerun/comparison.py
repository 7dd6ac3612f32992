"""Compare a result of a rerun with the one that was sealed, and say where they differ."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import asdict, dataclass
from typing import Any

import pandas as pd
import pyarrow as pa

from aatoolkit._util.text import clipped
from aatoolkit.frame.groupby import flattened
from aatoolkit.study.frame_diff import key_of, pairs
from aatoolkit.study.results import SealedResult

SAME, DIFFERS, MISSING, NEW = "same", "differs", "missing", "new"
_SHOWN = 5


@dataclass(frozen=True)
class ResultComparison:
    """The comparison of one named result, as sealed and as the rerun gave it.

    Attributes
    ----------
    name : str
        Its name.
    status : str
        ``same``, ``differs``, ``missing`` (sealed, and not given by the rerun) or ``new`` (given
        by the rerun, and never sealed).
    sealed, rerun : str or None
        Its logical hash, as sealed and now.
    sealed_rows, rerun_rows : int or None
        How many rows it had, and has.
    notes : tuple of str
        What differs as a whole: columns, their kinds, the order of rows.
    rows_gone, rows_new : int
        How many rows only the sealed one, and only the rerun, has.
    cells : int
        How many cells differ in rows and columns that both have.
    largest : float or None
        The largest relative difference of two numbers.
    changes : tuple of mapping
        The first rows and cells that differ: ``key``, and of a cell ``column``, ``before`` and
        ``after``, else ``change``.
    """

    name: str
    status: str
    sealed: str | None = None
    rerun: str | None = None
    sealed_rows: int | None = None
    rerun_rows: int | None = None
    notes: tuple[str, ...] = ()
    rows_gone: int = 0
    rows_new: int = 0
    cells: int = 0
    largest: float | None = None
    changes: tuple[Mapping[str, Any], ...] = ()

    def to_dict(self) -> dict[str, Any]:
        """Convert to JSON values."""
        found = asdict(self)
        return found | {"notes": [*self.notes], "changes": [dict(one) for one in self.changes]}

    def lines(self) -> Iterator[str]:
        """Yield the comparison in words: a line, and one more per first difference."""
        rows = self.sealed_rows if self.rerun_rows is None else self.rerun_rows
        yield clipped(f"{self.status}: {self.name}") + f", {rows:,} rows"
        if self.status != DIFFERS:
            return
        parts = [*self.notes]
        if self.rows_gone or self.rows_new:
            parts.append(f"{self.rows_gone:,} rows gone, {self.rows_new:,} rows new")
        if self.cells:
            largest = "" if self.largest is None else f", by at most {self.largest:.2g} of a number"
            parts.append(f"{self.cells:,} cells differ{largest}")
        yield from (f"  {clipped(part)}" for part in parts)
        for change in self.changes:
            where = clipped(str(change["key"]))
            if "change" in change:
                yield f"    [{where}] {change['change']}"
                continue
            before, after = (clipped(str(change[name])) for name in ("before", "after"))
            yield f"    [{where}].{clipped(str(change['column']))}: {before} → {after}"


def compare_frames(
    sealed: SealedResult, found: SealedResult, one: pd.DataFrame, other: pd.DataFrame
) -> ResultComparison:
    """Compare two results of one name whose hashes differ.

    Rows are matched by the key of the table, or else by a key that the index is; without any, by
    their number.
    """
    before, after = flattened(one), flattened(other)
    notes = [*_columns(before, after)]
    before, after = _alike(before, after)
    key = _key(one, before, after)
    rows, cells, largest = [], [], None
    gone = new = 0
    for part, frame in pairs(before, after, key):
        if part == "rows":
            size = len(frame["key"])
            gone, new = (
                (gone + size, new) if frame["change"] == "only before" else (gone, new + size)
            )
            words = {"only before": "gone", "only after": "new"}[frame["change"]]
            rows += [{"key": each, "change": words} for each in frame["key"].head(_SHOWN)]
            continue
        listed = [frame["before"], frame["after"]]
        if part == "numbers":
            largest = _largest(largest, *listed)
        shown = zip(frame["key"], *(side.map(_words) for side in listed), strict=True)
        cells += [
            {"key": label, "column": frame["column"], "before": b, "after": a}
            for label, b, a in shown
        ]
    if not (notes or rows or cells):
        notes.append(_order(before, after, key))
    return ResultComparison(
        sealed.name,
        DIFFERS,
        sealed.hash,
        found.hash,
        sealed.rows,
        found.rows,
        tuple(notes),
        gone,
        new,
        len(cells),
        largest,
        (*rows[:_SHOWN], *cells[:_SHOWN]),
    )


def _columns(before: pd.DataFrame, after: pd.DataFrame) -> Iterator[str]:
    """Yield how the columns differ: which there are, their order, their kinds."""
    names = [[str(name) for name in frame.columns] for frame in (before, after)]
    for words, here, there in (("gone", *names), ("new", *names[::-1])):
        lacking = [name for name in here if name not in there]
        if lacking:
            yield f"columns {words}: {', '.join(lacking)}"
    shared = [[name for name in here if name in there] for here, there in (names, names[::-1])]
    if shared[0] != shared[1]:
        yield f"the columns are in another order: {', '.join(shared[1])}"
    for name in shared[0]:
        kinds = [_kind(frame[name]) for frame in (before, after)]
        if kinds[0] != kinds[1]:
            yield f"{name} was {kinds[0]} and is {kinds[1]}"


def _kind(values: pd.Series) -> str:
    """The kind of a column's values as the table hash sees them, such as "whole numbers"."""
    found = pa.array(values, from_pandas=True).type
    if pa.types.is_dictionary(found):
        found = found.value_type
    if pa.types.is_integer(found):
        return "whole numbers"
    if pa.types.is_floating(found):
        return "numbers"
    if pa.types.is_string(found) or pa.types.is_large_string(found):
        return "text"
    if pa.types.is_timestamp(found) or pa.types.is_date(found):
        return "moments" if getattr(found, "tz", None) else "days or moments without a zone"
    return "nothing" if pa.types.is_null(found) else str(found)


def _alike(before: pd.DataFrame, after: pd.DataFrame) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Convert both frames so that columns compare: lists, and differing kinds, as text."""
    one, other = before.copy(deep=False), after.copy(deep=False)
    for name in before.columns:
        if name not in after.columns:
            continue
        if "list" in (_kind(before[name])[:4], _kind(after[name])[:4]):
            one[name], other[name] = _joined(before[name]), _joined(after[name])
            continue
        numbers = all(
            pd.api.types.is_numeric_dtype(frame[name]) and frame[name].dtype != "boolean"
            for frame in (before, after)
        )
        if not numbers and before[name].dtype != after[name].dtype:
            one[name], other[name] = before[name].astype("string"), after[name].astype("string")
    return one, other


def _joined(values: pd.Series) -> pd.Series:
    """Join lists to text."""
    words = [
        ", ".join(map(str, each)) if isinstance(each, Iterable) else None
        for each in pa.array(values, from_pandas=True).to_pylist()
    ]
    return pd.Series(words, index=values.index, dtype="string")


def _key(sealed: pd.DataFrame, before: pd.DataFrame, after: pd.DataFrame) -> list[str]:
    """The columns that identify a row of both."""
    levels = [str(level) for level in sealed.index.names if level is not None]
    for names in (key_of(before, after), levels):
        if names and all(name in frame.columns for name in names for frame in (before, after)):
            repeats = any(frame.duplicated(names).any() for frame in (before, after))
            if not repeats:
                return names
    return []


def _largest(known: float | None, before: pd.Series, after: pd.Series) -> float | None:
    """The largest relative difference of numbers, given the largest known so far."""
    one, other = (side.astype("Float64") for side in (before, after))
    scale = pd.concat([one.abs(), other.abs()], axis=1).max(axis=1)
    found = ((other - one).abs() / scale.where(scale > 0)).max()
    sizes = [float(each) for each in (known, found) if each is not None and not pd.isna(each)]
    return max(sizes, default=None)


def _order(before: pd.DataFrame, after: pd.DataFrame, key: list[str]) -> str:
    if key and not before[key].reset_index(drop=True).equals(after[key].reset_index(drop=True)):
        return "the rows are the same in another order"
    return "the cells are equal as they are shown; the kinds of their values differ"


def _words(value: Any) -> str:
    if isinstance(value, float) and not pd.isna(value):
        return f"{value:.17g}"
    return "nothing" if pd.isna(value) else str(value)
