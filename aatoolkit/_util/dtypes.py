"""The dtypes that declared columns can have, and their names in Python, pandas and reports."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Dtype:
    """A dtype of a declared column.

    Parameters
    ----------
    name
        Its name in declarations.
    words
        Its name in reports.
    python
        The type of its values, for type checkers.
    pandas
        The dtype of its column in a DataFrame; None for a category, as levels may be added.
    parses
        The formats in which services may write its values, such as ``decimal comma``.
    """

    name: str
    words: str
    python: str
    pandas: Any
    parses: tuple[str, ...] = ()


@dataclass(frozen=True)
class Reading:
    """How to parse the values of a column: its dtype, and the format in which the service writes.

    Parameters
    ----------
    dtype, parse, year, scale, missing
        As for `aatoolkit.sections.Column`.
    """

    dtype: str
    parse: str | None = None
    year: str | None = None
    scale: float | None = None
    missing: tuple[str | float | bool, ...] = ()


_NUMBER_PARSES = ("number", "decimal comma")
_MOMENT_PARSES = (
    *("YYYYMMDD", "DD/MM/YYYY", "MM/DD/YYYY", "iso week", "month day", "epoch s", "epoch ms"),
    *("month day year", "iso month", "epoch days", "epoch ns", "utc"),
)

# fmt: off
DTYPES: Mapping[str, Dtype] = {dtype.name: dtype for dtype in (
    Dtype("string", "text", "str", "string", ("currency", "any")),
    Dtype("Int64", "whole number", "int", "Int64", _NUMBER_PARSES),
    Dtype("Float64", "number", "float", "Float64", (*_NUMBER_PARSES, "money", "duration", "parts")),
    Dtype("boolean", "yes or no", "bool", "boolean", ("boolean",)),
    Dtype("date", "day", "pd.Timestamp", "datetime64[us]", _MOMENT_PARSES),
    Dtype("timestamp", "moment", "pd.Timestamp", "datetime64[us, UTC]", _MOMENT_PARSES),
    Dtype("category", "text", "str", None, ("currency",)),
    Dtype("list<string>", "list of texts", "Any", object),
)}
NUMBERS, MOMENTS = ("Int64", "Float64"), ("date", "timestamp")
