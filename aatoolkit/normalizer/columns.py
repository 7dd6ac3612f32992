"""Build the columns of one declared table: typed, denied numbers masked, described."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cache, cached_property
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from aatoolkit._util.text import json_text
from aatoolkit.availability.detect import Signal
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
        self.key = tuple(rows.table.key)
        table = rows.table
        if rows.absent and not table.is_optional:
            report.record("absent", rows.absent, 1)
        for place, rows_there in rows.beyond():
            report.record_values(place, rows_there, "new", f"{table.rows.path}[]")
        self._absent: set[str] = set()
        arrays = {column.name: self._column(column, report) for column in table.columns}
        if denies_any and rows.size:
            self._mask(arrays, report)
        self.arrow = self._keyed(arrays, report)

    def release(self) -> None:
        """Let go of the answer, once it is known what it states of the columns."""
        assert self.metadata
        del self.rows

    @cached_property
    def metadata(self) -> attrs.FrameMetadata:
        """The metadata of its columns."""
        table, arrow = self.rows.table, self.arrow
        arrays = {name: arrow[name] for name in table.names}
        describe = describer(table, self._before, self._signals, arrays)
        columns = {
            column.name: describe(
                column,
                column.name in self._absent,
                arrow[column.name].null_count < arrow.num_rows,
                self.rows.path_in(column),
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
        if column.dtype == "category":
            array = _to_category(array, column, places, report)
        return array if column.null is None else pc.fill_null(array, column.null)

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

    def _keyed(self, arrays: Mapping[str, Array], report: DriftReport) -> pa.Table:
        """Build the table, with a column ``_row`` if its key is not unique."""
        table, arrow = self.rows.table, pa.table(arrays)
        if not table.key:
            return arrow
        place = f"{table.name}({', '.join(table.key)})"
        keys = [arrays[name] for name in table.key]
        empty = max(array.null_count for array in keys)
        if empty:
            report.record("null key", place, empty)
        different = count_distinct(keys)
        if different == arrow.num_rows:
            return arrow
        report.record("duplicate key", place, arrow.num_rows - different)
        return arrow.append_column("_row", pa.array(np.arange(arrow.num_rows)))


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
    codes = np.zeros(len(columns[0]), np.int64)
    for column in columns:
        coded = column if pa.types.is_dictionary(column.type) else column.dictionary_encode()
        more = coded.indices.fill_null(len(coded.dictionary)).to_numpy()
        codes = codes * (len(coded.dictionary) + 1) + more
        if len(columns) > 1:
            _, codes = np.unique(codes, return_inverse=True)
    return len(np.unique(codes))


def _values(column: Array) -> list[Any]:
    """The values of a column, as they are compared; `to_pylist` takes many times as long."""
    if column.null_count:
        return column.to_pylist()  # type: ignore[no-any-return]
    return column.to_numpy(zero_copy_only=False).tolist()  # type: ignore[no-any-return]


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
