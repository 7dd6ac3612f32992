"""Find the columns that identify the rows of each table, and the rows that are totals."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from itertools import chain, combinations, takewhile
from typing import Any

import numpy as np

from aatoolkit._util.lexicon import words_of
from aatoolkit._util.text import fresh
from aatoolkit.jsontree.coerce import currency
from aatoolkit.jsontree.paths import Each, Entries, Field, Step, format_path, parse_path
from aatoolkit.jsontree.vectors import MISSING
from aatoolkit.sections.inference.axes import bind_to_row
from aatoolkit.sections.inference.findings import ColumnFinding, Relation, RowPositions
from aatoolkit.sections.inference.readings import FieldReading, read_as_month_days, read_values
from aatoolkit.sections.inference.words import (
    is_id_name,
    is_measure_name,
    is_serial_number,
    singular,
    tokens,
)

_MAX_LABEL_LENGTH, _MAX_KEY_COLUMNS, _MAX_CANDIDATES = 80, 3, 12
_NON_KEY_DTYPES = ("boolean", "list<string>", "Float64", "timestamp")
_CODE_START = re.compile(r'((?<=[\[{~])=\\*")')
_TOTAL_LABEL = re.compile(
    r"[(\[*_\s]*(?:grand total|totals?|all\b.*|overall|sum|summe|gesamt|insgesamt"
    r"|combined|everything|Σ|total général|toplam|итого|всего|合计|総計)[)\]*_\s:]*",
    re.I,
)


def set_keys(relations: list[Relation], year_path: str | None) -> list[str]:
    """Find how to parse columns, which rows are totals, and which columns identify a row.

    The results are stored in the tables.

    Parameters
    ----------
    relations : list of Relation
        The tables, which are changed.
    year_path : str or None
        The path to the year of days such as ``Nov 3``.

    Returns
    -------
    list of str
        Notes for people on rows with totals.
    """
    notes: list[str] = []
    for relation in relations:
        _inherit_keys(relation)
        if not relation.columns:
            _add_position_column(relation)
        for column in [*relation.columns]:
            column.reading = read_values(column.values, column.name)
            if year_path and column.reading.dtype == "string" and not column.is_label:
                column.reading = read_as_month_days(column.values, column.reading, year_path)
            if column.reading.parse == "money":
                _add_currency_column(column)
        notes += _mark_totals(relation)
        if not relation.steps:
            continue
        relation.key = _find_key(relation)
        if not relation.key and isinstance(relation.steps[-1], Each):
            label_names = [
                column.name for column in relation.columns if column.is_label or column.is_inherited
            ]
            position_columns = [
                _add_position_column(relation, levels_up)
                for levels_up in range(_count_nested_arrays(relation))
            ]
            relation.key = (*label_names, *reversed(position_columns))
    for relation in relations:
        _inherit_labels(relation)
    return notes


# --- from enclosing rows ------------------------------------------------------------------------


def _inherit_keys(relation: Relation) -> None:
    """Copy the key columns of the enclosing table into a nested table, as its first columns.

    The enclosing table is the one whose rows contain the rows of the nested table.
    """
    index, paths = 0, {column.path for column in relation.columns}
    for ancestor, ancestor_rows in [*relation.with_ancestors()][1:]:
        for column in map(ancestor.__getitem__, ancestor.key):
            is_own = column.source[0] != "@" and not column.is_inherited
            if is_own and column.path not in paths:
                relation.add(_inherit_column(relation, ancestor_rows, column), index)
                index += 1


def _inherit_labels(relation: Relation) -> None:
    """Copy columns of the enclosing table into a nested table: short texts, days and booleans.

    The enclosing table is the one whose rows contain the rows of the nested table. Its columns of
    first and last times are not copied, because they do not hold for each nested row.
    """
    extreme_words = words_of("extreme_time")
    for ancestor, ancestor_rows in [*relation.with_ancestors()][1:]:
        paths = {column.path for column in relation.columns}
        for column in ancestor.columns if ancestor.steps else ():
            is_inheritable = (
                column.source[0] != "@"
                and not column.is_inherited
                and not column.reading.is_number
                and column.dtype != "list<string>"
                and column.path not in paths
                and column.valid is None
                and not (
                    column.dtype in ("date", "timestamp") and extreme_words & {*tokens(column.name)}
                )
            )
            texts = [value for value in column.values if isinstance(value, str)]
            is_short = all(len(text) <= _MAX_LABEL_LENGTH for text in texts)
            if is_inheritable and is_short:
                relation.add(_inherit_column(relation, ancestor_rows, column))


def _inherit_column(
    relation: Relation, ancestor_rows: RowPositions, column: ColumnFinding
) -> ColumnFinding:
    """Return a copy of an enclosing table's column, with one value for each row of a nested table.

    Parameters
    ----------
    relation : Relation
        The nested table.
    ancestor_rows : array of int
        For each of its rows, the position of the row that contains it.
    column : ColumnFinding
        The column of the enclosing table.
    """
    name = column.name
    if name in relation.column_names or name in words_of("bland"):
        table_word = column.relation.name.rstrip("_0123456789").rpartition("_")[2]
        name = f"{singular(table_word)}_{name}"
    values = [column.values[row] for row in ancestor_rows.tolist()]
    levels_up = _count_levels_up(relation.steps, column.relation.steps)
    carets = "^" * (levels_up or 0)
    source = carets + column.source
    if column.source[0] == "$":  # with codes in rows around
        source = _CODE_START.sub(rf"\1{carets}", column.source)
    elif levels_up is None or column.source[0] == "[":
        source = f"$.{format_path(bind_to_row(parse_path(column.path)))}"
    return ColumnFinding(
        fresh(name, relation.column_names),
        source,
        column.path,
        values,
        is_inherited=True,
        reading=column.reading,
    )


def _count_levels_up(steps: tuple[Step, ...], prefix: tuple[Step, ...]) -> int | None:
    """Return the number of ``^`` in a path from a row to a row that contains it, or None.

    Parameters
    ----------
    steps : tuple of Step
        The parsed path to the rows.
    prefix : tuple of Step
        The parsed path to the rows that contain them.
    """
    steps_below = steps[len(prefix) :]
    if not prefix or not isinstance(prefix[-1], Each) or steps[: len(prefix)] != prefix:
        return None
    if any(isinstance(step, Entries) for step in steps_below[:-1]):
        return None
    array_count = sum(isinstance(step, Each) for step in steps_below[:-1])
    return array_count + 1 if steps_below else None


def _add_position_column(relation: Relation, levels_up: int = 0) -> str:
    """Add a column with the position of each row in its list; return the name of the column.

    With ``levels_up`` of 1, it is the position of the enclosing row in the list that contains it,
    and so on.
    """
    parent_rows = relation.parent_rows if len(relation.parent_rows) else relation.response_positions
    row_counts: Counter[int] = Counter()
    positions = []
    for enclosing_row in parent_rows.tolist():
        positions.append(row_counts[enclosing_row])
        row_counts[enclosing_row] += 1
    name = "position"
    if levels_up or name in relation.column_names:
        name = fresh("row" if levels_up else "row_number", relation.column_names)
    column = ColumnFinding(name, "^" * levels_up + "#0", relation.path, positions)
    column.reading = read_values(column.values, name)
    relation.add(column, 0)
    return name


def _count_nested_arrays(relation: Relation) -> int:
    """Return the number of arrays directly around a row, such as 2 in ``[[row, row], [row]]``."""
    return len([*takewhile(lambda step: isinstance(step, Each), reversed(relation.steps))])


def _add_currency_column(column: ColumnFinding) -> None:
    """Add a column with the currency, next to a column of amounts such as ``$5``."""
    relation, reading = column.relation, column.reading
    currencies = [currency(value) if isinstance(value, str) else value for value in column.values]
    name = fresh(f"{column.name}_currency", relation.column_names)
    currency_column = ColumnFinding(name, column.source, column.path, currencies)
    evidence = "the signs or codes of the amounts"
    currency_column.reading = FieldReading("string", "currency", reading.missing, evidence)
    relation.add(currency_column, relation.columns.index(column) + 1)


# --- totals -------------------------------------------------------------------------------------


def _mark_totals(relation: Relation) -> list[str]:
    """Find and store the rows with totals, such as ``All``; return notes on them for people."""
    text_columns = [column for column in relation.columns if column.reading.is_text]
    counts = [column.numbers for column in relation.columns if column.may_be_counts]
    for column in text_columns if relation.steps and counts else ():
        is_total = [
            type(value) is str and _TOTAL_LABEL.fullmatch(value) is not None
            for value in column.values
        ]
        total_rows = np.flatnonzero(is_total)
        responses = relation.response_positions[total_rows].tolist()
        comparisons = [
            (numbers[relation.response_positions == response], numbers[row])
            for row, response in zip(total_rows, responses, strict=True)
            for numbers in counts
        ]
        are_highest = [
            not (numbers > total).any() for numbers, total in comparisons if len(numbers) > 2
        ]
        labels = {column.values[row] for row in total_rows}
        if labels and len({*responses}) == len(responses) and are_highest and all(are_highest):
            relation.without = {column.name: tuple(sorted(labels))}
            relation.total_rows = total_rows
            labels_text = repr(", ".join(sorted(labels)))
            return [f"{relation.name}: {column.name} {labels_text} sums up the other rows"]
    return []


# --- keys ---------------------------------------------------------------------------------------


def _find_key(relation: Relation) -> tuple[str, ...]:
    """Return the smallest set of column names that identifies a row within its response.

    The result is an empty tuple if there is none.
    """
    label_columns = [
        column for column in relation.columns if column.is_label or column.is_inherited
    ]
    key_candidates = [
        column for column in relation.columns if column not in label_columns and _may_be_key(column)
    ]
    ranked_candidates = sorted(key_candidates, key=_key_sort_order)[:_MAX_CANDIDATES]
    column_counts = range(0 if label_columns else 1, _MAX_KEY_COLUMNS + 1)
    for columns in chain.from_iterable(
        combinations(ranked_candidates, column_count) for column_count in column_counts
    ):
        key_columns = [*label_columns, *columns]
        if _are_unique(relation, key_columns):
            # Of several parallel lists of texts, only those that are needed name the rows.
            for column in reversed(label_columns):
                others = [other for other in key_columns if other is not column]
                is_parallel = not column.is_inherited and column.source[0] != "@"
                if is_parallel and others and _are_unique(relation, others):
                    key_columns = others
            return tuple(column.name for column in key_columns)
    return ()


def _may_be_key(column: ColumnFinding) -> bool:
    """Return whether a column may identify rows: it has texts or ids, and no missing values."""
    reading, last_word = column.reading, tokens(column.name)[-1:]
    has_gaps = any(value is None or value is MISSING for value in column.values)
    if has_gaps or column.valid or reading.missing or reading.dtype in _NON_KEY_DTYPES:
        return False
    if reading.dtype == "Int64":
        return is_id_name(column.name) or bool({*last_word} & words_of("serial"))
    is_non_measure = not is_measure_name(column.path.rpartition(".")[2])
    return reading.is_text or is_non_measure or reading.parse == "currency"


def _key_sort_order(column: ColumnFinding) -> tuple[bool, bool, bool, int]:
    """Return a sort key for columns; those that probably identify rows, such as ids, come first."""
    words = tokens(column.name)
    is_id = words[-1] in words_of("identifier") or is_serial_number(words)
    # A number that only counts the rows of each response identifies nothing.
    rows_and_responses = [*enumerate(column.relation.response_positions.tolist())]
    first_row_by_response = {response: row for row, response in reversed(rows_and_responses)}
    positions = [row - first_row_by_response[response] for row, response in rows_and_responses]
    texts = [str(value).lstrip("#") for value in column.values]
    is_position = any(
        texts == [str(position + first) for position in positions] for first in (0, 1)
    )
    return is_position, not is_id, column.dtype == "Int64", len(words)


def _are_unique(relation: Relation, columns: list[ColumnFinding]) -> bool:
    """Return whether the rows of each response are distinct in some columns."""
    values = (map(repr, column.values) for column in columns)
    row_keys = [*zip(relation.response_positions.tolist(), *values, strict=True)]
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
            if tokens(path[-1])[-1:] == [word]:
                return f"$.{format_path(map(Field, path))}"
    return None


def _iter_day_paths(value: Any, path: tuple[str, ...]) -> Iterator[tuple[str, ...]]:
    """Yield the path of each field with a day or a year, as field names; lists are not searched.

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
        if is_day or (is_year and tokens(path[-1])[-1:] == ["year"]):
            yield path
