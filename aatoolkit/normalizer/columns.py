"""Build the columns of one declared table: typed, denied numbers masked, described."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache, cached_property, partial
from itertools import chain
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from aatoolkit._util.text import json_text
from aatoolkit.availability.detect import Signal
from aatoolkit.jsontree.chunks import NotInParts
from aatoolkit.jsontree.coerce import Array, Parsed, to_array
from aatoolkit.jsontree.vectors import RowIndex, RowMap, Vector
from aatoolkit.metadata import attrs
from aatoolkit.metadata.recipe import read_from
from aatoolkit.normalizer.column_availability import WHY, TableStatements
from aatoolkit.normalizer.rows import TableRows
from aatoolkit.normalizer.walk import DriftReport
from aatoolkit.sections.section import Column

_FEW = 1000
"""Of so many rows and fewer, a call takes longer than its work."""


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
    """

    def __init__(
        self,
        rows: TableRows,
        before: str,
        signals: list[Signal],
        source: attrs.Source,
        report: DriftReport,
        denies_any: bool,
    ) -> None:
        self.rows, self._before, self._signals, self._source = rows, before, signals, source
        self.table = table = rows.table
        self.key = tuple(table.key)
        self.absent: set[str] = set()
        if rows.absent and not table.is_optional:
            report.record("absent", rows.absent, 1)
        self._read_together()
        arrays = {column.name: self._column(column, report) for column in table.columns}
        if denies_any and rows.size:
            self._mask(arrays, report)
        self.arrow = pa.table(arrays)

    def release(self) -> None:
        """Let go of the answer, once it is known what it states of the columns."""
        assert self.metadata
        del self.rows

    @cached_property
    def metadata(self) -> attrs.FrameMetadata:
        """The metadata of its columns."""
        table, arrow, name = self.table, self.arrow, f"{self._before}{self.table.name}"
        arrays = {column: arrow[column] for column in table.names}
        statements = TableStatements(table, self._signals, arrays, arrow.num_rows)
        columns = {
            column.name: statements.describe(
                column,
                f"{name}.{column.name}",
                column.name in self.absent,
                arrays[column.name].null_count < arrow.num_rows,
                partial(self._path, column),
            )
            for column in table.columns
        }
        recipe = read_from(0, name)
        return attrs.FrameMetadata(columns, self.key, (self._source,), recipe=recipe)

    def _path(self, column: Column, row: int) -> str | None:
        return self.rows.path_in(column)(row)

    def _read_together(self) -> None:
        """Read the few plain values of all columns of a dtype at once."""
        groups: dict[str, list[Vector]] = {}
        for column in self.table.columns:
            place, _ = self.rows.find(column.source or "")
            if self.rows.plan.readings[column.name] is None and column.dtype not in place.arrays:
                groups.setdefault(column.dtype, []).append(place)
        for dtype, places in groups.items():
            lengths = [*map(len, places)]
            if len(places) == 1 or max(lengths) > _FEW:
                continue
            kinds = set().union(*(place.kinds for place in places))
            values = [*chain.from_iterable(place.values for place in places)]
            parsed, start = to_array(values, kinds, dtype), 0
            for place, length in zip(places, lengths, strict=True) if not parsed.odd else ():
                place.arrays[dtype] = Parsed(parsed.array.slice(start, length))
                start += length

    def _column(self, column: Column, report: DriftReport) -> Array:
        """Build one column of the table; list it among those whose field the answer lacks."""
        rows = self.rows
        place, index = rows.find(column.source or "")
        is_absent = bool(rows.absent) or (rows.size > 0 and place.field_absent)
        if is_absent and column.source == "$.domain" and self._source.host is not None:
            return pa.array([self._source.host] * rows.size, pa.string())
        is_absent = is_absent and not (column.optional and not rows.absent)
        if is_absent and not rows.absent:
            report.record("absent", column.pattern, rows.size)
        if is_absent or rows.is_null:
            self.absent.add(column.name)
        parsed = rows.read(column, place)
        if parsed.missing:
            report.keep(place, _held(index, parsed.missing), "missing")
        if parsed.odd:
            report.record_values(place, _held(index, parsed.odd), "wrong type", column.pattern)
        array = parsed.array
        if index is not None and len(array):
            is_gap = index < 0
            array = array.take(pa.array(index, mask=is_gap if is_gap.any() else None))
        elif index is not None:
            array = pa.nulls(len(index), array.type)
        if column.dtype == "category":
            array = self._category(array, column, place, index, report)
        return array if column.null is None else pc.fill_null(array, column.null)

    def _category(
        self, text: Array, column: Column, place: Vector, index: RowMap, report: DriftReport
    ) -> pa.DictionaryArray:
        """Convert text to a category; undeclared levels come last, if the levels have no order."""
        declared = _levels(column.levels)
        codes = pc.index_in(text, declared)
        if text.null_count < codes.null_count:
            new = sorted(set(pc.unique(text).drop_null().to_pylist()) - set(column.levels))
            count = codes.null_count - text.null_count
            report.record("new level", column.pattern, count, json_text(new[0]))
            if column.ordered:
                there = [row for row, value in enumerate(place.values) if value in new]
                report.keep(place, _held(index, there), "new level")
            else:
                declared = pa.concat_arrays([declared, pa.array(new, pa.string())])
                codes = pc.index_in(text, declared)
        return pa.DictionaryArray.from_arrays(codes, declared, ordered=column.ordered)

    def _mask(self, arrays: dict[str, Array], report: DriftReport) -> None:
        """Mask the numbers that the answer denies, and keep them in ``extra``."""
        rows = self.rows
        statements = TableStatements(self.table, self._signals, arrays, rows.size)
        for column in self.table.columns:
            array = arrays[column.name]
            if column.name not in rows.plan.measures:
                continue
            denied = statements.denied(column, array, rows.path_in(column))
            if denied is not None:
                arrays[column.name] = pc.if_else(denied, pa.scalar(None, array.type), array)
                place, index = rows.find(column.source or "")
                there = np.flatnonzero(denied) if index is None else np.unique(index[denied])
                report.keep(place, there, WHY)

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
        different = _distinct(keys)
        if different < arrow.num_rows:
            report.record("duplicate key", place, arrow.num_rows - different)
            self.arrow = arrow.append_column("_row", pa.array(np.arange(arrow.num_rows)))


