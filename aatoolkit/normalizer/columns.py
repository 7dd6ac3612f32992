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

from aatoolkit._util.text import to_json_text
from aatoolkit.availability.detect import Signal
from aatoolkit.jsontree.coerce import (
    ARROW_TYPE_BY_DTYPE,
    MEMORY_POOL,
    make_exact_array,
    parse_values,
)
from aatoolkit.jsontree.vectors import MISSING, RowIndex, Vector
from aatoolkit.metadata import attrs
from aatoolkit.metadata.recipe import READ
from aatoolkit.normalizer.column_availability import DENIED_REASON, TableAvailability
from aatoolkit.normalizer.rows import DriftReport, TableRows, take_values
from aatoolkit.sections.section import Column

Array = np.ndarray[Any, Any]

ColumnValues = tuple[Column, Vector, RowIndex]
"""A column, a vector of its values, and for each row of the table the position of the row's value
in the vector, or -1.
"""

ColumnBlock = tuple[str, pa.Array, Sequence[str]]
"""A dtype; an array with all values of the first column, then of the second column and so on; and
the names of these columns.
"""

_FEW_ROWS = 1000
"""Up to this number of rows, columns of one dtype are converted together: calling a function then
takes longer than its work on the rows.
"""


class BuiltTable:
    """A table of a response, with typed columns and their metadata.

    The metadata says, among other things, which columns could be measured.
    """

    def __init__(
        self,
        table_rows: TableRows,
        name: str,  # in the metadata of frames
        signals: list[Signal],  # what the response says about availability
        response_source: attrs.Source,
        drift_report: DriftReport,  # collects the differences from the declaration
    ) -> None:
        self.table_rows = table_rows
        self.name = name
        self._response_source = response_source
        self.table = table_rows.table
        self.row_count = table_rows.row_count
        self._signals = signals
        self.absent_column_names: set[str] = set()
        self._blocks: list[ColumnBlock] = []
        self._block_position_by_name = dict.fromkeys(self.table.names, (0, 0))
        if table_rows.absent_path and not self.table.is_optional:
            drift_report.record("absent", table_rows.absent_path, 1)
        column_values_by_group: dict[str, list[ColumnValues]] = {}
        for column in self.table.columns:
            vector, row_index = table_rows.get_values(column.source or "")
            if self._must_fill_with_host(column, vector, drift_report):
                host_array = pa.array([response_source.host] * self.row_count, pa.string())
                self._blocks.append(("string", host_array, [column.name]))
            else:
                is_converted_alone = (
                    column.name in table_rows.plan.separate_column_names
                    or self.row_count > _FEW_ROWS
                )
                values_of_group = column_values_by_group.setdefault(
                    column.name if is_converted_alone else column.dtype, []
                )
                values_of_group.append((column, vector, row_index))
        for column_group in column_values_by_group.values():
            if not self._convert_column_group(column_group):
                for column_values in column_group:
                    self._convert_column(*column_values, drift_report)
        for block_number, (_, _, column_names) in enumerate(self._blocks):
            self._block_position_by_name |= {
                name: (block_number, position) for position, name in enumerate(column_names)
            }
        availability = self._make_availability()
        if self.row_count and availability.may_state_unmeasured:
            self._mask_unmeasured_numbers(availability, drift_report)

    def _make_availability(self) -> TableAvailability:
        """Return an object that finds out which columns and rows could be measured."""
        return TableAvailability(
            self.table_rows.plan, self._signals, self.get_array, self.row_count
        )

    def _must_fill_with_host(
        self, column: Column, vector: Vector, drift_report: DriftReport
    ) -> bool:
        """Return whether a column is to be filled with the name of the host (the domain).

        That is so if the column is declared for the response's field ``domain``, and the response
        lacks this field. Another column whose field is absent is recorded in ``drift_report``.
        """
        table_rows = self.table_rows
        if table_rows.absent_path or (self.row_count and vector.is_absent):
            if column.source == "$.domain" and self._response_source.host is not None:
                return True
            if table_rows.absent_path or not column.optional:
                self.absent_column_names.add(column.name)
                if not table_rows.absent_path:
                    drift_report.record("absent", column.pattern, self.row_count)
        if table_rows.is_null:
            self.absent_column_names.add(column.name)
        return False

    def _convert_column_group(self, column_group: Sequence[ColumnValues]) -> bool:
        """Convert several columns of one dtype to one Arrow array; return whether this succeeded.

        It fails if a value does not fit the dtype.
        """
        column = column_group[0][0]
        if column.name in self.table_rows.plan.parsed_column_names:
            return False
        value_types = set().union(*[vector.types for _, vector, _ in column_group])
        value_lists = [take_values(vector, row_index) for _, vector, row_index in column_group]
        cell_values = (
            value_lists[0] if len(value_lists) == 1 else [*chain.from_iterable(value_lists)]
        )
        try:
            block_array = make_exact_array(cell_values, value_types, column.dtype)
        except (ValueError, OverflowError):
            return False
        if column.dtype == "category":
            null_count = block_array.null_count
            block_array = encode_categories(block_array, column)
            if block_array.null_count > null_count:
                return False
        self._blocks.append(
            (column.dtype, block_array, [column.name for column, _, _ in column_group])
        )
        return True

    def _convert_column(
        self, column: Column, vector: Vector, row_index: RowIndex, drift_report: DriftReport
    ) -> None:
        """Convert one column; values that do not fit its dtype become missing.

        These values are recorded in ``drift_report``. ``vector`` has all values of the response at
        the path of the column, and ``row_index`` has for each row the position of its value there.
        """

        def keep_positions_of_table_rows(vector_positions: Sequence[int]) -> RowIndex:
            """Return those of ``vector_positions`` whose value in ``vector`` is in a table row."""
            positions_array = np.asarray(vector_positions, np.int64)
            return (
                positions_array[np.isin(positions_array, row_index)]
                if len(positions_array)
                else positions_array
            )

        value_with_year = None
        if column.year is not None:
            values_with_year = self.table_rows.get_values(column.year)[0].values
            value_with_year = next(
                (value for value in values_with_year if value is not MISSING), None
            )
        parsed_column = parse_values(vector.values, column, value_with_year)
        drift_report.add_extra(
            vector, keep_positions_of_table_rows(parsed_column.missing_positions), "missing"
        )
        # The availability of the column stays as the response states it: a value of a wrong type,
        # as "12" for 12, may well have been measured. Its cell is missing, as if it were null, and
        # so is a sum over it.
        drift_report.add_extra(
            vector,
            keep_positions_of_table_rows(parsed_column.invalid_positions),
            "wrong type",
            column.pattern,
        )
        column_array = parsed_column.array
        if row_index is not vector.level.row_positions:
            column_array = pc.take(
                column_array, pa.array(row_index, mask=row_index < 0), memory_pool=MEMORY_POOL
            )
        if column.valid is not None:
            valid_flags = take_values(*self.table_rows.get_values(column.valid.lstrip("!")))
            is_masked = np.array([flag == (column.valid[0] == "!") for flag in valid_flags], bool)
            drift_report.add_extra(
                vector, np.unique(row_index[is_masked & (row_index >= 0)]), "missing"
            )
            column_array = pc.if_else(is_masked, pa.scalar(None, column_array.type), column_array)
        if column.null is not None:
            column_array = pc.fill_null(column_array, column.null)
        if column.dtype == "category":
            encoded_array = encode_categories(column_array, column)
            undeclared_levels = sorted(
                {*column_array.unique().to_pylist()} - {*column.levels, None}
            )
            if undeclared_levels:
                undeclared_count = encoded_array.null_count - column_array.null_count
                drift_report.record(
                    "new level",
                    column.pattern,
                    undeclared_count,
                    to_json_text(undeclared_levels[0]),
                )
            if undeclared_levels and column.ordered:
                undeclared_positions = [
                    position
                    for position, value in enumerate(vector.values)
                    if value in undeclared_levels
                ]
                drift_report.add_extra(
                    vector, keep_positions_of_table_rows(undeclared_positions), "new level"
                )
            elif undeclared_levels:  # undeclared levels come last
                encoded_array = encode_categories(column_array, column, undeclared_levels)
            column_array = encoded_array
        self._blocks.append((column.dtype, column_array, [column.name]))

    def _mask_unmeasured_numbers(
        self, availability: TableAvailability, drift_report: DriftReport
    ) -> None:
        """Replace numbers by missing values where the response says that they were not measured."""
        for block_number, (dtype, array, column_names) in enumerate(self._blocks):
            has_value_mask = ~_make_missing_mask(array).reshape(len(column_names), self.row_count)
            unmeasured_mask = np.zeros_like(has_value_mask)
            for position, name in enumerate(column_names):
                if name not in self.table_rows.plan.measure_column_names:
                    continue
                column = self.table[name]
                find_path = self.table_rows.make_path_finder(column)
                is_unmeasured = unmeasured_mask[position] = availability.mask_unmeasured_rows(
                    column, has_value_mask[position], find_path
                )
                if is_unmeasured.any():
                    vector, row_index = self.table_rows.get_values(column.source or "")
                    drift_report.add_extra(
                        vector, np.unique(row_index[is_unmeasured]), DENIED_REASON
                    )
            if unmeasured_mask.any():
                masked_array = pc.if_else(
                    unmeasured_mask.ravel(), pa.scalar(None, array.type), array
                )
                self._blocks[block_number] = dtype, masked_array, column_names

    def check_key(self, drift_report: DriftReport) -> None:
        """Record in ``drift_report`` how many rows have no key, or the key of another row.

        If rows have equal keys, add the column ``_row`` with row numbers.
        """
        if not self.table.key:
            return
        key_path = f"{self.table.name}({', '.join(self.table.key)})"
        key_arrays = [self.get_array(name) for name in self.table.key]
        null_count = max(array.null_count for array in key_arrays)
        if null_count:
            drift_report.record("null key", key_path, null_count)
        distinct_count = _count_distinct(key_arrays)
        if distinct_count < self.row_count:
            drift_report.record("duplicate key", key_path, self.row_count - distinct_count)
            self._block_position_by_name["_row"] = len(self._blocks), 0
            self._blocks.append(("Int64", pa.array(np.arange(self.row_count)), ["_row"]))

    def get_array(self, column_name: str) -> pa.Array:
        """Return the values of a column as an Arrow array."""
        block_number, position_in_block = self._block_position_by_name[column_name]
        return self._blocks[block_number][1].slice(
            position_in_block * self.row_count, self.row_count
        )

    @cached_property
    def arrow_table(self) -> pa.Table:
        """The table as an Arrow table."""
        arrays = map(self.get_array, self._block_position_by_name)
        return pa.table(
            [array.cast(_FILE_TYPE_BY_MEMORY_TYPE.get(array.type, array.type)) for array in arrays],
            [*self._block_position_by_name],
        )

    def to_frame(self, dtype_backend: str, responses: Iterable[attrs.HeldResponse]) -> pd.DataFrame:
        """Return the table as a DataFrame with metadata: units, availability and sources.

        ``responses`` are kept in memory, so that numbers can be traced to them later.
        """
        column_names = tuple(self._block_position_by_name)
        make_frame = partial(_make_frame, column_names, self._blocks, self.row_count, dtype_backend)
        return attrs.make_lazy_frame(make_frame, lambda: self.metadata, responses)

    @cached_property
    def metadata(self) -> attrs.FrameMetadata:
        """The metadata of the table and its columns."""
        availability = self._make_availability()
        metadata_by_column = {
            column.name: availability.make_column_metadata(
                column,
                f"{self.name}.{column.name}",
                column.name in self.absent_column_names,
                self.get_array(column.name).null_count < self.row_count,
                self.table_rows.make_path_finder(column),
            )
            for column in self.table.columns
        }
        return attrs.FrameMetadata(
            metadata_by_column,
            tuple(self.table.key),
            (self._response_source,),
            recipe=[READ, 0, self.name],
        )


