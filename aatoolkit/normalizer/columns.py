"""Build the columns of one declared table: typed, denied numbers masked, described."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property, lru_cache, partial
from itertools import chain
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from aatoolkit._util.text import json_text
from aatoolkit.availability.detect import Signal
from aatoolkit.jsontree.coerce import POOL, exact_array
from aatoolkit.jsontree.vectors import MISSING, Missing, RowIndex, RowMap, Vector
from aatoolkit.metadata import attrs
from aatoolkit.metadata.recipe import read_from
from aatoolkit.normalizer.column_availability import WHY, TableStatements, denies
from aatoolkit.normalizer.rows import ColumnPlan, TableRows
from aatoolkit.normalizer.to_pandas import Block, frame_of
from aatoolkit.normalizer.walk import DriftReport
from aatoolkit.sections.section import Column

if TYPE_CHECKING:
    import pandas as pd

Member = tuple[ColumnPlan, Vector, RowMap]
"""A column, the place of its values, and for each row of the table its row there."""

_FEW = 1000
"""Of so many rows and fewer, a call takes longer than its work."""


class BuiltTable:
    """One table of an answer: plain values of a dtype are converted together.

    What is odd raises; then each column is converted alone, and the odd ones value by value.

    Parameters
    ----------
    rows : TableRows
        Where its rows are in the answer.
    name : str
        Its name in metadata.
    signals : list of Signal
        What the answer states about its availability.
    source : Source
        Which answer it is.
    report : DriftReport
        Takes the differences between answer and declaration.
    """

    def __init__(
        self,
        rows: TableRows,
        name: str,
        signals: list[Signal],
        source: attrs.Source,
        report: DriftReport,
    ) -> None:
        self.rows, self.name, self._signals, self._source = rows, name, signals, source
        self.table, self.size = rows.table, rows.size
        self.absent: set[str] = set()
        self.arrays: dict[str, pa.Array] = dict.fromkeys(self.table.names)
        self._blocks: list[tuple[pa.Array, list[str]]] = []
        if rows.absent and not self.table.is_optional:
            report.record("absent", rows.absent, 1)
        groups: dict[str, list[Member]] = {}
        for plan in rows.plan.columns:
            place, index = rows.find(plan.source)
            is_alone = self.size > _FEW or not plan.is_plain or plan.column.dtype == "category"
            group = plan.column.name if is_alone else plan.column.dtype
            if self._is_host(plan.column, place, report):
                self._keep([plan], pa.array([source.host] * self.size, pa.string()))
            else:
                groups.setdefault(group, []).append((plan, place, index))
        for members in groups.values():
            if not self._convert(members, report):
                for member in members:
                    if len(members) == 1 or not self._convert([member], report):
                        self._read(*member, report)
        if any(map(denies, signals)):
            self._mask(report)

    def _is_host(self, column: Column, place: Vector, report: DriftReport) -> bool:
        """Note a column whose field the answer lacks; whether its host is the value."""
        rows = self.rows
        is_absent = bool(rows.absent) or (self.size > 0 and place.field_absent)
        if is_absent and column.source == "$.domain" and self._source.host is not None:
            return True
        is_absent = is_absent and not (column.optional and not rows.absent)
        if is_absent and not rows.absent:
            report.record("absent", column.pattern, self.size)
        if is_absent or rows.is_null:
            self.absent.add(column.name)
        return False

    def _keep(self, plans: Sequence[ColumnPlan], whole: pa.Array) -> None:
        """Keep columns of one type, which are one after the other in an array."""
        names = [plan.column.name for plan in plans]
        self._blocks.append((whole, names))
        for number, name in enumerate(names):
            self.arrays[name] = whole.slice(number * self.size, self.size)

    def _convert(self, members: Sequence[Member], report: DriftReport) -> bool:
        """Convert columns of one dtype together, if all they hold is plain JSON of it."""
        plan, place, _ = members[0]
        column, kinds = plan.column, set().union(*(place.kinds for _, place, _ in members))
        if not plan.is_plain or column.null is not None:
            return False
        values = _taken(place, members[0][2])
        if len(members) > 1:
            values = [*chain.from_iterable(_taken(place, index) for _, place, index in members)]
        if Missing in kinds:
            kinds = {*kinds, type(None)} - {Missing}
            values = [None if value is MISSING else value for value in values]
        try:
            whole = exact_array(values, kinds, column.dtype)
        except (ValueError, OverflowError):
            return False
        if column.dtype == "category":
            whole = self._category(whole, plan, place, members[0][2], report)
        self._keep([plan for plan, _, _ in members], whole)
        return True

    def _read(self, plan: ColumnPlan, place: Vector, index: RowMap, report: DriftReport) -> None:
        """Read a column value by value; what does not fit it is reported and kept."""
        column = plan.column
        parsed = self.rows.read(plan, place)
        if parsed.missing:
            report.keep(place, _held(index, parsed.missing), "missing")
        if parsed.odd:
            report.record_values(place, _held(index, parsed.odd), "wrong type", column.pattern)
        array = parsed.array
        if index is not None:
            rows = pa.array(index, mask=index < 0)
            if len(array):
                array = pc.take(array, rows, memory_pool=POOL)
            else:
                array = pa.nulls(len(index), array.type)
        if column.dtype == "category":
            array = self._category(array, plan, place, index, report)
        self._keep([plan], array if column.null is None else pc.fill_null(array, column.null))

    def _category(
        self, text: pa.Array, plan: ColumnPlan, place: Vector, index: RowMap, report: DriftReport
    ) -> pa.DictionaryArray:
        """Convert text to a category; undeclared levels come last, if the levels have no order."""
        column, levels = plan.column, _levels(plan.column.levels)
        codes = pc.index_in(text, levels)
        if codes.null_count > text.null_count:
            new = sorted({*pc.unique(text).to_pylist()} - {*column.levels, None})
            count = codes.null_count - text.null_count
            report.record("new level", column.pattern, count, json_text(new[0]))
            if column.ordered:
                there = [row for row, value in enumerate(place.values) if value in new]
                report.keep(place, _held(index, there), "new level")
            else:
                levels = pa.array([*column.levels, *new], pa.string())
                codes = pc.index_in(text, levels)
        return pa.DictionaryArray.from_arrays(codes, levels, ordered=column.ordered)

    def _mask(self, report: DriftReport) -> None:
        """Mask the numbers that the answer denies, and keep them in ``extra``."""
        statements = TableStatements(self.table, self._signals, self.arrays, self.size)
        masked = {}
        for plan in self.rows.plan.columns if self.size else ():
            column, array = plan.column, self.arrays[plan.column.name]
            denied = None
            if plan.is_measure:
                denied = statements.denied(column, array, self.rows.path_in(column))
            if denied is not None:
                masked[column.name] = pc.if_else(denied, pa.scalar(None, array.type), array)
                place, index = self.rows.find(plan.source)
                there = np.flatnonzero(denied)
                report.keep(place, there if index is None else np.unique(index[there]), WHY)
        if masked:
            self.arrays |= masked
            self._blocks = [(array, [name]) for name, array in self.arrays.items()]

    def check_key(self, report: DriftReport) -> None:
        """Add a column ``_row`` if the table's key is not unique."""
        if not self.table.key:
            return
        place = f"{self.table.name}({', '.join(self.table.key)})"
        keys = [self.arrays[name] for name in self.table.key]
        empty = max(array.null_count for array in keys)
        if empty:
            report.record("null key", place, empty)
        different = _distinct(keys)
        if different < self.size:
            report.record("duplicate key", place, self.size - different)
            self.arrays["_row"] = pa.array(np.arange(self.size))
            self._blocks.append((self.arrays["_row"], ["_row"]))

    def release(self) -> None:
        """Let go of the answer, once it is known what it states of the columns."""
        assert self.metadata
        self.__dict__.pop("rows", None)

    @cached_property
    def arrow(self) -> pa.Table:
        """The table as Arrow."""
        return pa.table(self.arrays)

    def frame(self, dtype_backend: str) -> pd.DataFrame:
        """The table as a DataFrame, without metadata."""
        places = {name: number for number, name in enumerate(self.arrays)}
        blocks = [Block(whole, [places[name] for name in names]) for whole, names in self._blocks]
        return frame_of(tuple(self.arrays), blocks, self.size, dtype_backend)

    @cached_property
    def metadata(self) -> attrs.FrameMetadata:
        """The metadata of its columns."""
        statements = TableStatements(self.table, self._signals, self.arrays, self.size)
        columns = {
            column.name: statements.describe(
                column,
                f"{self.name}.{column.name}",
                column.name in self.absent,
                self.arrays[column.name].null_count < self.size,
                partial(self._path, column),
            )
            for column in self.table.columns
        }
        key, recipe = tuple(self.table.key), read_from(0, self.name)
        return attrs.FrameMetadata(columns, key, (self._source,), recipe=recipe)

    def _path(self, column: Column, row: int) -> str | None:
        return self.rows.path_in(column)(row)


