"""Convert the values of one table to typed columns, and make DataFrames from them.

For speed, columns of one dtype are converted together. If a value does not fit the dtype, the
columns are converted one by one.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import cached_property, lru_cache, partial
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
from aatoolkit.jsontree.coerce import ARROW, POOL, make_exact_array, read_as
from aatoolkit.jsontree.vectors import MISSING, RowIndex, Vector
from aatoolkit.metadata import attrs
from aatoolkit.metadata.recipe import READ
from aatoolkit.normalizer.column_availability import WHY, TableStatements
from aatoolkit.normalizer.rows import DriftReport, TableRows, take_values
from aatoolkit.sections.section import Column

Array = np.ndarray[Any, Any]

ColumnValues = tuple[Column, Vector, RowIndex]
"""A column, the list of its values, and for each row of the table its position in this list."""

Block = tuple[str, pa.Array, Sequence[str]]
"""A dtype, an array with the values of one column after the other, and the columns' names."""

_SMALL_SIZE = 1000
"""Up to this number of rows, calling a function takes longer than its work on the rows."""


class BuiltTable:
    """A table of a response, with typed columns and their metadata.

    The metadata says for example which columns could be measured.
    """

    def __init__(
        self,
        rows: TableRows,
        name: str,  # in the metadata of frames
        signals: list[Signal],  # what the response says about availability
        source: attrs.Source,
        report: DriftReport,  # collects the differences from the declaration
    ) -> None:
        self.rows, self.name, self._source = rows, name, source
        self.table, self.size = rows.table, rows.size
        self._signals = signals
        self.absent_columns: set[str] = set()
        self._blocks: list[Block] = []
        self._positions: dict[str, tuple[int, int]] = dict.fromkeys(self.table.names, (0, 0))
        if rows.absent_path and not self.table.is_optional:
            report.record("absent", rows.absent_path, 1)
        groups: dict[str, list[ColumnValues]] = {}
        for column in self.table.columns:
            vector, index = rows.values_of(column.source or "")
            if self._must_hold_host(column, vector, report):
                hosts = pa.array([source.host] * self.size, pa.string())
                self._blocks.append(("string", hosts, [column.name]))
            else:
                is_separate = column.name in rows.plan.separate or self.size > _SMALL_SIZE
                group = groups.setdefault(column.name if is_separate else column.dtype, [])
                group.append((column, vector, index))
        for column_group in groups.values():
            if not self._convert_together(column_group):
                for column_values in column_group:
                    self._convert_one_by_one(*column_values, report)
        for block_number, (_, _, names) in enumerate(self._blocks):
            self._positions |= {
                name: (block_number, position) for position, name in enumerate(names)
            }
        statements = self._make_statements()
        if self.size and statements.may_deny:
            self._mask_denied_numbers(statements, report)

    def _make_statements(self) -> TableStatements:
        return TableStatements(self.rows.plan, self._signals, self.array, self.size)

    def _must_hold_host(self, column: Column, vector: Vector, report: DriftReport) -> bool:
        """Return whether a column is to be filled with the host's name.

        That is so if the column is for the domain, and the response lacks this field. Any other
        column whose field is absent is recorded as absent.
        """
        rows = self.rows
        if rows.absent_path or (self.size and vector.is_absent):
            if column.source == "$.domain" and self._source.host is not None:
                return True
            if rows.absent_path or not column.optional:
                self.absent_columns.add(column.name)
                if not rows.absent_path:
                    report.record("absent", column.pattern, self.size)
        if rows.is_null:
            self.absent_columns.add(column.name)
        return False

    def _convert_together(self, column_group: Sequence[ColumnValues]) -> bool:
        """Convert columns of one dtype to one Arrow array; return False if a value does not fit."""
        column = column_group[0][0]
        if column.name in self.rows.plan.parsed:
            return False
        value_types = set().union(*[vector.kinds for _, vector, _ in column_group])
        value_lists = [take_values(vector, index) for _, vector, index in column_group]
        values = value_lists[0] if len(value_lists) == 1 else [*chain.from_iterable(value_lists)]
        try:
            array = make_exact_array(values, value_types, column.dtype)
        except (ValueError, OverflowError):
            return False
        if column.dtype == "category":
            null_count, array = array.null_count, encode_categories(array, column)
            if array.null_count > null_count:
                return False
        self._blocks.append((column.dtype, array, [column.name for column, _, _ in column_group]))
        return True

    def _convert_one_by_one(
        self, column: Column, vector: Vector, index: RowIndex, report: DriftReport
    ) -> None:
        """Convert one column; values that do not fit become missing and go to ``report``."""

        def select_table_rows(
            vector_rows: Sequence[int],
        ) -> RowIndex:  # only those of rows of the table
            rows = np.asarray(vector_rows, np.int64)
            return rows[np.isin(rows, index)] if len(rows) else rows

        year = None
        if column.year is not None:
            years = self.rows.values_of(column.year)[0].values
            year = next((value for value in years if value is not MISSING), None)
        parsed_values = read_as(vector.values, column, year)
        report.add_extra(vector, select_table_rows(parsed_values.missing), "missing")
        report.add_extra(
            vector, select_table_rows(parsed_values.invalid), "wrong type", column.pattern
        )
        array = parsed_values.array
        if index is not vector.level.rows:
            array = pc.take(array, pa.array(index, mask=index < 0), memory_pool=POOL)
        if column.valid is not None:
            valid_flags = take_values(*self.rows.values_of(column.valid.lstrip("!")))
            is_masked = np.array([flag == (column.valid[0] == "!") for flag in valid_flags], bool)
            report.add_extra(vector, np.unique(index[is_masked & (index >= 0)]), "missing")
            array = pc.if_else(is_masked, pa.scalar(None, array.type), array)
        if column.null is not None:
            array = pc.fill_null(array, column.null)
        if column.dtype == "category":
            encoded_array = encode_categories(array, column)
            new_levels = sorted({*array.unique().to_pylist()} - {*column.levels, None})
            if new_levels:
                unknown_count = encoded_array.null_count - array.null_count
                report.record("new level", column.pattern, unknown_count, json_text(new_levels[0]))
            if new_levels and column.ordered:
                new_rows = [row for row, value in enumerate(vector.values) if value in new_levels]
                report.add_extra(vector, select_table_rows(new_rows), "new level")
            elif new_levels:  # undeclared levels come last
                encoded_array = encode_categories(array, column, new_levels)
            array = encoded_array
        self._blocks.append((column.dtype, array, [column.name]))

    def _mask_denied_numbers(self, statements: TableStatements, report: DriftReport) -> None:
        """Replace numbers by missing values where the response says that they were not measured."""
        for block_number, (dtype, array, names) in enumerate(self._blocks):
            is_valid = ~_make_missing_mask(array).reshape(len(names), self.size)
            mask = np.zeros_like(is_valid)
            for position, name in enumerate(names):
                if name not in self.rows.plan.measures:
                    continue
                column = self.table[name]
                find_path = self.rows.path_finder(column)
                is_denied = mask[position] = statements.mask_denied_rows(
                    column, is_valid[position], find_path
                )
                if is_denied.any():
                    vector, index = self.rows.values_of(column.source or "")
                    report.add_extra(vector, np.unique(index[is_denied]), WHY)
            if mask.any():
                masked_array = pc.if_else(mask.ravel(), pa.scalar(None, array.type), array)
                self._blocks[block_number] = dtype, masked_array, names

    def check_key(self, report: DriftReport) -> None:
        """Report missing and duplicate keys. For duplicates, add a column of row numbers."""
        if not self.table.key:
            return
        path = f"{self.table.name}({', '.join(self.table.key)})"
        key_arrays = [self.array(name) for name in self.table.key]
        null_count = max(array.null_count for array in key_arrays)
        if null_count:
            report.record("null key", path, null_count)
        distinct_count = _count_distinct(key_arrays)
        if distinct_count < self.size:
            report.record("duplicate key", path, self.size - distinct_count)
            self._positions["_row"] = len(self._blocks), 0
            self._blocks.append(("Int64", pa.array(np.arange(self.size)), ["_row"]))

    def array(self, name: str) -> pa.Array:
        """Return the values of a column as an Arrow array."""
        block, position = self._positions[name]
        return self._blocks[block][1].slice(position * self.size, self.size)

    @cached_property
    def arrow(self) -> pa.Table:
        """The table as an Arrow table."""
        arrays = map(self.array, self._positions)
        return pa.table(
            [array.cast(_FILE_TYPES.get(array.type, array.type)) for array in arrays],
            [*self._positions],
        )

    def frame(self, dtype_backend: str, responses: Iterable[attrs.HeldResponse]) -> pd.DataFrame:
        """Return the table as a DataFrame with metadata: units, availability and sources.

        ``responses`` are kept in memory, so that numbers can be traced to them later.
        """
        names = tuple(self._positions)
        make_frame = partial(_make_frame, names, self._blocks, self.size, dtype_backend)
        return attrs.frame_with(make_frame, lambda: self.metadata, responses)

    @cached_property
    def metadata(self) -> attrs.FrameMetadata:
        """The metadata of the table and its columns."""
        statements = self._make_statements()
        columns = {
            column.name: statements.make_column_metadata(
                column,
                f"{self.name}.{column.name}",
                column.name in self.absent_columns,
                self.array(column.name).null_count < self.size,
                self.rows.path_finder(column),
            )
            for column in self.table.columns
        }
        return attrs.FrameMetadata(
            columns, tuple(self.table.key), (self._source,), recipe=[READ, 0, self.name]
        )


