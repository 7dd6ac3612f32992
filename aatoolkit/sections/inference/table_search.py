"""Make a table of each list or object of rows in JSON, and name it after the JSON field."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Any

from aatoolkit._util.lexicon import words_of
from aatoolkit._util.text import find_unused_name
from aatoolkit.jsontree.paths import (
    Elements,
    Entries,
    Field,
    NamedColumn,
    Position,
    Step,
    format_path,
)
from aatoolkit.sections import Rows
from aatoolkit.sections.column import to_snake_case
from aatoolkit.sections.inference.draft_tables import DraftColumn, DraftTable
from aatoolkit.sections.inference.json_structure import JsonStructure, RowSet
from aatoolkit.sections.inference.masks import apply_masks
from aatoolkit.sections.inference.words import Vocabulary, to_singular


def find_tables(
    documents: Sequence[Any], section_name: str, vocabulary: Vocabulary
) -> list[DraftTable]:
    """Find all tables in the responses of a section (kind of response).

    A nested table comes after the table that encloses it.

    Parameters
    ----------
    documents : sequence
        The decoded JSON of the responses.
    section_name : str
        The name of the section. The names of the tables begin with it.
    vocabulary : Vocabulary
        The known names of engines, topics and so on.

    Returns
    -------
    list of DraftTable
        The tables.

    Examples
    --------
    >>> response = {"rows": [{"host": "a.example", "hits": 3}], "at": 1}
    >>> [(table.name, table.path) for table in find_tables([response], "crawl", Vocabulary({}))]
    [('crawl_facts', '$'), ('crawl', 'rows[]')]
    """
    json_structure = JsonStructure(documents, vocabulary)
    tables: list[DraftTable] = []
    for row_set in json_structure.row_sets:
        row_set.columns = [
            (steps, row_values)
            for steps, row_values in row_set.columns
            if steps not in json_structure.header_paths
        ]
        table = _create_table(row_set, vocabulary)
        for steps, row_values in row_set.columns:
            _add_column(table, steps, row_values, vocabulary)
        _set_header_path(table)
        apply_masks(table)
        table.columns.sort(key=lambda column: not column.is_label)
        _name_nameless_columns(table)
        # The keys of maps are columns of the tables below them as well.
        has_only_key_columns = all(column.source.startswith("@") for column in table.columns)
        if not has_only_key_columns:
            table.name = _name_table(table, section_name, {table.name for table in tables})
            row_set.table = table
            tables.append(table)
    return tables


def _create_table(row_set: RowSet, vocabulary: Vocabulary) -> DraftTable:
    """Create a table for some rows, with columns for the keys of enclosing objects only.

    Parameters
    ----------
    row_set : RowSet
        The rows.
    vocabulary : Vocabulary
        The known names of engines, topics and so on.
    """
    key_columns: list[DraftColumn] = []
    for ancestor in reversed([*row_set.iter_with_ancestors()]):
        if ancestor.steps and isinstance(ancestor.steps[-1], Entries):
            ancestor_keys = [
                ancestor.row_keys[row] for row in row_set.find_enclosing_positions(ancestor)
            ]
            column_name = find_unused_name(
                _name_key_column(ancestor, vocabulary), [column.name for column in key_columns]
            )
            path = f"{format_path(ancestor.steps)}~"
            key_columns.append(
                DraftColumn(column_name, f"@{len(key_columns)}", path, ancestor_keys, is_label=True)
            )
    label_column_names = tuple(column.name for column in key_columns)
    kept_values = tuple(row_set.kept_values_by_path.items())
    steps = row_set.steps
    row_declaration = Rows(
        steps, label_column_names, one=not steps, only=kept_values, first=row_set.first_position
    )
    return DraftTable("", row_set, row_declaration, key_columns)


def _name_key_column(row_set: RowSet, vocabulary: Vocabulary) -> str:
    """Return a column name for the keys of an object, such as ``engine`` for ``byEngine``.

    ``row_set`` has the entries of the object as rows.
    """
    field_word = next(
        (to_snake_case(step.name) for step in reversed(row_set.steps) if isinstance(step, Field)),
        "",
    )
    if field_word in words_of("metrics"):
        return "metric"
    field_word_stem = re.sub(r"^(by|per)_", "", field_word)
    item_name = to_singular(field_word_stem) if field_word not in words_of("shell") else ""
    if field_word_stem != field_word:
        return item_name
    field_names = {
        to_snake_case(vocabulary.field_by_text.get(row_key, "key")) for row_key in row_set.row_keys
    }
    field_name = "".join(field_names - words_of("bland", "naming")) if len(field_names) == 1 else ""
    return vocabulary.find_dimension(row_set.row_keys) or field_name or item_name or "key"


def _add_column(
    table: DraftTable, steps: tuple[Step, ...], row_values: list[Any], vocabulary: Vocabulary
) -> None:
    """Add a column to a table, after finding its name and the path from the row to its values."""
    row_set = table.row_set
    row_path_length = len(row_set.steps)
    container_length = len(row_set.container_path)
    is_in_row = steps[:row_path_length] == row_set.steps
    source = format_path(steps[row_path_length:]) or "." if is_in_row else f"$.{format_path(steps)}"
    # Rows that are scalars get the name of their array if other arrays run beside it.
    is_in_shared_record = container_length < row_path_length - 1
    is_named_by_list = not is_in_row or (
        steps == row_set.steps and is_in_shared_record and not row_set.has_element_names
    )
    first_name_step_index = next(
        (step_index for step_index, step in enumerate(steps) if isinstance(step, NamedColumn)),
        container_length if is_named_by_list else row_path_length,
    )
    path_words = _list_path_words(steps[first_name_step_index:])
    name_words = _list_path_words(steps[first_name_step_index:], "shell") or path_words[-1:]
    texts = [value for value in row_values if type(value) is str]
    name = name_words[-1] if name_words else ""
    dimension = vocabulary.find_dimension(texts)
    is_label = is_in_shared_record and isinstance(steps[-1], Elements) and bool(texts)
    is_label &= dimension != "number"  # which is a measure, written as text
    if is_label:
        name = dimension or to_singular(name)
    elif name in words_of("naming") and dimension in vocabulary.values_by_dimension:
        name = dimension
    if len(name_words) > 1 or name in table.column_names:
        name = "_".join(name_words)
    name = find_unused_name(name, table.column_names) if name else ""
    pattern_steps = [
        type(step)() if isinstance(step, Elements | Entries) else step for step in steps
    ]
    table.add_column(DraftColumn(name, source, format_path(pattern_steps), row_values, is_label))


def _set_header_path(table: DraftTable) -> None:
    """Store the path of the column names, if the rows are lists and another list has the names.

    An example is ``{"columns": ["host", "n"], "rows": [["a.example", 3]]}``.
    """
    row_declaration = table.rows
    named_steps = [
        steps[-1]
        for steps, _ in table.row_set.columns
        if steps and steps[:-1] == row_declaration.steps and isinstance(steps[-1], NamedColumn)
    ]
    header_paths = {step.header for step in named_steps}
    is_plain_list = row_declaration.steps[-1:] == (Elements(),) and not row_declaration.labels
    if is_plain_list and len(named_steps) == len(table.columns) and len(header_paths) == 1:
        (header_path,) = header_paths
        if not any(isinstance(step, Position) for step in header_path):
            table.rows = replace(row_declaration, header=header_path)
            for column, step in zip(table.columns, named_steps, strict=True):
                column.source = f"[{step.name}]"


def _list_path_words(steps: Iterable[Step], *word_groups: str) -> list[str]:
    """Return the words of a path that are in none of some word groups of the lexicon."""
    return [
        word
        for word in map(_find_word_of_step, steps)
        if word and word not in words_of(*word_groups)
    ]


def _find_word_of_step(step: Step) -> str:
    """Return the word that one step of a path contributes to the name of a column.

    It is the name of a field, or the position of an element, counted from 1. It is empty for the
    first element, and for steps that lead to all elements.
    """
    match step:
        case Field(name) | NamedColumn(_, name):
            return to_snake_case(name)
        case Position(number) if number:
            return str(number + 1)
    return ""


def _name_nameless_columns(table: DraftTable) -> None:
    """Name columns without a field name after their list, such as ``points`` and ``points_2``."""
    path_words = reversed(_list_path_words(table.steps, "chart", "shell"))
    stems = (re.sub("(^|_)by_.*", "", word) for word in path_words)
    list_name = next(filter(None, stems), "value")
    for column in table.columns:
        if column.name == "" or column.name.isdigit():
            name = f"{list_name}_{column.name}" if column.name else list_name
            column.name = find_unused_name(name, table.column_names)


def _name_table(table: DraftTable, section_name: str, used_names: set[str]) -> str:
    """Return a name for a table: its section (kind of response) and a field, as in ``crawl_hosts``.

    Parameters
    ----------
    table : DraftTable
        The table.
    section_name : str
        The name of the section.
    used_names : set of str
        The names that other tables already have.
    """
    path_words = (
        _list_path_words(table.row_set.container_path, "shell") if table.steps else ["facts"]
    )
    other_words = [word for word in path_words if word != section_name]
    return find_unused_name("_".join([section_name, *other_words[-1:]]), used_names)
