"""Arrow tables as DataFrames, with dtypes that depend on the declaration alone."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pyarrow as pa

from aatoolkit.errors import ConfigurationError

if TYPE_CHECKING:
    import pandas as pd

BACKENDS = ("numpy_nullable", "pyarrow")
"""What ``dtype_backend`` may be, as in pandas."""


def check_backend(dtype_backend: str) -> None:
    """Refuse a ``dtype_backend`` that pandas does not know.

    Raises
    ------
    ConfigurationError
        If it is neither ``numpy_nullable`` nor ``pyarrow``.
    """
    if dtype_backend not in BACKENDS:
        raise ConfigurationError(
            f"dtype_backend={dtype_backend!r} is not known; use 'numpy_nullable' or 'pyarrow'",
            setting="dtype_backend",
        )


def to_frame(table: pa.Table, dtype_backend: str = "numpy_nullable") -> pd.DataFrame:
    """A DataFrame of an Arrow table.

    Days and instants are ``datetime64[us]``, instants in UTC; missing values are ``pd.NA`` or
    ``NaT``, never NaN and never zero. A category is a pandas category with either backend.
    """
    import pandas as pd

    nullable = {
        pa.string(): pd.StringDtype(),
        pa.int32(): pd.Int32Dtype(),
        pa.int64(): pd.Int64Dtype(),
        pa.float64(): pd.Float64Dtype(),
        pa.bool_(): pd.BooleanDtype(),
    }

    def dtype(kind: pa.DataType) -> object | None:
        if pa.types.is_dictionary(kind):
            return None
        if dtype_backend == "pyarrow":
            return pd.ArrowDtype(kind)
        return nullable.get(kind, pd.ArrowDtype(kind) if pa.types.is_list(kind) else None)

    if dtype_backend == "numpy_nullable":
        table = _with_instants(table)
    frame: pd.DataFrame = table.to_pandas(types_mapper=dtype)
    return frame


def _with_instants(table: pa.Table) -> pa.Table:
    """Days as naive instants at midnight, which is how pandas holds days."""
    fields = [
        pa.field(f.name, pa.timestamp("us")) if pa.types.is_date(f.type) else f
        for f in table.schema
    ]
    return table.cast(pa.schema(fields, table.schema.metadata))