def _count_distinct(key_columns: Sequence[pa.Array]) -> int:
    """Return the number of distinct rows in some key columns."""
    if len(key_columns[0]) <= _SMALL_SIZE:  # `to_pylist` takes many times as long
        value_lists = [
            column.to_pylist()
            if column.null_count
            else column.to_numpy(zero_copy_only=False).tolist()
            for column in key_columns
        ]
        return len({*zip(*value_lists, strict=True)})
    # Grouping by Arrow or in Python takes nearly as much memory as the response.
    distinct_codes = row_codes = np.zeros(len(key_columns[0]), np.int64)
    for column in key_columns:
        values = pc.dictionary_encode(column, "encode", memory_pool=POOL)
        value_codes = values.indices.to_numpy(zero_copy_only=False)
        distinct_codes, row_codes = np.unique(
            row_codes * len(column) + value_codes, return_inverse=True
        )
    return len(distinct_codes)


def encode_categories(texts: pa.Array, column: Column, new_levels: Sequence[str] = ()) -> pa.Array:
    """Convert texts to an Arrow array of categories; texts that are no category become null.

    The categories are the declared levels of the column, then ``new_levels``.
    """
    all_levels = _make_level_array((*column.levels, *new_levels))
    codes = pc.index_in(texts, all_levels.cast(texts.type), memory_pool=POOL)
    return pa.DictionaryArray.from_arrays(codes, all_levels, ordered=column.ordered)


