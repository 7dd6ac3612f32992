"""Data contracts: declared tables as schemas of pandera."""

from __future__ import annotations

from typing import TYPE_CHECKING

from aatoolkit._util.defaults import needed
from aatoolkit._util.dtypes import DTYPES
from aatoolkit._util.units import UNITS, Unit
from aatoolkit.sections.section import Table

if TYPE_CHECKING:
    import pandera.pandas


def pandera_schema(table: Table) -> pandera.pandas.DataFrameSchema:
    """Build a pandera schema, which validates the table's DataFrame.

    It holds the dtypes of ``dtype_backend="numpy_nullable"`` and what always holds: columns of the
    key are there and identify a row, counts are not negative, fractions lie between 0 and 1, and
    ordered categories have no other levels. Columns that the table does not declare are refused.

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
        unit = UNITS.get(column.unit or "", Unit())
        levels = [*column.levels] if column.ordered else None
        limits = {pa.Check.ge: unit.least, pa.Check.le: unit.most, pa.Check.isin: levels}
        columns[column.name] = pa.Column(
            DTYPES[column.dtype].pandas,
            [check(limit) for check, limit in limits.items() if limit is not None],
            nullable=column.name not in table.key,
            description=column.doc,
            metadata={"unit": column.unit, "aggregation": str(column.aggregate)},
        )
    key = [*table.key] or None
    return pa.DataFrameSchema(
        columns, name=table.name, description=table.doc, strict=True, unique=key
    )
