"""The dtypes that table declarations may use, and their names in Python, pandas and reports."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from aatoolkit._util.data import load_constants


@dataclass(frozen=True)
class Dtype:
    """A dtype that table declarations may use, and its names elsewhere.

    Parameters
    ----------
    name
        The name in declarations.
    words
        The name in reports.
    python
        The Python type of the values, as text, for type checkers.
    pandas
        The dtype in a DataFrame; None for a categorical column.
    parses
        The text formats in which services write such values, such as ``decimal comma``.
    """

    name: str
    words: str
    python: str
    pandas: Any
    parses: tuple[str, ...] = ()


@dataclass(frozen=True)
class Reading:
    """How to convert JSON values to the values of a column.

    Parameters
    ----------
    dtype
        The name of the dtype, such as ``Float64``.
    parse
        The text format of the values, such as ``decimal comma``; None for plain JSON values.
    year
        The JSON path of the year, for dates that are written without one.
    scale
        The factor to multiply numbers by, such as 0.01 for percentages.
    missing
        The values that mean "missing", such as ``"n/a"``.
    """

    dtype: str
    parse: str | None = None
    year: str | None = None
    scale: float | None = None
    missing: tuple[str | float | bool, ...] = ()


def _load_dtypes() -> Mapping[str, Dtype]:
    """Return the dtypes in ``dtypes.json``."""
    dtype_by_name: dict[str, Dtype] = {}
    for name, dtype_fields in load_constants("dtypes").items():
        text_formats = dtype_fields.pop("parses")
        text_format_names = (
            dtype_by_name[text_formats].parses
            if isinstance(text_formats, str)
            else tuple(text_formats)
        )
        dtype_by_name[name] = Dtype(name, **dtype_fields, parses=text_format_names)
    return dtype_by_name


# The dtypes that table declarations may use, by name.
DTYPES = _load_dtypes()

# The names of the dtypes that hold numbers, and of those that hold days and timestamps.
NUMBER_DTYPES = ("Int64", "Float64")
TEMPORAL_DTYPES = ("date", "timestamp")
