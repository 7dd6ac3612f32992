"""Gather the evidence of a section: identities, sums and experiments, column by column."""

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
from aatoolkit.sections.inference.sums import (
    KINDS_THAT_DO_NOT_ADD,
    equal_totals,
    meaning_of,
    sums_above,
    sums_by_key,
    totals_rows,
)
from aatoolkit.sections.inference.words import Meaning, tokens


def gather(
    relations: list[Relation], readings: Readings, split: Split | None, notes: list[str]
) -> dict[Relation, dict[str, Evidence]]:
    """Gather the evidence of identities and experiments for the columns of a section.

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
    equal_totals(relations, readings, found)
    for relation in relations:
        _ratios(relation, readings, found[relation])
        _siblings(relation, readings[relation], found[relation])
        if split is not None:
            _experiment(relation, readings[relation], found[relation], split, notes)
    for relation in relations:
        sums_above(relation, relations, readings, found)
        sums_by_key(relation, relations, readings, found)
        totals_rows(relation, readings[relation], found[relation])
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
                for ratio in made:
                    count = ratio.numerator
                    if count and count.own and ratio.denominator.name == f"sum of {count.name}":
                        found[count.name].sums.append(f"{column.name} is its share of its sum")
                        found[count.name].across |= {*relation.key}
                if not made and named.kind == "share" and not named.points:
                    found[column.name].unseen += identities.shares_of_unseen(
                        numbers, reading.decimals, factor, counts, relation
                    )
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
    """Record columns of one object that sum to one whole on every row."""
    objects: dict[str, dict[str, Any]] = {}
    for column in relation.columns:
        reading = readings[column.name]
        fits = reading.is_number and column.is_own and column.source[0] not in ".$"
        if fits and meaning_of(column).kind in ("share", "score", "count", ""):
            beside = column.source.rpartition(".")[0]
            objects.setdefault(beside, {})[column.name] = (reading.numbers, reading.decimals)
    for columns in objects.values():
        names, whole = identities.sibling_shares(columns)
        for name in names:
            found[name].siblings, found[name].whole = names, whole


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
        if readings[column.name].is_number and column.is_own
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
        if verdict.outcome == "adds" and meaning_of(relation[name]).kind in KINDS_THAT_DO_NOT_ADD:
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
    """Whether parts mostly hold rows that the whole lacks."""
    rows = aligned.parts
    there = (rows >= 0).sum()
    most = max(int((relation.answer == at).sum()) for at in range(1, 1 + len(rows)))
    return bool(there < 0.3 * most * len(rows)) and len(relation.steps) > 0 and most > 3


def _may_be_made(column: Measure, reading: FieldReading, named: Meaning) -> bool:
    """Whether a column may be a ratio or a mean of others."""
    if not reading.is_number or not column.is_own:
        return False
    return reading.dtype == "Float64" or reading.percent or named.kind == "share"
