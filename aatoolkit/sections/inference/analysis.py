"""The analysis of one section: tables, types, units, rules and keys, each with its evidence."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from functools import partial
from typing import Any

from aatoolkit.sections import MAX, MIN, NONE, Aggregation, Rule
from aatoolkit.sections.inference.differences import settle_differences
from aatoolkit.sections.inference.evidence import gather
from aatoolkit.sections.inference.experiments import Split
from aatoolkit.sections.inference.findings import LIKELY, OPEN, PROVED, ColumnFinding, Finding
from aatoolkit.sections.inference.inherit import settle_keys
from aatoolkit.sections.inference.metrics import is_value_name, units_by_metric
from aatoolkit.sections.inference.readings import FieldReading
from aatoolkit.sections.inference.relations import Measure, Relation
from aatoolkit.sections.inference.rules import Evidence, find_rule
from aatoolkit.sections.inference.shapes import find_relations
from aatoolkit.sections.inference.sums import meaning_of
from aatoolkit.sections.inference.texts import complete_texts, year_path
from aatoolkit.sections.inference.totals import leave_out_totals
from aatoolkit.sections.inference.units import find_unit, likely_counts
from aatoolkit.sections.inference.vocabulary import Vocabulary
from aatoolkit.sections.inference.words import tokens


@dataclass
class Analysis:
    """The findings of one section.

    Attributes
    ----------
    section : str
        Its name.
    relations : list of Relation
        Its tables.
    columns : dict of str to list of ColumnFinding
        The columns of each table, by the table's name.
    notes : list of str
        What a person should look at.
    rules : tuple of Rule
        Where the service states the section's availability, as far as a person said so.
    watched : tuple of str
        Places that may be about availability.
    emptied : tuple of str
        Where the rows are gone without a word when nothing was measured.
    """

    section: str
    relations: list[Relation] = field(default_factory=list)
    columns: dict[str, list[ColumnFinding]] = field(default_factory=dict)
    notes: list[str] = field(default_factory=list)
    rules: tuple[Rule, ...] = ()
    watched: tuple[str, ...] = ()
    emptied: tuple[str, ...] = ()


def analyse(
    section: str,
    whole: Any,
    parts: Mapping[tuple[str, ...], Any],
    vocabulary: Vocabulary,
    others: list[Any] | None = None,
    *,
    measures: bool = True,
    passed_over: Collection[str] = (),
) -> Analysis:
    """Analyse the answers of a section: tables, types, units, rules and keys.

    Parameters
    ----------
    section : str
        The section's name.
    whole : object
        Its decoded answer without filters.
    parts : mapping
        Its answers by the engines they were narrowed to; together they are all that ran.
    vocabulary : Vocabulary
        What the keys of maps may be.
    others : list, optional
        Further answers, of other windows or hosts.
    measures : bool
        Whether to look for units and rules; without, all of them are left open.
    passed_over : collection of str
        Fields of the answers that are in no table.
    """
    documents = [whole, *parts.values(), *(others or [])]
    relations = find_relations(documents, section, vocabulary, passed_over)
    relations = [one for one in relations if one.columns]
    complete = partial(complete_texts, year=year_path(documents))
    readings, notes = settle_keys(relations, leave_out_totals, complete)
    found = Analysis(section, _ordered(relations), {}, notes)
    split = Split("engine", 0, tuple(range(1, len(parts) + 1))) if len(parts) > 1 else None
    if not measures:
        for relation in found.relations:
            found.columns[relation.name] = [
                _read(relation, column, readings[relation]) for column in relation.columns
            ]
        return found
    evidence = gather(relations, readings, split, found.notes)
    for relation in found.relations:
        found.columns[relation.name] = [
            _finding(relation, column, readings[relation], evidence[relation][column.name])
            for column in relation.columns
        ]
        likely_counts(found.columns[relation.name], readings[relation], evidence[relation])
    for relation in found.relations:
        _units_of_sums(found.columns, relation, evidence[relation])
        settle_differences(found.columns[relation.name], readings[relation])
        _long_units(relation, found.columns[relation.name], readings[relation])
    return found


def _ordered(relations: list[Relation]) -> list[Relation]:
    """Sort the tables: the largest one of records first, plain facts last."""

    def rank(relation: Relation) -> tuple[bool, bool, int, int]:
        size = len(relation) * len(relation.columns)
        is_series = relation.holder != relation.steps[:-1]
        nested = sum(len(one.steps) > 0 for one, _ in relation.chain()) - 1
        return not relation.steps, is_series, nested, -size

    return sorted(relations, key=rank)


def _read(relation: Relation, column: Measure, readings: dict[str, FieldReading]) -> ColumnFinding:
    """Find the parsing and dtype of a column; its unit and rule are left open."""
    reading = readings[column.name]
    there = column.present()
    return ColumnFinding(
        relation.name,
        column.name,
        column.path,
        column.source,
        reading.dtype,
        reading.parse,
        reading.missing,
        year=reading.year,
        reading=reading.evidence,
        is_key=column.name in relation.key,
        example=next((one for one in there if one not in reading.missing), None),
        doc=_doc(column),
    )


def _finding(
    relation: Relation, column: Measure, readings: dict[str, FieldReading], evidence: Evidence
) -> ColumnFinding:
    reading, found = readings[column.name], _read(relation, column, readings)
    if found.is_key or column.label:
        return found
    if reading.is_number:
        named = meaning_of(column)
        found.unit, found.scale = find_unit(column.name, column.path, reading, evidence)
        if found.scale != 1.0:
            found.dtype = "Float64"
        currency = _currency(relation, column) if found.unit.value == "currency" else ""
        found.rule = find_rule(column.name, named, evidence, currency)
    elif reading.dtype in ("date", "timestamp"):
        found.rule = _moment_rule(column)
    return found


def _units_of_sums(
    columns: dict[str, list[ColumnFinding]], relation: Relation, evidence: dict[str, Evidence]
) -> None:
    """Give a column the unit of a column to which its rows sum."""
    known = {(one.table, one.name): one for held in columns.values() for one in held}
    for column in columns[relation.name]:
        totals = [known[one] for one in evidence[column.name].equals if one in known]
        units = {one.unit.value for one in totals if one.scale == 1.0}
        is_silent = column.unit.confidence == OPEN and column.scale == 1.0
        if is_silent and len(units) == 1 and totals[0].unit.value is not None:
            reason = f"that of {totals[0].table}.{totals[0].name}, to which its rows sum"
            column.unit = Finding(totals[0].unit.value, LIKELY, reason)


def _long_units(
    relation: Relation, columns: list[ColumnFinding], readings: dict[str, FieldReading]
) -> None:
    """Give a value column one unit per metric, where rows are metrics."""
    metric, units = units_by_metric(relation, readings)
    for column in columns:
        is_number = column.dtype in ("Int64", "Float64") and not column.is_key
        if metric and is_number and is_value_name(column.name):
            column.units = units
            evidence = f"each {metric} has a unit of its own"
            column.unit = Finding(f"per `{metric}`", LIKELY, evidence)
            column.rule = Finding(
                Aggregation("none", why=f"rows are different measures: choose one {metric}"),
                LIKELY,
                evidence,
            )


def _currency(relation: Relation, column: Measure) -> str:
    """The column that holds the currency of an amount, if there is one."""
    own = f"{column.name}_currency"
    if any(one.name == own and one.source == column.source for one in relation.columns):
        return own
    beside = column.source.rpartition(".")[0]
    for other in relation.columns:
        if "currency" in tokens(other.name) and other.source.rpartition(".")[0] == beside:
            return other.name
    return ""


def _moment_rule(column: Measure) -> Finding[Aggregation]:
    words = set(tokens(column.name))
    if words & {"first", "since", "start", "from", "earliest"}:
        return Finding(MIN, LIKELY, "name")
    if words & {"last", "latest", "until", "end", "to"}:
        return Finding(MAX, LIKELY, "name")
    return Finding(NONE, PROVED, "")


def _doc(column: Measure) -> str:
    """Describe a column by its name and path."""
    words = " ".join(tokens(column.name))
    return f"{words[:1].upper()}{words[1:]}, {column.path} in the answer." if words else column.path
