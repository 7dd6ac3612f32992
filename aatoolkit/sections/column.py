"""Columns of tables: where their values are, how they are parsed, dtype, unit and meaning.

`Column` declares a column. The functions `count`, `fraction`, `text` and so on are short forms of
it, one for each kind of value. Each takes the column's name, its description, the path to its
values where that is not the name in camelCase, and the other parameters of `Column`. A path in the
place of the name gives both: ``count("totals.hitCount")`` is the column ``totals_hit_count``.

>>> count("citation_count", "Citations of the domain.").unit
'count'
>>> fraction("citation_share", "Its citations, of all.", over=("citations", "total")).aggregate
Aggregation(rule='ratio', over=('citations', 'total'))
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any, Protocol

from aatoolkit._util.dtypes import DTYPES, Reading
from aatoolkit._util.text import Described
from aatoolkit.errors import ArgumentError
from aatoolkit.sections.aggregation import COUNT, FRACTION, NONE, RANK, SCORE, Aggregation, ratio

__all__ = [
    "Column",
    "category",
    "count",
    "date",
    "flag",
    "fraction",
    "integer",
    "number",
    "position",
    "rank",
    "ref",
    "score",
    "text",
    "timestamp",
    "words",
]

_PER_ROW = re.compile(r"per `?(\w+)`?")

PARSES: Mapping[str, tuple[str, ...]] = {
    parse: tuple(name for name, dtype in DTYPES.items() if parse in dtype.parses)
    for parse in dict.fromkeys(parse for dtype in DTYPES.values() for parse in dtype.parses)
}
"""The dtypes that each way of parsing a value (`Column.parse`) can give."""


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
        What its values say, in a sentence.
    source : str, optional
        The path from the row to its values, such as ``metric.key``. ``.`` is the row itself.
        ``^path`` starts at the record that encloses the row, ``^^path`` at the record that
        encloses this one, ``$.path`` at the response. ``#0`` or ``#1`` is the row's position in
        its array, counted from 0 or 1; ``^#0`` is the position of the enclosing record.
        ``[0]`` or ``[name]`` is an element of a row that is an array, by its number or by its
        name in the header. ``$.path[@0]`` is an element of another array at that path: the one at
        the row's own position. By default the row's label of the same name, else the name in
        camelCase.
    unit : str, optional
        The unit; None where there is none or it is in another column.
    levels : tuple of str, optional
        The values that a category is known to have.
    ordered : bool
        Whether the levels are in order, the lowest first.
    aggregate : Aggregation, optional
        The rule by which rows are aggregated; by default they are not.
    null : str, optional
        The value that null is replaced with in a key.
    optional : bool
        Whether responses may leave the field out altogether.
    parse : str, optional
        How a value is written that is not plain JSON of the dtype: ``number`` (``1,204``,
        ``34.5%``, ``+2.1``, ``#3``, ``1.2k``), ``decimal comma`` (``1.204,5``), ``money``
        (``$1,204.50``) and ``currency`` (the ``$`` of it), ``any`` (the text of a text, a number
        or a flag), ``duration`` (``1m 30s``, ``PT90S``, ``00:01:30``; in seconds), ``parts``
        (an object of ``num`` and ``den``, of ``numerator`` and ``denominator``, or of ``units``
        and ``nanos``), ``boolean`` (``yes``, ``off``, 1),
        ``YYYYMMDD`` (also ``2026/11/3``), ``DD/MM/YYYY`` and ``MM/DD/YYYY`` (also ``3.11.2026``),
        ``iso week`` (``2026-W45``, its Monday), ``iso month`` (``2026-11``, ``2026-Q4``),
        ``month day`` (``Nov 3``), ``month day year`` (``Nov 3, 2026``), ``epoch s``, ``epoch ms``
        (also ``/Date(1794182400000)/``), ``epoch ns``, ``epoch days``, or
        ``utc`` (an instant written without a zone). A percent sign is passed over: say
        ``scale=0.01`` for a fraction.
    year : str, optional
        For ``month day``: the path to the year in the response, or to a day that is no earlier
        than any day of the column, such as ``$.window.end``.
    scale : float, optional
        The factor that numbers are multiplied by: 0.01 for percent, or cents.
    missing : tuple, optional
        Values that stand for a missing value, such as ``(-1, "n/a")``. They are missing in the
        column, and stay in ``extra`` as they were.
    valid : str, optional
        The source of a flag that says whether the row has a value, as in a validity mask. Where
        the flag is false or 0, the value is treated like one of ``missing``. ``!`` before the
        source reverses the flag.
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
    valid: str | None = None
    units: Mapping[str, str] = field(default_factory=dict, hash=False)
    pattern: str = field(default="", compare=False)

    @property
    def is_label(self) -> bool:
        """Whether the values are the keys or positions of the rows instead of field values."""
        return (self.source or "").lstrip("^")[:1] in ("@", "#")

    @property
    def unit_by(self) -> str | None:
        """The name of the column that says each row's unit or metric; None without such a column.

        Examples
        --------
        >>> Column("value", "Float64", unit="per `metric`").unit_by
        'metric'
        """
        match = _PER_ROW.fullmatch(self.unit or "")
        return match[1] if match else None

    @property
    def reading(self) -> Reading | None:
        """How values are parsed; None if they are plain JSON values of the dtype."""
        if self.parse is None and self.scale is None and not self.missing:
            return None
        return Reading(self.dtype, self.parse, self.year, self.scale, self.missing)

    def __post_init__(self) -> None:
        problem, parse = "", self.parse
        dtypes = PARSES.get(parse or "", ())
        if self.dtype not in DTYPES:
            problem = f"dtype {self.dtype!r} is not one of {', '.join(DTYPES)}"
        elif parse is not None and self.dtype not in dtypes:
            parse_note = f"gives {' or '.join(dtypes)}, not" if dtypes else "gives no"
            problem = f"parse {parse!r} {parse_note} {self.dtype}: say so as dtype="
        elif (parse == "month day") != (self.year or "").startswith("$."):
            problem = "parse='month day' and year= (a path such as '$.window.end') need each other"
        elif self.scale is not None and (self.dtype != "Float64" or not self.scale > 0):
            problem = "scale= is a number above 0, for Float64"
        elif not isinstance(self.missing, tuple):
            problem = f"missing= is a tuple of values, not a {type(self.missing).__name__}"
        if problem:
            raise ArgumentError(f"column {self.name!r}: {problem}")

    def _described(self) -> tuple[str, list[str]]:
        unit_note = f", {self.unit}" if self.unit else ""
        return f"{self.name}: {self.dtype}{unit_note}", [self.doc] if self.doc else []


def camel(name: str) -> str:
    """Convert a snake_case name to camelCase.

    Examples
    --------
    >>> camel("citation_count")
    'citationCount'
    """
    first_word, *other_words = name.split("_")
    return first_word + "".join(part.capitalize() for part in other_words)


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
    separated = re.sub(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])", "_", name)
    return re.sub(r"\W+|__+", "_", separated).strip("_").lower() or "field"


# --- short forms --------------------------------------------------------------------------------


class ShortForm(Protocol):
    """The signature of short forms of `Column`, such as `text`."""

    __name__: str

    def __call__(
        self, name: str, doc: str = "", source: str | None = None, **more: Any
    ) -> Column: ...


def _column(name: str, dtype: str, doc: str, source: str | None, **more: Any) -> Column:
    if source is None and snake(name) != name:
        name, source = snake(name), name
    return Column(name, dtype, doc, source, **more)


def _form(name: str, doc: str, dtype: str, **preset: Any) -> ShortForm:
    def form(name: str, doc: str = "", source: str | None = None, **more: Any) -> Column:
        return _column(name, dtype, doc, source, **{**preset, **more})

    form.__name__ = form.__qualname__ = name
    form.__doc__ = doc
    return form


text = _form("text", "A column of text.", "string")
flag = _form("flag", "A column of booleans.", "boolean")
words = _form("words", "A column of lists of text.", "list<string>")
date = _form("date", "A column of days.", "date")
timestamp = _form("timestamp", "A column of instants, in UTC.", "timestamp")
integer = _form("integer", "A column of whole numbers, without a unit or rule.", "Int64")
number = _form("number", "A column of numbers, without a unit or rule.", "Float64")
score = _form("score", "A column of scores from 0 to 100.", "Float64", unit=SCORE)
rank = _form("rank", "A column of ranks: whole numbers from 1.", "Int64", unit=RANK)
position = _form("position", "A column of ranks or of mean ranks.", "Float64", unit=RANK)


def category(
    name: str, doc: str = "", levels: tuple[str, ...] = (), source: str | None = None, **more: Any
) -> Column:
    """Return a column of few different texts; ``levels`` lists those that are known."""
    return _column(name, "category", doc, source, levels=levels, **more)


def count(
    name: str,
    doc: str = "",
    source: str | None = None,
    *,
    among: str | None = None,
    across: tuple[str, ...] = (),
    **more: Any,
) -> Column:
    """Return a column of counts, which are summed.

    ``across`` names the dimensions over which they may be summed; by default all. ``among`` names
    another column of counts: a row where that is 0 has nothing to add, so a missing count there
    does not make the sum incomplete.
    """
    rule = Aggregation("sum", across=across, among=() if among is None else (among,))
    return _column(name, "Int64", doc, source, **{"unit": COUNT, "aggregate": rule, **more})


def fraction(
    name: str,
    doc: str = "",
    source: str | None = None,
    *,
    over: tuple[str, str] | None = None,
    **more: Any,
) -> Column:
    """Return a column of fractions from 0 to 1.

    ``over`` names the columns of the numerator and the denominator.
    """
    rule = NONE if over is None else ratio(*over)
    return _column(name, "Float64", doc, source, **{"unit": FRACTION, "aggregate": rule, **more})


def ref(name: str, doc: str = "", source: str | None = None, **more: Any) -> Column:
    """Return a text column that repeats a field of the enclosing record in each row.

    By default the field has the column's name.
    """
    return _column(name, "string", doc, source or f"^{camel(name)}", **more)
