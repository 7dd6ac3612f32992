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


DTYPES: Mapping[str, Dtype] = {
    name: Dtype(name, **{**facts, "parses": tuple(facts.get("parses", ()))})
    for name, facts in constants("dtypes").items()
}
NUMBERS, MOMENTS = ("Int64", "Float64"), ("date", "timestamp")
