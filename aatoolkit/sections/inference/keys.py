"""Find the columns that identify the rows of each table, and the rows that are totals."""

from __future__ import annotations

import re
from dataclasses import replace
from itertools import chain, combinations, takewhile

import numpy as np

from aatoolkit._util.lexicon import words_of
from aatoolkit._util.text import find_unused_name
from aatoolkit.jsontree.coerce import parse_currency
from aatoolkit.jsontree.paths import Elements, Entries, format_path, parse_path
from aatoolkit.jsontree.vectors import MISSING
from aatoolkit.sections.inference.draft_tables import DraftColumn, DraftTable, RowPositions
from aatoolkit.sections.inference.field_formats import FieldFormat, find_field_format
from aatoolkit.sections.inference.json_structure import bind_to_row
from aatoolkit.sections.inference.words import (
    is_id_name,
    is_measure_name,
    is_serial_number,
    split_name,
    to_singular,
)

_MAX_LABEL_LENGTH = 80
"""The greatest length of texts that are copied from enclosing rows into nested rows."""

_MAX_KEY_COLUMNS = 3
_MAX_KEY_CANDIDATES = 12
_NON_KEY_DTYPES = ("boolean", "list<string>", "Float64", "timestamp")
_TOTAL_LABEL_PATTERN = re.compile(
    r"[(\[*_\s]*(?:grand total|totals?|all\b.*|overall|sum|summe|gesamt|insgesamt"
    r"|combined|everything|Σ|total général|toplam|итого|всего|合计|総計)[)\]*_\s:]*",
    re.I,
)


def set_formats_and_keys(tables: list[DraftTable]) -> list[str]:
    """Find how to parse columns, which rows are totals, and which columns identify a row.

    The results are stored in the tables.

    Parameters
    ----------
    tables : list of DraftTable
        The tables, which are changed.

    Returns
    -------
    list of str
        Notes for people on rows with totals.
    """
    notes: list[str] = []
    year_path = None
    for table in tables:
        _inherit_columns(table, keys=True)
        if not table.columns:
            _add_position_column(table)
        for column in [*table.columns]:
            column.format = find_field_format(column.values, column.name)
            if column.format.parse == "month day":
                if year_path and not column.is_label:
                    column.format = replace(column.format, year=year_path)
                else:
                    column.format = FieldFormat("string", reason="text; days without a year")
            if column.format.parse == "money":
                _add_currency_column(column)
        notes += _find_total_rows(table)
        if not table.steps:
            year_path = _find_year_path(table)
            continue
        table.key = _find_key(table)
        if not table.key:
            label_column_names = [
                column.name for column in table.columns if column.is_label or column.is_inherited
            ]
            list_steps_around_row = takewhile(
                lambda step: isinstance(step, Elements), reversed(table.steps)
            )
            position_column_names = [
                _add_position_column(table, levels_up)
                for levels_up, _ in enumerate(list_steps_around_row)
            ]
            table.key = (
                (*label_column_names, *reversed(position_column_names))
                if position_column_names
                else ()
            )
    for table in tables:
        _inherit_columns(table, keys=False)
    return notes


# --- from enclosing rows ------------------------------------------------------------------------


def _inherit_columns(table: DraftTable, *, keys: bool) -> None:
    """Copy columns of the enclosing tables into a nested table.

    If ``keys`` is True, these are their key columns, which become its first columns. Otherwise,
    they are the columns that describe each nested row as well.
    """
    insert_position = 0
    for ancestor, ancestor_positions in [*table.iter_with_ancestors()][1:]:
        for column in ancestor.columns:
            is_copied = column.is_key if keys else _describes_nested_rows(column)
            own_column_paths = [own_column.path for own_column in table.columns]
            if is_copied and not column.is_inherited and column.path not in own_column_paths:
                inherited_column = _inherit_column(table, ancestor_positions, column)
                table.add_column(inherited_column, insert_position if keys else None)
                insert_position += 1