def _held(index: RowMap, rows: Sequence[int]) -> RowIndex:
    """Intersect row numbers of a place with those that rows of the table read."""
    there = np.asarray(rows, np.int64)
    return there if index is None else there[np.isin(there, index)]


def joined(parts: Sequence[BuiltTable], report: DriftReport) -> BuiltTable:
    """Join the rows of a table in several parts of an answer.

    Raises
    ------
    NotInParts
        If one lacks a field that another has.
    """
    first, *others = parts
    if any(part.absent != first.absent for part in others):
        raise NotInParts
    if others:
        columns = {
            column.name: pa.chunked_array(
                _with_levels(
                    column.levels, [c for part in parts for c in part.arrow[column.name].chunks]
                )
            )
            for column in first.table.columns
        }
        first.arrow = pa.table(columns)
        first.check_key(report)
    return first


def _with_levels(declared: Sequence[str], chunks: list[Array]) -> list[Array]:
    """Give the chunks of a category one dictionary: declared levels first, then all the others."""
    if not pa.types.is_dictionary(chunks[0].type):
        return chunks
    new = {level for chunk in chunks for level in chunk.dictionary.to_pylist()} - {*declared}
    levels = pa.array([*declared, *sorted(new)], pa.string())
    if not new:
        return chunks
    codes = [pc.index_in(chunk.dictionary, levels).take(chunk.indices) for chunk in chunks]
    return [pa.DictionaryArray.from_arrays(code, levels) for code in codes]


def _distinct(columns: Sequence[Array]) -> int:
    """Count the distinct rows of some columns."""
    if len(columns[0]) <= _FEW:
        lists = [_values(column) for column in columns]
        return len(set(lists[0] if len(lists) == 1 else zip(*lists, strict=True)))
    names = [str(number) for number in range(len(columns))]
    rows = pa.Table.from_arrays([*columns], names).group_by(names, use_threads=False)
    return int(rows.aggregate([]).num_rows)


def _values(column: Array) -> list[Any]:
    """The values of a column, as they are compared; `to_pylist` takes many times as long."""
    if column.null_count:
        return column.to_pylist()  # type: ignore[no-any-return]
    return column.to_numpy(zero_copy_only=False).tolist()  # type: ignore[no-any-return]


@cache
def _levels(levels: tuple[str, ...]) -> pa.Array:
    return pa.array(levels, pa.string())