@lru_cache(maxsize=256)
def _make_level_array(levels: tuple[str, ...]) -> pa.Array:
    return pa.array(levels, pa.string())


# --- frames ----------------------------------------------------------------------------------

_FILE_TYPES = {pa.large_string(): pa.string()}
"""The Arrow types that are written to files, by the types in memory."""

_DTYPES = {
    **{
        ARROW[name]: name for name in ("string", "Int64", "Float64", "boolean", "date", "timestamp")
    },
    pa.large_string(): "string",
    pa.int32(): "Int64",
    pa.timestamp("us"): "date",
}

_ARRAY_CLASSES = {"Int64": "IntegerArray", "Float64": "FloatingArray", "boolean": "BooleanArray"}
"""The pandas array classes of nullable numbers and booleans."""


def to_frame(table: pa.Table, dtype_backend: str = "numpy_nullable") -> pd.DataFrame:
    """Convert an Arrow table to a DataFrame.

    Parameters
    ----------
    table : pyarrow.Table
        The table.
    dtype_backend : {"numpy_nullable", "pyarrow"}
        The kind of dtypes, as in pandas. With ``numpy_nullable``, lists become tuples.

    Returns
    -------
    pandas.DataFrame
    """
    blocks = []
    for name, column in zip(table.column_names, table.columns, strict=True):
        # An array of one chunk is not copied.
        array = column.chunk(0) if column.num_chunks == 1 else column.combine_chunks()
        dtype = _DTYPES.get(array.type, "")
        if pa.types.is_dictionary(array.type):
            dtype = "category"
        elif pa.types.is_list(array.type):
            dtype = "list<string>"
        blocks.append((dtype, array, [name]))
    return _make_frame(tuple(table.column_names), blocks, table.num_rows, dtype_backend)


def _make_frame(
    names: tuple[str, ...], blocks: Sequence[Block], size: int, dtype_backend: str
) -> pd.DataFrame:
    """Make a DataFrame from blocks: Arrow arrays with the values of several columns, one by one."""
    arrays = []
    index, positions = _make_column_index(names)
    for dtype, array, block_names in blocks:
        column_positions = [positions[name] for name in block_names]
        converted_array = _convert_block(dtype, array, size, len(block_names), dtype_backend)
        if isinstance(converted_array, np.ndarray):  # pandas keeps NumPy arrays in two dimensions
            block = converted_array.reshape(len(block_names), size)
            if dtype == "date" and hasattr(pd.arrays.DatetimeArray, "_simple_new"):
                block = pd.arrays.DatetimeArray._simple_new(block, dtype=block.dtype)
            arrays.append((block, np.concatenate(column_positions)))
        else:
            arrays += zip(converted_array, column_positions, strict=True)
    return internals.create_dataframe_from_blocks(  # type: ignore[no-any-return]
        arrays, pd.RangeIndex(range(size)), index.view()
    )


