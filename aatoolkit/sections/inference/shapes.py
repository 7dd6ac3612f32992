"""The tables of a section: each axis of its responses is one, with names in the service's words."""

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
    """Find every table that the responses of a section hold, enclosing ones first.

    Parameters
    ----------
    documents : sequence
        Decoded responses of one section; more of them show more fields.
    section : str
        The section's name, from which tables are named.
    vocabulary : Vocabulary
        What the keys of maps may be.

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
        relation.columns.sort(key=lambda column: not column.label)
        _name_values(relation)
    # Rows below have the keys of the maps around them as well.
    around = {relation.parent for relation in relations.values()}
    kept: list[Relation] = []
    for relation in relations.values():
        is_bare = all(column.source.startswith("@") for column in relation.columns)
        if relation.columns and not (is_bare and relation in around):
            while relation.parent is not None and relation.parent not in kept:
                parent = relation.parent
                relation.parent = parent.parent
                relation.above = parent.above[relation.above] if len(parent.above) else parent.above
            relation.name = _name(relation, section, {other.name for other in kept})
            kept.append(relation)
    return kept


def _relation(axis: Axis, relations: dict[Axis, Relation], vocabulary: Vocabulary) -> Relation:
    """Build the relation of an axis, with the keys of its maps as first columns."""
    labels: list[ColumnFinding] = []
    for around in reversed([*axis.chain()]):
        if around.steps and isinstance(around.steps[-1], Entries):
            keys = [around.keys[row] for row in axis.rows_of(around)]
            name = fresh(_key_name(around, vocabulary), [label.name for label in labels])
            path = f"{format_path(around.steps)}~"
            labels.append(ColumnFinding(name, f"@{len(labels)}", path, keys, label=True))
    parent = relations[axis.parent] if axis.parent is not None else None
    return Relation(
        "",
        axis.steps,
        _rows(axis, tuple(label.name for label in labels)),
        labels,
        np.array(axis.keys if parent is None else parent.response[axis.above], np.intp),
        parent,
        np.array(axis.above, np.intp),
        axis.holder,
    )


def _key_name(axis: Axis, vocabulary: Vocabulary) -> str:
    """Name what the keys of a map are: ``byEngine`` says it, their form, or a field of them."""
    word = next((snake(s.name) for s in reversed(axis.steps) if isinstance(s, Field)), "")
    if word in ("metrics", "kpis", "measures", "summary"):
        return "metric"
    stem = re.sub(r"^(by|per)_", "", word)
    item_name = singular(stem) if word not in lexicon("shell") else ""
    if stem != word:
        return item_name
    fields = {snake(vocabulary.texts.get(key, "key")) for key in axis.keys}
    field = "".join(fields - lexicon("bland", "naming")) if len(fields) == 1 else ""
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
    depth, around = len(axis.steps), len(axis.holder)
    is_own = steps[:depth] == axis.steps
    source = format_path(steps[depth:]) or "." if is_own else f"$.{format_path(steps)}"
    # Rows that are plain values have the name of their array where others run beside it.
    is_side = around < depth - 1
    is_named_by_holder = not is_own or (steps == axis.steps and is_side and not axis.is_labelled)
    start = around if is_named_by_holder else depth
    start = next((at for at, step in enumerate(steps) if isinstance(step, Named)), start)
    words = [word for word in map(_word, steps[start:]) if word]
    specific = [word for word in words if word not in lexicon("shell")] or words[-1:]
    values = [value for value in variable.values if type(value) is str]
    is_label = is_side and isinstance(steps[-1], Each) and bool(values)
    name = specific[-1] if specific else ""
    dimension = vocabulary.dimension(values)
    if is_label:
        name = dimension or singular(name)
    elif name in lexicon("naming") and dimension in vocabulary.members:
        name = dimension
    if len(specific) > 1 or name in relation.names:
        name = "_".join(specific)
    name = fresh(name, relation.names) if name else ""
    plain = [type(s)() if isinstance(s, Each | Entries) else s for s in steps]
    relation.add(ColumnFinding(name, source, format_path(plain), variable.values, is_label))


def _declare_header(relation: Relation, axis: Axis, variables: list[Variable]) -> None:
    """Declare the header of rows that are arrays once, where it names all their positions."""
    inner = [variable.steps[len(axis.steps) :] for variable in variables]
    is_own = all(variable.steps[: len(axis.steps)] == axis.steps for variable in variables)
    headers = {steps[0].header if steps and isinstance(steps[0], Named) else () for steps in inner}
    rows = relation.rows
    is_plain = not (rows.one or rows.labels or rows.first) and rows.steps[-1] == Each()
    if not (is_own and is_plain and len(headers) == 1) or any(len(steps) > 1 for steps in inner):
        return
    header = headers.pop()
    if header and not any(isinstance(s, Each | Entries) and s.at is not None for s in header):
        relation.rows = replace(rows, header=header)
        for column, (step,) in zip(relation.columns, inner, strict=True):
            column.source = f"[{step.name}]"  # type: ignore[union-attr]


def _word(step: Step) -> str:
    match step:
        case Field(name) | Named(_, name):
            return snake(name)
        case Position(number) if number:
            return str(number + 1)
    return ""


def _name_values(relation: Relation) -> None:
    """Name the values that are rows themselves by what holds them, and tuples by their position."""
    bland = lexicon("chart", "shell")
    words = [snake(step.name) for step in relation.steps if isinstance(step, Field)]
    holder = next((w for w in reversed(words) if w not in bland and "by_" not in w), "value")
    for column in relation.columns:
        if column.name == "" or column.name.isdigit():
            name = f"{holder}_{column.name}" if column.name else holder
            column.name = fresh(name, relation.names)


def _name(relation: Relation, section: str, taken: set[str]) -> str:
    """Name a table by the fields on the way to its rows."""
    words = [snake(step.name) for step in relation.holder if isinstance(step, Field | Named)]
    specific = [word for word in words if word not in lexicon("shell") and word != section]
    name = "_".join([section, *specific[-1:]]) if relation.steps else f"{section}_facts"
    return fresh(name, taken)