def _count_distinct(key_arrays: Sequence[pa.Array]) -> int:
    """Return the number of distinct combinations of values in some columns of equal length."""
    if len(key_arrays[0]) <= _FEW_ROWS:  # `to_pylist` takes many times as long
        value_lists = [
            key_array.to_pylist()
            if key_array.null_count
            else key_array.to_numpy(zero_copy_only=False).tolist()
            for key_array in key_arrays
        ]
        return len({*zip(*value_lists, strict=True)})
    # Grouping by Arrow or in Python takes nearly as much memory as the response.
    distinct_codes = row_codes = np.zeros(len(key_arrays[0]), np.int64)
    for key_array in key_arrays:
        encoded_array = pc.dictionary_encode(key_array, "encode", memory_pool=MEMORY_POOL)
        value_codes = encoded_array.indices.to_numpy(zero_copy_only=False)
        distinct_codes, row_codes = np.unique(
            row_codes * len(key_array) + value_codes, return_inverse=True
        )
    return len(distinct_codes)


def encode_categories(texts: pa.Array, column: Column, new_levels: Sequence[str] = ()) -> pa.Array:
    """Convert texts to an Arrow array of categories; texts that are no category become null.

    The categories are the declared levels of the column, then ``new_levels``.
    """
    all_levels = _make_level_array((*column.levels, *new_levels))
    level_codes = pc.index_in(texts, all_levels.cast(texts.type), memory_pool=MEMORY_POOL)
    return pa.DictionaryArray.from_arrays(level_codes, all_levels, ordered=column.ordered)