def _convert_block(
    dtype: str, values: pa.Array, size: int, column_count: int, dtype_backend: str
) -> Any:
    """Split an Arrow array into columns of ``size`` values, as pandas arrays."""
    column_slices = [slice(size * number, size * (number + 1)) for number in range(column_count)]
    if dtype == "category":
        codes, is_missing = _split_numbers_and_mask(values.indices)
        codes[is_missing] = -1
        levels = _make_category_dtype(tuple(values.dictionary.to_pylist()), values.type.ordered)
        return [pd.Categorical.from_codes(codes, dtype=levels, validate=False)]
    is_numpy = dtype_backend != "pyarrow"
    if is_numpy and dtype in _ARRAY_CLASSES:
        numbers, is_missing = _split_numbers_and_mask(values)
        # The constructor would check its arguments again, which takes six times as long.
        array_type = getattr(pd.arrays, _ARRAY_CLASSES[dtype])
        make_array = getattr(array_type, "_simple_new", array_type)
        return [
            make_array(numbers[column_slice], is_missing[column_slice])
            for column_slice in column_slices
        ]
    if is_numpy and dtype == "date":
        # Days and lists are one array for all columns.
        # pandas holds days as instants at midnight.
        return np.array(values.cast(pa.timestamp("us")))
    if is_numpy and dtype == "list<string>":
        return as_tuples(values)
    pandas_dtype: Any = _PANDAS_DTYPES.get(dtype) if is_numpy else None
    if pandas_dtype is None:
        values = values.cast(_FILE_TYPES.get(values.type, values.type))
        pandas_dtype = pd.ArrowDtype(values.type)
    array = pandas_dtype.__from_arrow__(values)
    array = array.copy() if dtype == "timestamp" else array
    return [array[column_slice] for column_slice in column_slices]


def _split_numbers_and_mask(array: pa.Array) -> tuple[Array, Array]:
    """Return the values of an Arrow array and a mask of missing values, as new NumPy arrays."""
    is_missing, buffer_bytes = _make_missing_mask(array), array.buffers()[1] if len(array) else b""
    if array.type == pa.bool_():
        return _unpack_bits(buffer_bytes, array) & ~is_missing, is_missing
    numbers = np.frombuffer(buffer_bytes, array.type.to_pandas_dtype())
    return numbers[array.offset :][: len(array)].copy(), is_missing


def _make_missing_mask(array: pa.Array) -> Array:
    """Return a NumPy array of booleans: True where an Arrow array has a null."""
    if not array.null_count:
        return np.zeros(len(array), bool)
    return ~_unpack_bits(array.buffers()[0], array)


def _unpack_bits(buffer: pa.Buffer, array: pa.Array) -> Array:
    """Return the bits in a buffer of an Arrow array as a NumPy array of booleans."""
    # For few values this is ten times as fast as Arrow's own conversion.
    buffer_bytes, end = np.frombuffer(buffer, np.uint8), array.offset + len(array)
    return np.unpackbits(buffer_bytes, count=end, bitorder="little")[array.offset :].view(bool)


_PANDAS_DTYPES = {
    "string": pd.StringDtype(),
    "timestamp": pd.DatetimeTZDtype("us", ZoneInfo("UTC")),
}


@lru_cache(maxsize=256)
def _make_column_index(names: tuple[str, ...]) -> tuple[pd.Index, dict[str, RowIndex]]:
    """Return a pandas index of column names, and the position of each name."""
    # The index is cached; a frame gets a view of it.
    positions = {name: np.array([position]) for position, name in enumerate(names)}
    return pd.Index(names, dtype="str"), positions


@lru_cache(maxsize=256)
def _make_category_dtype(levels: tuple[str, ...], ordered: bool) -> pd.CategoricalDtype:
    return pd.CategoricalDtype(pd.Index(levels, dtype="str"), ordered)


def as_tuples(column: pa.Array | pa.ChunkedArray) -> Array:
    """Convert an Arrow column of lists to a NumPy array of tuples; null becomes ``pd.NA``.

    Examples
    --------
    >>> as_tuples(pa.chunked_array([[["a", "b"], [], None]])).tolist()
    [('a', 'b'), (), <NA>]
    """
    lists = column.to_numpy(zero_copy_only=False)
    cells = (pd.NA if values is None else tuple(values.tolist()) for values in lists)
    return np.fromiter(cells, object, len(lists))
