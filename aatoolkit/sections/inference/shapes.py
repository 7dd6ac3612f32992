"""Make the tables of a section, one per list or map, and name them by the service's fields."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from aatoolkit._util.lexicon import words as lexicon
from aatoolkit._util.text import fresh
from aatoolkit.jsontree.paths import Each, Entries, Field, Named, Position, Step, format_path
from aatoolkit.sections import Rows, single
from aatoolkit.sections.column import snake
from aatoolkit.sections.inference.axes import Axis, Structure, Variable
from aatoolkit.sections.inference.masks import apply_masks
from aatoolkit.sections.inference.relations import ColumnFinding, Relation
from aatoolkit.sections.inference.words import Vocabulary, singular


def find_relations(
    documents: Sequence[Any],
    section: str,
    vocabulary: Vocabulary,
) -> list[Relation]:
    """Return all tables in the responses of a section, enclosing tables before nested ones.

    Parameters
    ----------
    documents : sequence
        Decoded responses of one section; more of them show more fields.
    section : str
        The name of the section, with which the names of tables begin.
    vocabulary : Vocabulary
        The known engines, topics and so on, by which keys that are data are recognised.

    Examples
    --------
    >>> response = {"rows": [{"host": "a.example", "hits": 3}], "at": 1}
    >>> [(table.name, table.path) for table in find_relations([response], "crawl", Vocabulary({}))]
    [('crawl_facts', '$'), ('crawl', 'rows[]')]
    """
    structure = Structure(documents, vocabulary)
    relations: dict[Axis, Relation] = {}
    for axis in structure.axes:
        relation = relations[axis] = _relation(axis, relations, vocabulary)
        variables = [variable for variable in structure.variables if variable.axis is axis]
        variables = [variable for variable in variables if variable.steps not in structure.headers]
        for variable in variables:
            _add_column(relation, variable, vocabulary)
        _declare_header(relation, axis, variables)
        apply_masks(relation)
        relation.columns.sort(key=lambda column: not column.is_label)
        _name_values(relation)
    # The keys of maps are columns of the tables below them as well.
    parents = {relation.parent for relation in relations.values()}
    tables: list[Relation] = []
    for relation in relations.values():
        is_bare = all(column.source.startswith("@") for column in relation.columns)
        if relation.columns and not (is_bare and relation in parents):
            while relation.parent is not None and relation.parent not in tables:
                parent = relation.parent
                relation.parent = parent.parent
                rows = parent.parent_rows
                relation.parent_rows = rows[relation.parent_rows] if len(rows) else rows
            relation.name = _name(relation, section, {other.name for other in tables})
            tables.append(relation)
    return tables


def _relation(axis: Axis, relations: dict[Axis, Relation], vocabulary: Vocabulary) -> Relation:
    """Create the table (`Relation`) that has the rows of an axis, i.e. of a list or a map.

    So far its columns are the keys of the maps on the path to the rows.
    """
    labels: list[ColumnFinding] = []
    for ancestor in reversed([*axis.chain()]):
        if ancestor.steps and isinstance(ancestor.steps[-1], Entries):
            keys = [ancestor.keys[row] for row in axis.rows_of(ancestor)]
            name = fresh(_key_name(ancestor, vocabulary), [label.name for label in labels])
            path = f"{format_path(ancestor.steps)}~"
            labels.append(ColumnFinding(name, f"@{len(labels)}", path, keys, is_label=True))
    parent = relations[axis.parent] if axis.parent is not None else None
    return Relation(
        "",
        axis.steps,
        _rows(axis, tuple(label.name for label in labels)),
        labels,
        np.array(axis.keys if parent is None else parent.response[axis.parent_rows], np.intp),
        parent,
        np.array(axis.parent_rows, np.intp),
        axis.holder,
    )


def _key_name(axis: Axis, vocabulary: Vocabulary) -> str:
    """Return the name of the column with the keys of a map, whose entries are the rows of ``axis``.

    It comes from a name on the path of the map, such as ``byEngine``, from the kind of the keys, or
    from another field with the same texts.
    """
    word = next((snake(step.name) for step in reversed(axis.steps) if isinstance(step, Field)), "")
    if word in ("metrics", "kpis", "measures", "summary"):
        return "metric"
    stem = re.sub(r"^(by|per)_", "", word)
    item_name = singular(stem) if word not in lexicon("shell") else ""
    if stem != word:
        return item_name
    field_names = {snake(vocabulary.texts.get(key, "key")) for key in axis.keys}
    field = "".join(field_names - lexicon("bland", "naming")) if len(field_names) == 1 else ""
    return vocabulary.dimension(axis.keys) or field or item_name or "key"


def _rows(axis: Axis, labels: tuple[str, ...]) -> Rows:
    if not axis.steps:
        return single()
    is_list = isinstance(axis.steps[-1], Each)
    return Rows(
        axis.steps, labels, only=tuple(axis.only.items()), first=axis.first if is_list else 0
    )


def _add_column(relation: Relation, variable: Variable, vocabulary: Vocabulary) -> None:
    axis, steps = variable.axis, variable.steps
    row_depth, container_depth = len(axis.steps), len(axis.holder)
    is_own = steps[:row_depth] == axis.steps
    source = format_path(steps[row_depth:]) or "." if is_own else f"$.{format_path(steps)}"
    # Rows that are scalars get the name of their array if other arrays run beside it.
    is_side = container_depth < row_depth - 1
    is_named_by_holder = not is_own or (steps == axis.steps and is_side and not axis.is_labelled)
    start = container_depth if is_named_by_holder else row_depth
    start = next((index for index, step in enumerate(steps) if isinstance(step, Named)), start)
    words = [word for word in map(_word, steps[start:]) if word]
    specific_words = [word for word in words if word not in lexicon("shell")] or words[-1:]
    values = [value for value in variable.values if type(value) is str]
    is_label = is_side and isinstance(steps[-1], Each) and bool(values)
    name = specific_words[-1] if specific_words else ""
    dimension = vocabulary.dimension(values)
    if is_label:
        name = dimension or singular(name)
    elif name in lexicon("naming") and dimension in vocabulary.members:
        name = dimension
    if len(specific_words) > 1 or name in relation.names:
        name = "_".join(specific_words)
    name = fresh(name, relation.names) if name else ""
    pattern = [type(step)() if isinstance(step, Each | Entries) else step for step in steps]
    relation.add(ColumnFinding(name, source, format_path(pattern), variable.values, is_label))


def _declare_header(relation: Relation, axis: Axis, variables: list[Variable]) -> None:
    """Declare the header of a table whose rows are arrays, if one header names all its columns.

    A header is another array, with the names of the positions in the rows.
    """
    steps_in_row = [variable.steps[len(axis.steps) :] for variable in variables]
    is_own = all(variable.steps[: len(axis.steps)] == axis.steps for variable in variables)
    headers = {
        steps[0].header if steps and isinstance(steps[0], Named) else () for steps in steps_in_row
    }
    rows = relation.rows
    is_plain = not (rows.one or rows.labels or rows.first) and rows.steps[-1] == Each()
    if not (is_own and is_plain and len(headers) == 1) or any(
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


def _word(step: Step) -> str:
    match step:
        case Field(name) | Named(_, name):
            return snake(name)
        case Position(number) if number:
            return str(number + 1)
    return ""


def _name_values(relation: Relation) -> None:
    """Name the columns without a field name by their list and by their position in it."""
    bland_words = lexicon("chart", "shell")
    words = [snake(step.name) for step in relation.steps if isinstance(step, Field)]
    list_name = next(
        (word for word in reversed(words) if word not in bland_words and "by_" not in word), "value"
    )
    for column in relation.columns:
        if column.name == "" or column.name.isdigit():
            name = f"{list_name}_{column.name}" if column.name else list_name
            column.name = fresh(name, relation.names)


def _name(relation: Relation, section: str, used_names: set[str]) -> str:
    """Return an unused name for a table: the section and the last field on the path to its rows."""
    words = [snake(step.name) for step in relation.holder if isinstance(step, Field | Named)]
    specific_words = [word for word in words if word not in lexicon("shell") and word != section]
    name = "_".join([section, *specific_words[-1:]]) if relation.steps else f"{section}_facts"
    return fresh(name, used_names)
