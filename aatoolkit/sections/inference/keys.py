"""Find the columns that identify the rows of each table, and the rows that are totals."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from itertools import chain, combinations, takewhile
from typing import Any

import numpy as np

from aatoolkit._util.lexicon import words_of
from aatoolkit._util.text import find_unused_name
from aatoolkit.jsontree.coerce import parse_currency
from aatoolkit.jsontree.paths import Elements, Entries, Field, Step, format_path, parse_path
from aatoolkit.jsontree.vectors import MISSING
from aatoolkit.sections.inference.axes import bind_to_row
from aatoolkit.sections.inference.findings import DraftColumn, DraftTable, RowPositions
from aatoolkit.sections.inference.readings import FieldFormat, find_format, try_month_day_format
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


def set_keys(tables: list[DraftTable], year_path: str | None) -> list[str]:
    """Find how to parse columns, which rows are totals, and which columns identify a row.

    The results are stored in the tables.

    Parameters
    ----------
    tables : list of DraftTable
        The tables, which are changed.
    year_path : str or None
        The path to the year of days such as ``Nov 3``.

    Returns
    -------
    list of str
        Notes for people on rows with totals.
    """
    notes: list[str] = []
    for table in tables:
        _inherit_keys(table)
        if not table.columns:
            _add_position_column(table)
        for column in [*table.columns]:
            column.format = find_format(column.values, column.name)
            if year_path and column.format.dtype == "string" and not column.is_label:
                column.format = try_month_day_format(column.values, column.format, year_path)
            if column.format.parse == "money":
                _add_currency_column(column)
        notes += _find_total_rows(table)
        if not table.steps:
            continue
        table.key = _find_key(table)
        if not table.key and isinstance(table.steps[-1], Elements):
            label_names = [
                column.name for column in table.columns if column.is_label or column.is_inherited
            ]
            position_names = [
                _add_position_column(table, levels_up)
                for levels_up in range(_count_nested_arrays(table))
            ]
            table.key = (*label_names, *reversed(position_names))
    for table in tables:
        _inherit_text_columns(table)
    return notes


# --- from enclosing rows ------------------------------------------------------------------------


def _inherit_keys(table: DraftTable) -> None:
    """Copy the key columns of the enclosing table into a nested table, as its first columns.

    The enclosing table is the one whose rows contain the rows of the nested table.
    """
    insert_position = 0
    own_paths = {column.path for column in table.columns}
    for ancestor, ancestor_rows in [*table.iter_with_ancestors()][1:]:
        for column in map(ancestor.__getitem__, ancestor.key):
            is_copied = column.source[0] != "@" and not column.is_inherited
            if is_copied and column.path not in own_paths:
                table.add_column(_inherit_column(table, ancestor_rows, column), insert_position)
                insert_position += 1


def _inherit_text_columns(table: DraftTable) -> None:
    """Copy columns of the enclosing table into a nested table: short texts, days and booleans.

    The enclosing table is the one whose rows contain the rows of the nested table. Its columns of
    first and last times are not copied, because they do not hold for each nested row.
    """
    first_last_words = words_of("extreme_time")
    for ancestor, ancestor_rows in [*table.iter_with_ancestors()][1:]:
        own_paths = {column.path for column in table.columns}
        for column in ancestor.columns if ancestor.steps else ():
            is_inheritable = (
                column.source[0] != "@"
                and not column.is_inherited
                and not column.format.is_number
                and column.dtype != "list<string>"
                and column.path not in own_paths
                and column.valid_path is None
                and not (
                    column.dtype in ("date", "timestamp")
                    and first_last_words & {*split_name(column.name)}
                )
            )
            texts = [value for value in column.values if isinstance(value, str)]
            is_short = all(len(text) <= _MAX_LABEL_LENGTH for text in texts)
            if is_inheritable and is_short:
                table.add_column(_inherit_column(table, ancestor_rows, column))


def _inherit_column(
    table: DraftTable, ancestor_rows: RowPositions, column: DraftColumn
) -> DraftColumn:
    """Return a copy of an enclosing table's column, with one value for each row of a nested table.

    Parameters
    ----------
    table : DraftTable
        The nested table.
    ancestor_rows : array of int
        For each row of the nested table, the position of the enclosing row.
    column : DraftColumn
        The column of the enclosing table.
    """
    name = column.name
    if name in table.column_names or name in words_of("bland"):
        table_word = column.draft_table.name.rstrip("_0123456789").rpartition("_")[2]
        name = f"{to_singular(table_word)}_{name}"
    values = [column.values[row] for row in ancestor_rows.tolist()]
    levels_up = _count_levels_up(table.steps, column.draft_table.steps)
    source = "^" * (levels_up or 0) + column.source
    if column.source[0] == "$":
        source = column.source
    elif levels_up is None or column.source[0] == "[":
        source = f"$.{format_path(bind_to_row(parse_path(column.path)))}"
    return DraftColumn(
        find_unused_name(name, table.column_names),
        source,
        column.path,
        values,
        is_inherited=True,
        format=column.format,
    )


def _count_levels_up(row_steps: tuple[Step, ...], outer_steps: tuple[Step, ...]) -> int | None:
    """Return how many ``^`` a path needs that leads from a row to the row that contains it.

    Return None if no such path can be written.

    Parameters
    ----------
    row_steps : tuple of Step
        The parsed path to the rows.
    outer_steps : tuple of Step
        The parsed path to the rows that contain them.
    """
    steps_below = row_steps[len(outer_steps) :]
    if (
        not outer_steps
        or not isinstance(outer_steps[-1], Elements)
        or row_steps[: len(outer_steps)] != outer_steps
    ):
        return None
    if any(isinstance(step, Entries) for step in steps_below[:-1]):
        return None
    array_count = sum(isinstance(step, Elements) for step in steps_below[:-1])
    return array_count + 1 if steps_below else None


def _add_position_column(table: DraftTable, levels_up: int = 0) -> str:
    """Add a column with the position of each row in its list; return the name of the column.

    If ``levels_up`` is 1, it is the position of the enclosing row in the list that contains that
    row, and so on for higher numbers.
    """
    parents = (
        table.parent_row_positions if len(table.parent_row_positions) else table.response_positions
    )
    row_counts: Counter[int] = Counter()
    positions = []
    for enclosing_row in parents.tolist():
        positions.append(row_counts[enclosing_row])
        row_counts[enclosing_row] += 1
    name = "position"
    if levels_up or name in table.column_names:
        name = find_unused_name("row" if levels_up else "row_number", table.column_names)
    column = DraftColumn(name, "^" * levels_up + "#0", table.path, positions)
    column.format = find_format(column.values, name)
    table.add_column(column, 0)
    return name


def _count_nested_arrays(table: DraftTable) -> int:
    """Return the number of arrays directly around a row, such as 2 in ``[[row, row], [row]]``."""
    return len([*takewhile(lambda step: isinstance(step, Elements), reversed(table.steps))])


def _add_currency_column(column: DraftColumn) -> None:
    """Add a column with the currency, next to a column of amounts such as ``$5``."""
    table = column.draft_table
    amount_format = column.format
    currencies = [
        parse_currency(value) if isinstance(value, str) else value for value in column.values
    ]
    name = find_unused_name(f"{column.name}_currency", table.column_names)
    currency_column = DraftColumn(name, column.source, column.path, currencies)
    reason = "the signs or codes of the amounts"
    currency_column.format = FieldFormat("string", "currency", amount_format.missing, reason)
    table.add_column(currency_column, table.columns.index(column) + 1)


# --- totals -------------------------------------------------------------------------------------


def _find_total_rows(table: DraftTable) -> list[str]:
    """Find the rows with totals, such as a row ``All``, and store their positions in the table.

    Return notes for people on the rows with totals.
    """
    text_columns = [column for column in table.columns if column.format.is_text]
    arrays_of_counts = [column.numbers for column in table.columns if column.may_be_counts]
    for column in text_columns if table.steps and arrays_of_counts else ():
        is_total_row = [
            type(value) is str and _TOTAL_LABEL_PATTERN.fullmatch(value) is not None
            for value in column.values
        ]
        rows_with_total = np.flatnonzero(is_total_row)
        responses_with_total = table.response_positions[rows_with_total].tolist()
        numbers_and_totals = [
            (numbers[table.response_positions == response_position], numbers[row])
            for row, response_position in zip(rows_with_total, responses_with_total, strict=True)
            for numbers in arrays_of_counts
        ]
        are_totals_highest = [
            not (numbers > total).any() for numbers, total in numbers_and_totals if len(numbers) > 2
        ]
        total_labels = {column.values[row] for row in rows_with_total}
        if (
            total_labels
            and len({*responses_with_total}) == len(responses_with_total)
            and are_totals_highest
            and all(are_totals_highest)
        ):
            table.total_labels_by_column = {column.name: tuple(sorted(total_labels))}
            table.total_row_positions = rows_with_total
            label_text = repr(", ".join(sorted(total_labels)))
            return [f"{table.name}: {column.name} {label_text} sums up the other rows"]
    return []


# --- keys ---------------------------------------------------------------------------------------


def _find_key(table: DraftTable) -> tuple[str, ...]:
    """Return the smallest set of column names that identifies a row within its response.

    The names are in a tuple, which is empty if there is no such set.
    """
    label_columns = [column for column in table.columns if column.is_label or column.is_inherited]
    key_candidates = [
        column for column in table.columns if column not in label_columns and _may_be_key(column)
    ]
    ranked_candidates = sorted(key_candidates, key=_key_sort_order)[:_MAX_KEY_CANDIDATES]
    key_lengths = range(0 if label_columns else 1, _MAX_KEY_COLUMNS + 1)
    for columns in chain.from_iterable(
        combinations(ranked_candidates, key_length) for key_length in key_lengths
    ):
        key_columns = [*label_columns, *columns]
        if _are_rows_unique(table, key_columns):
            # Of several parallel lists of texts, only those that are needed name the rows.
            for column in reversed(label_columns):
                other_columns = [
                    other_column for other_column in key_columns if other_column is not column
                ]
                is_parallel = not column.is_inherited and column.source[0] != "@"
                if is_parallel and other_columns and _are_rows_unique(table, other_columns):
                    key_columns = other_columns
            return tuple(column.name for column in key_columns)
    return ()


def _may_be_key(column: DraftColumn) -> bool:
    """Return whether a column may identify rows: it has texts or ids, and no missing values.

    The values need not be distinct, because several columns may identify rows together.
    """
    field_format = column.format
    last_word = split_name(column.name)[-1:]
    has_gaps = any(value is None or value is MISSING for value in column.values)
    if (
        has_gaps
        or column.valid_path
        or field_format.missing
        or field_format.dtype in _NON_KEY_DTYPES
    ):
        return False
    if field_format.dtype == "Int64":
        return is_id_name(column.name) or bool({*last_word} & words_of("serial"))
    is_non_measure = not is_measure_name(column.path.rpartition(".")[2])
    return field_format.is_text or is_non_measure or field_format.parse == "currency"


def _key_sort_order(column: DraftColumn) -> tuple[bool, bool, bool, int]:
    """Return a sort key for columns; those that probably identify rows, such as ids, come first."""
    words = split_name(column.name)
    is_id = words[-1] in words_of("identifier") or is_serial_number(words)
    # A number that only counts the rows of each response identifies nothing.
    rows_and_responses = [*enumerate(column.draft_table.response_positions.tolist())]
    first_row_by_response = {response: row for row, response in reversed(rows_and_responses)}
    positions = [row - first_row_by_response[response] for row, response in rows_and_responses]
    texts = [str(value).lstrip("#") for value in column.values]
    is_position = any(
        texts == [str(position + first_position) for position in positions]
        for first_position in (0, 1)
    )
    return is_position, not is_id, column.dtype == "Int64", len(words)


def _are_rows_unique(table: DraftTable, columns: list[DraftColumn]) -> bool:
    """Return whether the rows of each response are distinct in some columns."""
    value_texts = (map(repr, column.values) for column in columns)
    row_keys = [*zip(table.response_positions.tolist(), *value_texts, strict=True)]
    return len({*row_keys}) == len(row_keys)


# --- years --------------------------------------------------------------------------------------


def find_year_path(documents: list[Any]) -> str | None:
    """Find the path of a field with a year, for dates without a year such as ``Nov 3``.

    Parameters
    ----------
    documents : list
        The decoded JSON of the responses.

    Returns
    -------
    str or None
        The path to a year, or to the last day of a period, that all responses have.

    Examples
    --------
    >>> find_year_path([{"window": {"from": "2026-10-10", "to": "2026-11-08"}}])
    '$.window.to'
    """
    paths_of_documents = [dict.fromkeys(_iter_day_paths(document, ())) for document in documents]
    shared_paths = [
        path
        for path in paths_of_documents[0]
        if all(path in document_paths for document_paths in paths_of_documents)
    ]
    for word in ("end", "to", "until", "through", "year"):
        for path in shared_paths:
            if split_name(path[-1])[-1:] == [word]:
                return f"$.{format_path(map(Field, path))}"
    return None


def _iter_day_paths(value: Any, path: tuple[str, ...]) -> Iterator[tuple[str, ...]]:
    """Yield the path of each field with a day or year, as a tuple of names; do not search lists.

    Examples
    --------
    >>> [*_iter_day_paths({"window": {"to": "2026-11-08"}, "n": 3}, ())]
    [('window', 'to')]
    """
    if isinstance(value, dict) and len(path) < 3:
        for name, inner_value in value.items():
            yield from _iter_day_paths(inner_value, (*path, name))
    elif path:
        is_day = isinstance(value, str) and re.match(r"\d{4}-\d{2}-\d{2}", value)
        is_year = type(value) is int and 1900 < value < 2200
        if is_day or (is_year and split_name(path[-1])[-1:] == ["year"]):
            yield path
