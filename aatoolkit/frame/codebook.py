"""The code book of a frame: the meaning, unit, rule and status of each column."""

from __future__ import annotations

from collections.abc import Iterable

import pandas as pd

from aatoolkit._util.show import Shown
from aatoolkit.frame.aggregation_plan import caution, common_unit
from aatoolkit.frame.cell_status import availability_of
from aatoolkit.frame.merge import is_joined
from aatoolkit.metadata.arrow_schema import declared
from aatoolkit.metadata.attrs import metadata_of


def codebook_of(frame: pd.DataFrame) -> pd.DataFrame:
    """One row a column, by name; see ``df.aa.codebook``."""
    metadata = metadata_of(frame)
    known = metadata.columns
    what = {name: declared(column) for name, column in known.items()}
    dtypes = {str(name): str(dtype) for name, dtype in frame.dtypes.items()}
    return Shown(
        {
            "dtype": _words(dtypes.values()),
            "unit": _words(
                common_unit(frame, metadata, name) or (column and column.unit)
                for name, column in what.items()
            ),
            "aggregation": _words(column and str(column.aggregate) for column in what.values()),
            "doc": _words((column and column.doc) or None for column in what.values()),
            "availability": _words(
                str(availability_of(frame, name, column)) for name, column in known.items()
            ),
            "caution": _words(caution(frame, metadata, name) for name in known),
            "of": _words(
                None if is_joined(column.table) else column.of for column in known.values()
            ),
        },
        index=pd.Index([*known], dtype="string", name="column"),
    )


def _words(values: Iterable[object]) -> pd.Index:
    return pd.Index([*values], dtype="string")
