"""Many answers of one section at once: the same tables as one by one, at a fraction of the cost.

Most of what a small answer costs is fixed: a call for each column. Answers that are rows of one
tree share it. Only answers that are as declared are made this way; one that drifts, denies a
number, states something of single rows or is an error is left to `normalize`, which reports it.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from aatoolkit.availability.detect import Detection, Hint, Signal, detect
from aatoolkit.jsontree.coerce import Array
from aatoolkit.jsontree.cursor import Cursor
from aatoolkit.jsontree.decode import BOM, gc_paused
from aatoolkit.jsontree.grouping import RowIndex
from aatoolkit.jsontree.layout import MAX_NODES
from aatoolkit.jsontree.parse import parse_together
from aatoolkit.jsontree.paths import Field
from aatoolkit.metadata.attrs import FrameMetadata
from aatoolkit.normalizer.batch_states import Statements, TableStates
from aatoolkit.normalizer.column_availability import is_silent
from aatoolkit.normalizer.document_rows import DocumentRows
from aatoolkit.normalizer.drift import DriftReport, collect_unmapped
from aatoolkit.normalizer.field_map import field_map
from aatoolkit.normalizer.keys import row_codes
from aatoolkit.normalizer.rows import TableRows, held
from aatoolkit.payload import Payload
from aatoolkit.sections.registry import qualifier
from aatoolkit.sections.section import Column, Section, Table

LONGEST_BATCHED = 1 << 18
"""The longest body that is read together with others; for a longer one fixed costs are little."""


@dataclass(frozen=True)
class BatchAnswer:
    """One answer of a batch.

    Parameters
    ----------
    payload : Payload
        The answer, whose body is an object.
    document : dict
        The same, decoded by orjson and not checked.
    envelope : collection of str
        The paths that it shares with most sections.
    """

    payload: Payload
    document: dict[str, Any]
    envelope: Collection[str] = ()


@dataclass(frozen=True)
class RowRange:
    """The rows of one answer in a table that has those of others too."""

    table: pa.Table
    start: int
    stop: int

    @staticmethod
    def whole(table: pa.Table) -> RowRange:
        """All rows of a table."""
        return RowRange(table, 0, table.num_rows)

    @property
    def num_rows(self) -> int:
        """The number of rows."""
        return self.stop - self.start

    def slice(self) -> pa.Table:
        """The rows as a table."""
        return self.table.slice(self.start, self.num_rows)


@dataclass(frozen=True)
class BatchTables:
    """The tables of one answer of a batch that fits its declaration: it has no drift.

    Parameters
    ----------
    section : Section
        The declaration.
    prefix : str
        What the names of columns begin with in metadata.
    tables : mapping
        Where the rows of each table are, and the metadata of its columns, without sources.
    """

    section: Section
    prefix: str
    tables: Mapping[str, tuple[RowRange, FrameMetadata]]
    detection: Detection

    @property
    def signals(self) -> list[Signal]:
        """The statements of the answer about its availability."""
        return self.detection.signals

    @property
    def hints(self) -> list[Hint]:
        """Values that may be about availability and were not read."""
        return self.detection.hints


def can_batch(section: Section) -> bool:
    """Whether answers of a section can be normalised together.

    They may not where a function makes rows, for it may depend on the order of keys; where a
    header or the year is the answer's own; or where rows are filtered by what no column reads.
    """
    for table in section:
        rows, sources = table.rows, {column.source for column in table.columns}
        if rows.function is not None or rows.header is not None:
            return False
        if any(source not in sources for source, _ in (*rows.without, *rows.only)):
            return False
        readings = (column.reading for column in table.columns)
        if any(reading is not None and reading.year is not None for reading in readings):
            return False
    return True


@gc_paused()
def normalize_batch(
    section: Section, owner: str, answers: Sequence[BatchAnswer], max_nodes: int = MAX_NODES
) -> list[BatchTables | None]:
    """Normalise answers of one section together.

    Parameters
    ----------
    section : Section
        The declaration; `can_batch` says whether it can be used.
    owner : str
        The name of the profile that it is of.
    answers : sequence of BatchAnswer
        The answers.
    max_nodes : int
        How many different paths an answer may have.

    Returns
    -------
    list
        The tables of each answer; None for one that `normalize` has to read alone.
    """
    found: list[BatchTables | None] = [None] * len(answers)
    detections = [_detected(section, answer) for answer in answers]
    fit = [at for at, detection in enumerate(detections) if detection is not None]
    if len(fit) < 2:
        return found
    chosen = [answers[at] for at in fit]
    root = parse_together(
        [one.payload.body.removeprefix(BOM) for one in chosen],
        [one.document for one in chosen],
        field_map(section),
        max_nodes=max_nodes,
    )
    if root is None:
        return found
    signals = [detection.signals for detection in detections if detection is not None]
    batch = _Batch(
        section, Cursor.of(root, len(fit)), Statements(signals), qualifier(section, owner)
    )
    for number, tables in batch.tables():
        detection = detections[fit[number]]
        assert detection is not None
        found[fit[number]] = BatchTables(section, batch.before, tables, detection)
    return found


def _detected(section: Section, answer: BatchAnswer) -> Detection | None:
    """Detect what an answer states; None for an error answer, and for what is no object."""
    payload, document = answer.payload, answer.document
    if type(document) is not dict:
        return None
    found = detect(
        document,
        section.availability,
        envelope=answer.envelope,
        status=payload.status,
        headers=payload.headers,
    )
    return None if is_silent(section, document, found.signals) else found


class _Batch:
    """Answers of one section as rows of one tree."""

    def __init__(
        self, section: Section, documents: Cursor, statements: Statements, before: str
    ) -> None:
        self.section, self.before = section, before
        self._documents, self._statements = documents, statements
        self._rows = DocumentRows(documents)
        self._alone = self._rows.none()

    def tables(self) -> Iterator[tuple[int, dict[str, tuple[RowRange, FrameMetadata]]]]:
        """The tables of each answer that is as declared, by its number."""
        collect_unmapped(self._documents, self.section, _Marks(self._documents, self._mark))
        built = [self._table(TableRows(self._documents, table)) for table in self.section]
        for table, (arrow, documents) in zip(self.section, built, strict=True):
            if (np.diff(documents) < 0).any():
                return
            self._alone |= self._statements.about_rows(table)
            self._check_key(table, arrow, documents)
            self._alone[self._statements.denied(table, arrow, documents)] = True
        states: list[tuple[str, pa.Table, TableStates]] = []
        for table, (arrow, documents) in zip(self.section, built, strict=True):
            if self._alone.any():
                keep = ~self._alone[documents]
                arrow, documents = arrow.filter(pa.array(keep)), documents[keep]
            described = TableStates(table, arrow, documents, self.before, self._statements)
            states.append((table.name, arrow, described))
        for number in np.flatnonzero(~self._alone).tolist():
            yield (
                number,
                {
                    name: (
                        RowRange(arrow, *described.bounds(number)),
                        described.of(number),
                    )
                    for name, arrow, described in states
                },
            )

    def _mark(self, cursor: Cursor, rows: RowIndex) -> None:
        """Mark the answers of some rows, to be normalised one by one."""
        if len(rows):
            self._alone[self._rows.rows_of(cursor.level)[rows]] = True

    def _table(self, rows: TableRows) -> tuple[pa.Table, RowIndex]:
        """The rows of one table, and the number of the answer that each is of."""
        lacking, nothing = ~self._rows.none(), ~self._rows.none()
        for branch in rows.branches:
            one, other = self._rows.none(), self._rows.none()
            for given, cursor in zip(branch.rows.steps, branch.cursors[1:], strict=True):
                if isinstance(given, Field):
                    one |= self._rows.lacking(cursor)
                    other |= self._rows.null_alone(cursor)
            lacking, nothing = lacking & one, nothing & other
        self._alone |= lacking | nothing
        for cursor, there in rows.beyond():
            self._mark(cursor, there)
        documents = self._documents_of(rows)
        sizes = np.bincount(documents, minlength=self._rows.count)
        arrays = {c.name: self._column(rows, c, documents, sizes) for c in rows.table.columns}
        return pa.table(arrays), documents

    def _documents_of(self, rows: TableRows) -> RowIndex:
        parts = []
        for branch in rows.branches:
            of = self._rows.rows_of(branch.cursor.level)
            parts.append(of if branch.picked is None else of[branch.picked])
        return parts[0] if len(parts) == 1 else np.concatenate(parts)[rows.order]

    def _column(
        self, rows: TableRows, column: Column, documents: RowIndex, sizes: RowIndex
    ) -> Array:
        found = rows.find(column.source or "")
        if not column.optional or column.source == "$.domain":
            lacking = sizes > 0
            for cursor, _ in found:
                lacking &= self._rows.lacking(cursor)
            self._alone |= lacking
        parsed = [rows.read(column, cursor) for cursor, _ in found]
        for (cursor, index), one in zip(found, parsed, strict=True):
            if len(one.odd):
                self._mark(cursor, held(index, one.odd))
        array = rows.column(parsed, found)
        if column.dtype == "category":
            array = self._category(array, column, documents)
        return array if column.null is None else pc.fill_null(array, column.null)

    def _category(self, text: Array, column: Column, documents: RowIndex) -> Array:
        levels = pa.array(column.levels, pa.string())
        whole = text.combine_chunks() if isinstance(text, pa.ChunkedArray) else text
        codes = pc.index_in(whole, levels)
        if whole.null_count < codes.null_count:
            strange = pc.and_(codes.is_null(), whole.is_valid())
            self._alone[documents[strange.to_numpy(zero_copy_only=False)]] = True
        return pa.DictionaryArray.from_arrays(codes, levels, ordered=column.ordered)

    def _check_key(self, table: Table, arrow: pa.Table, documents: RowIndex) -> None:
        """Mark the answers in which a key is null or not unique."""
        if not table.key:
            return
        columns = [arrow[name] for name in table.key]
        for column in columns:
            if column.null_count:
                empty = column.is_null().to_numpy(zero_copy_only=False)
                self._alone[documents[empty]] = True
        codes, _ = row_codes(columns, documents, self._rows.count)
        order = np.argsort(codes, kind="stable")
        again = order[1:][codes[order[1:]] == codes[order[:-1]]]
        self._alone[documents[again]] = True


class _Marks(DriftReport):
    """A drift report that records only which answers drift."""

    def __init__(self, document: Cursor, mark: Any) -> None:
        super().__init__(document)
        self._mark = mark

    def keep(self, cursor: Cursor, rows: RowIndex, why: str) -> None:
        """Ignore values kept from fields that are known: they are no drift."""

    def record_values(self, cursor: Cursor, rows: RowIndex, kind: str, path: str) -> None:
        """Mark the answers of some rows."""
        self._mark(cursor, rows)
