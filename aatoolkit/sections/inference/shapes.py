"""The tables of a section: each axis of its answers is one, with names in the service's words."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Any

import numpy as np

from aatoolkit._util.lexicon import words as lexicon
from aatoolkit.jsontree.paths import Each, Entries, Field, Named, Position, Step, format_path
from aatoolkit.sections.inference.axes import Axis, Structure, Variable
from aatoolkit.sections.inference.relations import (
    ColumnFinding,
    Relation,
    RowsCall,
    fresh,
    rows_call,
)
from aatoolkit.sections.inference.words import Vocabulary, singular, snake


def find_relations(
    documents: Sequence[Any],
    section: str,
    vocabulary: Vocabulary,
    passed_over: Collection[str] = (),
) -> list[Relation]:
    """Find every table that the answers of a section hold, enclosing ones first.

    Parameters
    ----------
    documents : sequence
        Decoded answers of one section; more of them show more fields.
    section : str
        The section's name, from which tables are named.
    vocabulary : Vocabulary
        What the keys of maps may be.
    passed_over : collection of str
        Fields of the answers that are in no table.

    Examples
    --------
    >>> answer = {"rows": [{"host": "a.example", "hits": 3}], "at": 1}
    >>> [(table.name, table.path) for table in find_relations([answer], "crawl", Vocabulary({}))]
    [('crawl_facts', '$'), ('crawl', 'rows[]')]
    """
    structure = Structure(
        [
            {key: value for key, value in document.items() if key not in passed_over}
            if isinstance(document, dict)
            else document
            for document in documents
        ],
        vocabulary,
    )
    variables: dict[Axis, list[Variable]] = {axis: [] for axis in structure.axes}
    for variable in structure.variables:
        if variable.steps not in structure.headers:
            variables[variable.axis].append(variable)
    relations: dict[Axis, Relation] = {}
    for axis in structure.axes:
        relation = _relation(axis, relations, vocabulary)
        relations[axis] = relation
        for variable in variables[axis]:
            _add_column(relation, axis, variable, vocabulary)
        _name_header(relation, axis, variables[axis])
        relation.columns.sort(key=lambda column: not column.label)
        _name_values(relation)
    headers = {relations[axis] for axis in structure.axes if axis.steps[:-1] in structure.headers}
    around = {relation.parent for relation in relations.values()}
    kept = [
        relation
        for relation in relations.values()
        if not (relation in headers and len(relation.columns) <= 1)
        and (relation.columns and (relation not in around or not _is_bare(relation)))
    ]
    taken: set[str] = set()
    for relation in kept:
        _skip_parents(relation, kept)
        relation.name = _name(relation, section, taken)
        taken.add(relation.name)
    return kept


def _is_bare(relation: Relation) -> bool:
    """Whether rows have nothing but the keys of maps, which rows below have as well."""
    return all(column.source.startswith("@") for column in relation.columns)


def _skip_parents(relation: Relation, kept: Collection[Relation]) -> None:
    """Put rows right below the nearest ones that are a table."""
    while relation.parent is not None and relation.parent not in kept:
        parent = relation.parent
        relation.parent = parent.parent
        relation.above = parent.above[relation.above] if len(parent.above) else parent.above


def _relation(axis: Axis, relations: dict[Axis, Relation], vocabulary: Vocabulary) -> Relation:
    """Make the relation of an axis, with the keys of its maps as first columns."""
    labels: list[ColumnFinding] = []
    for around in reversed([*axis.chain()]):
        if around.steps and isinstance(around.steps[-1], Entries):
            rows = axis.rows_of(around)
            keys = [around.keys[row] for row in rows]
            name = fresh(_key_name(around, vocabulary), [label.name for label in labels])
            path = f"{format_path(around.steps)}~"
            labels.append(ColumnFinding(name, f"@{len(labels)}", path, keys, label=True))
    parent = relations[axis.parent] if axis.parent is not None else None
    return Relation(
        "",
        _shape(axis),
        axis.steps,
        rows_call(axis.steps, tuple(label.name for label in labels), axis.first),
        labels,
        np.array(axis.keys if parent is None else parent.answer[axis.above], np.intp),
        parent,
        np.array(axis.above, np.intp),
        holder=axis.holder,
    )


def _shape(axis: Axis) -> str:
    if not axis.steps:
        return "single"
    return "records" if isinstance(axis.steps[-1], Each) else "keyed"


def _key_name(axis: Axis, vocabulary: Vocabulary) -> str:
    """Name what the keys of a map are: ``byEngine`` says it, or their form does."""
    word = next((snake(s.name) for s in reversed(axis.steps) if isinstance(s, Field)), "")
    is_named = len(axis.steps) > 1 and isinstance(axis.steps[-2], Field)
    for prefix in ("by_", "per_"):
        if is_named and word.startswith(prefix) and word != prefix:
            return singular(word.removeprefix(prefix))
    dimension = vocabulary.dimension(axis.keys) or vocabulary.field_of(axis.keys)
    if dimension:
        return dimension
    if word in ("metrics", "kpis", "measures", "summary"):
        return "metric"
    return singular(word) if word and word not in lexicon("shell") else "key"


def _add_column(relation: Relation, axis: Axis, variable: Variable, vocabulary: Vocabulary) -> None:
    steps, depth = variable.steps, len(axis.steps)
    is_own = steps[:depth] == axis.steps
    source = format_path(steps[depth:]) or "." if is_own else f"$.{format_path(steps)}"
    # Rows that are plain values have the name of their array where others run beside it.
    is_side = len(axis.holder) < len(axis.steps) - 1
    words = [_word(step) for step in steps[depth if is_own else len(axis.holder) :]]
    if steps == axis.steps and is_side and not axis.is_labelled:
        words = [_word(step) for step in steps[len(axis.holder) :]]
    for at, step in enumerate(steps):
        if isinstance(step, Named):
            words = [_word(inner) for inner in steps[at:]]
    named = [word for word in words if word]
    specific = [word for word in named if word not in lexicon("shell")] or named[-1:]
    values = [value for value in variable.values if type(value) is str]
    is_label = is_side and bool(steps) and isinstance(steps[-1], Each) and bool(values)
    name = specific[-1] if specific else ""
    if is_label:
        name = vocabulary.dimension(values) or singular(name)
    elif name in lexicon("naming"):
        dimension = vocabulary.dimension(values)
        name = dimension if dimension in vocabulary.members else name
    taken = [column.name for column in relation.columns]
    if len(specific) > 1 or name in taken:
        name = "_".join(specific)
    name = fresh(name, taken) if name else ""
    plain = [type(s)() if isinstance(s, Each | Entries) else s for s in steps]
    path = format_path(plain)
    relation.add(ColumnFinding(name, source, path, variable.values, is_label))


def _name_header(relation: Relation, axis: Axis, variables: list[Variable]) -> None:
    """Declare the header of rows that are arrays once, where it names all their positions."""
    inner = [variable.steps[len(axis.steps) :] for variable in variables]
    names = [steps[0] for steps in inner if steps and isinstance(steps[0], Named)]
    headers = {step.header for step in names}
    if len(headers) != 1 or len(names) < len(inner):
        return
    header = headers.pop()
    if header[-1:] == (Each(),):
        header = header[:-1]
    is_bound = any(isinstance(step, Each | Entries) and step.at is not None for step in header)
    if relation.rows.function != "records" or relation.rows.kwargs or is_bound:
        return
    relation.shape = "grid"
    relation.rows = RowsCall("grid", relation.rows.args, {"header": format_path(header)})
    for column, step, steps in zip(relation.columns, names, inner, strict=True):
        rest = format_path(steps[1:])
        column.source = f"[{step.name}]" + (f".{rest}" if rest else "")


def _word(step: Step) -> str:
    match step:
        case Field(name) | Named(_, name):
            return snake(name)
        case Position(number) if number:
            return str(number + 1)
    return ""


def _name_values(relation: Relation) -> None:
    """Name the values that are rows themselves by what holds them, and tuples by their position."""
    words = [snake(step.name) for step in relation.steps if isinstance(step, Field)]
    bland = lexicon("chart", "shell")
    plain = (word for word in reversed(words) if word not in bland and "by_" not in word)
    holder = next(plain, "value")
    taken = {column.name for column in relation.columns}
    for column in relation.columns:
        if column.name == "" or column.name.isdigit():
            name = f"{holder}_{column.name}" if column.name else holder
            column.name = fresh(name, taken)
            taken.add(column.name)


def _name(relation: Relation, section: str, taken: set[str]) -> str:
    """Name a table by the fields on the way to its rows."""
    words = [snake(step.name) for step in relation.holder if isinstance(step, Field)]
    specific = [word for word in words if word not in lexicon("shell") and word != section]
    if not relation.steps:
        name = f"{section}_facts"
    elif not specific:
        name = section
    else:
        name = f"{section}_{specific[-1]}"
        if name in taken and len(specific) > 1:
            name = f"{section}_{specific[-2]}_{specific[-1]}"
    return fresh(name, taken)
