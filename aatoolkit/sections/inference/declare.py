"""Build declarations from findings: proved and likely ones are applied, others left open."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from aatoolkit.sections import Column, Rows, Section, Table
from aatoolkit.sections.inference.analysis import Analysis
from aatoolkit.sections.inference.findings import ColumnFinding
from aatoolkit.sections.inference.relations import Relation


def section_of(analysis: Analysis) -> Section:
    """Build the declaration of a section, as far as it is known.

    Raises
    ------
    ValueError
        If there is nothing that can be made a table.
    """
    return Section(
        analysis.section,
        doc_of(analysis),
        *(_table(one, analysis.columns[one.name]) for one in analysis.relations),
        availability=analysis.rules,
        watched=analysis.watched,
        emptied=analysis.emptied,
    )


def doc_of(analysis: Analysis) -> str:
    """Describe a section in a sentence."""
    return f"Drafted from answers of {analysis.section}."


def grain_of(relation: Relation) -> str:
    """Describe in a sentence what a row is."""
    if not relation.steps:
        return "One row an answer."
    what = " and ".join(name.replace("_", " ") for name in relation.key)
    return f"One row per {what or relation.path}."


def rows_of(relation: Relation) -> Rows:
    """Build the `Rows` of a relation, without totals."""
    rows = relation.rows.build()
    left_out = without_of(relation)
    return rows.where(without=left_out) if left_out else rows


def without_of(relation: Relation) -> dict[str, tuple[Any, ...]]:
    """The values of rows that are totals, by the source of the column that names them."""
    return {relation[name].source: values for name, values in relation.without.items()}


def column_of(found: ColumnFinding) -> Column:
    """Build the declaration of a column."""
    return Column(
        found.name,
        found.dtype,
        found.doc,
        source=found.source,
        unit=found.unit.value,
        aggregate=found.aggregate,
        parse=found.parse,
        year=found.year,
        scale=None if found.scale == 1.0 else found.scale,
        missing=found.missing,
        units=found.units,
    )


def _table(relation: Relation, columns: Iterable[ColumnFinding]) -> Table:
    return Table(
        relation.name,
        grain_of(relation),
        rows_of(relation),
        relation.key,
        tuple(column_of(one) for one in columns),
    )