def _describes_nested_rows(column: DraftColumn) -> bool:
    """Return whether a column has short texts, days or booleans that hold for nested rows, too.

    The first and last times of a row do not.
    """
    is_time = column.dtype in ("date", "timestamp")
    texts = [value for value in column.values if isinstance(value, str)]
    return (
        len(column.draft_table.steps) > 0
        and not column.format.is_number
        and column.dtype != "list<string>"
        and column.valid_path is None
        and not (is_time and words_of("extreme_time") & {*split_name(column.name)})
        and all(len(text) <= _MAX_LABEL_LENGTH for text in texts)
    )


def _inherit_column(
    table: DraftTable, ancestor_positions: RowPositions, column: DraftColumn
) -> DraftColumn:
    """Return a copy of an enclosing table's column, with one value for each row of a nested table.

    Parameters
    ----------
    table : DraftTable
        The nested table.
    ancestor_positions : array of int
        For each row of the nested table, the position of the enclosing row.
    column : DraftColumn
        The column of the enclosing table.
    """
    column_name = column.name
    if column_name in table.column_names or column_name in words_of("bland"):
        table_word = column.draft_table.name.rstrip("_0123456789").rpartition("_")[2]
        column_name = f"{to_singular(table_word)}_{column_name}"
    row_values = [column.values[row_position] for row_position in ancestor_positions.tolist()]
    return DraftColumn(
        find_unused_name(column_name, table.column_names),
        _find_source(table, column),
        column.path,
        row_values,
        is_inherited=True,
        format=column.format,
    )


def _find_source(table: DraftTable, column: DraftColumn) -> str:
    """Return the path from a row of a nested table to a column of an enclosing table."""
    outer_steps = column.draft_table.steps
    steps_between = table.steps[len(outer_steps) : -1]
    has_relative_path = (
        table.steps[: len(outer_steps)] == outer_steps
        and isinstance(outer_steps[-1], Elements)
        and not any(isinstance(step, Entries) for step in steps_between)
    )
    if column.source[0] == "$":
        return column.source
    if not has_relative_path or column.source[0] == "[":
        return f"$.{format_path(bind_to_row(parse_path(column.path)))}"
    return "^" * (1 + sum(isinstance(step, Elements) for step in steps_between)) + column.source


def _add_position_column(table: DraftTable, levels_up: int = 0) -> str:
    """Add a column with the position of each row in its list; return the name of the column.

    If ``levels_up`` is 1, it is the position of the enclosing row in the list that contains that
    row, and so on for higher numbers.
    """
    row_set = [*table.row_set.iter_with_ancestors()][levels_up]
    positions = [row_set.row_keys[row] for row in table.row_set.find_enclosing_positions(row_set)]
    column_name = "position"
    if levels_up or column_name in table.column_names:
        column_name = find_unused_name("row" if levels_up else "row_number", table.column_names)
    column = DraftColumn(column_name, "^" * levels_up + "#0", table.path, positions)
    column.format = find_field_format(column.values, column_name)
    table.add_column(column, 0)
    return column_name


def _add_currency_column(column: DraftColumn) -> None:
    """Add a column with the currency, next to a column of amounts such as ``$5``."""
    table = column.draft_table
    amount_format = column.format
    currencies = [
        parse_currency(value) if isinstance(value, str) else value for value in column.values
    ]
    currency_column_name = find_unused_name(f"{column.name}_currency", table.column_names)
    currency_column = DraftColumn(currency_column_name, column.source, column.path, currencies)
    reason = "the signs or codes of the amounts"
    currency_column.format = FieldFormat("string", "currency", amount_format.missing, reason)
    table.add_column(currency_column, table.columns.index(column) + 1)


# --- totals -------------------------------------------------------------------------------------


def _find_total_rows(table: DraftTable) -> list[str]:
    """Find the rows with totals, such as a row ``All``, and store their positions in the table.

    Return notes for people on the rows with totals.
    """
    text_columns = [column for column in table.columns if column.format.is_text]
    numbers_of_count_columns = [column.numbers for column in table.columns if column.may_be_counts]
    for column in text_columns if table.steps else ():
        total_row_positions = [
            row_position
            for row_position, value in enumerate(column.values)
            if type(value) is str and _TOTAL_LABEL_PATTERN.fullmatch(value)
        ]
        response_positions = table.response_positions
        is_highest_flags = [
            not (
                numbers[response_positions == response_positions[row_position]]
                > numbers[row_position]
            ).any()
            for row_position in total_row_positions
            for numbers in numbers_of_count_columns
        ]
        has_one_total = len({*response_positions[total_row_positions].tolist()}) == len(
            total_row_positions
        )
        if is_highest_flags and all(is_highest_flags) and has_one_total:
            total_labels = {column.values[row_position] for row_position in total_row_positions}
            table.total_labels_by_column = {column.name: tuple(sorted(total_labels))}
            table.total_row_positions = np.array(total_row_positions, np.intp)
            label_text = repr(", ".join(sorted(total_labels)))
            return [f"{table.name}: {column.name} {label_text} sums up the other rows"]
    return []


