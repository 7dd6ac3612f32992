"""Inherit keys: a table below another takes over its key."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from aatoolkit.jsontree.paths import Each, Entries, Step, format_path, parse_path
from aatoolkit.sections.inference.axes import bound
from aatoolkit.sections.inference.keys import find_key
from aatoolkit.sections.inference.readings import FieldReading, read_values
from aatoolkit.sections.inference.relations import Measure, Places, Relation, fresh
from aatoolkit.sections.inference.vocabulary import singular, words_of

_LONGEST = 80
_BLAND = words_of("id name key label title text code slug position")
Readings = dict[Relation, dict[str, FieldReading]]


def settle_keys(
    relations: list[Relation],
    leave_out: Callable[..., str],
    complete: Callable[[Relation, dict[str, FieldReading]], None],
) -> tuple[Readings, list[str]]:
    """Read all values, leave out totals and find the keys, those of enclosing rows first.

    Parameters
    ----------
    relations : list of Relation
        Those around others first. Columns and keys are added to them.
    leave_out : callable
        Marks the totals among a relation's rows, and says what it saw.
    complete : callable
        Reads texts by what is beside them.

    Returns
    -------
    dict
        How each column of each relation is read.
    list of str
        What was left out.
    """
    readings: Readings = {}
    notes: list[str] = []
    for relation in relations:
        _inherit(relation)
        if not relation.columns:
            position = Measure("position", "#0", relation.path, _positions(relation))
            relation.columns.append(position)
        readings[relation] = {
            column.name: read_values(column.values, column.name, column.label)
            for column in relation.columns
        }
        complete(relation, readings[relation])
        reason = leave_out(relation, readings[relation])
        if reason:
            notes.append(f"{relation.name}: {reason}")
        if not relation.steps:
            continue
        relation.key = find_key(relation, readings[relation])
        if not relation.key and isinstance(relation.steps[-1], Each):
            name = "position" if "position" not in readings[relation] else "row_number"
            column = Measure(name, "#0", relation.path, _positions(relation))
            relation.columns.insert(0, column)
            readings[relation][name] = read_values(column.values, name)
            for up in range(1, _nested(relation)):
                row = fresh("row", readings[relation])
                relation.columns.insert(
                    0, Measure(row, "^" * up + "#0", relation.path, column.values)
                )
                readings[relation][row] = read_values(column.values, row)
            given = [one.name for one in relation.columns if one.label or one.inherited]
            relation.key = (*given, name)
    for relation in relations:
        _bring_down_labels(relation, readings)
    return readings, notes


def _nested(relation: Relation) -> int:
    """Count the arrays that lie directly in each other, down to the rows."""
    count = 0
    for step in reversed(relation.steps):
        if not isinstance(step, Each):
            break
        count += 1
    return count


def _inherit(relation: Relation) -> None:
    """Insert the key of enclosing rows before the columns of a relation."""
    first = 0
    for ancestor, places in list(relation.chain())[1:]:
        for column in [ancestor[name] for name in ancestor.key]:
            if not column.label and not column.inherited:
                relation.columns.insert(first, _below(relation, ancestor, places, column))
                first += 1


def _bring_down_labels(relation: Relation, readings: Readings) -> None:
    """Add what describes enclosing rows: their texts, days and flags, but no measures."""
    for ancestor, places in list(relation.chain())[1:]:
        held = {column.path for column in relation.columns}
        for column in ancestor.columns if ancestor.steps and ancestor in readings else ():
            reading = readings[ancestor][column.name]
            if column.label or column.inherited or column.path in held or reading.is_number:
                continue
            if reading.dtype != "list<string>" and _is_short(column):
                below = _below(relation, ancestor, places, column)
                relation.columns.append(below)
                readings[relation][below.name] = reading


def _is_short(column: Measure) -> bool:
    return all(len(value) <= _LONGEST for value in column.values if isinstance(value, str))


def _below(relation: Relation, ancestor: Relation, places: Places, column: Measure) -> Measure:
    """The values of a column of enclosing rows, row by row of those below."""
    taken = {other.name for other in relation.columns}
    name = column.name
    if name in taken or name in _BLAND:
        name = f"{singular(ancestor.name.rpartition('_')[2])}_{column.name}"
    values = [column.values[row] for row in places.tolist()]
    source = _source(relation.steps, ancestor.steps, column)
    return Measure(fresh(name, taken), source, column.path, values, inherited=True)


def _source(steps: tuple[Step, ...], above: tuple[Step, ...], column: Measure) -> str:
    """The source of a column of enclosing rows, seen from those below."""
    ups = _ups(steps, above)
    if column.source[0] == "$":
        return column.source
    if ups is None or column.source[0] == "[":
        return f"$.{format_path(bound(parse_path(column.path)))}"
    return "^" * ups + column.source


def _ups(steps: tuple[Step, ...], above: tuple[Step, ...]) -> int | None:
    """Count the records between rows and those that enclose them; None where there are none."""
    if not above or not isinstance(above[-1], Each) or steps[: len(above)] != above:
        return None
    if any(isinstance(step, Entries) for step in steps[len(above) : -1]):
        return None
    count = 0
    while steps != above:
        arrays = [at for at, step in enumerate(steps[:-1]) if isinstance(step, Each)]
        if not arrays:
            return None
        steps = steps[: arrays[-1] + 1]
        count += 1
    return count or None


def _positions(relation: Relation) -> list[int]:
    """The place of each row in its array."""
    groups = np.stack([relation.answer, relation.above]) if len(relation.above) else None
    if groups is None:
        return list(range(len(relation)))
    change = np.ones(len(relation), bool)
    if len(relation) > 1:
        change[1:] = (np.diff(groups, axis=1) != 0).any(axis=0)
    starts = np.maximum.accumulate(np.where(change, np.arange(len(relation)), 0))
    found: list[int] = (np.arange(len(relation)) - starts).tolist()
    return found
