"""Data contracts: declared tables as schemas of Frictionless and pandera."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from aatoolkit._util.defaults import needed
from aatoolkit._util.dtypes import DTYPES
from aatoolkit._util.units import UNITS, Unit
from aatoolkit.sections.section import Column, Table

if TYPE_CHECKING:
    import pandera.pandas


def frictionless_schema(table: Table) -> dict[str, Any]:
    """Build a Frictionless Table Schema: types, keys, levels and bounds of the columns.

    Only what always holds is a constraint: columns of the key are required, counts are not
    negative, fractions lie between 0 and 1, and ordered categories have no other levels.

    Parameters
    ----------
    table : Table
        A declared table.

    Returns
    -------
    dict
        The schema (https://datapackage.org/standard/table-schema/), as JSON data.

    Examples
    --------
    >>> import aatoolkit as aa
    >>> table = aa.sections.get("domains").tables[1]
    >>> frictionless_schema(table)["primaryKey"]
    ['source_domain', 'engine']
    """
    fields = []
    for column in table.columns:
        limits = {
            "required": column.name in table.key or None,
            **_limits(column),
            "enum": [*column.levels] if column.ordered else None,
        }
        facts = {
            "name": column.name,
            "type": DTYPES[column.dtype].frictionless,
            "description": column.doc,
            "unit": column.unit,
            "aggregation": str(column.aggregate),
            "constraints": {name: limit for name, limit in limits.items() if limit is not None},
        }
        fields.append({name: fact for name, fact in facts.items() if fact})
    key = {"primaryKey": [*table.key]} if table.key else {}
    return {"fields": fields, **key}


def _limits(column: Column) -> dict[str, float | None]:
    unit = UNITS.get(column.unit or "", Unit())
    return {"minimum": unit.least, "maximum": unit.most}


def pandera_schema(table: Table) -> pandera.pandas.DataFrameSchema:
    """Build a pandera schema, which validates the table's DataFrame.

    It holds the dtypes of ``dtype_backend="numpy_nullable"`` and the constraints of
    `frictionless_schema`; columns that the table does not declare are refused.

    Parameters
    ----------
    table : Table
        A declared table.

    Returns
    -------
    pandera.pandas.DataFrameSchema
        The schema.

    Raises
    ------
    PackageMissing
        If pandera is not installed.
    """
    with needed("data contracts need", "contracts"):
        import pandera.pandas as pa
    columns = {}
    for column in table.columns:
        least, most = _limits(column).values()
        checks = [] if least is None else [pa.Check.ge(least)]
        checks += [] if most is None else [pa.Check.le(most)]
        columns[column.name] = pa.Column(
            DTYPES[column.dtype].pandas,
            [*checks, pa.Check.isin([*column.levels])] if column.ordered else checks,
            nullable=column.name not in table.key,
            description=column.doc,
            metadata={"unit": column.unit, "aggregation": str(column.aggregate)},
        )
    key = [*table.key] or None
    return pa.DataFrameSchema(
        columns, name=table.name, description=table.doc, strict=True, unique=key
    )
