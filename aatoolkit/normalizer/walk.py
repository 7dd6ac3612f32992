"""The walk through an answer beside its declaration: what is there, and what no column takes.

What the columns of a section read is compiled once, into a tree of places (`FieldNode`). One walk
down that tree counts what the answer has, finds the fields that nobody declared, and values of
another kind than is declared. The differences are listed in a `DriftReport`, which also keeps
the values that no column took, for ``extra``.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import lru_cache, partial
from itertools import product
from typing import TYPE_CHECKING, Any

from aatoolkit._util.text import json_text
from aatoolkit.errors import PayloadError, SchemaDriftWarning
from aatoolkit.jsontree.layout import MAX_FIELDS, Census
from aatoolkit.jsontree.paths import (
    Each,
    Entries,
    Field,
    Named,
    Step,
    format_path,
    leaves,
    parse_path,
    parse_pattern,
)
from aatoolkit.jsontree.vectors import MISSING, Missing, RowIndex, Vector
from aatoolkit.sections.section import ENVELOPE, Section

if TYPE_CHECKING:
    import pandas as pd

Rows = Sequence[int] | RowIndex


class FieldNode:
    """One step of a section's declared paths: the steps below, and whether columns read it.

    Attributes
    ----------
    fields, each, entries
        The steps below: by field, to the elements of arrays, to the entries of objects.
    is_read : bool
        Whether a column takes the value.
    known : str or None
        Why a value that is not taken is no drift: ``envelope`` or ``known``.
    """

    __slots__ = ("each", "entries", "fields", "is_read", "known")

    def __init__(self) -> None:
        self.fields: dict[str, FieldNode] = {}
        self.each: FieldNode | None = None
        self.entries: FieldNode | None = None
        self.is_read = False
        self.known: str | None = None

    def down(self, steps: Iterable[Step]) -> FieldNode:
        """The node some steps below, created where there is none."""
        node = self
        for step in steps:
            if isinstance(step, Field):
                node = node.fields.setdefault(step.name, FieldNode())
            elif isinstance(step, Entries):
                node.entries = node = node.entries or FieldNode()
            else:
                node.each = node = node.each or FieldNode()
        return node

    def every(self, steps: Iterable[Step]) -> list[FieldNode]:
        """The nodes some steps below, one for each of the keys that a step is limited to."""
        keys = (
            [*map(Field, step.only)] if isinstance(step, Entries) and step.only else [step]
            for step in steps
        )
        return [*map(self.down, product(*keys))]


@lru_cache(maxsize=128)
def field_map(section: Section) -> FieldNode:
    """Build the tree of the paths that a section's columns read, and of other known paths."""
    root = FieldNode()
    for name in ENVELOPE:
        root.down((Field(name),)).known = "envelope"
    for path in section.kept:
        root.down(parse_pattern(path)).known = "known"
    for table in section:
        rows, is_computed = table.rows, table.rows.function is not None
        for node in root.every(rows.steps):
            node.known = "known" if is_computed else node.known
        headers = [rows.header] if rows.header is not None else []
        for column in table.columns:
            source = column.source or ""
            if "=" in source:
                headers += [step.header for step in parse_path(source) if isinstance(step, Named)]
            if column.is_label or (is_computed and source[0] not in "^$"):
                continue
            # Where it passes through the rows, with the keys that they name.
            steps = list(parse_pattern(column.pattern))
            for at, (step, own) in enumerate(zip(steps, rows.steps, strict=False)):
                if isinstance(own, Entries) and isinstance(step, Entries):
                    steps[at] = own
            for node in root.every(steps):
                node.is_read = True
        for header in headers:
            last = max(at for at, step in enumerate(header) if step == Each())
            root.down(header[:last]).known = "known"
    return root


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
        place = self.path
        if not self.kind.endswith(" key"):
            place = f"$.{place}" if place else "$"
        return f"{self.kind}{times}{shown} @ {place}"


