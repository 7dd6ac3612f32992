"""Compare two studies: requests, availability, schema drift, rows, numbers, texts."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from aatoolkit._util.terminal import wrapped_in_ipython
from aatoolkit._util.text import markup, visible
from aatoolkit.errors import AAToolkitError, AAToolkitWarning, StudyError
from aatoolkit.metadata.attrs import metadata_of
from aatoolkit.study.frame_diff import key_of, pairs, stacked
from aatoolkit.study.record import Record

if TYPE_CHECKING:
    import pandas as pd

    from aatoolkit.client.dataset import Dataset
    from aatoolkit.study.reader import StudyReader
from aatoolkit.normalizer.tables import Tables

ABOUT = ("host", "section", "scope")
_PARTS = {
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
        How many requests have the same answer, byte for byte, in both.
    requests : pandas.DataFrame
        The others: ``change`` (``answer``, ``only before``, ``only after``), the statuses, and
        in ``before`` and ``after`` the SHA-256 of the answers.
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
        """Whether both hold the same answers to the same requests."""
        return len(self.requests) == 0

    @property
    def counts(self) -> dict[str, int]:
        """The number of rows of each frame."""
        return {name: len(getattr(self, name)) for name in _PARTS}

    def __repr__(self) -> str:
        return "\n".join([f"<StudyDiff: {self._head()}>", *(f"  {line}" for line in self._lines())])

    _repr_pretty_ = wrapped_in_ipython

    def _repr_html_(self) -> str:
        items = "".join(f"<li>{markup(line)}</li>" for line in self._lines())
        return f'<div class="tex2jax_ignore"><b>{markup(self._head())}</b><ul>{items}</ul></div>'

    def _head(self) -> str:
        if self.is_same:
            return f"the answers to {self.same} question{'s' * (self.same != 1)} are the same"
        changed = (f"{count:,} {name}" for name, count in self.counts.items() if count)
        return f"{self.same} answers the same; changed: {', '.join(changed)}"

    def _lines(self) -> Iterator[str]:
        for name in _PARTS:
            frame = getattr(self, name)
            for row in frame.head(_SHOWN).itertuples(index=False):
                yield visible(f"{name}: {_sentence(name, row)}")
            if len(frame) > _SHOWN:
                yield f"{name}: and {len(frame) - _SHOWN:,} more, in .{name}"


def compare(before: StudyReader, after: StudyReader) -> StudyDiff:
    """Compare two studies."""
    studies = _Requests(before), _Requests(after)
    with_service = any(study.have_several_services for study in studies)
    here, there = (study.by_key(with_service) for study in studies)
    found: dict[str, list[Any]] = {name: [] for name in _PARTS}
    same = 0
    for name in sorted(here.keys() | there.keys()):
        one, other = here.get(name), there.get(name)
        if one and other and (one.sha256, one.status) == (other.sha256, other.status):
            same += 1
            continue
        found["requests"].append(_request(one, other))
        if one and other:
            for part, frame in _changes(before, one, after, other):
                found[part].append(frame)
    return StudyDiff(
        same, **{name: stacked(found[name], _PARTS[name], _NUMBERS.get(name, {})) for name in found}
    )


class _Requests:
    """The records of a study, by their request."""

    def __init__(self, study: StudyReader) -> None:
        self._records = study.current

    @property
    def have_several_services(self) -> bool:
        """Whether the same request went to two services."""
        return len({record.request_key[1:] for record in self._records}) < len(self._records)

    def by_key(self, with_service: bool) -> dict[tuple[str, ...], Record]:
        """The records, by their request with or without the service."""
        return {record.request_key[0 if with_service else 1 :]: record for record in self._records}


def _request(one: Record | None, other: Record | None) -> dict[str, Any]:
    change = "answer" if one and other else "only before" if one else "only after"
    return {
        **_about(one or other),
        "change": change,
        "before_status": one and one.status,
        "after_status": other and other.status,
        "before": one and one.sha256,
        "after": other and other.sha256,
    }


def _about(record: Record | None, section: str | None = None) -> dict[str, Any]:
    assert record is not None
    options = record.resource == "scope-options"
    return {
        "host": record.host,
        "section": "scope_options" if options else section or record.section,
        "scope": None if record.scope is None else record.scope.to_query(),
    }


def _changes(
    before: StudyReader, one: Record, after: StudyReader, other: Record
) -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield the changes of the answer to one request, each with the frame it belongs to."""
    read, again = _read(before.tables, one), _read(after.tables, other)
    for section in [*dict.fromkeys([*read, *again])]:
        if section not in read or section not in again:
            continue
        about = _about(one, section)
        for part, frame in _section_changes(read[section], again[section]):
            yield part, {**about, **frame}


def _read(tables: Callable[[Record], Dataset], record: Record) -> Dataset:
    """Return the tables of an answer; none if the answer is an error."""
    from aatoolkit.client.dataset import Dataset

    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", AAToolkitWarning)
            return tables(record)
    except StudyError:
        raise
    except AAToolkitError:
        return Dataset({})


def _section_changes(one: Tables, other: Tables) -> Iterator[tuple[str, dict[str, Any]]]:
    drifts = [
        {(str(row.kind), str(row.path)): None for row in tables.drift.itertuples()}
        for tables in (one, other)
    ]
    for change, here, there in (("only before", *drifts), ("only after", *drifts[::-1])):
        for kind, path in here:
            if (kind, path) not in there:
                yield "drift", {"change": change, "kind": kind, "path": path}
    for name in one:
        if name in other:
            for part, found in _table_changes(one[name], other[name]):
                yield part, {"table": name, **found}


def _table_changes(one: pd.DataFrame, other: pd.DataFrame) -> Iterator[tuple[str, dict[str, Any]]]:
    known = [metadata_of(frame).columns for frame in (one, other)]
    for column in known[0]:
        words = [str(columns[column].availability) for columns in known if column in columns]
        if len(words) == 2 and words[0] != words[1]:
            yield "availability", {"column": column, "before": words[0], "after": words[1]}
    yield from pairs(one, other, key_of(one, other))


def _format(value: Any) -> str:
    import pandas as pd

    if isinstance(value, float) and not pd.isna(value):
        return f"{value:.12g}"
    return "nothing" if pd.isna(value) else str(value)


def _sentence(part: str, row: Any) -> str:
    where = " ".join(value for value in (row.section, row.scope) if _format(value) == value)
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
    change = "" if part == "texts" or _format(row.change) == "nothing" else f" ({row.change:+.6g})"
    return f"{where}: {cell}: {_format(row.before)} → {_format(row.after)}{change}"


def frames(diff: StudyDiff) -> Iterable[tuple[str, pd.DataFrame]]:
    """Yield the frames of a `StudyDiff`, by name."""
    return ((name, getattr(diff, name)) for name in _PARTS)
