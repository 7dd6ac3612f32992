"""The dtypes that declared columns can have, and their names in Python, pandas and reports."""

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
        The name of the dtype in declarations.
    words
        The name of the dtype in reports.
    python
        The type of the values, for type checkers.
    pandas
        The dtype of the column in a DataFrame; None for a category, because its pandas dtype
        depends on the levels that are found.
    parses
        The notations that the values may have in a response, such as ``decimal comma``; see
        `Column.parse`.
    """

    name: str
    words: str
    python: str
    pandas: Any
    parses: tuple[str, ...] = ()


@dataclass(frozen=True)
class Reading:
    """How to parse the values of a column: into which dtype, and from which notation.

    Parameters
    ----------
    dtype, parse, year, scale, missing
        The same as in `aatoolkit.sections.Column`.
    """

    dtype: str
    parse: str | None = None
    year: str | None = None
    scale: float | None = None
    missing: tuple[str | float | bool, ...] = ()


def _load_dtypes() -> Mapping[str, Dtype]:
    """Return the dtypes of ``dtypes.json``, in which a dtype may take the notations of another."""
    dtypes: dict[str, Dtype] = {}
    for name, dtype_fields in constants("dtypes").items():
        notations = dtype_fields.pop("parses")
        parses = dtypes[notations].parses if isinstance(notations, str) else tuple(notations)
        dtypes[name] = Dtype(name, **dtype_fields, parses=parses)
    return dtypes


DTYPES = _load_dtypes()
NUMBERS, MOMENTS = ("Int64", "Float64"), ("date", "timestamp")