@lru_cache(maxsize=256)
def _make_level_array(levels: tuple[str, ...]) -> pa.Array:
    """Return the levels (values) of a category as an Arrow array."""
    return pa.array(levels, pa.string())


# --- frames ----------------------------------------------------------------------------------

_FILE_TYPE_BY_MEMORY_TYPE = {pa.large_string(): pa.string()}
"""The Arrow types that are written to files, by the types in memory."""

_DTYPE_BY_ARROW_TYPE = {
    **{
        ARROW_TYPE_BY_DTYPE[name]: name
        for name in ("string", "Int64", "Float64", "boolean", "date", "timestamp")
    },
    pa.large_string(): "string",
    pa.int32(): "Int64",
    pa.timestamp("us"): "date",
}

_CLASS_BY_DTYPE = {"Int64": "IntegerArray", "Float64": "FloatingArray", "boolean": "BooleanArray"}
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
    for column_name, column in zip(table.column_names, table.columns, strict=True):
        # An array of one chunk is not copied.
        array = column.chunk(0) if column.num_chunks == 1 else column.combine_chunks()
        dtype = _DTYPE_BY_ARROW_TYPE.get(array.type, "")
        if pa.types.is_dictionary(array.type):
            dtype = "category"
        elif pa.types.is_list(array.type):
            dtype = "list<string>"
        blocks.append((dtype, array, [column_name]))
    return _make_frame(tuple(table.column_names), blocks, table.num_rows, dtype_backend)