def _taken(place: Vector, index: RowMap) -> Sequence[Any]:
    """The values of a place in the rows of a table."""
    if index is None:
        return place.values  # type: ignore[no-any-return]
    values = [*place.values, None]  # which is at -1
    return [values[row] for row in index.tolist()]


def _held(index: RowMap, rows: Sequence[int]) -> RowIndex:
    """Intersect row numbers of a place with those that rows of the table read."""
    there = np.asarray(rows, np.int64)
    return there if index is None else there[np.isin(there, index)]


def _distinct(columns: Sequence[pa.Array]) -> int:
    """Count the distinct rows of some columns."""
    if len(columns[0]) <= _FEW:
        lists = [_values(column) for column in columns]
        return len(set(lists[0] if len(lists) == 1 else zip(*lists, strict=True)))
    # Arrow's own grouping takes nearly as much memory as a long answer has bytes.
    distinct = rows = np.zeros(len(columns[0]), np.int64)
    for column in columns:
        values = pc.dictionary_encode(column, memory_pool=POOL)
        count = len(values.dictionary)
        codes = values.indices.fill_null(count).to_numpy(zero_copy_only=False)
        distinct, rows = np.unique(rows * (count + 1) + codes, return_inverse=True)
    return len(distinct)


def _values(column: pa.Array) -> list[Any]:
    """The values of a column, as they are compared; `to_pylist` takes many times as long."""
    if column.null_count:
        return column.to_pylist()  # type: ignore[no-any-return]
    return column.to_numpy(zero_copy_only=False).tolist()  # type: ignore[no-any-return]


@lru_cache
def _levels(levels: tuple[str, ...]) -> pa.Array:
    return pa.array(levels, pa.string())
