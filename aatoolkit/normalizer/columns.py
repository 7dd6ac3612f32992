"""The columns of one declared table: typed, denied numbers masked, described; and frames of them.

Plain values of a dtype are one Arrow array, one column after the other, and become pandas' arrays
together. What is odd raises; then each column is converted alone, and odd ones value by value.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import cache, cached_property, lru_cache, partial
from itertools import chain
from typing import Any
from zoneinfo import ZoneInfo

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc
from pandas.api import internals  # type: ignore[attr-defined]  # the stubs lack it

from aatoolkit._util.text import json_text
from aatoolkit.availability.detect import Signal
from aatoolkit.jsontree.coerce import ARROW, POOL, exact_array, read_as
from aatoolkit.jsontree.vectors import MISSING, RowIndex, Vector
from aatoolkit.metadata import attrs
from aatoolkit.metadata.recipe import READ
from aatoolkit.normalizer.column_availability import WHY, TableStatements
from aatoolkit.normalizer.rows import DriftReport, TableRows, values_at
from aatoolkit.sections.section import Column

Member = tuple[Column, Vector, RowIndex]
"""A column, the place of its values, and for each row of the table its row there."""

Block = tuple[str, pa.Array, Sequence[str]]
"""A dtype, the values of some columns of it, one after the other, and their names."""

_FEW = 1000
"""Of so many rows and fewer, a call takes longer than its work."""


class BuiltTable:
    """One table of a response.

    Parameters
    ----------
    rows : TableRows
        Where its rows are in the response.
    name : str
        Its name in metadata.
    signals : list of Signal
        What the response states about its availability.
    source : Source
        Which response it is.
    report : DriftReport
        Takes the differences between response and declaration.
    """

    def __init__(
        self,
        rows: TableRows,
        name: str,
        signals: list[Signal],
        source: attrs.Source,
        report: DriftReport,
    ) -> None:
        self.rows, self.name, self._source = rows, name, source
        self.table, self.size = rows.table, rows.size
        self._signals = signals
        self.absent: set[str] = set()
        self._blocks: list[Block] = []
        self._places: dict[str, tuple[int, int]] = dict.fromkeys(self.table.names, (0, 0))
        if rows.absent and not self.table.is_optional:
            report.record("absent", rows.absent, 1)
        groups: dict[str, list[Member]] = {}
        for column in self.table.columns:
            place, index = rows.find(column.source or "")
            if self._is_host(column, place, report):
                hosts = pa.array([source.host] * self.size, pa.string())
                self._blocks.append(("string", hosts, [column.name]))
            else:
                is_alone = column.name in rows.plan.alone or self.size > _FEW
                group = groups.setdefault(column.name if is_alone else column.dtype, [])
                group.append((column, place, index))
        for members in groups.values():
            if not self._convert(members):
                for member in members:
                    self._read(*member, report)
        for number, (_, _, names) in enumerate(self._blocks):
            self._places |= {name: (number, at) for at, name in enumerate(names)}
        statements = self._statements()
        if self.size and statements.denies_some:
            self._mask(statements, report)

    def _statements(self) -> TableStatements:
        return TableStatements(self.rows.plan, self._signals, self.array, self.size)

    def _is_host(self, column: Column, place: Vector, report: DriftReport) -> bool:
        """Note that a column's field is absent; return whether the host stands in for it."""
        rows = self.rows
        if rows.absent or (self.size and place.field_absent):
            if column.source == "$.domain" and self._source.host is not None:
                return True
            if rows.absent or not column.optional:
                self.absent.add(column.name)
                if not rows.absent:
                    report.record("absent", column.pattern, self.size)
        if rows.is_null:
            self.absent.add(column.name)
        return False

    def _convert(self, members: Sequence[Member]) -> bool:
        """Convert columns of one dtype together, if all values are plain JSON of that dtype."""
        column = members[0][0]
        if column.name in self.rows.plan.unplain:
            return False
        kinds = set().union(*[place.kinds for _, place, _ in members])
        lists = [values_at(place, index) for _, place, index in members]
        values = lists[0] if len(lists) == 1 else [*chain.from_iterable(lists)]
        try:
            array = exact_array(values, kinds, column.dtype)
        except (ValueError, OverflowError):
            return False
        if column.dtype == "category":
            count, array = array.null_count, _coded(array, column)
            if array.null_count > count:
                return False
        self._blocks.append((column.dtype, array, [column.name for column, _, _ in members]))
        return True

    def _read(self, column: Column, place: Vector, index: RowIndex, report: DriftReport) -> None:
        """Read a column value by value; what does not fit it is reported and kept."""

        def rows_of(numbers: Sequence[int]) -> RowIndex:  # that rows of the table read
            rows = np.asarray(numbers, np.int64)
            return rows[np.isin(rows, index)] if len(rows) else rows

        year = None
        if column.year is not None:
            years = self.rows.find(column.year)[0].values
            year = next((value for value in years if value is not MISSING), None)
        parsed = read_as(place.values, column, year)
        report.keep(place, rows_of(parsed.missing), "missing")
        report.keep(place, rows_of(parsed.odd), "wrong type", column.pattern)
        array = parsed.array
        if index is not place.level.rows:
            there = pa.array(index, mask=index < 0)
            array = (
                pc.take(array, there, memory_pool=POOL)
                if len(array)
                else pa.nulls(len(index), array.type)
            )
        if column.null is not None:
            array = pc.fill_null(array, column.null)
        if column.dtype == "category":
            levels = {*column.levels, None}
            coded, new = _coded(array, column), sorted({*array.unique().to_pylist()} - levels)
            if new:
                count = coded.null_count - array.null_count
                report.record("new level", column.pattern, count, json_text(new[0]))
            if new and column.ordered:
                odd = [row for row, value in enumerate(place.values) if value in new]
                report.keep(place, rows_of(odd), "new level")
            elif new:  # undeclared levels come last
                coded = _coded(array, column, new)
            array = coded
        self._blocks.append((column.dtype, array, [column.name]))

    def _mask(self, statements: TableStatements, report: DriftReport) -> None:
        """Mask the numbers that the response denies, and keep them in ``extra``."""
        for number, (dtype, array, names) in enumerate(self._blocks):
            is_valid = ~_missing(array).reshape(len(names), self.size)
            mask = np.zeros_like(is_valid)
            for at, name in enumerate(names):
                if name not in self.rows.plan.measures:
                    continue
                column = self.table[name]
                path = self.rows.path_in(column)
                denied = mask[at] = statements.denied(column, is_valid[at], path)
                if denied.any():
                    place, index = self.rows.find(column.source or "")
                    report.keep(place, np.unique(index[denied]), WHY)
            if mask.any():
                masked = pc.if_else(mask.ravel(), pa.scalar(None, array.type), array)
                self._blocks[number] = dtype, masked, names

    def check_key(self, report: DriftReport) -> None:
        """Add a column ``_row`` if the table's key is not unique."""
        if not self.table.key:
            return
        place = f"{self.table.name}({', '.join(self.table.key)})"
        keys = [self.array(name) for name in self.table.key]
        empty = max(array.null_count for array in keys)
        if empty:
            report.record("null key", place, empty)
        different = _distinct(keys)
        if different < self.size:
            report.record("duplicate key", place, self.size - different)
            self._places["_row"] = len(self._blocks), 0
            self._blocks.append(("Int64", pa.array(np.arange(self.size)), ["_row"]))

    def release(self) -> None:
        """Let go of the response, once it is known what it states of the columns."""
        assert self.metadata
        self.__dict__.pop("rows", None)

    def array(self, name: str) -> pa.Array:
        """The values of one column."""
        block, number = self._places[name]
        return self._blocks[block][1].slice(number * self.size, self.size)

    @cached_property
    def arrow(self) -> pa.Table:
        """The table as Arrow."""
        arrays = map(self.array, self._places)
        return pa.table([a.cast(_SHORT.get(a.type, a.type)) for a in arrays], [*self._places])

    def frame(self, dtype_backend: str, held: Iterable[attrs.HeldResponse]) -> pd.DataFrame:
        """The table as a DataFrame, with metadata and the response, if that is at hand."""
        names, blocks, size = tuple(self._places), self._blocks, self.size
        rows = partial(_frame_of, names, blocks, size, dtype_backend)
        return attrs.frame_with(rows, lambda: self.metadata, held)

    @cached_property
    def metadata(self) -> attrs.FrameMetadata:
        """The metadata of its columns."""
        statements = self._statements()
        columns = {
            column.name: statements.describe(
                column,
                f"{self.name}.{column.name}",
                column.name in self.absent,
                self.array(column.name).null_count < self.size,
                self.rows.path_in(column),
            )
            for column in self.table.columns
        }
        key, recipe = tuple(self.table.key), [READ, 0, self.name]
        return attrs.FrameMetadata(columns, key, (self._source,), recipe=recipe)