def _make_frame(
    column_names: tuple[str, ...], blocks: Sequence[ColumnBlock], row_count: int, dtype_backend: str
) -> pd.DataFrame:
    """Make a DataFrame from blocks, which are Arrow arrays with the values of several columns.

    ``column_names`` are the names of all columns, and ``row_count`` is the number of rows.
    """
    pandas_blocks = []
    column_index, positions_by_name = _make_index_and_positions(column_names)
    for dtype, array, block_names in blocks:
        column_positions = [positions_by_name[name] for name in block_names]
        converted_block = _convert_block(dtype, array, row_count, len(block_names), dtype_backend)
        if isinstance(converted_block, np.ndarray):  # pandas keeps NumPy arrays in two dimensions
            numpy_block = converted_block.reshape(len(block_names), row_count)
            if dtype == "date" and hasattr(pd.arrays.DatetimeArray, "_simple_new"):
                numpy_block = pd.arrays.DatetimeArray._simple_new(
                    numpy_block, dtype=numpy_block.dtype
                )
            pandas_blocks.append((numpy_block, np.concatenate(column_positions)))
        else:
            pandas_blocks += zip(converted_block, column_positions, strict=True)
    return internals.create_dataframe_from_blocks(  # type: ignore[no-any-return]
        pandas_blocks, pd.RangeIndex(range(row_count)), column_index.view()
    )


