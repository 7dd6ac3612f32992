"""Compare two studies: what was asked, and the tables of responses that differ, row by row."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
import pyarrow as pa

from aatoolkit._util.text import counted, visible, wrapped_in_ipython
from aatoolkit.frame.groupby import flattened
from aatoolkit.metadata.attrs import metadata_of
from aatoolkit.normalizer.tables import Tables
from aatoolkit.study.files import Record
from aatoolkit.study.recording import readable

if TYPE_CHECKING:
    from aatoolkit.study.study import Study

SHOWN = 6
"""How many differences of a kind are printed."""

_PLACE = ("host", "section", "scope", "table", "key", "column")
_COLUMNS = ("kind", *_PLACE, "before", "after", "change")


@dataclass(frozen=True, repr=False, eq=False)
class StudyDiff:
    """The differences between two studies, as one tidy DataFrame.

    Requests are matched by host, section and filters, whatever service they went to, and rows by
    the key of their table.

    Attributes
    ----------
    same : int
        How many requests have the same response, byte for byte, in both.
    changes : pandas.DataFrame
        One row per difference. Its ``kind`` is ``response`` (its status and SHA-256),
        ``availability`` (of a ``column``), ``drift`` (``column`` is a JSON path), ``row`` (only
        one side has the ``key``) or ``cell``; where it is: ``host``, ``section``, ``scope``,
        ``table``, ``key``, ``column``; ``before`` and ``after`` as text, missing where a side has
        nothing, and ``change``, of numbers.
    """

    same: int
    changes: pd.DataFrame

    @property
    def is_same(self) -> bool:
        """Whether both hold the same responses to the same requests."""
        return not self.changes["kind"].eq("response").any()

    def __repr__(self) -> str:
        if self.is_same:
            return f"<StudyDiff: the responses to {counted(self.same, 'request')} are the same>"
        groups = [*self.changes.groupby("kind", sort=False)]
        counts = ", ".join(f"{len(rows):,} of {kind}" for kind, rows in groups)
        lines = [f"<StudyDiff: {self.same} responses the same; changes: {counts}>"]
        for kind, rows in groups:
            lines += [f"  {kind}: {words}" for words in sentences(rows)]
            if len(rows) > SHOWN:
                lines.append(f"  {kind}: and {len(rows) - SHOWN:,} more, in .changes")
        return "\n".join(lines)

    _repr_pretty_ = wrapped_in_ipython


def sentences(changes: pd.DataFrame) -> list[str]:
    """The first of some differences in words: where, and from what to what."""
    words = []
    for row in changes.head(SHOWN).astype(object).to_dict("records"):
        row = {str(name): value for name, value in row.items() if not pd.isna(value)}
        names = [name for name in _PLACE if name in row and name != "host"]
        where = " ".join(f"[{row[name]}]" if name == "key" else str(row[name]) for name in names)
        sides = [row.get("before", "nothing"), row.get("after", "nothing")]
        what = f"{sides[0]} → {sides[1]}"
        if row["kind"] != "cell" and "nothing" in sides:
            what = "only before" if sides[1] == "nothing" else "only after"
        change = f" ({row['change']:+.6g})" if "change" in row else ""
        words.append(visible(f"{where}: {what}{change}"))
    return words


def differences(before: pd.DataFrame, after: pd.DataFrame, key: Sequence[str]) -> pd.DataFrame:
    """The rows and cells that differ, as rows of `StudyDiff.changes`.

    Rows are matched by a key, or by their number where it does not identify them.
    """
    frames = [flattened(frame) for frame in (before, after)]
    plain = [
        pd.DataFrame({str(name): _comparable(frame[name]) for name in frame if name != "_row"})
        for frame in frames
    ]
    labels = [_labels(frame, key) for frame in plain]
    if not key or any(index.has_duplicates for index in labels):
        labels = [pd.RangeIndex(len(frame)).map(lambda at: f"row={at}") for frame in plain]
    first, second = (frame.set_axis(index) for frame, index in zip(plain, labels, strict=True))
    gone, new = (
        first.index.difference(second.index, sort=False),
        second.index.difference(first.index, False),
    )
    parts = [
        pd.DataFrame({"kind": "row", "key": gone, "before": "row"}),
        pd.DataFrame({"kind": "row", "key": new, "after": "row"}),
    ]
    both = first.index.intersection(second.index, sort=False)
    for column in first.columns.intersection(second.columns, sort=False):
        old, now = first.loc[both, column], second.loc[both, column]
        is_number = all(
            pd.api.types.is_numeric_dtype(side) and side.dtype != "boolean" for side in (old, now)
        )
        if old.dtype != now.dtype and not is_number:
            old, now = old.astype("string"), now.astype("string")
        differs = ~((old == now).fillna(False).astype(bool) | (old.isna() & now.isna()))
        old, now = old[differs], now[differs]
        facts = {"kind": "cell", "key": old.index, "column": column}
        sides = {"before": _words(old).array, "after": _words(now).array}
        change = {"change": (now - old).array} if is_number else {}
        parts.append(pd.DataFrame({**facts, **sides, **change}))
    return stacked(parts)


def _labels(frame: pd.DataFrame, key: Sequence[str]) -> pd.Index:
    parts = [f"{name}=" + frame[name].astype("string").fillna("nothing") for name in key]
    return pd.Index([", ".join(words) for words in zip(*parts, strict=True)], dtype="string")


def _comparable(column: pd.Series) -> pd.Series:
    """A column without categories and lists, which are compared as text."""
    dtype = column.dtype
    if isinstance(dtype, pd.CategoricalDtype):
        return column.astype("string")
    if isinstance(dtype, pd.ArrowDtype) and pa.types.is_list(dtype.pyarrow_dtype):
        column = column.astype(object)
    if column.dtype != object:
        return column

    def text(value: Any) -> str:
        is_list = isinstance(value, tuple | list | np.ndarray)
        return ", ".join(map(str, value)) if is_list else str(value)

    return column.map(text, na_action="ignore").astype("string")


def _words(column: pd.Series) -> pd.Series:
    """Values as they are shown: numbers with the digits that tell them apart."""

    def text(value: Any) -> str:
        return f"{value:.17g}" if isinstance(value, float) else str(value)

    return column.astype(object).map(text, na_action="ignore").astype("string")


def stacked(parts: Sequence[pd.DataFrame]) -> pd.DataFrame:
    """Differences as one frame, with fixed columns and dtypes."""
    dtypes = dict.fromkeys(_COLUMNS, "string") | {"change": "Float64"}
    fit = [part.reindex(columns=[*_COLUMNS]).astype(dtypes) for part in parts if len(part)]
    empty = pd.DataFrame(columns=[*_COLUMNS]).astype(dtypes)
    return pd.concat(fit, ignore_index=True) if fit else empty


# -- two studies -------------------------------------------------------------------------------


def compare(before: Study, after: Study) -> StudyDiff:
    """Compare two studies."""
    records = before._current, after._current
    # The service counts only where the same request went to several.
    with_service = any(len({r.request.key[1:] for r in side}) < len(side) for side in records)
    start = 0 if with_service else 1
    here, there = ({record.request.key[start:]: record for record in side} for side in records)
    parts: list[pd.DataFrame] = []
    same = 0
    for key in sorted(here.keys() | there.keys()):
        first, second = here.get(key), there.get(key)
        states = [r and f"{r.status} {r.sha256[:12]}" for r in (first, second)]
        if first and second and (first.sha256, first.status) == (second.sha256, second.status):
            same += 1
            continue
        place = _place(first or second)
        sides = dict(zip(("before", "after"), states, strict=True))
        parts.append(pd.DataFrame([{"kind": "response", **place, **sides}]))
        if first and second:
            read, again = readable(before, first), readable(after, second)
            for section in [name for name in read if name in again]:
                for frame in _section_changes(read[section], again[section]):
                    parts.append(frame.assign(**place | {"section": section}))
    return StudyDiff(same, stacked(parts))


def _place(record: Record | None) -> dict[str, Any]:
    assert record is not None
    return {
        "host": record.host,
        "section": "scope_options" if record.scope is None else record.section,
        "scope": None if record.scope is None else record.scope._to_query(),
    }


def _section_changes(first: Tables, second: Tables) -> Iterator[pd.DataFrame]:
    drifts = [tables.drift[["path", "kind"]].drop_duplicates("path") for tables in (first, second)]
    drifted = drifts[0].merge(drifts[1], on="path", how="outer", suffixes=(" before", " after"))
    drifted.columns = pd.Index(["column", "before", "after"])
    drifted = drifted[drifted["before"].isna() | drifted["after"].isna()]
    yield drifted.assign(kind="drift")
    for name in [name for name in first if name in second]:
        frames = first[name], second[name]
        columns = [metadata_of(frame).columns for frame in frames]
        states = [
            pd.Series({column: str(facts.availability) for column, facts in side.items()})
            for side in columns
        ]
        stated = pd.DataFrame({"before": states[0], "after": states[1]}).dropna()
        stated = stated[stated["before"] != stated["after"]].rename_axis("column").reset_index()
        yield stated.assign(kind="availability", table=name)
        yield differences(*frames, key_of(*frames)).assign(table=name)


def key_of(*frames: pd.DataFrame) -> list[str]:
    """The declared key of a table; empty if one of its frames lacks it, or it repeats."""
    key = [*metadata_of(frames[0]).key]
    is_there = all({*key} <= {*frame.columns} and "_row" not in frame for frame in frames)
    return key if is_there else []