def _distinct(columns: Sequence[pa.Array]) -> int:
    """Count the distinct rows of some columns."""
    if len(columns[0]) <= _FEW:  # `to_pylist` takes many times as long
        lists = [
            c.to_pylist() if c.null_count else c.to_numpy(zero_copy_only=False).tolist()
            for c in columns
        ]
        return len({*zip(*lists, strict=True)})
    # Arrow's own grouping, and Python's, take nearly as much memory as a long response has bytes.
    distinct = rows = np.zeros(len(columns[0]), np.int64)
    for column in columns:
        values = pc.dictionary_encode(column, "encode", memory_pool=POOL)
        codes = values.indices.to_numpy(zero_copy_only=False)
        distinct, rows = np.unique(rows * len(column) + codes, return_inverse=True)
    return len(distinct)


def _coded(texts: pa.Array, column: Column, new: Sequence[str] = ()) -> pa.Array:
    """Encode texts by the levels of a column; other texts are null."""
    levels = _levels((*column.levels, *new))
    codes = pc.index_in(texts, levels.cast(texts.type), memory_pool=POOL)
    return pa.DictionaryArray.from_arrays(codes, levels, ordered=column.ordered)


@lru_cache(maxsize=256)
def _levels(levels: tuple[str, ...]) -> pa.Array:
    return pa.array(levels, pa.string())


