"""Compare: two frames of one table, two studies, and the results of a rerun with those sealed."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
import pyarrow as pa

from aatoolkit._util.text import clipped, visible, wrapped_in_ipython
from aatoolkit.client.dataset import Dataset
from aatoolkit.errors import AAToolkitError, StudyError
from aatoolkit.frame.groupby import flattened
from aatoolkit.metadata.arrow_schema import logical_hash
from aatoolkit.metadata.attrs import metadata_of
from aatoolkit.normalizer.tables import Tables
from aatoolkit.study.reading import quietly
from aatoolkit.study.record import Record

if TYPE_CHECKING:
    from aatoolkit.study.study import Study

# -- two frames --------------------------------------------------------------------------------

_ROW_NUMBER = "row"


def differences(
    before: pd.DataFrame, after: pd.DataFrame, key: Sequence[str]
) -> Iterator[tuple[str, pd.DataFrame]]:
    """Yield the differences as frames of ``rows``, ``numbers`` and ``texts``, keys in words.

    Parameters
    ----------
    before, after
        The frames.
    key
        The columns to match rows by; without any, rows are matched by their number.
    """
    names = [*key] or [_ROW_NUMBER]
    joined = _plain(before, key).merge(
        _plain(after, key), on=names, how="outer", suffixes=(" before", " after"), indicator=True
    )
    parts = [f"{name}=" + joined[name].astype("string").fillna("nothing") for name in names]
    words = parts[0]
    for part in parts[1:]:
        words = words + ", " + part
    sides = {"left_only": "only before", "right_only": "only after"}
    change = joined["_merge"].map(sides).astype("string")
    if change.notna().any():
        rows = pd.DataFrame({"key": words, "change": change})[change.notna()]
        yield "rows", rows.sort_values("change", ascending=False, kind="stable")
    for column in map(str, before.columns):
        if column not in after.columns or column in (*names, "_row"):
            continue
        old, new = joined[f"{column} before"], joined[f"{column} after"]
        if old.dtype != new.dtype and not all(map(_is_number, (old, new))):
            old, new = old.astype("string"), new.astype("string")
        is_equal = (old == new).fillna(False).astype(bool) | (old.isna() & new.isna())
        cells = pd.DataFrame({"key": words, "column": column, "before": old, "after": new})
        cells = cells[~is_equal & change.isna()]
        if len(cells) and _is_number(old):
            yield "numbers", cells.assign(change=cells["after"] - cells["before"])
        elif len(cells):
            yield "texts", cells.astype({"before": "string", "after": "string"})


def _is_number(column: pd.Series) -> bool:
    return pd.api.types.is_numeric_dtype(column) and column.dtype != "boolean"


def _plain(frame: pd.DataFrame, key: Sequence[str]) -> pd.DataFrame:
    """Drop categories, lists and metadata of a frame; without a key, add row numbers."""
    columns = {str(name): _comparable(frame[name]) for name in frame.columns if name != "_row"}
    if not key:
        columns[_ROW_NUMBER] = pd.Series(range(len(frame)), index=frame.index, dtype="Int64")
    return pd.DataFrame(columns)


def _comparable(column: pd.Series) -> pd.Series:
    if isinstance(column.dtype, pd.CategoricalDtype):
        return column.astype("string")
    if isinstance(column.dtype, pd.ArrowDtype) and pa.types.is_list(column.dtype.pyarrow_dtype):
        column = column.astype(object)
    if column.dtype != object:
        return column

    def joined(value: Any) -> str:
        is_list = isinstance(value, tuple | list | np.ndarray)
        return ", ".join(map(str, value)) if is_list else str(value)

    return column.map(joined, na_action="ignore").astype("string")


def _words(value: Any) -> str:
    """A value as it is shown: numbers with the digits that tell them apart."""
    if pd.isna(value):
        return "nothing"
    return f"{value:.17g}" if isinstance(value, float) else str(value)


# -- two studies -------------------------------------------------------------------------------

_ABOUT = ("host", "section", "scope")
PARTS = {
    "requests": (*_ABOUT, "change", "before_status", "after_status", "before", "after"),
    "availability": (*_ABOUT, "table", "column", "before", "after"),
    "drift": (*_ABOUT, "change", "kind", "path"),
    "rows": (*_ABOUT, "table", "key", "change"),
    "numbers": (*_ABOUT, "table", "key", "column", "before", "after", "change"),
    "texts": (*_ABOUT, "table", "key", "column", "before", "after"),
}
_NUMBERS = {
    "requests": {"before_status": "Int64", "after_status": "Int64"},
    "numbers": {"before": "Float64", "after": "Float64", "change": "Float64"},
}
_SHOWN = 6


@dataclass(frozen=True, repr=False, eq=False)
class StudyDiff:
    """The differences between two studies, as tidy DataFrames.

    Requests are matched by host, section and filters, whatever service they went to. Every frame
    begins with ``host``, ``section`` and ``scope``.

    Attributes
    ----------
    same : int
        How many requests have the same response, byte for byte, in both.
    requests : pandas.DataFrame
        The others: ``change`` (``response``, ``only before``, ``only after``), the statuses, and
        in ``before`` and ``after`` the SHA-256 of the responses.
    availability : pandas.DataFrame
        The availability of a ``column`` of a ``table``, ``before`` and ``after``, in words.
    drift : pandas.DataFrame
        Schema drift that only one of the two has: ``kind`` and ``path``.
    rows : pandas.DataFrame
        Rows that only one of the two has, by their ``key``.
    numbers : pandas.DataFrame
        Numbers that differ: ``key``, ``column``, ``before``, ``after``, and ``change``, which is
        missing where one of them is.
    texts : pandas.DataFrame
        Other values that differ in rows that both have, as text.
    """

    same: int
    requests: pd.DataFrame
    availability: pd.DataFrame
    drift: pd.DataFrame
    rows: pd.DataFrame
    numbers: pd.DataFrame
    texts: pd.DataFrame

    @property
    def is_same(self) -> bool:
        """Whether both hold the same responses to the same requests."""
        return len(self.requests) == 0

    @property
    def counts(self) -> dict[str, int]:
        """The number of rows of each frame."""
        return {name: len(getattr(self, name)) for name in PARTS}

    def __repr__(self) -> str:
        return "\n".join([f"<StudyDiff: {self._head()}>", *(f"  {line}" for line in self._lines())])

    _repr_pretty_ = wrapped_in_ipython

    def _head(self) -> str:
        if self.is_same:
            return f"the responses to {self.same} request{'s' * (self.same != 1)} are the same"
        changed = (f"{count:,} {name}" for name, count in self.counts.items() if count)
        return f"{self.same} responses the same; changed: {', '.join(changed)}"

    def _lines(self) -> Iterator[str]:
        for name, columns in PARTS.items():
            frame = getattr(self, name)
            for row in frame.head(_SHOWN)[[*columns]].astype(object).to_dict("records"):
                yield visible(f"{name}: {_sentence(row)}")
            if len(frame) > _SHOWN:
                yield f"{name}: and {len(frame) - _SHOWN:,} more, in .{name}"


def _sentence(row: Mapping[str, Any]) -> str:
    """A row of a difference in words: where, and from what to what."""
    place = [row.get(name) for name in ("section", "scope", "table", "column", "kind", "path")]
    where = " ".join(str(part) for part in place if not pd.isna(part))
    where += f" [{row['key']}]" if "key" in row else ""
    if "change" in row and "key" not in row:
        where += f": {row['change']}"
    if "before_status" in row:
        return f"{where}, {_words(row['before_status'])} → {_words(row['after_status'])}"
    if "before" not in row:
        return where if "kind" in row else f"{where} {row['change']}"
    change = "" if pd.isna(row.get("change")) else f" ({row['change']:+.6g})"
    return f"{where}: {_words(row['before'])} → {_words(row['after'])}{change}"


def compare(before: Study, after: Study) -> StudyDiff:
    """Compare two studies."""
    sides = before._current, after._current
    # The service counts only where the same request went to several.
    with_service = any(len({r.request.key[1:] for r in side}) < len(side) for side in sides)
    here, there = (
        {record.request.key[0 if with_service else 1 :]: record for record in side}
        for side in sides
    )
    parts: dict[str, list[pd.DataFrame]] = {name: [] for name in PARTS}
    same = 0
    for key in sorted(here.keys() | there.keys()):
        one, other = here.get(key), there.get(key)
        if one and other and (one.sha256, one.status) == (other.sha256, other.status):
            same += 1
            continue
        row = {
            **_about(one or other),
            "change": "response" if one and other else "only before" if one else "only after",
            "before_status": one and one.status,
            "after_status": other and other.status,
            "before": one and one.sha256,
            "after": other and other.sha256,
        }
        parts["requests"].append(pd.DataFrame([row]))
        if one and other:
            read, again = _read(before, one), _read(after, other)
            for section in [name for name in read if name in again]:
                about = _about(one, section)
                for part, frame in _section_changes(read[section], again[section]):
                    parts[part].append(frame.assign(**about))
    return StudyDiff(same, **{name: _stacked(name, frames) for name, frames in parts.items()})


def _stacked(name: str, frames: list[pd.DataFrame]) -> pd.DataFrame:
    """Concatenate frames to one with fixed columns and dtypes."""
    dtypes: dict[str, Any] = dict.fromkeys(PARTS[name], "string") | _NUMBERS.get(name, {})
    empty = pd.DataFrame({column: pd.Series(dtype=dtype) for column, dtype in dtypes.items()})
    fit = [frame[[*dtypes]].astype(dtypes) for frame in frames]
    return pd.concat([empty, *fit], ignore_index=True)


def _about(record: Record | None, section: str | None = None) -> dict[str, Any]:
    assert record is not None
    return {
        "host": record.host,
        "section": "scope_options" if record.is_options else section or record.section,
        "scope": None if record.scope is None else record.scope._to_query(),
    }


def _read(study: Study, record: Record) -> Dataset:
    """Return the tables of a response; none if it is an error."""
    try:
        return quietly(study.tables, record)
    except StudyError:
        raise
    except AAToolkitError:
        return Dataset({})


def _section_changes(one: Tables, other: Tables) -> Iterator[tuple[str, pd.DataFrame]]:
    drifts = [
        dict.fromkeys(zip(tables.drift["kind"], tables.drift["path"], strict=True))
        for tables in (one, other)
    ]
    drifted = [("only before", *place) for place in drifts[0] if place not in drifts[1]]
    drifted += [("only after", *place) for place in drifts[1] if place not in drifts[0]]
    if drifted:
        yield "drift", pd.DataFrame(drifted, columns=["change", "kind", "path"])
    for name in [name for name in one if name in other]:
        frames = one[name], other[name]
        states = [metadata_of(frame).columns for frame in frames]
        rows = [
            (name, column, *(str(known[column].availability) for known in states))
            for column in states[0]
            if column in states[1]
        ]
        changed = pd.DataFrame(rows, columns=["table", "column", "before", "after"])
        yield "availability", changed[changed["before"] != changed["after"]]
        for part, frame in differences(*frames, _key_of(*frames)):
            yield part, frame.assign(table=name)


def _key_of(*frames: pd.DataFrame) -> list[str]:
    """The declared key, by which rows are matched; empty if it repeats or one lacks it."""
    key = [*metadata_of(frames[0]).key]
    repeats = any("_row" in frame.columns for frame in frames)
    return key if not repeats and all({*key} <= {*frame.columns} for frame in frames) else []


# -- results of a rerun ------------------------------------------------------------------------

SAME, DIFFERS, MISSING, NEW = "same", "differs", "missing", "new"


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
    differences : tuple of str
        What differs, in words: columns and their kinds, the numbers of rows and cells, and the
        first of them.
    """

    name: str
    status: str
    sealed: str | None = None
    rerun: str | None = None
    differences: tuple[str, ...] = ()

    def lines(self) -> Iterator[str]:
        """Yield the comparison in words: a line, and one more per difference."""
        yield clipped(f"{self.status}: {self.name}")
        yield from (f"  {clipped(words)}" for words in self.differences)