@dataclass
class DriftReport:
    """The drift of an answer, and the values that no column took.

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

    def extend(self, report: DriftReport) -> None:
        """Append what another report lists."""
        self.kept += report.kept
        for (kind, path), drift in report.differences.items():
            self.record(kind, path, drift.count, drift.example)

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
        listed = [(path, *of) for path, of in self.extra.items()]
        listed.sort(key=lambda leaf: order.get(leaf[2], 0))
        return text_frame(("path", "value", "why"), listed)

    def drift_frame(self) -> pd.DataFrame:
        """The differences, one a row."""
        import pandas as pd

        drifts = self.differences.values()
        frame = text_frame(
            ("kind", "path", "example"), [(each.kind, each.path, each.example) for each in drifts]
        )
        frame.insert(2, "count", pd.Series([each.count for each in drifts], dtype="Int64"))
        return frame

    def raise_or_warn(self, section: Section, strict: bool) -> None:
        """Raise for the differences of an answer if that is asked for; else warn of the first."""
        problems = [*map(str, self.differences.values())]
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
                f"{section.name}: {'; '.join(problems[:3])}{more}; see tables.drift and "
                "tables.extra",
                SchemaDriftWarning,
                stacklevel=5,
            )


def text_frame(names: Sequence[str], rows: Iterable[Sequence[str | None]]) -> pd.DataFrame:
    """Build a frame of text."""
    import pandas as pd

    columns = [*zip(*rows, strict=True)] or [()] * len(names)
    return pd.DataFrame(
        {name: pd.array([*column], "string") for name, column in zip(names, columns, strict=True)}
    )


def _first_leaf(value: Any) -> str:
    """The first value that is a scalar or an empty container, as JSON text."""
    while value and isinstance(value, dict | list):
        value = next(iter(value.values())) if isinstance(value, dict) else value[0]
    return json_text(value)


def walk(document: Vector, section: Section, census: Census) -> DriftReport:
    """Walk through an answer: count what it has, and report what no column of a section takes."""
    report = DriftReport()
    _visit(document, field_map(section), (), None, census, report)
    return report


def _visit(
    place: Vector,
    node: FieldNode,
    steps: tuple[Step, ...],
    known: str | None,
    census: Census,
    report: DriftReport,
) -> None:
    kinds, known = place.kinds, node.known or known
    census.add(1)
    census.look(place.values, kinds, len(steps))
    takes: set[type] = {Missing}
    if dict in kinds and (node.fields or node.entries is not None):
        takes.add(dict)
        objects = place.of_type(dict)
        census.add_keys(objects)
        if node.entries is not None:
            below = (*steps, Entries())
            _visit(place.entries(), node.entries, below, known, census, report)
        else:
            _visit_fields(place, objects, node, steps, known, census, report)
    if list in kinds and node.each is not None:
        takes.add(list)
        _visit(place.each(), node.each, (*steps, Each()), known, census, report)
    whole = {dict, list} & kinds - takes
    if whole:
        census.walk([value for value in place.values if type(value) in whole], len(steps))
    if node.is_read:  # what the column itself could not read it keeps
        return
    # Null is expected of fields and entries: an element that is null has no row.
    if not node.known and steps and type(steps[-1]) is not Each:
        takes.add(type(None))
    if kinds <= takes:
        return
    rows = place.where(lambda kind: kind not in takes)
    _keep(report, place, rows, known, "wrong type", steps)


def _visit_fields(
    place: Vector,
    objects: Sequence[dict[str, Any]],
    node: FieldNode,
    steps: tuple[Step, ...],
    known: str | None,
    census: Census,
    report: DriftReport,
) -> None:
    """Visit the declared fields of objects, and report the others; very many are keys of one."""
    names = place.fields()
    new = {name for name in names if name not in node.fields}
    if new:
        others = [{name: o[name] for name in o if name in new} for o in objects]
        census.keys -= sum(map(len, others))
        census.walk(others, len(steps))
    are_many = len(new) > MAX_FIELDS
    for name in node.fields if are_many else names:
        field = place.field(name)
        if name in new:
            report.kept.append((partial(place.field, name), None, known or "new"))
            if not known:
                values = [value for value in field.values if value is not MISSING]
                path = format_path((*steps, Field(name)))
                report.record("new", path, len(values), _first_leaf(values[0]))
        elif field.kinds != {Missing}:
            _visit(field, node.fields[name], (*steps, Field(name)), known, census, report)
    if are_many:
        entries = place.entries([*new])
        _keep(report, entries, range(len(entries)), known, "new", (*steps, Entries()))


def _keep(
    report: DriftReport,
    place: Vector,
    rows: Rows,
    known: str | None,
    kind: str,
    steps: tuple[Step, ...],
) -> None:
    if known:
        report.keep(place, rows, known)
    else:
        report.record_values(place, rows, kind, format_path(steps))