# --- frames ----------------------------------------------------------------------------------

_SHORT = {pa.large_string(): pa.string()}
"""What a type is in files, where pandas has another."""

_DTYPES = {
    **{
        ARROW[name]: name for name in ("string", "Int64", "Float64", "boolean", "date", "timestamp")
    },
    pa.large_string(): "string",
    pa.int32(): "Int64",
    pa.timestamp("us"): "date",
}

_MASKED = {"Int64": "IntegerArray", "Float64": "FloatingArray", "boolean": "BooleanArray"}
"""What pandas has of a dtype of numbers with missing ones."""


def to_frame(table: pa.Table, dtype_backend: str = "numpy_nullable") -> pd.DataFrame:
    """Convert an Arrow table to a DataFrame.

    Days and instants are ``datetime64[us]``, instants in UTC; missing values are ``pd.NA`` or
    ``NaT``, never NaN and never zero. A category is a pandas category with either backend. A list
    is a tuple in an ``object`` column, which pandas can compare, count and write to files; with
    ``dtype_backend="pyarrow"`` it is Arrow's own.
    """
    blocks = []
    for name, column in zip(table.column_names, table.columns, strict=True):
        # Not copied where it is in one piece.
        array = column.chunk(0) if column.num_chunks == 1 else column.combine_chunks()
        dtype = _DTYPES.get(array.type, "")
        if pa.types.is_dictionary(array.type):
            dtype = "category"
        elif pa.types.is_list(array.type):
            dtype = "list<string>"
        blocks.append((dtype, array, [name]))
    return _frame_of(tuple(table.column_names), blocks, table.num_rows, dtype_backend)


def _frame_of(
    names: tuple[str, ...], blocks: Sequence[Block], size: int, dtype_backend: str
) -> pd.DataFrame:
    """Make a DataFrame of blocks; the constructor would look at the type of every array again."""
    arrays = []
    index, places = _names(names)
    for dtype, array, columns in blocks:
        numbers = [places[name] for name in columns]
        converted = _converted(dtype, array, size, len(columns), dtype_backend)
        if isinstance(converted, np.ndarray):  # a block of what is numpy's has two axes
            block: Any = converted.reshape(len(columns), size)
            if dtype == "date" and hasattr(pd.arrays.DatetimeArray, "_simple_new"):
                block = pd.arrays.DatetimeArray._simple_new(block, dtype=block.dtype)
            arrays.append((block, np.concatenate(numbers)))
        else:
            arrays += zip(converted, numbers, strict=True)
    return internals.create_dataframe_from_blocks(  # type: ignore[no-any-return]
        arrays, pd.RangeIndex(range(size)), index.view()
    )