def _convert_block(
    dtype: str, arrow_values: pa.Array, row_count: int, column_count: int, dtype_backend: str
) -> Any:
    """Convert a block, an Arrow array of ``column_count`` columns, for pandas.

    The result is a list of pandas arrays, one per column, or one NumPy array for all columns.
    """
    column_slices = [
        slice(row_count * column_number, row_count * (column_number + 1))
        for column_number in range(column_count)
    ]
    if dtype == "category":
        level_codes, is_missing = _split_numbers_and_mask(arrow_values.indices)
        level_codes[is_missing] = -1
        category_dtype = _make_category_dtype(
            tuple(arrow_values.dictionary.to_pylist()), arrow_values.type.ordered
        )
        return [pd.Categorical.from_codes(level_codes, dtype=category_dtype, validate=False)]
    is_numpy_backend = dtype_backend != "pyarrow"
    if is_numpy_backend and dtype in _CLASS_BY_DTYPE:
        numbers, is_missing = _split_numbers_and_mask(arrow_values)
        # The constructor would check its arguments again, which takes six times as long.
        array_class = getattr(pd.arrays, _CLASS_BY_DTYPE[dtype])
        make_array = getattr(array_class, "_simple_new", array_class)
        return [
            make_array(numbers[column_slice], is_missing[column_slice])
            for column_slice in column_slices
        ]
    if is_numpy_backend and dtype == "date":
        # Days and lists are one array for all columns.
        # pandas holds days as instants at midnight.
        return np.array(arrow_values.cast(pa.timestamp("us")))
    if is_numpy_backend and dtype == "list<string>":
        return as_tuples(arrow_values)
    pandas_dtype: Any = _PANDAS_DTYPE_BY_NAME.get(dtype) if is_numpy_backend else None
    if pandas_dtype is None:
        arrow_values = arrow_values.cast(
            _FILE_TYPE_BY_MEMORY_TYPE.get(arrow_values.type, arrow_values.type)
        )
        pandas_dtype = pd.ArrowDtype(arrow_values.type)
    pandas_array = pandas_dtype.__from_arrow__(arrow_values)
    pandas_array = pandas_array.copy() if dtype == "timestamp" else pandas_array
    return [pandas_array[column_slice] for column_slice in column_slices]


def _split_numbers_and_mask(array: pa.Array) -> tuple[Array, Array]:
    """Return the values of an Arrow array and a mask of missing values, as new NumPy arrays."""
    is_missing = _make_missing_mask(array)
    buffer_bytes = array.buffers()[1] if len(array) else b""
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
    buffer_bytes = np.frombuffer(buffer, np.uint8)
    bit_count = array.offset + len(array)
    return np.unpackbits(buffer_bytes, count=bit_count, bitorder="little")[array.offset :].view(
        bool
    )


_PANDAS_DTYPE_BY_NAME = {
    "string": pd.StringDtype(),
    "timestamp": pd.DatetimeTZDtype("us", ZoneInfo("UTC")),
}


@lru_cache(maxsize=256)
def _make_index_and_positions(names: tuple[str, ...]) -> tuple[pd.Index, dict[str, RowIndex]]:
    """Return the column names as a pandas Index, and a dict from name to position.

    Each position is an array of length 1, as pandas needs it for a block of one column.
    """
    # The index is cached; a frame gets a view of it.
    positions = {name: np.array([position]) for position, name in enumerate(names)}
    return pd.Index(names, dtype="str"), positions


@lru_cache(maxsize=256)
def _make_category_dtype(levels: tuple[str, ...], ordered: bool) -> pd.CategoricalDtype:
    """Return the pandas dtype of a column of categories; ``levels`` are its possible values."""
    return pd.CategoricalDtype(pd.Index(levels, dtype="str"), ordered)


def as_tuples(column: pa.Array | pa.ChunkedArray) -> Array:
    """Convert an Arrow column of lists to a NumPy array of tuples; null becomes ``pd.NA``.

    Examples
    --------
    >>> as_tuples(pa.chunked_array([[["a", "b"], [], None]])).tolist()
    [('a', 'b'), (), <NA>]
    """
    list_cells = column.to_numpy(zero_copy_only=False)
    cells = (
        pd.NA if list_items is None else tuple(list_items.tolist()) for list_items in list_cells
    )
    return np.fromiter(cells, object, len(list_cells))
