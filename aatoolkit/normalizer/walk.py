"""The walk through an answer beside its declaration: what is there, and what no column takes.

What the columns of a section read is compiled once, into a tree of places (`FieldNode`). One walk
down that tree counts what the answer has, finds the fields that nobody declared, and values of
another kind than is declared. The differences are listed in a `DriftReport`, which also keeps
the values that no column took, for ``extra``.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
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
from aatoolkit.jsontree.vectors import Missing, RowIndex, Vector
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


class DriftReport:
    """The drift of an answer, and the values that no column took.

    Attributes
    ----------
    kept : list of tuple
        What no column took: the place, its rows, and why it was kept.
    differences : dict
        The differences, by kind and path.
    """

    def __init__(self) -> None:
        self.kept: list[tuple[Vector, Rows, str]] = []
        self.differences: dict[tuple[str, str], Drift] = {}

    def record(self, kind: str, path: str, count: int, example: str | None = None) -> None:
        """List one drift; of the same drift seen twice the larger count stays."""
        drift = self.differences.get((kind, path))
        if drift is None or drift.count < count:
            self.differences[kind, path] = Drift(kind, path, count, example)

    def keep(self, place: Vector, rows: Rows, why: str, path: str | None = None) -> None:
        """Keep the values at some rows of a place as extra, unless a function computed them.

        With a path they are one drift.
        """
        if len(rows) and not place.level.computed:
            self.kept.append((place, rows, why))
        if len(rows) and path is not None:
            self.record(why, path, len(rows), _first_leaf(place.values[rows[0]]))

    def extend(self, report: DriftReport) -> None:
        """Append what another report lists."""
        self.kept += report.kept
        for (kind, path), drift in report.differences.items():
            self.record(kind, path, drift.count, drift.example)

    def values(self, *reasons: str) -> Iterator[tuple[Any, str, str]]:
        """Yield the values that are kept, or those kept for some reasons, with their paths."""
        for place, rows, why in self.kept:
            for row in map(int, rows) if not reasons or why in reasons else ():
                yield place.values[row], place.path(row), why

    @property
    def extra(self) -> dict[str, tuple[str, str]]:
        """By JSON path, the JSON text of each leaf that is kept, and why."""
        return {
            path: (text, why)
            for value, place, why in self.values()
            for path, text in leaves(value, place)
        }

    def extra_frame(self) -> pd.DataFrame:
        """The leaves that no column took; those of fields that are known come last."""
        order = {"envelope": 2, "known": 1}
        rows = [(path, *of) for path, of in self.extra.items()]
        return listing(
            ("path", "value", "why"), sorted(rows, key=lambda leaf: order.get(leaf[2], 0))
        )

    def drift_frame(self) -> pd.DataFrame:
        """The differences, one a row."""
        rows = [(d.kind, d.path, d.count, d.example) for d in self.differences.values()]
        return listing(("kind", "path", "count", "example"), rows, count="Int64")

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


def listing(names: Sequence[str], rows: Iterable[Sequence[Any]], /, **dtypes: Any) -> pd.DataFrame:
    """Build a frame of text, but for some columns of other dtypes."""
    import pandas as pd

    columns = [*zip(*rows, strict=True)] or [()] * len(names)
    return pd.DataFrame(
        {
            name: pd.array([*values], dtypes.get(name, "string"))
            for name, values in zip(names, columns, strict=True)
        }
    )


def _first_leaf(value: Any) -> str:
    """The first value that is a scalar or an empty container, as JSON text."""
    while value and isinstance(value, dict | list):
        value = next(iter(value.values())) if isinstance(value, dict) else value[0]
    return json_text(value)


class Walk:
    """A walk through an answer: counts what it has, and reports what no column takes.

    Parameters
    ----------
    census : Census
        Counts.
    """

    def __init__(self, census: Census) -> None:
        self.census, self.report = census, DriftReport()

    def visit(
        self,
        place: Vector,
        node: FieldNode,
        steps: tuple[Step, ...] = (),
        known: str | None = None,
    ) -> None:
        """Visit the values at a declared place, and what is below them."""
        kinds, known = place.kinds, node.known or known
        self.census.look(place.values, kinds, len(steps))
        takes: set[type] = {Missing}
        if dict in kinds and node.entries is not None:
            takes.add(dict)
            self.census.add_keys(place.of_type(dict))
            self.visit(place.entries(), node.entries, (*steps, Entries()), known)
        elif dict in kinds and node.fields:
            takes.add(dict)
            self.census.add_keys(place.of_type(dict))
            self._visit_fields(place, node, steps, known)
        if list in kinds and node.each is not None:
            takes.add(list)
            self.visit(place.each(), node.each, (*steps, Each()), known)
        rest = {dict, list} & kinds - takes
        if rest:
            self.census.walk([v for v in place.values if type(v) in rest], len(steps))
        if node.is_read:  # what the column itself could not read it keeps
            return
        # Null is expected of fields and entries: an element that is null has no row.
        if not node.known and steps and type(steps[-1]) is not Each:
            takes.add(type(None))
        if not kinds <= takes:
            rows = place.where(lambda kind: kind not in takes)
            self._keep(place, rows, known, "wrong type", steps)

    def _visit_fields(
        self, place: Vector, node: FieldNode, steps: tuple[Step, ...], known: str | None
    ) -> None:
        """Visit the declared fields of objects, report the others; very many are keys of one."""
        names = place.fields()
        new = {name for name in names if name not in node.fields}
        are_many = len(new) > MAX_FIELDS
        for name in node.fields if are_many else names:
            field, below = place.field(name), (*steps, Field(name))
            if name in new:
                self.census.look(field.values, field.kinds, len(below))
                self.census.walk(field.values, len(below))
                self._keep(field, field.present, known, "new", below)
            elif field.kinds != {Missing}:
                self.visit(field, node.fields[name], below, known)
        if are_many:
            entries = place.entries([*new])
            self.census.walk(entries.values, len(steps) + 1)
            self._keep(entries, range(len(entries)), known, "new", (*steps, Entries()))

    def _keep(
        self, place: Vector, rows: Rows, known: str | None, kind: str, steps: tuple[Step, ...]
    ) -> None:
        path = None if known else format_path(steps)
        self.report.keep(place, rows, known or kind, path)
