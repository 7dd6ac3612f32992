"""Compare two studies: requests, availability, schema drift, rows, numbers, texts."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import pandas as pd

from aatoolkit._util.text import markup, visible, wrapped_in_ipython
from aatoolkit.client.dataset import Dataset
from aatoolkit.errors import AAToolkitError, StudyError
from aatoolkit.metadata.attrs import metadata_of
from aatoolkit.normalizer.tables import Tables
from aatoolkit.study.frame_diff import differences, key_of
from aatoolkit.study.record import Record
from aatoolkit.study.tables import quietly

if TYPE_CHECKING:
    from aatoolkit.study.study import Study

ABOUT = ("host", "section", "scope")
PARTS = {
    "requests": (*ABOUT, "change", "before_status", "after_status", "before", "after"),
    "availability": (*ABOUT, "table", "column", "before", "after"),
    "drift": (*ABOUT, "change", "kind", "path"),
    "rows": (*ABOUT, "table", "key", "change"),
    "numbers": (*ABOUT, "table", "key", "column", "before", "after", "change"),
    "texts": (*ABOUT, "table", "key", "column", "before", "after"),
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

    def _repr_html_(self) -> str:
        items = "".join(f"<li>{markup(line)}</li>" for line in self._lines())
        return f'<div class="tex2jax_ignore"><b>{markup(self._head())}</b><ul>{items}</ul></div>'

    def _head(self) -> str:
        if self.is_same:
            return f"the responses to {self.same} request{'s' * (self.same != 1)} are the same"
        changed = (f"{count:,} {name}" for name, count in self.counts.items() if count)
        return f"{self.same} responses the same; changed: {', '.join(changed)}"

    def _lines(self) -> Iterator[str]:
        for name in PARTS:
            frame = getattr(self, name)
            for row in frame.head(_SHOWN).itertuples(index=False):
                yield visible(f"{name}: {_sentence(name, row)}")
            if len(frame) > _SHOWN:
                yield f"{name}: and {len(frame) - _SHOWN:,} more, in .{name}"


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
        parts["requests"].append(_request(one, other))
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


def _request(one: Record | None, other: Record | None) -> pd.DataFrame:
    record = one or other
    assert record is not None
    row = {
        **_about(record),
        "change": "response" if one and other else "only before" if one else "only after",
        "before_status": one and one.status,
        "after_status": other and other.status,
        "before": one and one.sha256,
        "after": other and other.sha256,
    }
    return pd.DataFrame([row])


def _about(record: Record, section: str | None = None) -> dict[str, Any]:
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
    before, after = (
        {(str(row.kind), str(row.path)): None for row in tables.drift.itertuples()}
        for tables in (one, other)
    )
    drifted = [("only before", *place) for place in before if place not in after]
    drifted += [("only after", *place) for place in after if place not in before]
    if drifted:
        yield "drift", pd.DataFrame(drifted, columns=["change", "kind", "path"])
    for name in one:
        if name not in other:
            continue
        states = [metadata_of(tables[name]).columns for tables in (one, other)]
        rows = [
            (column, *(str(known[column].availability) for known in states))
            for column in states[0]
            if column in states[1]
        ]
        changed = [row for row in rows if row[1] != row[2]]
        if changed:
            frame = pd.DataFrame(changed, columns=["column", "before", "after"])
            yield "availability", frame.assign(table=name)
        for part, frame in differences(one[name], other[name], key_of(one[name], other[name])):
            yield part, frame.assign(table=name)


def _format(value: Any) -> str:
    if isinstance(value, float) and not pd.isna(value):
        return f"{value:.12g}"
    return "nothing" if pd.isna(value) else str(value)


def _sentence(part: str, row: Any) -> str:
    where = " ".join(value for value in (row.section, row.scope) if not pd.isna(value))
    if part == "requests":
        statuses = f"{_format(row.before_status)} → {_format(row.after_status)}"
        return f"{where}: {row.change}, {statuses}"
    if part == "availability":
        return f"{where}: {row.table}.{row.column}: {row.before} → {row.after}"
    if part == "drift":
        return f"{where}: {row.change}: {row.kind} {row.path}"
    if part == "rows":
        return f"{where}: {row.table}[{_format(row.key)}] {row.change}"
    cell = f"{row.table}[{_format(row.key)}].{row.column}"
    change = "" if part == "texts" or pd.isna(row.change) else f" ({row.change:+.6g})"
    return f"{where}: {cell}: {_format(row.before)} → {_format(row.after)}{change}"