def _converted(dtype: str, values: pa.Array, size: int, count: int, dtype_backend: str) -> Any:
    """Convert columns of a dtype, one after the other in an array; they can be written to."""
    parts = [slice(size * number, size * (number + 1)) for number in range(count)]
    if dtype == "category":
        codes, missing = _in_memory(values.indices)
        codes[missing] = -1
        levels = _category(tuple(values.dictionary.to_pylist()), values.type.ordered)
        return [pd.Categorical.from_codes(codes, dtype=levels, validate=False)]
    is_numpy = dtype_backend != "pyarrow"
    if is_numpy and dtype in _MASKED:
        numbers, missing = _in_memory(values)
        # The constructor would check again what it is given, which takes six times as long.
        array_type = getattr(pd.arrays, _MASKED[dtype])
        make = getattr(array_type, "_simple_new", array_type)
        return [make(numbers[part], missing[part]) for part in parts]
    if is_numpy and dtype == "date":
        # pandas holds days as instants at midnight.
        return np.array(values.cast(pa.timestamp("us")))
    if is_numpy and dtype == "list<string>":
        return as_tuples(values)
    kind: Any = _kind(dtype) if is_numpy else None
    if kind is None:
        values = values.cast(_SHORT.get(values.type, values.type))
        kind = pd.ArrowDtype(values.type)
    array = kind.__from_arrow__(values)
    array = array.copy() if dtype == "timestamp" else array
    return [array[part] for part in parts]


def _in_memory(array: pa.Array) -> tuple[np.ndarray[Any, Any], np.ndarray[Any, Any]]:
    """The numbers of an array as they are in memory, and a mask of those that are missing."""
    missing, octets = _missing(array), array.buffers()[1] if len(array) else b""
    if array.type == pa.bool_():
        return _bits(octets, array) & ~missing, missing
    numbers = np.frombuffer(octets, array.type.to_pandas_dtype())
    return numbers[array.offset :][: len(array)].copy(), missing


def _missing(array: pa.Array) -> np.ndarray[Any, Any]:
    """Whether each value is missing."""
    if not array.null_count:
        return np.zeros(len(array), bool)
    return ~_bits(array.buffers()[0], array)


def _bits(buffer: pa.Buffer, array: pa.Array) -> np.ndarray[Any, Any]:
    """The bits of an array; Arrow's own functions take ten times as long for a few."""
    octets, end = np.frombuffer(buffer, np.uint8), array.offset + len(array)
    return np.unpackbits(octets, count=end, bitorder="little")[array.offset :].view(bool)


@cache
def _kind(dtype: str) -> Any:
    """The pandas dtype of texts and instants; None for other dtypes."""
    if dtype == "timestamp":
        return pd.DatetimeTZDtype("us", ZoneInfo("UTC"))
    return pd.StringDtype() if dtype == "string" else None


@lru_cache(maxsize=256)
def _names(names: tuple[str, ...]) -> tuple[pd.Index, dict[str, RowIndex]]:
    """An index of column names, and the place of each; take a view, as an index can be renamed."""
    places = {name: np.array([number]) for number, name in enumerate(names)}
    return pd.Index(names, dtype="str"), places


@lru_cache(maxsize=256)
def _category(levels: tuple[str, ...], ordered: bool) -> pd.CategoricalDtype:
    return pd.CategoricalDtype(pd.Index(levels, dtype="str"), ordered)


def as_tuples(column: pa.Array | pa.ChunkedArray) -> np.ndarray[Any, Any]:
    """Convert lists to tuples, missing ones to ``pd.NA``.

    Examples
    --------
    >>> as_tuples(pa.chunked_array([[["a", "b"], [], None]])).tolist()
    [('a', 'b'), (), <NA>]
    """
    lists = column.to_numpy(zero_copy_only=False)
    cells = (pd.NA if values is None else tuple(values.tolist()) for values in lists)
    return np.fromiter(cells, object, len(lists))
