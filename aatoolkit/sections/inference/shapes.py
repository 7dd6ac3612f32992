"""Make a table of each list or object of rows in JSON, and name it after the JSON field."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from aatoolkit._util.lexicon import words_of
from aatoolkit._util.text import fresh
from aatoolkit.jsontree.paths import Each, Entries, Field, Named, Position, Step, format_path
from aatoolkit.sections import Rows
from aatoolkit.sections.column import snake
from aatoolkit.sections.inference.axes import RawColumn, RowSet, Structure
from aatoolkit.sections.inference.findings import ColumnFinding, Relation
from aatoolkit.sections.inference.masks import apply_masks
from aatoolkit.sections.inference.words import Vocabulary, singular


def find_relations(
    documents: Sequence[Any], section: str, vocabulary: Vocabulary
) -> list[Relation]:
    """Find all tables in the responses of a section (kind of response).

    A nested table comes after the table that encloses it.

    Parameters
    ----------
    documents : sequence
        The decoded JSON of the responses.
    section : str
        The name of the section. The names of the tables begin with it.
    vocabulary : Vocabulary
        The known names of engines, topics and so on.

    Returns
    -------
    list of Relation
        The tables.

    Examples
    --------
    >>> response = {"rows": [{"host": "a.example", "hits": 3}], "at": 1}
    >>> [(table.name, table.path) for table in find_relations([response], "crawl", Vocabulary({}))]
    [('crawl_facts', '$'), ('crawl', 'rows[]')]
    """
    structure = Structure(documents, vocabulary)
    relations: dict[RowSet, Relation] = {}
    for row_set in structure.row_sets:
        relation = relations[row_set] = _create_relation(row_set, relations, vocabulary)
        raw_columns = [
            raw_column
            for raw_column in structure.raw_columns
            if raw_column.row_set is row_set and raw_column.steps not in structure.headers
        ]
        for raw_column in raw_columns:
            _add_column(relation, raw_column, vocabulary)
        _declare_header(relation, row_set, raw_columns)
        apply_masks(relation)
        relation.columns.sort(key=lambda column: not column.is_label)
        _name_nameless_columns(relation)
    # The keys of maps are columns of the tables below them as well.
    parents = {relation.parent for relation in relations.values()}
    tables: list[Relation] = []
    for relation in relations.values():
        has_keys_only = all(column.source.startswith("@") for column in relation.columns)
        if relation.columns and not (has_keys_only and relation in parents):
            while relation.parent is not None and relation.parent not in tables:
                parent = relation.parent
                relation.parent = parent.parent
                rows = parent.parent_rows
                relation.parent_rows = rows[relation.parent_rows] if len(rows) else rows
            relation.name = _name_table(relation, section, {table.name for table in tables})
            tables.append(relation)
    return tables


def _create_relation(
    row_set: RowSet, relations: dict[RowSet, Relation], vocabulary: Vocabulary
) -> Relation:
    """Create a table for some rows. Its first columns have the keys of the enclosing objects.

    Parameters
    ----------
    row_set : RowSet
        The rows.
    relations : dict of RowSet to Relation
        The tables that exist already, by their rows.
    vocabulary : Vocabulary
        The known names of engines, topics and so on.
    """
    label_columns: list[ColumnFinding] = []
    for ancestor in reversed([*row_set.with_ancestors()]):
        if ancestor.steps and isinstance(ancestor.steps[-1], Entries):
            keys = [ancestor.keys[row] for row in row_set.enclosing_rows(ancestor)]
            name = fresh(
                _name_key_column(ancestor, vocabulary), [label.name for label in label_columns]
            )
            path = f"{format_path(ancestor.steps)}~"
            label_columns.append(
                ColumnFinding(name, f"@{len(label_columns)}", path, keys, is_label=True)
            )
    parent = relations[row_set.parent] if row_set.parent is not None else None
    return Relation(
        "",
        row_set.steps,
        Rows(
            row_set.steps,
            tuple(label.name for label in label_columns),
            one=not row_set.steps,
            only=tuple(row_set.only.items()),
            first=row_set.first,
        ),
        label_columns,
        np.array(
            row_set.keys if parent is None else parent.response_positions[row_set.parent_rows],
            np.intp,
        ),
        parent,
        np.array(row_set.parent_rows, np.intp),
        row_set.holder,
    )


def _name_key_column(row_set: RowSet, vocabulary: Vocabulary) -> str:
    """Return a column name for the keys of an object, such as ``engine`` for ``byEngine``."""
    word = next(
        (snake(step.name) for step in reversed(row_set.steps) if isinstance(step, Field)), ""
    )
    if word in ("metrics", "kpis", "measures", "summary"):
        return "metric"
    stem = re.sub(r"^(by|per)_", "", word)
    item_name = singular(stem) if word not in words_of("shell") else ""
    if stem != word:
        return item_name
    field_names = {snake(vocabulary.field_by_text.get(key, "key")) for key in row_set.keys}
    field_name = "".join(field_names - words_of("bland", "naming")) if len(field_names) == 1 else ""
    return vocabulary.find_dimension(row_set.keys) or field_name or item_name or "key"


def _add_column(relation: Relation, raw_column: RawColumn, vocabulary: Vocabulary) -> None:
    """Add a column to a table, after finding its name and the path from the row to its values."""
    row_set, steps = raw_column.row_set, raw_column.steps
    row_depth, container_depth = len(row_set.steps), len(row_set.holder)
    is_own = steps[:row_depth] == row_set.steps
    source = format_path(steps[row_depth:]) or "." if is_own else f"$.{format_path(steps)}"
    # Rows that are scalars get the name of their array if other arrays run beside it.
    is_in_shared_record = container_depth < row_depth - 1
    is_named_by_holder = not is_own or (
        steps == row_set.steps and is_in_shared_record and not row_set.has_label
    )
    first_index = next(
        (index for index, step in enumerate(steps) if isinstance(step, Named)),
        container_depth if is_named_by_holder else row_depth,
    )
    path_words = [word for word in map(_word_of_step, steps[first_index:]) if word]
    specific_words = [word for word in path_words if word not in words_of("shell")] or path_words[
        -1:
    ]
    texts = [value for value in raw_column.values if type(value) is str]
    name = specific_words[-1] if specific_words else ""
    dimension = vocabulary.find_dimension(texts)
    is_label = is_in_shared_record and isinstance(steps[-1], Each) and bool(texts)
    is_label &= dimension != "number"  # which is a measure, written as text
    if is_label:
        name = dimension or singular(name)
    elif name in words_of("naming") and dimension in vocabulary.values_by_dimension:
        name = dimension
    if len(specific_words) > 1 or name in relation.column_names:
        name = "_".join(specific_words)
    name = fresh(name, relation.column_names) if name else ""
    pattern = [type(step)() if isinstance(step, Each | Entries) else step for step in steps]
    relation.add(ColumnFinding(name, source, format_path(pattern), raw_column.values, is_label))


def _declare_header(relation: Relation, row_set: RowSet, raw_columns: list[RawColumn]) -> None:
    """Declare the path of the column names, if the rows are lists and another list has the names.

    An example is ``{"columns": ["host", "n"], "rows": [["a.example", 3]]}``.
    """
    steps_in_row = [raw_column.steps[len(row_set.steps) :] for raw_column in raw_columns]
    are_own_values = all(
        raw_column.steps[: len(row_set.steps)] == row_set.steps for raw_column in raw_columns
    )
    headers = {
        steps[0].header if steps and isinstance(steps[0], Named) else () for steps in steps_in_row
    }
    rows = relation.rows
    is_plain_list = not (rows.one or rows.labels or rows.first) and rows.steps[-1] == Each()
    if not (are_own_values and is_plain_list and len(headers) == 1) or any(
        len(steps) > 1 for steps in steps_in_row
    ):
        return
    header = headers.pop()
    if header and not any(
        isinstance(header_step, Each | Entries) and header_step.at is not None
        for header_step in header
    ):
        relation.rows = replace(rows, header=header)
        for column, (step,) in zip(relation.columns, steps_in_row, strict=True):
            column.source = f"[{step.name}]"  # type: ignore[union-attr]


def _word_of_step(step: Step) -> str:
    """Return a part of a path as text for a name: the field's name, or a position from 2 up.

    Return an empty text for any other part.
    """
    match step:
        case Field(name) | Named(_, name):
            return snake(name)
        case Position(number) if number:
            return str(number + 1)
    return ""


def _name_nameless_columns(relation: Relation) -> None:
    """Name columns without a field name after their list, such as ``points`` and ``points_2``."""
    bland_words = words_of("chart", "shell")
    words = [snake(step.name) for step in relation.steps if isinstance(step, Field)]
    list_name = next(
        (word for word in reversed(words) if word not in bland_words and "by_" not in word), "value"
    )
    for column in relation.columns:
        if column.name == "" or column.name.isdigit():
            name = f"{list_name}_{column.name}" if column.name else list_name
            column.name = fresh(name, relation.column_names)


def _name_table(relation: Relation, section: str, used_names: set[str]) -> str:
    """Return a name for a table: its section (kind of response) and a field, as in ``crawl_hosts``.

    Parameters
    ----------
    relation : Relation
        The table.
    section : str
        The name of the section.
    used_names : set of str
        The names that other tables already have.
    """
    words = [snake(step.name) for step in relation.holder if isinstance(step, Field | Named)]
    specific_words = [word for word in words if word not in words_of("shell") and word != section]
    name = "_".join([section, *specific_words[-1:]]) if relation.steps else f"{section}_facts"
    return fresh(name, used_names)
