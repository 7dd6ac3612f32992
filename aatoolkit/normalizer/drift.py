"""Drift: differences between an answer and its declaration, and values that no column took."""

from __future__ import annotations

import warnings
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from aatoolkit._util.text import json_text
from aatoolkit.errors import PayloadError, SchemaDriftWarning
from aatoolkit.jsontree.chunks import concat_rows, row_count
from aatoolkit.jsontree.coerce import NO_ROWS
from aatoolkit.jsontree.cursor import Cursor
from aatoolkit.jsontree.grouping import RowIndex, Rows, rows_apart
from aatoolkit.jsontree.paths import Each, Entries, Field, Step, format_path, leaves
from aatoolkit.normalizer.field_map import FieldNode, field_map
from aatoolkit.sections.section import Section

if TYPE_CHECKING:
    import pandas as pd


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
    document : Cursor
        What is read.
    kept : list of tuple
        What no column took: where it is, in which rows, and why it was kept.
    differences : dict
        The differences, by kind and path.
    """

    document: Cursor
    kept: list[tuple[Cursor, RowIndex, str]] = field(default_factory=list)
    differences: dict[tuple[str, str], Drift] = field(default_factory=dict)

    def record(self, kind: str, path: str, count: int, example: str | None = None) -> None:
        """List one drift; of the same drift seen twice the larger count stays."""
        known = self.differences.get((kind, path))
        if known is None or known.count < count:
            self.differences[kind, path] = Drift(kind, path, count, example)

    def keep(self, cursor: Cursor, rows: RowIndex, why: str) -> None:
        """Keep the values at some rows of a node as extra, unless they are not the answer's own."""
        if len(rows) and not cursor.level.computed:
            self.kept.append((cursor, rows, why))

    def record_values(self, cursor: Cursor, rows: RowIndex, kind: str, path: str) -> None:
        """Keep values as extra and list them as one drift."""
        self.keep(cursor, rows, kind)
        if len(rows):
            example = json_text(cursor.first_leaf(int(rows[0])))
            self.record(kind, path, len(rows), example)

    @property
    def extra(self) -> dict[str, tuple[str, str]]:
        """By JSON path, the JSON text of each leaf that is kept, and why."""
        return {
            path: (text, why)
            for cursor, rows, why in self.kept
            for row, value in zip(rows.tolist(), cursor.values(rows), strict=True)
            for path, text in leaves(value, cursor.path(row))
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


def collect_unmapped(document: Cursor, section: Section, report: DriftReport) -> None:
    """Keep in the report all of a document that no column of a section takes."""
    _walk(document, field_map(section), (), None, report)


def _walk(
    cursor: Cursor,
    declared: FieldNode,
    at: tuple[Step, ...],
    known: str | None,
    report: DriftReport,
) -> None:
    known = declared.known or known
    if declared.mapped or cursor.node is None:
        return
    if declared.entries is not None:
        _walk(cursor.entries(), declared.entries, (*at, Entries()), known, report)
    else:
        for name in cursor.fields() if declared.fields else ():
            inner = declared.fields.get(name)
            if inner is None:
                below = cursor.field(name)
                _put(report, below, below.rows, known, "new", (*at, Field(name)))
            elif not inner.mapped:
                _walk(cursor.field(name), inner, (*at, Field(name)), known, report)
        others = cursor.others()
        if others is not None:
            _put(report, others, others.rows, known, "new", (*at, Entries()))
    if declared.each is not None:
        _walk(cursor.each(), declared.each, (*at, Each()), known, report)
    _put(report, cursor, _unmapped_rows(cursor, declared, at), known, "wrong type", at)


def _put(
    report: DriftReport,
    cursor: Cursor,
    rows: RowIndex,
    known: str | None,
    kind: str,
    at: tuple[Step, ...],
) -> None:
    if known:
        report.keep(cursor, rows, known)
    else:
        report.record_values(cursor, rows, kind, format_path(at))


def _unmapped_rows(cursor: Cursor, declared: FieldNode, at: tuple[Step, ...]) -> RowIndex:
    """The rows whose value is of a kind that the declared fields below it cannot take."""
    node = cursor.node
    if node is None:
        return NO_ROWS
    takes: list[Rows] = []
    if declared.fields or declared.entries is not None:
        takes += node.record.rows if node.record else []
        takes += (rows for _, rows in (node.entries.lengths if node.entries else []))
    if declared.each is not None and node.items:
        takes += (rows for _, rows in node.items.lengths)
    # Null is expected of a field only: an element or an entry that is null has no row.
    null = not declared.known and bool(at) and isinstance(at[-1], Field) and node.null_count
    taken = row_count(takes) + int(null)
    if taken == row_count(node.rows):
        return NO_ROWS
    if not taken:
        return cursor.rows
    return rows_apart(concat_rows(node.rows), concat_rows([*takes, node.nulls] if null else takes))
