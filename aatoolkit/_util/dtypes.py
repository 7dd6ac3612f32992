"""The dtypes of declared columns, and their names in Python, pandas and reports."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from aatoolkit._util.data import constants


@dataclass(frozen=True)
class Dtype:
    """A dtype of a declared column.

    Parameters
    ----------
    name
        The name in declarations.
    words
        The name in reports.
    python
        The type of the values, for type checkers.
    pandas
        The dtype in a DataFrame; None for a category.
    parses
        The possible notations of the values, such as ``decimal comma``.
    """

    name: str
    words: str
    python: str
    pandas: Any
    parses: tuple[str, ...] = ()


@dataclass(frozen=True)
class Reading:
    """How to parse the values of a column; the parameters are those of
    `aatoolkit.sections.Column`.
    """

    dtype: str
    parse: str | None = None
    year: str | None = None
    scale: float | None = None
    missing: tuple[str | float | bool, ...] = ()


def _load_dtypes() -> Mapping[str, Dtype]:
    """Return the dtypes in ``dtypes.json``."""
    dtypes: dict[str, Dtype] = {}
    for name, dtype_fields in constants("dtypes").items():
        notations = dtype_fields.pop("parses")
        parses = dtypes[notations].parses if isinstance(notations, str) else tuple(notations)
        dtypes[name] = Dtype(name, **dtype_fields, parses=parses)
    return dtypes


DTYPES = _load_dtypes()
NUMBERS, MOMENTS = ("Int64", "Float64"), ("date", "timestamp")
