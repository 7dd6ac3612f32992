"""Find totals elsewhere in the answer that rows add up to, which prove that they do."""

from __future__ import annotations

from typing import Any

import numpy as np

from aatoolkit.sections.inference import identities
from aatoolkit.sections.inference.inherit import Readings
from aatoolkit.sections.inference.readings import FieldReading
from aatoolkit.sections.inference.relations import Measure, Relation
from aatoolkit.sections.inference.rules import Evidence
from aatoolkit.sections.inference.units import specific_name
from aatoolkit.sections.inference.vocabulary import words_of
from aatoolkit.sections.inference.words import Meaning, meaning

_LARGE = 50
KINDS_THAT_DO_NOT_ADD = words_of("share position rank score probability id time status")


def equal_totals(
    relations: list[Relation], readings: Readings, found: dict[Relation, dict[str, Evidence]]
) -> None:
    """Record columns of different tables whose sums are equal in every answer: both add up."""
    sums: dict[tuple[str, ...], list[tuple[Relation, str]]] = {}
    for relation in relations:
        if not relation.steps or relation.parent is None or relation.parent.steps:
            continue
        for column in relation.columns:
            reading = readings[relation][column.name]
            if not adds_up(column, reading) or not column.is_own:
                continue
            keep = ~np.isnan(reading.numbers)
            keep[relation.omitted] = False
            totals = np.bincount(relation.answer[keep], reading.numbers[keep])
            parts = np.bincount(relation.answer[keep], reading.numbers[keep] != 0)
            usable = totals[parts >= 2]
            several = len(np.unique(totals[totals > 0])) >= 2 and len(usable) > 0
            if several and usable.max() >= _LARGE and parts.max() >= 3:
                where = [f"{at}:{one:.6g}" for at, one in enumerate(totals) if one]
                sums.setdefault((column.name, *where), []).append((relation, column.name))
    for held in sums.values():
        for one, name in held:
            apart = [other for other, _ in held if not set(other.key) & set(one.key)]
            if apart:
                reason = f"its rows sum to the same as those of {apart[0].name} in every answer"
                found[one][name].sums.append(reason)
                found[one][name].across |= set(one.key)


def sums_above(
    relation: Relation,
    relations: list[Relation],
    readings: Readings,
    found: dict[Relation, dict[str, Evidence]],
) -> None:
    """Record totals in the answer, or in enclosing rows, that the rows sum to."""
    if not relation.steps:
        return
    for other in relations:
        if other is relation:
            continue
        places = _groups(relation, other)
        if places is None:
            continue
        totals = {
            column.name: readings[other][column.name].numbers
            for column in _addable(other, readings)
        }
        for column in _addable(relation, readings) if totals else ():
            reading = readings[relation][column.name]
            half = 0.5 * 10.0**-reading.decimals if reading.decimals else 0.0
            for name, groups, rows in identities.row_sums(
                reading.numbers, relation, places, totals, half
            ):
                _note_sum(relation, column, other, name, groups, rows, readings, found)


def sums_by_key(
    relation: Relation,
    relations: list[Relation],
    readings: Readings,
    found: dict[Relation, dict[str, Evidence]],
) -> None:
    """Record columns of another table that the rows sum to, joined by its key."""
    around = [one for one, _ in relation.chain()]
    for other in relations:
        if other in around or len(other.key) != 1 or len(relation.key) < 2:
            continue
        joined = _joined(relation, other)
        if joined is None:
            continue
        name, places = joined
        totals = {
            column.name: readings[other][column.name].numbers
            for column in _addable(other, readings)
        }
        for column in _addable(relation, readings) if totals else ():
            reading = readings[relation][column.name]
            for met, groups, _ in identities.row_sums(
                reading.numbers, relation, places, totals, 0.0
            ):
                values = totals[met][~np.isnan(totals[met])]
                if groups < identities.FEWEST_ROWS or len(np.unique(values)) < 3:
                    continue
                reason = f"its rows sum to {other.name}.{met} in {groups} rows"
                found[relation][column.name].sums.append(reason)
                found[relation][column.name].across |= {*relation.key} - {name}
                found[relation][column.name].equals.append((other.name, met))


