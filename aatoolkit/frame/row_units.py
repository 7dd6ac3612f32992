"""Units of rows: columns whose unit is that of the metric in another column of the row."""

from __future__ import annotations

import pandas as pd

from aatoolkit.metadata.arrow_schema import declared
from aatoolkit.metadata.attrs import FrameMetadata


def row_units(frame: pd.DataFrame, known: FrameMetadata, name: str) -> pd.Series | None:
    """The unit of a column in each row; None where it is the same in all rows.

    A metric without a known unit is a unit of its own, named by the metric.

    Examples
    --------
    >>> import aatoolkit as aa
    >>> from aatoolkit.metadata.attrs import metadata_of
    >>> value = aa.Column("value", "Int64", unit="per `metric`", units={"ttfb": "milliseconds"})
    >>> columns = (aa.Column("metric", "string"), value)
    >>> table = aa.Table("t", "Metrics.", aa.sections.records("rows"), "metric", columns)
    >>> rows = [{"metric": "ttfb", "value": 58}, {"metric": "size", "value": 9}]
    >>> frame = aa.normalize(aa.Section("mine", "Mine.", table), {"rows": rows}).main
    >>> row_units(frame, metadata_of(frame), "value").tolist()
    ['milliseconds', 'size']
    """
    column = declared(known.columns[name]) if name in known.columns else None
    per = column.unit_by if column is not None and column.units else None
    if column is None or per is None or per not in frame.columns:
        return None
    words = frame[per].astype("string")
    return words.map(dict(column.units)).astype("string").fillna(words)


def common_unit(frame: pd.DataFrame, known: FrameMetadata, name: str) -> str | None:
    """The unit that all rows of a frame have, of a column with a unit for each metric."""
    units = row_units(frame, known, name)
    if units is None or units.isna().any() or units.nunique() != 1:
        return None
    return str(units.iloc[0])
