"""Declare the columns of tables: the path to their values, dtype, unit and meaning.

`Column` declares a column. The functions `count`, `fraction`, `text` and so on are short forms of
`Column`, one for each kind of value. Each takes the column's name, its description, the path to its
values (by default the name in camelCase), and the other parameters of `Column`. If a path is passed
as the name, the name is made from the path: ``count("totals.hitCount")`` declares the column
``totals_hit_count``.

>>> count("citation_count", "Citations of the domain.").unit
'count'
>>> fraction("citation_share", "Its share of citations.", over=("citations", "total")).aggregate
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
"""Maps each notation (`Column.parse`) to the dtypes that values in it may have."""


@dataclass(frozen=True)
class Column(Described):
    """The declaration of one column of a table.

    Parameters
    ----------
    name : str
        The name of the column, in snake_case.
    dtype : str
        ``string``, ``Int64``, ``Float64``, ``boolean``, ``date``, ``timestamp`` (UTC),
        ``category`` or ``list<string>``.
    doc : str
        The meaning of the values, in a sentence.
    source : str, optional
        The path to the values, from the row: ``metric.key`` leads to a field, ``.`` to the row
        itself. ``^path`` starts at the record that encloses the row, ``^^path`` one record further
        out, ``$.path`` at the response. ``#0`` or ``#1`` is the position of the row in its array,
        counted from 0 or 1; ``^#0`` is the position of the enclosing record. If the row is an
        array, ``[0]`` is its element at position 0, and ``[name]`` the element that the header
        calls ``name``. ``$.path[@0]`` is the element of another array at the same position as the
        row. By default it follows from the column's name: it is the ``{}`` step or the position to
        which the declaration of the rows gives this name, or else the field with this name in
        camelCase.
    unit : str, optional
        The unit; None if the values have no unit. "per `metric`" means that the unit depends on
        the value of the column ``metric`` in the same row.
    levels : tuple of str, optional
        The known values of a category.
    ordered : bool
        Whether the levels are ordered, from the lowest to the highest.
    aggregate : Aggregation, optional
        The rule by which rows are aggregated; by default they are not.
    null : str, optional
        For a column of the key: the text that replaces null.
    optional : bool
        Whether a response may lack the field altogether.
    parse : str, optional
        The notation of the values, if they are not plain JSON of the dtype: ``number`` (``1,204``,
        ``34.5%``, ``+2.1``, ``#3``, ``1.2k``), ``decimal comma`` (``1.204,5``), ``money``
        (``$1,204.50``) and ``currency`` (the ``$`` in ``$1,204.50``), ``any`` (texts, numbers and
        booleans, all kept as text), ``duration`` (``1m 30s``, ``PT90S``, ``00:01:30``; in seconds),
        ``parts``
        (an object of ``num`` and ``den``, of ``numerator`` and ``denominator``, or of ``units``
        and ``nanos``), ``boolean`` (``yes``, ``off``, 1),
        ``YYYYMMDD`` (also ``2026/11/3``), ``DD/MM/YYYY`` and ``MM/DD/YYYY`` (also ``3.11.2026``),
        ``zoned day`` (``2026-11-03+01:00``), ``iso week`` (``2026-W45``, its Monday),
        ``iso month`` (``2026-11``, ``2026-Q4``),
        ``month day`` (``Nov 3``), ``month day year`` (``Nov 3, 2026``), ``epoch s``, ``epoch ms``
        (also ``/Date(1794182400000)/``), ``epoch ns``, ``epoch days``, or
        ``utc`` (an instant written without a zone). Percent signs are ignored: pass ``scale=0.01``
        for a fraction.
    year : str, optional
        For ``month day``: the path to the year in the response, or to a day in the response that is
        not earlier than any day of the column, such as ``$.window.end``.
    scale : float, optional
        The factor that numbers are multiplied by, such as 0.01 for percent or cents.
    missing : tuple, optional
        Values that stand for a missing value, such as ``(-1, "n/a")``. They become missing in the
        column, and are kept unchanged in ``tables.extra``, the values that no column has.
    valid : str, optional
        The path (as in ``source``) to a boolean, 0 or 1 that says whether the value of the row is
        valid. If it is false or 0, the value is treated like one of ``missing``. With ``!`` before
        the path, true and 1 mean that the value is missing.
    units : mapping of str to str, optional
        If ``unit`` is "per `metric`": the unit for each value of the column ``metric``.

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
        """Whether the column holds keys or positions of the rows instead of values of a field."""
        return (self.source or "").lstrip("^")[:1] in ("@", "#")

    @property
    def unit_by(self) -> str | None:
        """The name of the column that determines the unit of each row; None if no column does.

        Examples
        --------
        >>> Column("value", "Float64", unit="per `metric`").unit_by
        'metric'
        """
        match = _PER_ROW.fullmatch(self.unit or "")
        return match[1] if match else None

    @property
    def reading(self) -> Reading | None:
        """How the values are parsed, as a `Reading`; None if the JSON values need no parsing."""
        if self.parse is None and self.scale is None and not self.missing:
            return None
        return Reading(self.dtype, self.parse, self.year, self.scale, self.missing)

    def __post_init__(self) -> None:
        problem, parse_method = "", self.parse
        dtypes = PARSES.get(parse_method or "", ())
        if self.dtype not in DTYPES:
            problem = f"dtype {self.dtype!r} is not one of {', '.join(DTYPES)}"
        elif parse_method is not None and self.dtype not in dtypes:
            parse_note = f"gives {' or '.join(dtypes)}, not" if dtypes else "gives no"
            problem = f"parse {parse_method!r} {parse_note} {self.dtype}: say so as dtype="
        elif (parse_method == "month day") != (self.year or "").startswith("$."):
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
    return first_word + "".join(word.capitalize() for word in other_words)


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
    """The signature of the functions that are short forms of `Column`, such as `text`."""

    __name__: str

    def __call__(
        self, name: str, doc: str = "", source: str | None = None, **more: Any
    ) -> Column: ...


def _make_column(name: str, dtype: str, doc: str, source: str | None, **options: Any) -> Column:
    if source is None and snake(name) != name:
        name, source = snake(name), name
    return Column(name, dtype, doc, source, **options)


def _make_short_form(name: str, doc: str, dtype: str, **preset: Any) -> ShortForm:
    def make_column(name: str, doc: str = "", source: str | None = None, **more: Any) -> Column:
        return _make_column(name, dtype, doc, source, **{**preset, **more})

    make_column.__name__ = make_column.__qualname__ = name
    make_column.__doc__ = doc
    FORMS[dtype, preset.get("unit")] = make_column
    return make_column


FORMS: dict[tuple[str, str | None], ShortForm] = {}
"""Maps dtype and unit to the short form of this module that a draft is written with."""

text = _make_short_form("text", "A column of text.", "string")
flag = _make_short_form("flag", "A column of booleans.", "boolean")
words = _make_short_form("words", "A column of lists of text.", "list<string>")
date = _make_short_form("date", "A column of days.", "date")
timestamp = _make_short_form("timestamp", "A column of instants, in UTC.", "timestamp")
integer = _make_short_form("integer", "A column of whole numbers, without a unit or rule.", "Int64")
number = _make_short_form("number", "A column of numbers, without a unit or rule.", "Float64")
score = _make_short_form("score", "A column of scores from 0 to 100.", "Float64", unit=SCORE)
rank = _make_short_form("rank", "A column of ranks: whole numbers from 1.", "Int64", unit=RANK)
position = _make_short_form("position", "A column of ranks or of mean ranks.", "Float64", unit=RANK)


def category(
    name: str, doc: str = "", levels: tuple[str, ...] = (), source: str | None = None, **more: Any
) -> Column:
    """Return a column of categories, i.e. a few distinct texts; ``levels`` lists the known ones."""
    return _make_column(name, "category", doc, source, levels=levels, **more)


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

    ``across`` names the dimensions over which the counts may be summed; by default all. ``among``
    names another column of counts: if it is 0 in a row, a missing count in this row does not make
    the sum incomplete.
    """
    rule = Aggregation("sum", across=across, among=() if among is None else (among,))
    return _make_column(name, "Int64", doc, source, **{"unit": COUNT, "aggregate": rule, **more})


def fraction(
    name: str,
    doc: str = "",
    source: str | None = None,
    *,
    over: tuple[str, str] | None = None,
    **more: Any,
) -> Column:
    """Return a column of fractions from 0 to 1.

    ``over`` names the columns of the numerator and the denominator, if there are such columns: the
    fraction of several rows is then the ratio of their sums. Without ``over``, rows are not
    combined.
    """
    rule = NONE if over is None else ratio(*over)
    return _make_column(
        name, "Float64", doc, source, **{"unit": FRACTION, "aggregate": rule, **more}
    )


def ref(name: str, doc: str = "", source: str | None = None, **more: Any) -> Column:
    """Return a text column with a field of the record that encloses the row.

    ``source`` is the path to this field; by default it is the column's name in camelCase, with
    ``^`` before it.
    """
    return _make_column(name, "string", doc, source or f"^{camel(name)}", **more)