# --- keys ---------------------------------------------------------------------------------------


def _find_key(table: DraftTable) -> tuple[str, ...]:
    """Return the smallest set of column names that identifies a row within its response.

    The names are in a tuple, which is empty if there is no such set.
    """
    outer_columns = [
        column for column in table.columns if column.is_inherited or column.source[0] == "@"
    ]
    key_candidates = [
        column
        for column in table.columns
        if column not in outer_columns and (column.is_label or _may_be_key(column))
    ]
    sorted_candidates = sorted(key_candidates, key=_make_key_sort_key)[:_MAX_KEY_CANDIDATES]
    key_lengths = range(0 if outer_columns else 1, _MAX_KEY_COLUMNS + 1)
    for columns in chain.from_iterable(
        combinations(sorted_candidates, key_length) for key_length in key_lengths
    ):
        key_columns = [*outer_columns, *columns]
        if _are_rows_unique(table, key_columns):
            return tuple(column.name for column in key_columns)
    return ()


def _may_be_key(column: DraftColumn) -> bool:
    """Return whether a column may identify rows: it has texts or ids, and no missing values.

    The values need not be distinct, because several columns may identify rows together.
    """
    field_format = column.format
    last_word = split_name(column.name)[-1:]
    has_missing_values = any(value is None or value is MISSING for value in column.values)
    if (
        has_missing_values
        or column.valid_path
        or field_format.missing
        or field_format.dtype in _NON_KEY_DTYPES
    ):
        return False
    if field_format.dtype == "Int64":
        return is_id_name(column.name) or bool({*last_word} & words_of("serial"))
    is_no_measure_name = not is_measure_name(column.path.rpartition(".")[2])
    return field_format.is_text or is_no_measure_name or field_format.parse == "currency"


def _make_key_sort_key(column: DraftColumn) -> tuple[bool, bool, bool, bool, int]:
    """Return a sort key for columns; those that probably identify rows, such as ids, come first."""
    name_words = split_name(column.name)
    is_id_name = name_words[-1] in words_of("identifier") or is_serial_number(name_words)
    # A number that only counts the rows of each response identifies nothing.
    row_keys = column.draft_table.row_set.row_keys
    value_texts = [str(value).lstrip("#") for value in column.values]
    is_row_number = any(
        value_texts == [str(key + first_position) for key in row_keys if type(key) is int]
        for first_position in (0, 1)
    )
    return (
        not column.is_label,
        is_row_number,
        not is_id_name,
        column.dtype == "Int64",
        len(name_words),
    )


def _are_rows_unique(table: DraftTable, columns: list[DraftColumn]) -> bool:
    """Return whether the rows of each response are distinct in some columns."""
    value_texts = (map(repr, column.values) for column in columns)
    row_keys = [*zip(table.response_positions.tolist(), *value_texts, strict=True)]
    return len({*row_keys}) == len(row_keys)


# --- years --------------------------------------------------------------------------------------


def _find_year_path(table: DraftTable) -> str | None:
    """Return the path of a year, for dates without a year such as ``Nov 3``; None if there is none.

    It is the last day of a period, or a year, that is a top-level field of each response.
    """
    paths = (
        f"$.{column.source}"
        for word in ("end", "to", "until", "through", "year")
        for column in table.columns
        if split_name(column.field_name)[-1:] == [word]
        and column.dtype in (("Int64",) if word == "year" else ("date", "timestamp"))
        and column.format.parse in (None, "utc")
        and None not in column.values
        and MISSING not in column.values
    )
    return next(paths, None)