def _addable(relation: Relation, readings: Readings) -> list[Measure]:
    """The columns that may add up and are read from the answer itself."""
    return [
        column
        for column in relation.columns
        if adds_up(column, readings[relation][column.name]) and column.is_own
    ]


def _joined(relation: Relation, other: Relation) -> tuple[str, Any] | None:
    """The part of a key that is the key of another table, and each row's row there."""
    held = other[other.key[0]].values
    rows = {
        (answer, value): at
        for at, (answer, value) in enumerate(zip(other.answer.tolist(), held, strict=True))
        if isinstance(value, str) and at not in set(other.omitted.tolist())
    }
    for name in relation.key:
        pairs = list(zip(relation.answer.tolist(), relation[name].values, strict=True))
        if pairs and all(isinstance(value, str) and (at, value) in rows for at, value in pairs):
            return name, np.array([rows[pair] for pair in pairs], np.intp)
    return None


def totals_rows(
    relation: Relation, readings: dict[str, FieldReading], found: dict[str, Evidence]
) -> None:
    """Record columns whose total rows hold the sum of the others."""
    if not len(relation.omitted):
        return
    size = int(relation.answer.max()) + 1
    for column in relation.columns:
        reading = readings[column.name]
        if not adds_up(column, reading) or not column.is_own:
            continue
        total = np.full(size, np.nan)
        total[relation.answer[relation.omitted]] = reading.numbers[relation.omitted]
        half = 0.5 * 10.0**-reading.decimals if reading.decimals else 0.0
        met = identities.row_sums(
            reading.numbers, relation, relation.answer, {"total": total}, half
        )
        for _, groups, rows in met:
            known = total[~np.isnan(total)]
            if identities.is_proved_sum(groups, rows, float(known.max()), len(np.unique(known))):
                found[column.name].sums.append(f"its rows sum to their total in {groups} answers")
                found[column.name].across |= set(relation.key)


def _note_sum(
    relation: Relation,
    column: Measure,
    other: Relation,
    name: str,
    groups: int,
    rows: int,
    readings: Readings,
    found: dict[Relation, dict[str, Evidence]],
) -> None:
    met = readings[other][name].numbers
    met = met[~np.isnan(met)]
    largest = float(met.max()) if len(met) else 0.0
    if not identities.is_proved_sum(groups, rows, largest, len(np.unique(met))):
        return
    if (
        meaning_of(column).kind != meaning_of(other[name]).kind
        and len(other.steps) == 0
        and largest < 500
    ):
        return
    where = f"{other.name}.{name}"
    reason = f"its rows sum to {where} in {groups} {'answers' if not other.steps else 'rows'}"
    found[relation][column.name].sums.append(reason)
    found[relation][column.name].equals.append((other.name, name))
    # Rows that sum to what encloses them add over their own part of the key.
    own = {n for n in relation.key if not _is_enclosing(relation, n, other)}
    found[relation][column.name].across |= own
    if other.steps:
        found[other][name].sums.append(f"the rows of {relation.name} sum to it in {groups} rows")
    else:
        found[other][name].sums.append(f"the rows of {relation.name} sum to it")


def _is_enclosing(relation: Relation, name: str, other: Relation) -> bool:
    """Whether a part of a key is that of the rows around it."""
    if not other.steps:
        return False
    paths = {other[one].path for one in other.key}
    return relation[name].path in paths or name in other.key


def _groups(relation: Relation, other: Relation) -> Any:
    """For each row, the row of another relation that it would add to; None where there is none."""
    if not other.steps:
        # Facts have one row an answer.
        return relation.answer
    for ancestor, places in list(relation.chain())[1:]:
        if ancestor is other:
            return places
    return None


def meaning_of(column: Measure) -> Meaning:
    """The meaning of a column by its name, or by its parent's name if that is generic."""
    return meaning(specific_name(column.name, column.path))


def adds_up(column: Measure, reading: FieldReading) -> bool:
    """Whether a column is of a kind that may add up."""
    if not reading.is_number or column.label or reading.percent:
        return False
    named = meaning_of(column)
    if named.kind in KINDS_THAT_DO_NOT_ADD or named.mean or named.kind == "change":
        return False
    return reading.dtype == "Int64" or named.kind == "money"
