"""Drift: differences between an answer and its declaration, and values that no column took."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import partial
from itertools import chain
from typing import TYPE_CHECKING, Any

from aatoolkit._util.text import json_text
from aatoolkit.errors import PayloadError, SchemaDriftWarning
from aatoolkit.jsontree.paths import Each, Entries, Field, Step, format_path, leaves
from aatoolkit.jsontree.vectors import MAX_FIELDS, Missing, RowIndex, Vector
from aatoolkit.normalizer.field_map import FieldNode, field_map
from aatoolkit.sections.section import Section

if TYPE_CHECKING:
    import pandas as pd


Rows = Sequence[int] | RowIndex


@dataclass(frozen=True)
class Drift:
    """One difference between an answer and its declaration.

    Parameters
    ----------
    kind : str
        ``new``, ``absent``, ``wrong type``, ``new level``, ``null key`` or ``duplicate key``.
    path : str
        Where, with ``[]`` and ``{}`` for any of many; for keys, the table and its columns.
    count : int
        How often.
    example : str or None
        One value, as JSON text.
    """

    kind: str
    path: str
    count: int
    example: str | None = None

    def __str__(self) -> str:
        shown = f", such as {self.example[:60]}" if self.example is not None else ""
        times = f" ({self.count} times)" if self.count > 1 else ""
        return f"{self.kind}{times}{shown} @ {self._location}"

    @property
    def _location(self) -> str:
        if self.kind.endswith(" key"):
            return self.path
        return f"$.{self.path}" if self.path else "$"


@dataclass
class DriftReport:
    """The drift of an answer, and the leaves that no column took.

    Attributes
    ----------
    kept : list of tuple
        What no column took: what gives the place, its rows (None for all that have a value), and
        why it was kept.
    differences : dict
        The differences, by kind and path.
    """

    kept: list[tuple[Callable[[], Vector], Rows | None, str]] = field(default_factory=list)
    differences: dict[tuple[str, str], Drift] = field(default_factory=dict)

    def record(self, kind: str, path: str, count: int, example: str | None = None) -> None:
        """List one drift; of the same drift seen twice the larger count stays."""
        drift = self.differences.get((kind, path))
        if drift is None or drift.count < count:
            self.differences[kind, path] = Drift(kind, path, count, example)

    def keep(self, place: Vector, rows: Rows, why: str) -> None:
        """Keep the values at some rows of a place as extra, unless a function computed them."""
        if len(rows) and not place.level.computed:
            self.kept.append((lambda: place, rows, why))

    def record_values(self, place: Vector, rows: Rows, kind: str, path: str) -> None:
        """Keep values as extra and list them as one drift."""
        self.keep(place, rows, kind)
        if len(rows):
            self.record(kind, path, len(rows), _first_leaf(place.values[rows[0]]))

    def values(self, *reasons: str) -> Iterator[tuple[Any, Callable[[], str], str]]:
        """Yield the values that are kept, or those kept for some reasons, with their paths."""
        for find, rows, why in self.kept:
            if not reasons or why in reasons:
                place = find()
                for row in place.present.tolist() if rows is None else [*map(int, rows)]:
                    yield place.values[row], partial(place.path, row), why

    @property
    def extra(self) -> dict[str, tuple[str, str]]:
        """By JSON path, the JSON text of each leaf that is kept, and why."""
        return {
            path: (text, why)
            for value, path_of, why in self.values()
            for path, text in leaves(value, path_of())
        }

    def extra_frame(self) -> pd.DataFrame:
        """The leaves that no column took; those of fields that are known come last."""
        order = {"envelope": 2, "known": 1}
        listed = sorted(
            ((path, value, why) for path, (value, why) in self.extra.items()),
            key=lambda leaf: order.get(leaf[2], 0),
        )
        names = ("path", "value", "why")
        return _text_frame({name: [leaf[at] for leaf in listed] for at, name in enumerate(names)})

    def drift_frame(self) -> pd.DataFrame:
        """The differences, one a row."""
        import pandas as pd

        found = list(self.differences.values())
        names = ("kind", "path", "example")
        frame = _text_frame({name: [getattr(one, name) for one in found] for name in names})
        frame.insert(2, "count", pd.Series([one.count for one in found], dtype="Int64"))
        return frame


def _text_frame(columns: dict[str, list[str | None]]) -> pd.DataFrame:
    import pandas as pd

    return pd.DataFrame({name: pd.array(c, dtype="string") for name, c in columns.items()})


def raise_or_warn(section: Section, report: DriftReport, strict: bool) -> None:
    """Raise for the differences of an answer if that is asked for; else warn of the first."""
    problems = [str(drift) for drift in report.differences.values()]
    if problems and strict:
        raise PayloadError(
            f"the answer of {section.name} differs from its declaration in {len(problems)} "
            "places:\n" + "\n".join(problems),
            section=section.name,
            problems=problems,
        )
    if problems:
        more = f" and {len(problems) - 3} more" if len(problems) > 3 else ""
        warnings.warn(
            f"{section.name}: {'; '.join(problems[:3])}{more}; see tables.drift and tables.extra",
            SchemaDriftWarning,
            stacklevel=5,
        )


def _first_leaf(value: Any) -> str:
    """The first value that is a scalar or an empty container, as JSON text."""
    while value and isinstance(value, dict | list):
        value = next(iter(value.values())) if isinstance(value, dict) else value[0]
    return json_text(value)


def collect_unmapped(document: Vector, section: Section, report: DriftReport) -> None:
    """Keep in the report all of a document that no column of a section takes."""
    _walk(document, field_map(section), (), None, report)


def _walk(
    place: Vector,
    declared: FieldNode,
    at: tuple[Step, ...],
    known: str | None,
    report: DriftReport,
) -> None:
    known = declared.known or known
    kinds, takes = place.kinds, set[type]()
    if declared.fields or declared.entries is not None:
        takes.add(dict)
    if declared.each is not None:
        takes.add(list)
    if dict in kinds and declared.entries is not None:
        _walk(place.entries(), declared.entries, (*at, Entries()), known, report)
    elif dict in kinds and declared.fields:
        _walk_fields(place, declared, at, known, report)
    if list in kinds and declared.each is not None:
        _walk(place.each(), declared.each, (*at, Each()), known, report)
    if declared.mapped:  # what the column itself could not read it keeps
        return
    # Null is expected of a field only: an element or an entry that is null has no row.
    if not declared.known and at and isinstance(at[-1], Field):
        takes.add(type(None))
    if not kinds <= takes | {Missing}:
        odd = place.where(lambda kind: kind not in takes and kind is not Missing)
        _put(report, place, odd, known, "wrong type", at)


def _walk_fields(
    place: Vector,
    declared: FieldNode,
    at: tuple[Step, ...],
    known: str | None,
    report: DriftReport,
) -> None:
    """Walk through the declared fields of objects, and keep the others."""
    counts = {name: many for name, many in place.names.items() if name not in declared.fields}
    first: dict[str, Any] = {}
    are_many = len(counts) > MAX_FIELDS
    for value in place.of_type(dict) if counts and not known and not are_many else ():
        for name in value.keys() - declared.fields.keys() - first.keys():
            first[name] = value[name]
        if len(first) == len(counts):
            break
    for name in declared.fields if are_many else place.fields():
        inner = declared.fields.get(name)
        if inner is None:
            report.kept.append((partial(place.field, name), None, known or "new"))
            if not known:
                path = format_path((*at, Field(name)))
                report.record("new", path, counts[name], _first_leaf(first[name]))
        elif not inner.is_taken_whole:
            _walk(place.field(name), inner, (*at, Field(name)), known, report)
    if are_many:
        objects = [value if type(value) is dict else {} for value in place.values]
        others = [{key: o[key] for key in o if key in counts} for o in objects]
        entries = place.opened([*map(dict.values, others)], [*chain.from_iterable(others)])
        _put(report, entries, range(len(entries)), known, "new", (*at, Entries()))


def _put(
    report: DriftReport,
    place: Vector,
    rows: Rows,
    known: str | None,
    kind: str,
    at: tuple[Step, ...],
) -> None:
    if known:
        report.keep(place, rows, known)
    else:
        report.record_values(place, rows, kind, format_path(at))
