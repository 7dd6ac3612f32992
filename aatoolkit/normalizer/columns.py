"""Build the columns of one declared table: typed, denied numbers masked, described."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cache, cached_property
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from aatoolkit._util.text import json_text
from aatoolkit.availability.detect import Signal
from aatoolkit.jsontree.chunks import NotInParts
from aatoolkit.jsontree.coerce import Array
from aatoolkit.metadata import attrs
from aatoolkit.metadata.recipe import read_from
from aatoolkit.normalizer.drift import DriftReport
from aatoolkit.normalizer.masking import WHY, Denials
from aatoolkit.normalizer.row_statements import describer
from aatoolkit.normalizer.rows import Place, TableRows, held
from aatoolkit.sections.section import Column

_FEW = 1000
"""Of so many rows and fewer, keys are counted one by one."""


class BuiltTable:
    """One table of an answer.

    Parameters
    ----------
    rows : TableRows
        Where its rows are in the answer.
    before : str
        What the name of the table is prefixed by in metadata.
    signals : list of Signal
        What the answer states about its availability.
    source : Source
        Which answer it is.
    report : DriftReport
        Takes the differences between answer and declaration.
    denies_any : bool
        Whether the answer denies any numbers.
    is_part : bool
        Whether it is to be joined with the same table in other parts of the answer.
    """

    def __init__(
        self,
        rows: TableRows,
        before: str,
        signals: list[Signal],
        source: attrs.Source,
        report: DriftReport,
        denies_any: bool,
        is_part: bool = False,
    ) -> None:
        self.rows, self._before, self._signals, self._source = rows, before, signals, source
        self.table = table = rows.table
        self.key = tuple(table.key)
        if rows.absent and not table.is_optional:
            report.record("absent", rows.absent, 1)
        for place, rows_there in rows.beyond():
            report.record_values(place, rows_there, "new", f"{table.rows.path}[]")
        self._absent: set[str] = set()
        self._is_part = is_part
        self._path_in = rows.path_in
        arrays = {column.name: self._column(column, report) for column in table.columns}
        if denies_any and rows.size:
            self._mask(arrays, report)
        self._arrays = arrays if is_part else {}
        self.arrow = pa.table({} if is_part else arrays)

    def release(self) -> None:
        """Let go of the answer, once it is known what it states of the columns."""
        assert self.metadata
        self._let_go()

    def as_part(self) -> BuiltTable:
        """Let go of a part of the answer, whose rows are joined with those of other parts.

        Raises
        ------
        NotInParts
            If the table is null, which no other part can say.
        """
        if self.rows.is_null:
            raise NotInParts
        self._lacks = self.rows.absent
        self._let_go()
        return self

    def _let_go(self) -> None:
        del self.rows
        self._path_in = _nowhere

    def join(self, parts: Sequence[BuiltTable], report: DriftReport) -> None:
        """Append the rows of the same table in further parts of an answer.

        Raises
        ------
        NotInParts
            If one lacks a field that another has.
        """
        if any((part._lacks, part._absent) != (self._lacks, self._absent) for part in parts):
            raise NotInParts
        arrays: dict[str, Array] = {}
        if self._lacks and not self.table.is_optional:
            report.record("absent", self._lacks, 1)
        for column in self.table.columns:
            pieces = [part._arrays.pop(column.name) for part in (self, *parts)]
            array = pieces[0] if len(pieces) == 1 else pa.concat_arrays(pieces)
            if column.name in self._absent and not self._lacks:
                report.record("absent", column.pattern, len(array))
            arrays[column.name] = _finished(array, column, (), report)
        self.arrow = pa.table(arrays)
        self.check_key(report)

    @cached_property
    def metadata(self) -> attrs.FrameMetadata:
        """The metadata of its columns."""
        table, arrow = self.table, self.arrow
        arrays = {name: arrow[name] for name in table.names}
        describe = describer(table, self._before, self._signals, arrays)
        columns = {
            column.name: describe(
                column,
                column.name in self._absent,
                arrow[column.name].null_count < arrow.num_rows,
                self._path_in(column),
            )
            for column in table.columns
        }
        recipe = read_from(0, f"{self._before}{table.name}")
        return attrs.FrameMetadata(columns, tuple(table.key), (self._source,), recipe=recipe)

    def _column(self, column: Column, report: DriftReport) -> Array:
        """Build one column of the table; list it among those whose field the answer lacks."""
        rows = self.rows
        places = rows.find(column.source or "")
        is_absent = bool(rows.absent) or (
            rows.size > 0 and all(place.field_absent for place, _ in places)
        )
        if is_absent and column.source == "$.domain" and self._source.host is not None:
            return pa.array([self._source.host] * rows.size, pa.string())
        is_absent = is_absent and not (column.optional and not rows.absent)
        if is_absent and not rows.absent:
            report.record("absent", column.pattern, rows.size)
        if is_absent or rows.is_null:
            self._absent.add(column.name)
        parsed = [rows.read(column, place) for place, _ in places]
        array = rows.column(parsed, places)
        for (place, index), part in zip(places, parsed, strict=True):
            if part.missing:
                report.keep(place, held(index, part.missing), "missing")
            if part.odd:
                report.record_values(place, held(index, part.odd), "wrong type", column.pattern)
        return array if self._is_part else _finished(array, column, places, report)

    def _mask(self, arrays: dict[str, Array], report: DriftReport) -> None:
        """Mask the numbers that the answer denies, and keep them in ``extra``."""
        rows = self.rows
        denials = Denials(self._signals, rows.size, arrays.get("engine"))
        for column in rows.table.columns:
            if column.name not in rows.plan.measures:
                continue
            array = arrays[column.name]
            denied = denials.rows(column, array, rows.path_in(column))
            if denied is None:
                continue
            arrays[column.name] = pc.if_else(pa.array(denied), pa.scalar(None, array.type), array)
            places = rows.find(column.source or "")
            which, there = rows.source_rows(places)
            for number, (place, _) in enumerate(places):
                report.keep(place, np.unique(there[denied & (which == number)]), WHY)

    def check_key(self, report: DriftReport) -> None:
        """Add a column ``_row`` if the table's key is not unique."""
        table, arrow = self.table, self.arrow
        if not table.key:
            return
        place = f"{table.name}({', '.join(table.key)})"
        columns = [arrow[name] for name in table.key]
        # Not copied where it is in one piece.
        keys = [c.chunk(0) if c.num_chunks == 1 else c.combine_chunks() for c in columns]
        empty = max(array.null_count for array in keys)
        if empty:
            report.record("null key", place, empty)
        different = count_distinct(keys)
        if different < arrow.num_rows:
            report.record("duplicate key", place, arrow.num_rows - different)
            self.arrow = arrow.append_column("_row", pa.array(np.arange(arrow.num_rows)))


