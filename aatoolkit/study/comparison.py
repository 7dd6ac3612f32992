"""Compare a result of a rerun with the one that was sealed, and say where they differ."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass, fields
from datetime import datetime
from pathlib import Path
from typing import Any

import pandas as pd
import pyarrow as pa

from aatoolkit._util.text import clipped, markup, visible, wrapped_in_ipython
from aatoolkit.frame.groupby import flattened
from aatoolkit.study.frame_diff import differences, key_of
from aatoolkit.study.results import described

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
        facts = asdict(self)
        return facts | {"notes": [*self.notes], "changes": [dict(each) for each in self.changes]}

    def lines(self) -> Iterator[str]:
        """Yield the comparison in words: a line, and one more per first difference."""
        rows = self.sealed_rows if self.rerun_rows is None else self.rerun_rows
        yield clipped(f"{self.status}: {self.name}") + ("" if rows is None else f", {rows:,} rows")
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
            words = {name: clipped(str(value)) for name, value in change.items()}
            if "change" in words:
                yield f"    [{words['key']}] {words['change']}"
            else:
                cell = f"[{words['key']}].{words['column']}"
                yield f"    {cell}: {words['before']} → {words['after']}"


@dataclass(frozen=True, repr=False)
class Rerun:
    """The result of a rerun; true if the notebook ended and each sealed result is the same.

    Attributes
    ----------
    notebook, study : Path
        The notebook that was run, and the study that answered.
    digest : str
        The digest of the study.
    started, ended : datetime
        When, in UTC.
    compared : tuple of ResultComparison
        The named results: those that were sealed, and those that are new.
    problem : str or None
        Why the notebook did not run to its end, or what it did to the study.
    cell : int or None
        The code cell that did not end, counted from 1.
    """

    notebook: Path
    study: Path
    digest: str
    started: datetime
    ended: datetime
    compared: tuple[ResultComparison, ...]
    problem: str | None = None
    cell: int | None = None

    @property
    def ok(self) -> bool:
        """Whether the notebook ran to its end and each sealed result is the same."""
        return self.problem is None and all(one.status in (SAME, NEW) for one in self.compared)

    def __bool__(self) -> bool:
        return self.ok

    @property
    def results(self) -> pd.DataFrame:
        """The compared results, one row each, with the attributes of `ResultComparison`."""
        rows = [one.to_dict() | {"notes": "; ".join(one.notes)} for one in self.compared]
        frame = pd.DataFrame(rows, columns=[f.name for f in fields(ResultComparison)])
        return frame.drop(columns=["sealed", "rerun", "changes"]).convert_dtypes()

    def to_dict(self) -> dict[str, Any]:
        """Convert to JSON values."""
        facts = {field.name: getattr(self, field.name) for field in fields(self)}
        compared = [one.to_dict() for one in facts.pop("compared")]
        words = {
            name: str(fact) if isinstance(fact, Path) else fact for name, fact in facts.items()
        }
        moments = {"started": self.started.isoformat(), "ended": self.ended.isoformat()}
        return {"ok": self.ok, **words, **moments, "results": compared}

    def lines(self) -> Iterator[str]:
        """Yield the result in words, line by line."""
        if self.problem is not None:
            where = "" if self.cell is None else f" in code cell {self.cell}"
            yield f"the notebook did not run to its end{where}: {visible(self.problem)}"
        for one in self.compared:
            yield from one.lines()

    def __repr__(self) -> str:
        return "\n".join([f"<Rerun: {self._head()}>", *(f"  {line}" for line in self.lines())])

    _repr_pretty_ = wrapped_in_ipython

    def _repr_html_(self) -> str:
        items = "".join(f"<li>{markup(line)}</li>" for line in self.lines())
        return f'<div class="tex2jax_ignore"><b>{markup(self._head())}</b><ul>{items}</ul></div>'

    def _head(self) -> str:
        counts = Counter(one.status for one in self.compared)
        statuses = (DIFFERS, MISSING, NEW, SAME)
        parts = ", ".join(f"{counts[status]} {status}" for status in statuses if counts[status])
        return f"{parts or 'no result'}, in {(self.ended - self.started).total_seconds():.0f} s"


def compare_results(
    name: str, sealed: pd.DataFrame | None, found: pd.DataFrame | None
) -> ResultComparison:
    """Compare two results of one name; None where there is none.

    Rows are matched by the key of the table, or else by a key that the index is; without any, by
    their number.
    """
    one, other = (None if frame is None else described(name, frame) for frame in (sealed, found))
    facts = {
        "sealed": one and one.hash,
        "rerun": other and other.hash,
        "sealed_rows": one and one.rows,
        "rerun_rows": other and other.rows,
    }
    if one is None or other is None or one.hash == other.hash:
        status = NEW if one is None else MISSING if other is None else SAME
        return ResultComparison(name, status, **facts)  # type: ignore[arg-type]
    assert sealed is not None
    assert found is not None
    return ResultComparison(name, DIFFERS, **facts, **_differences(sealed, found))  # type: ignore[arg-type]


def _differences(sealed: pd.DataFrame, found: pd.DataFrame) -> dict[str, Any]:
    before, after = flattened(sealed), flattened(found)
    notes = [*_columns(before, after)]
    before, after = _alike(before, after)
    key = _key(sealed, before, after)
    changes: dict[str, list[Any]] = {"rows": [], "cells": []}
    counts = {"only before": 0, "only after": 0, "cells": 0}
    largest = []
    for part, frame in differences(before, after, key):
        rows = frame.head(_SHOWN)
        if part == "rows":
            for side in frame["change"]:
                counts[side] += 1
            words = {"only before": "gone", "only after": "new"}
            changes["rows"] += rows.assign(change=rows["change"].map(words)).to_dict("records")
            continue
        counts["cells"] += len(frame)
        if part == "numbers":
            scale = frame[["before", "after"]].abs().max(axis=1).astype("Float64")
            ratio = (frame["change"].abs() / scale.where(scale > 0)).max()
            largest += [] if pd.isna(ratio) else [float(ratio)]
        shown = rows[["key", "column", "before", "after"]]
        changes["cells"] += shown.assign(
            before=shown["before"].map(_words), after=shown["after"].map(_words)
        ).to_dict("records")
    if not notes and not any(counts.values()):
        is_order = key and before[key].to_dict("list") != after[key].to_dict("list")
        notes.append(
            "the rows are the same in another order"
            if is_order
            else "the cells are equal as they are shown; the kinds of their values differ"
        )
    return {
        "notes": tuple(notes),
        "rows_gone": counts["only before"],
        "rows_new": counts["only after"],
        "cells": counts["cells"],
        "largest": max(largest, default=None),
        "changes": (*changes["rows"][:_SHOWN], *changes["cells"][:_SHOWN]),
    }


def _words(value: Any) -> str:
    """A value as it is shown: numbers with the digits that tell them apart."""
    if isinstance(value, float) and not pd.isna(value):
        return f"{value:.17g}"
    return "nothing" if pd.isna(value) else str(value)


def _columns(before: pd.DataFrame, after: pd.DataFrame) -> Iterator[str]:
    """Yield how the columns differ: which there are, their order, their kinds."""
    old, new = ([str(name) for name in frame.columns] for frame in (before, after))
    for words, names, others in (("gone", old, new), ("new", new, old)):
        lacking = [name for name in names if name not in others]
        if lacking:
            yield f"columns {words}: {', '.join(lacking)}"
    shared = [name for name in old if name in new]
    order = [name for name in new if name in old]
    if shared != order:
        yield f"the columns are in another order: {', '.join(order)}"
    for name in shared:
        kinds = [_kind(frame[name]) for frame in (before, after)]
        if kinds[0] != kinds[1]:
            yield f"{name} was {kinds[0]} and is {kinds[1]}"


def _kind(values: pd.Series) -> str:
    """The kind of a column's values as the table hash sees them, such as "whole numbers"."""
    kind = pa.array(values, from_pandas=True).type
    if pa.types.is_dictionary(kind):
        kind = kind.value_type
    names = {
        "whole numbers": pa.types.is_integer,
        "numbers": pa.types.is_floating,
        "text": lambda kind: pa.types.is_string(kind) or pa.types.is_large_string(kind),
        "nothing": pa.types.is_null,
        "days": pa.types.is_date,
        "moments": lambda kind: pa.types.is_timestamp(kind) and kind.tz is not None,
        "days or moments without a zone": pa.types.is_timestamp,
    }
    return next((name for name, is_kind in names.items() if is_kind(kind)), str(kind))


def _alike(before: pd.DataFrame, after: pd.DataFrame) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Convert columns of differing kinds to text, so that they compare."""
    one, other = before.copy(deep=False), after.copy(deep=False)
    for name in [name for name in before.columns if name in after.columns]:
        sides = before[name], after[name]
        are_numbers = all(
            pd.api.types.is_numeric_dtype(side) and side.dtype != "boolean" for side in sides
        )
        if not are_numbers and sides[0].dtype != sides[1].dtype and "list" not in _kind(sides[0]):
            one[name], other[name] = (side.astype("string") for side in sides)
    return one, other


def _key(sealed: pd.DataFrame, before: pd.DataFrame, after: pd.DataFrame) -> list[str]:
    """The columns that identify a row of both."""
    levels = [str(level) for level in sealed.index.names if level is not None]
    for names in (key_of(before, after), levels):
        if names and all({*names} <= {*frame.columns} for frame in (before, after)):
            repeats = any(frame.duplicated(names).any() for frame in (before, after))
            if not repeats:
                return names
    return []
