"""Availability of the columns of many answers, computed once for answers that state the same."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from itertools import pairwise
from typing import NoReturn

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from aatoolkit.availability.detect import Signal
from aatoolkit.metadata.attrs import EMPTY, FrameMetadata
from aatoolkit.normalizer.column_availability import INFERRED, reach, stated
from aatoolkit.normalizer.document_rows import Mask
from aatoolkit.normalizer.keys import row_codes
from aatoolkit.normalizer.masking import denies_any, is_measure
from aatoolkit.normalizer.row_statements import describer
from aatoolkit.sections.section import Table

Numbers = np.ndarray[tuple[int], np.dtype[np.int64]]


class Statements:
    """The statements of several answers; answers that state the same share one number.

    Parameters
    ----------
    signals : sequence of lists
        The signals of each answer.
    """

    def __init__(self, signals: Sequence[list[Signal]]) -> None:
        numbers: dict[Hashable, int] = {}
        self.kinds: list[list[Signal]] = []
        of = []
        for listed in signals:
            key = tuple((s.scope, s.target, s.rule, s.rows, s.availability) for s in listed)
            if key not in numbers:
                numbers[key] = len(self.kinds)
                self.kinds.append(listed)
            of.append(numbers[key])
        self.of: Numbers = np.array(of, np.int64)

    def about_rows(self, table: Table) -> Mask:
        """Mask of the answers with statements about single rows of a table."""
        found = [
            any(
                signal.scope in ("row", "field")
                and signal.target
                and reach(signal.target, column.pattern) == "some"
                for signal in listed
                for column in table.columns
            )
            for listed in self.kinds
        ]
        return np.array(found, np.bool_)[self.of]

    def denied(self, table: Table, arrow: pa.Table, documents: Numbers) -> Numbers:
        """The numbers of the answers that deny a value of a table, once per denied value."""
        found = [np.empty(0, np.int64)]
        for number, listed in enumerate(self.kinds):
            may_deny = denies_any(listed)
            measures = [c for c in table.columns if may_deny and is_measure(table, c)]
            if not measures:
                continue
            mine = self.of[documents] == number
            engines = [
                signal.target
                for signal in listed
                if signal.scope == "engine"
                and signal.rule != INFERRED
                and signal.availability.status in EMPTY
            ]
            absent = np.zeros(len(documents), np.bool_)
            if engines and "engine" in table.names:
                names = arrow["engine"]
                values = pa.array(engines, pa.string())
                if pa.types.is_dictionary(names.type):
                    names = names.cast(pa.string())
                absent = pc.is_in(names, value_set=values).to_numpy(zero_copy_only=False)
            for column in measures:
                denied = mine if stated(column, listed).status in EMPTY else mine & absent
                if denied.any():
                    given = arrow[column.name].is_valid().to_numpy(zero_copy_only=False)
                    found.append(documents[denied & given])
        return np.concatenate(found)


class TableStates:
    """The metadata of one table's columns, answer by answer.

    Parameters
    ----------
    table : Table
        The declared table.
    arrow : pyarrow.Table
        The rows of all answers, those of each together.
    documents : array
        For each row, the number of its answer.
    before : str
        What the names of columns begin with in metadata.
    statements : Statements
        What the answers state.
    """

    def __init__(
        self,
        table: Table,
        arrow: pa.Table,
        documents: Numbers,
        before: str,
        statements: Statements,
    ) -> None:
        self._table, self._arrow, self._before = table, arrow, before
        self._statements = statements
        count = len(statements.of)
        self._sizes = np.bincount(documents, minlength=count)
        self._ends = np.cumsum(self._sizes)
        self._measured = np.array([self._given(name, documents) for name in table.names])
        self._days = next(
            (c.name for c in table.columns if c.name in table.key and c.dtype in _TIMES), None
        )
        self._picked: dict[tuple[str, ...], list[bytes]] = {}
        self._documents = documents
        self._known: dict[Hashable, FrameMetadata] = {}

    def _given(self, name: str, documents: Numbers) -> Mask:
        """Mask of the answers in which a column has a value."""
        column = self._arrow[name]
        if not column.null_count:
            return self._sizes > 0
        if column.null_count == len(column):
            return np.zeros(len(self._sizes), np.bool_)
        valid = column.is_valid().to_numpy(zero_copy_only=False)
        found: Mask = np.bincount(documents[valid], minlength=len(self._sizes)) > 0
        return found

    def bounds(self, document: int) -> tuple[int, int]:
        """The first row of an answer, and the one after its last."""
        end = int(self._ends[document])
        return end - int(self._sizes[document]), end

    def of(self, document: int) -> FrameMetadata:
        """The metadata of the rows of one answer."""
        kind = int(self._statements.of[document])
        listed = self._statements.kinds[kind]
        picking = self._picking(listed)
        rows = self._distinct(picking)[document] if picking else b""
        measured = self._measured[:, document]
        key = (kind, int(self._sizes[document]) > 0, measured.tobytes(), rows)
        found = self._known.get(key)
        if found is None:
            found = self._known[key] = self._described(document, listed, measured)
        return found

    def _picking(self, listed: list[Signal]) -> tuple[str, ...]:
        """The columns by which statements pick rows of the table."""
        names: dict[str, None] = {}
        for signal in listed:
            for condition in signal.rows:
                name = {"date": self._days}.get(condition.column, condition.column)
                if name in self._table.names:
                    names[name] = None
        return tuple(names)

    def _distinct(self, names: tuple[str, ...]) -> list[bytes]:
        """For each answer, the set of values of some columns in its rows, as bytes."""
        if names not in self._picked:
            codes, many = row_codes([self._arrow[name] for name in names])
            if many * max(1, len(self._sizes)) > 2**62:
                _, codes = np.unique(codes, return_inverse=True)
                many = len(codes)
            pairs = np.unique(self._documents * many + codes)
            ends = np.searchsorted(pairs, np.arange(len(self._sizes) + 1) * many)
            found = [pairs[a:b] - at * many for at, (a, b) in enumerate(pairwise(ends.tolist()))]
            self._picked[names] = [one.tobytes() for one in found]
        return self._picked[names]

    def _described(self, document: int, listed: list[Signal], measured: Mask) -> FrameMetadata:
        start, end = self.bounds(document)
        own = self._arrow.slice(start, end - start)
        arrays = {name: own[name].combine_chunks() for name in self._table.names}
        describe = describer(self._table, self._before, listed, arrays)
        known = {
            column.name: describe(column, False, given, _nowhere)
            for column, given in zip(self._table.columns, measured.tolist(), strict=True)
        }
        return FrameMetadata(known, tuple(self._table.key))


_TIMES = ("date", "timestamp")


def _nowhere(row: int) -> NoReturn:
    raise LookupError("a statement about single rows is read alone")