@dataclass(frozen=True, repr=False)
class Rerun:
    """The result of a rerun; true if the notebook ended and each sealed result is the same.

    Attributes
    ----------
    notebook, study : Path
        The notebook that was run, and the study that it read.
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
        """The compared results, one row each: ``name``, ``status``, ``differences``."""
        rows = [(one.name, one.status, "; ".join(one.differences)) for one in self.compared]
        return pd.DataFrame(rows, columns=["name", "status", "differences"], dtype="string")

    def to_dict(self) -> dict[str, Any]:
        """Convert to JSON values."""
        facts = {
            "ok": self.ok,
            **{name: str(getattr(self, name)) for name in ("notebook", "study", "digest")},
            "problem": self.problem,
            "cell": self.cell,
        }
        moments = {"started": self.started.isoformat(), "ended": self.ended.isoformat()}
        return facts | moments | {"results": [*map(asdict, self.compared)]}

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

    def _head(self) -> str:
        counts = Counter(one.status for one in self.compared)
        statuses = (DIFFERS, MISSING, NEW, SAME)
        parts = ", ".join(f"{counts[status]} {status}" for status in statuses if counts[status])
        return f"{parts or 'no result'}, in {(self.ended - self.started).total_seconds():.0f} s"


def compare_results(
    name: str, sealed: pd.DataFrame | None, rerun: pd.DataFrame | None
) -> ResultComparison:
    """Compare two results of one name; None where there is none.

    Rows are matched by the key of the table, or else by a key that the index is; without any, by
    their number.
    """
    hashes = [None if frame is None else logical_hash(frame) for frame in (sealed, rerun)]
    if sealed is None or rerun is None or hashes[0] == hashes[1]:
        status = NEW if sealed is None else MISSING if rerun is None else SAME
        return ResultComparison(name, status, hashes[0], hashes[1])
    before, after = flattened(sealed), flattened(rerun)
    words, counts, largest = [*_columns(before, after)], Counter[str](), 0.0
    first: list[str] = []
    for part, frame in differences(before, after, _row_key(sealed, before, after)):
        rows = frame.head(_SHOWN).to_dict("records")
        if part == "rows":
            counts.update(
                frame["change"].map({"only before": "rows gone", "only after": "rows new"})
            )
            first += (f"[{row['key']}] {row['change']}" for row in rows)
            continue
        counts["cells differ"] += len(frame)
        first += (
            f"[{row['key']}].{row['column']}: {_words(row['before'])} → {_words(row['after'])}"
            for row in rows
        )
        if part == "numbers":
            scale = frame[["before", "after"]].abs().max(axis=1).astype("Float64")
            ratio = (frame["change"].abs() / scale.where(scale > 0)).max()
            largest = max(largest, 0.0 if pd.isna(ratio) else float(ratio))
    words += (f"{count:,} {what}" for what, count in counts.items())
    words += [f"numbers differ by at most {largest:.2g} of them"] if largest else []
    words += first[:_SHOWN]
    words = words or ["the same cells in another order, or of another kind"]
    return ResultComparison(name, DIFFERS, hashes[0], hashes[1], tuple(words))


def _columns(before: pd.DataFrame, after: pd.DataFrame) -> Iterator[str]:
    """Yield how the columns differ: which there are, their order, their kinds."""
    old, new = ([str(name) for name in frame.columns] for frame in (before, after))
    for words, names, others in (("gone", old, new), ("new", new, old)):
        lacking = [name for name in names if name not in others]
        if lacking:
            yield f"columns {words}: {', '.join(lacking)}"
    shared = [name for name in old if name in new]
    if shared != [name for name in new if name in old]:
        yield "the columns are in another order"
    for name in shared:
        kinds = [str(frame[name].dtype).lower() for frame in (before, after)]
        if kinds[0] != kinds[1]:
            yield f"{name} was {kinds[0]} and is {kinds[1]}"


def _row_key(sealed: pd.DataFrame, before: pd.DataFrame, after: pd.DataFrame) -> list[str]:
    """The columns that identify a row of both."""
    levels = [str(level) for level in sealed.index.names if level is not None]
    for names in (_key_of(before, after), levels):
        frames = (before, after) if names else ()
        is_there = bool(names) and all({*names} <= {*frame.columns} for frame in frames)
        if is_there and not any(frame.duplicated(names).any() for frame in frames):
            return names
    return []
