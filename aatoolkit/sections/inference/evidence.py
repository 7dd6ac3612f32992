"""The evidence of a section: identities, sums and experiments, column by column."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from aatoolkit.sections.inference import experiments, identities
from aatoolkit.sections.inference.experiments import Aligned, Split, Verdict
from aatoolkit.sections.inference.inherit import Readings
from aatoolkit.sections.inference.readings import FieldReading
from aatoolkit.sections.inference.relations import Measure, Relation
from aatoolkit.sections.inference.rules import Evidence
from aatoolkit.sections.inference.units import specific_name
from aatoolkit.sections.inference.vocabulary import words_of
from aatoolkit.sections.inference.words import Meaning, meaning, tokens

_LARGE = 50
_KINDS_THAT_DO_NOT_ADD = words_of("share position rank score probability id time status")


def gather(
    relations: list[Relation], readings: Readings, split: Split | None, notes: list[str]
) -> dict[Relation, dict[str, Evidence]]:
    """Everything that identities and experiments say of the columns of a section.

    Parameters
    ----------
    relations : list of Relation
        The tables, with their keys.
    readings : dict
        How their columns are read.
    split : Split, optional
        The answers that divide the first one among them.
    notes : list of str
        Takes what a person should look at.
    """
    found = {
        one: {column.name: Evidence(key=one.key) for column in one.columns} for one in relations
    }
    _across(relations, readings, found)
    for relation in relations:
        _ratios(relation, readings, found[relation])
        _siblings(relation, readings[relation], found[relation])
        if split is not None:
            _experiment(relation, readings[relation], found[relation], split, notes)
    for relation in relations:
        _sums(relation, relations, readings, found)
        _totals_rows(relation, readings[relation], found[relation])
    return found


def _ratios(relation: Relation, readings: Readings, found: dict[str, Evidence]) -> None:
    counts = list(identities.operands(relation, readings))
    keep = np.ones(len(relation), bool)
    keep[relation.omitted] = False
    for column in relation.columns:
        reading = readings[relation][column.name]
        named = meaning_of(column)
        if not _may_be_made(column, reading, named):
            continue
        numbers = np.where(keep, reading.numbers, np.nan)
        known = numbers[~np.isnan(numbers)]
        if not len(known):
            continue
        # A whole percentage is too coarse: it is left to experiments.
        factors = [100.0] if reading.percent or known.max() > 1.5 else [1.0, 100.0]
        is_share = named.kind not in ("position", "rank", "milliseconds", "seconds", "money")
        if is_share and reading.decimals and known.min() >= 0:
            for factor in factors:
                made = identities.ratios(numbers, reading.decimals, factor, counts, column.name)
                found[column.name].ratios += made
                if not made and named.kind == "share" and not named.points:
                    found[column.name].wholes += identities.whole_numerators(
                        numbers, reading.decimals, factor, counts
                    )
        if reading.decimals and (named.kind in ("position", "rank") or named.mean):
            found[column.name].wholes += identities.whole_numerators(
                numbers, reading.decimals, 1.0, counts
            )


def _siblings(
    relation: Relation, readings: Mapping[str, FieldReading], found: dict[str, Evidence]
) -> None:
    """Columns of one object that sum to one whole on every row."""
    objects: dict[str, dict[str, Any]] = {}
    for column in relation.columns:
        reading = readings[column.name]
        fits = reading.is_number and column.source[0] not in "#^@.&" and not column.label
        if fits and meaning_of(column).kind in ("share", "score", "count", ""):
            beside = column.source.rpartition(".")[0]
            objects.setdefault(beside, {})[column.name] = (reading.numbers, reading.decimals)
    for columns in objects.values():
        names, whole = identities.sibling_shares(columns)
        for name in names:
            found[name].siblings, found[name].whole = names, whole


def _across(
    relations: list[Relation], readings: Readings, found: dict[Relation, dict[str, Evidence]]
) -> None:
    """Tables of different keys whose rows have the same sum in every answer: both add up."""
    sums: dict[tuple[str, ...], list[tuple[Relation, str]]] = {}
    for relation in relations:
        if not relation.steps or relation.parent is None or relation.parent.steps:
            continue
        for column in relation.columns:
            reading = readings[relation][column.name]
            if not _adds_up(column, reading) or column.source[0] in "#^@":
                continue
            keep = ~np.isnan(reading.numbers)
            keep[relation.omitted] = False
            totals = np.bincount(relation.answer[keep], reading.numbers[keep])
            parts = np.bincount(relation.answer[keep], reading.numbers[keep] != 0)
            usable = totals[parts >= 2]
            if len(np.unique(usable)) >= 2 and usable.max() >= _LARGE and parts.max() >= 3:
                where = [f"{at}:{one:.6g}" for at, one in enumerate(totals) if one]
                sums.setdefault((column.name, *where), []).append((relation, column.name))
    for held in sums.values():
        for one, name in held:
            apart = [other for other, _ in held if not set(other.key) & set(one.key)]
            if apart:
                reason = f"its rows sum to the same as those of {apart[0].name} in every answer"
                found[one][name].sums.append(reason)
                found[one][name].across |= set(one.key)


def _experiment(
    relation: Relation,
    readings: dict[str, FieldReading],
    found: dict[str, Evidence],
    split: Split,
    notes: list[str],
) -> None:
    aligned = experiments.align(relation, split)
    if aligned is None:
        return
    measures = {
        column.name: readings[column.name]
        for column in relation.columns
        if readings[column.name].is_number and column.source[0] not in "#^@" and not column.label
    }
    if not measures or experiments.is_ignored([one.numbers for one in measures.values()], aligned):
        return
    if _is_sample(relation, aligned):
        notes.append(f"{relation.name}: rows look like a sample, so no sums were tested")
        return
    weights: dict[str, Any] = {}
    for name, reading in measures.items():
        half = 0.5 * 10.0**-reading.decimals if reading.decimals else 0.0
        verdict = experiments.additivity(reading.numbers, aligned, split.dimension, half)
        if verdict.outcome == "adds" and meaning_of(relation[name]).kind in _KINDS_THAT_DO_NOT_ADD:
            verdict = Verdict("untested", split.dimension)
        found[name].verdicts.append(verdict)
        if identities.is_count(reading) and verdict.outcome == "adds":
            weights[name] = reading.numbers
    for name, reading in measures.items():
        named = meaning_of(relation[name])
        if name in weights or named.kind in ("rank", "change", "probability", "money"):
            continue
        is_count = named.kind == "count" and not named.mean and not found[name].siblings
        if is_count or tokens(name)[0] in ("best", "lowest", "median"):
            continue
        found[name].weights = experiments.pooling_weights(
            reading.numbers, reading.decimals, weights, aligned
        )


def _is_sample(relation: Relation, aligned: Aligned) -> bool:
    """Whether parts hold rows that the whole lacks, mostly."""
    rows = aligned.parts
    there = (rows >= 0).sum()
    most = max(int((relation.answer == at).sum()) for at in range(1, 1 + len(rows)))
    return bool(there < 0.3 * most * len(rows)) and len(relation.steps) > 0 and most > 3


def _sums(
    relation: Relation,
    relations: list[Relation],
    readings: Readings,
    found: dict[Relation, dict[str, Evidence]],
) -> None:
    """Totals that the rows of a relation sum to, in the answer or in what encloses them."""
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
            for column in other.columns
            if _adds_up(column, readings[other][column.name]) and column.source[0] not in "#^@"
        }
        for column in relation.columns:
            reading = readings[relation][column.name]
            if not totals or not _adds_up(column, reading) or column.source[0] in "#^@":
                continue
            half = 0.5 * 10.0**-reading.decimals if reading.decimals else 0.0
            for name, groups, rows in identities.row_sums(
                reading.numbers, relation, places, totals, half
            ):
                _note_sum(relation, column, other, name, groups, rows, readings, found)


def _totals_rows(
    relation: Relation, readings: dict[str, FieldReading], found: dict[str, Evidence]
) -> None:
    """Rows that sum up the others, where what they say is the sum."""
    if not len(relation.omitted):
        return
    size = int(relation.answer.max()) + 1
    for column in relation.columns:
        reading = readings[column.name]
        if not _adds_up(column, reading) or column.source[0] in "#^@":
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
    """What the name of a column says, or that of what holds it where it is bland."""
    return meaning(specific_name(column.name, column.path))


def _may_be_made(column: Measure, reading: FieldReading, named: Meaning) -> bool:
    """Whether a column may be a ratio or a mean of others."""
    if not reading.is_number or column.source[0] in "#^@" or column.label:
        return False
    return reading.dtype == "Float64" or reading.percent or named.kind == "share"


def _adds_up(column: Measure, reading: FieldReading) -> bool:
    """Whether a column is of a kind that may add up."""
    if not reading.is_number or column.label or reading.percent:
        return False
    named = meaning_of(column)
    if named.kind in _KINDS_THAT_DO_NOT_ADD or named.mean or named.kind == "change":
        return False
    return reading.dtype == "Int64" or named.kind == "money"
