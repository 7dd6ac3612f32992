"""Declarations from findings: what is proved or likely becomes a `Section`, the rest stays open."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from aatoolkit.sections import Column, Rows, Section, Table
from aatoolkit.sections.inference.analysis import Analysis
from aatoolkit.sections.inference.findings import ColumnFinding
from aatoolkit.sections.inference.relations import Relation

_GRAIN = {"chart": "point of a series", "parallel": "point of a series", "columnar": "position"}


def section_of(analysis: Analysis) -> Section:
    """The declaration of a section, as far as it is known.

    Raises
    ------
    ValueError
        If there is nothing that can be made a table.
    """
    return Section(
        analysis.section,
        doc_of(analysis),
        *(_table(one, analysis.columns[one.name]) for one in analysis.relations),
        availability=analysis.rule,
        watched=analysis.watched,
        emptied=analysis.emptied,
    )


def doc_of(analysis: Analysis) -> str:
    """What a section holds, in a sentence."""
    return f"Drafted from answers of {analysis.section}."


def grain_of(relation: Relation) -> str:
    """What a row is, in a sentence."""
    if not relation.steps:
        return "One row an answer."
    what = _GRAIN.get(relation.shape)
    if what is None and relation.key:
        what = " and ".join(name.replace("_", " ") for name in relation.key)
    return f"One row per {what or relation.path}."


def rows_of(relation: Relation) -> Rows:
    """Where the rows of a relation are, without those that sum up others."""
    rows = relation.rows.build()
    left_out = without_of(relation)
    return rows.where(without=left_out) if left_out else rows


def without_of(relation: Relation) -> dict[str, tuple[Any, ...]]:
    """The rows that are left out as totals, by the source of the column that names them."""
    return {relation[name].source: values for name, values in relation.without.items()}


def column_of(found: ColumnFinding) -> Column:
    """The declaration of a column."""
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
