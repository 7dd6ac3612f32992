"""Build the columns of one declared table: typed, denied numbers masked, described."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import cache

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from aatoolkit._util.text import json_text
from aatoolkit.availability.detect import Signal
from aatoolkit.jsontree.coerce import Array
from aatoolkit.jsontree.grouping import RowIndex
from aatoolkit.metadata import attrs
from aatoolkit.metadata.recipe import read_from
from aatoolkit.normalizer.branch import Found
from aatoolkit.normalizer.drift import DriftReport
from aatoolkit.normalizer.keys import KeyCounter
from aatoolkit.normalizer.masking import (
    WHY,
    EngineRows,
    denies_any,
    is_measure,
    mask_denied,
    rows_by_engine,
)
from aatoolkit.normalizer.row_statements import describer
from aatoolkit.normalizer.rows import TableRows, held
from aatoolkit.sections.section import Column


def build_table(
    rows: TableRows,
    before: str,
    report: DriftReport,
    signals: list[Signal],
    source: attrs.Source,
    keys: KeyCounter,
) -> tuple[pa.Table, attrs.FrameMetadata]:
    """Build one table and the metadata of its columns; report where the answer differs."""
    table = rows.table
    if rows.absent and not table.is_optional:
        report.record("absent", rows.absent, 1)
    for cursor, rows_there in rows.beyond():
        report.record_values(cursor, rows_there, "new", f"{table.rows.path}[]")
    known: dict[str, attrs.ColumnMetadata] = {}
    found = {c.name: _column(rows, c, report, source.host) for c in table.columns}
    arrays = {name: array for name, (array, _) in found.items()}
    may_deny, engines = denies_any(signals), arrays.get("engine")
    engine_rows = cache(lambda: rows_by_engine(engines, signals))
    describe = describer(table, before, signals, dict(arrays))
    for column in table.columns:
        array, absent = found[column.name]
        if may_deny and is_measure(table, column):
            array = _mask(array, engine_rows, rows, column, signals, report)
        arrays[column.name], measured = array, array.null_count < len(array)
        known[column.name] = describe(column, absent, measured, _json_path_of(rows, column))
    arrow = _keyed(arrays, rows, report, keys)
    recipe = read_from(0, f"{before}{table.name}")
    return arrow, attrs.FrameMetadata(known, tuple(table.key), (source,), recipe=recipe)


def _column(
    rows: TableRows, column: Column, report: DriftReport, host: str | None
) -> tuple[Array, bool]:
    """Build one column of a table; return also whether the answer lacks its field."""
    found = rows.find(column.source or "")
    absent = bool(rows.absent) or (
        rows.size > 0 and all(cursor.field_absent for cursor, _ in found)
    )
    if absent and column.source == "$.domain" and host is not None:
        return pa.array([host] * rows.size, pa.string()), False
    absent = absent and not (column.optional and not rows.absent)
    if absent and not rows.absent:
        report.record("absent", column.pattern, rows.size)
    parsed = [rows.read(column, cursor) for cursor, _ in found]
    array = rows.column(parsed, found)
    for (cursor, index), one in zip(found, parsed, strict=True):
        if len(one.missing):
            report.keep(cursor, held(index, one.missing), "missing")
        if len(one.odd):
            report.record_values(cursor, held(index, one.odd), "wrong type", column.pattern)
    if column.dtype == "category":
        array = _to_category(array, column, found, report)
    if column.null is not None:
        array = pc.fill_null(array, column.null)
    return array, absent or rows.is_null


def _mask(
    array: Array,
    engine_rows: Callable[[], list[EngineRows]],
    rows: TableRows,
    column: Column,
    signals: list[Signal],
    report: DriftReport,
) -> Array:
    """Mask the numbers of a column that the answer denies, and keep them in ``extra``."""
    path = _json_path_of(rows, column)
    array, denied = mask_denied(array, engine_rows, rows.table, column, signals, path)
    found = rows.find(column.source or "")
    for number, (cursor, _) in enumerate(found if denied else ()):
        which, there = rows.source_rows(found)
        report.keep(cursor, np.unique(there[denied][which[denied] == number]), WHY)
    return array


def _json_path_of(rows: TableRows, column: Column) -> Callable[[int], str]:
    """Return a function that gives the JSON path of a column's value in a row."""
    known: list[tuple[RowIndex, RowIndex]] = []

    def path(row: int) -> str:
        found = rows.find(column.source or "")
        if not known:  # few columns are checked
            known.append(rows.source_rows(found))
        which, there = known[0]
        cursor, _ = found[int(which[row])]
        return cursor.path(int(there[row]))

    return path


def _to_category(
    text: Array, column: Column, found: list[Found], report: DriftReport
) -> pa.DictionaryArray:
    """Convert text to a category; undeclared levels come last, if the levels have no order."""
    declared = _levels(column.levels)
    whole = text.combine_chunks() if isinstance(text, pa.ChunkedArray) else text
    codes = pc.index_in(whole, declared)
    strange = whole.null_count < codes.null_count
    if strange:
        new = sorted(set(pc.unique(whole).drop_null().to_pylist()) - set(column.levels))
        levels = pa.array(new, pa.string())
        count = codes.null_count - whole.null_count
        report.record("new level", column.pattern, count, json_text(new[0]))
        if column.ordered:
            for cursor, index in found:
                there = pc.indices_nonzero(pc.is_in(cursor.to_arrow("category")[0], levels))
                report.keep(cursor, held(index, there.to_numpy().astype(np.int64)), "new level")
        else:
            declared = pa.concat_arrays([declared, levels])
            codes = pc.index_in(whole, declared)
    return pa.DictionaryArray.from_arrays(codes, declared, ordered=column.ordered)


@cache
def _levels(levels: tuple[str, ...]) -> pa.Array:
    return pa.array(levels, pa.string())


def _keyed(
    arrays: Mapping[str, Array], rows: TableRows, report: DriftReport, keys: KeyCounter
) -> pa.Table:
    """Build the table, with a column ``_row`` if its key is not unique."""
    table, arrow = rows.table, pa.table(arrays)
    if not table.key:
        return arrow
    place = f"{table.name}({', '.join(table.key)})"
    empty = max(arrays[name].null_count for name in table.key)
    if empty:
        report.record("null key", place, empty)
    different = keys.count(rows, arrays)
    if different == arrow.num_rows:
        return arrow
    report.record("duplicate key", place, arrow.num_rows - different)
    return arrow.append_column("_row", pa.array(np.arange(arrow.num_rows)))
