"""Columns of tables: their path in an answer, parsing, dtype, unit and meaning."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import lru_cache

from aatoolkit._util.dtypes import DTYPES
from aatoolkit._util.text import Described, shown
from aatoolkit.errors import ArgumentError
from aatoolkit.sections.aggregation import NONE, Aggregation

_PER_ROW = re.compile(r"per `?(\w+)`?")

PARSES: Mapping[str, tuple[str, ...]] = {
    parse: tuple(name for name, dtype in DTYPES.items() if parse in dtype.parses)
    for parse in dict.fromkeys(parse for dtype in DTYPES.values() for parse in dtype.parses)
}
"""The ways in which a value may be written, and the dtypes that each gives."""


@dataclass(frozen=True)
class Reading:
    """The parser of a column whose values are not plain JSON of its dtype.

    Parameters
    ----------
    dtype, parse, year, scale, missing
        As for `Column`.
    """

    dtype: str
    parse: str | None = None
    year: str | None = None
    scale: float | None = None
    missing: tuple[str | float | bool, ...] = ()


@dataclass(frozen=True)
class Column(Described):
    """One column of a table.

    Parameters
    ----------
    name : str
        Its name, in snake_case.
    dtype : str
        ``string``, ``Int64``, ``Float64``, ``boolean``, ``date``, ``timestamp`` (UTC),
        ``category`` or ``list<string>``.
    doc : str
        What it says, in a sentence.
    source : str, optional
        Where its values are, from the row: a path (``metric.key``); ``.`` for the row
        itself; ``^path`` for the record that encloses it, ``^^path`` for the one beyond;
        ``$.path`` for the answer; ``#0`` or ``#1`` for the row's position in its array,
        counted from 0 or 1, and ``^#0`` for that of the record that encloses it; ``[0]`` or
        ``[name]`` for a position of a row that is an array, by its number or its header;
        ``&path`` for the element at the row's own position of an array beside. By default
        a label of the row of the same name, else the name in camelCase.
    unit : str, optional
        The unit; None where there is none or it is in another column.
    levels : tuple of str, optional
        The known levels of a category.
    ordered : bool
        Whether the levels are in order, the lowest first.
    aggregate : Aggregation, optional
        How rows become one.
    null : str, optional
        The value that null is replaced with in a key.
    optional : bool
        Whether answers may leave the field out altogether.
    parse : str, optional
        How a value is written that is not plain JSON of the dtype: ``number`` (``1,204``,
        ``34.5%``, ``+2.1``, ``#3``, ``1.2k``), ``decimal comma`` (``1.204,5``), ``money``
        (``$1,204.50``) and ``currency`` (the ``$`` of it), ``any`` (the text of a text, a number
        or a flag), ``duration`` (``1m 30s``,
        ``PT90S``, ``00:01:30``; in seconds), ``boolean`` (``yes``, ``off``, 1),
        ``YYYYMMDD``, ``DD/MM/YYYY`` and ``MM/DD/YYYY`` (also ``3.11.2026``), ``iso week``
        (``2026-W45``, its Monday), ``iso month`` (``2026-11``, ``2026-Q4``), ``month day``
        (``Nov 3``), ``month day year`` (``Nov 3, 2026``), ``epoch s``, ``epoch ms``,
        ``epoch days``, or ``utc`` (an instant written without a zone). A percent sign is passed
        over: say ``scale=0.01`` for a fraction.
    year : str, optional
        For ``month day``: where the answer has the year, or a day not before any of the
        column's, such as ``$.window.end``.
    scale : float, optional
        What numbers are multiplied by: 0.01 for percent, or cents.
    missing : tuple, optional
        Values that mean that there is none, such as ``(-1, "n/a")``. They are missing in the
        column, and in ``extra`` as they were.
    units : mapping of str to str, optional
        Where ``unit`` is "per `metric`": the unit for each word of that column.

    Examples
    --------
    >>> Column("rate", "Float64", parse="number", scale=0.01, missing=("—",)).reading
    Reading(dtype='Float64', parse='number', year=None, scale=0.01, missing=('—',))
    """

    name: str
    dtype: str
    doc: str = ""
    source: str | None = None
    unit: str | None = None
    levels: tuple[str, ...] = ()
    ordered: bool = False
    aggregate: Aggregation = NONE
    null: str | None = None
    optional: bool = False
    parse: str | None = None
    year: str | None = None
    scale: float | None = None
    missing: tuple[str | float | bool, ...] = ()
    units: Mapping[str, str] = field(default_factory=dict, hash=False)
    pattern: str = field(default="", compare=False)

    @property
    def is_label(self) -> bool:
        """Whether the column takes keys or positions, rather than values of the answer."""
        return (self.source or "").lstrip("^")[:1] in ("@", "#")

    @property
    def unit_by(self) -> str | None:
        """The column that gives the unit, or the metric, of each row; None if there is none.

        Examples
        --------
        >>> Column("value", "Float64", unit="per `metric`").unit_by
        'metric'
        """
        found = _PER_ROW.fullmatch(self.unit or "")
        return found[1] if found else None

    @property
    def reading(self) -> Reading | None:
        """The parser of values that are not plain JSON of the dtype; None if they are."""
        if self.parse is None and self.scale is None and not self.missing:
            return None
        return Reading(self.dtype, self.parse, self.year, self.scale, self.missing)

    def __post_init__(self) -> None:
        problem = self._problem()
        if problem:
            raise ArgumentError(f"column {self.name!r}: {problem}")

    def _problem(self) -> str | None:
        if self.dtype not in DTYPES:
            return f"dtype {self.dtype!r} is not one of {', '.join(DTYPES)}"
        if self.unit is not None and not isinstance(self.unit, str):
            return f"unit={shown(self.unit)} is no text"
        if self.source == "":
            return "its source is empty; '.' is the row itself"
        if self.parse is not None and self.dtype not in PARSES.get(self.parse, ()):
            known = ", ".join(word for word, kinds in PARSES.items() if self.dtype in kinds)
            if self.parse in PARSES:
                gives = " or ".join(PARSES[self.parse])
                return f"parse {self.parse!r} gives {gives}, not {self.dtype}: say so as dtype="
            return f"parse {self.parse!r} gives no {self.dtype}; what does: {known or 'nothing'}"
        if (self.parse == "month day") != (self.year is not None):
            return "parse='month day' and year= need each other"
        if self.year is not None and not self.year.startswith("$."):
            return "year= is a path from the root, such as '$.window.end'"
        if self.scale is not None and (self.dtype != "Float64" or not self.scale > 0):
            return "scale= is a number above 0, for Float64"
        if not isinstance(self.missing, tuple):
            return f"missing= is a tuple of values, not a {type(self.missing).__name__}"
        if self.missing and self.dtype == "list<string>":
            return "missing= is for single values, not for lists"
        return None

    def _described(self) -> tuple[str, list[str]]:
        unit = f", {self.unit}" if self.unit else ""
        return f"{self.name}: {self.dtype}{unit}", [self.doc] if self.doc else []


def camel(name: str) -> str:
    """Convert a snake_case name to camelCase.

    Examples
    --------
    >>> camel("citation_count")
    'citationCount'
    """
    first, *rest = name.split("_")
    return first + "".join(part.capitalize() for part in rest)


@lru_cache(8192)
def snake(name: str) -> str:
    """Convert a field's name to snake_case.

    Examples
    --------
    >>> snake("shareOfVoicePct"), snake("AdRows"), snake("HTTPStatus")
    ('share_of_voice_pct', 'ad_rows', 'http_status')
    """
    name = name[:80]
    if name.isascii() and name.isalnum() and name.islower():
        return name
    split = re.sub(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])", "_", name)
    return re.sub(r"\W+|__+", "_", split).strip("_").lower() or "field"