def _nowhere(column: Column) -> Callable[[int], str | None]:
    """The paths of values that are gone."""

    def path(row: int) -> str | None:
        raise NotInParts

    return path


def count_distinct(columns: Sequence[Array]) -> int:
    """Count the distinct rows of some columns.

    Examples
    --------
    >>> count_distinct([pa.array(["a", "a", "b"]), pa.array([1, 1, None])])
    2
    """
    if len(columns[0]) <= _FEW:
        lists = [_values(column) for column in columns]
        return len(set(lists[0] if len(lists) == 1 else zip(*lists, strict=True)))
    codes, size = np.zeros(len(columns[0]), np.int64), 1
    for column in columns:
        coded = column if pa.types.is_dictionary(column.type) else column.dictionary_encode()
        count = len(coded.dictionary) + 1
        if size * count >= 2**63:
            shorter = pa.array(codes).dictionary_encode()
            codes, size = shorter.indices.to_numpy().astype(np.int64), len(shorter.dictionary)
        codes = codes * count + coded.indices.fill_null(count - 1).to_numpy()
        size *= count
    codes.sort()  # in place: a table of hashes takes several times the room
    return int(len(codes) > 0) + int(np.count_nonzero(codes[1:] != codes[:-1]))


def _values(column: Array) -> list[Any]:
    """The values of a column, as they are compared; `to_pylist` takes many times as long."""
    if column.null_count:
        return column.to_pylist()  # type: ignore[no-any-return]
    return column.to_numpy(zero_copy_only=False).tolist()  # type: ignore[no-any-return]


def _finished(array: Array, column: Column, places: Sequence[Place], report: DriftReport) -> Array:
    """All values of a column, with what can be said of all of them only."""
    if column.dtype == "category":
        array = _to_category(array, column, places, report)
    return array if column.null is None else pc.fill_null(array, column.null)


def _to_category(
    text: Array, column: Column, places: Sequence[Place], report: DriftReport
) -> pa.DictionaryArray:
    """Convert text to a category; undeclared levels come last, if the levels have no order."""
    declared = _levels(column.levels)
    codes = pc.index_in(text, declared)
    if text.null_count < codes.null_count:
        new = sorted(set(pc.unique(text).drop_null().to_pylist()) - set(column.levels))
        levels = pa.array(new, pa.string())
        count = codes.null_count - text.null_count
        report.record("new level", column.pattern, count, json_text(new[0]))
        if column.ordered:
            for place, index in places:
                there = [at for at, value in enumerate(place.values) if value in new]
                report.keep(place, held(index, there), "new level")
        else:
            declared = pa.concat_arrays([declared, levels])
            codes = pc.index_in(text, declared)
    return pa.DictionaryArray.from_arrays(codes, declared, ordered=column.ordered)


@cache
def _levels(levels: tuple[str, ...]) -> pa.Array:
    return pa.array(levels, pa.string())
