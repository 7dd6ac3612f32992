"""Declare the columns of a table: the path to their values, dtype, unit and meaning.

`Column` declares any column. Functions such as `count`, `fraction` and `text` create a `Column` for
a common kind of values.

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
from aatoolkit._util.text import TitledRepr
from aatoolkit.errors import ArgumentError
from aatoolkit.sections.aggregation import (
    COUNT,
    FRACTION,
    NONE,
    RANK,
    SCORE,
    Aggregation,
    as_rule,
    ratio,
    to_name_tuple,
)

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

_UNIT_PER_ROW_PATTERN = re.compile(r"per `?(\w+)`?")

DTYPES_BY_PARSE: Mapping[str, tuple[str, ...]] = {
    parse: tuple(name for name, dtype in DTYPES.items() if parse in dtype.parses)
    for parse in dict.fromkeys(parse for dtype in DTYPES.values() for parse in dtype.parses)
}
"""Maps each value of `Column.parse`, such as ``money``, to the dtypes that it can give."""


@dataclass(frozen=True)
class Column(TitledRepr):
    """The declaration of a column: the path to its values in a response, dtype, unit and meaning.

    Parameters
    ----------
    name : str
        The name of the column, in snake_case.
    dtype : str
        ``string``, ``Int64``, ``Float64``, ``boolean``, ``date``, ``timestamp`` (UTC), ``category``
        or ``list<string>``.
    doc : str
        The meaning of the values, in a sentence.
    source : str, optional
        The path from the row to the value. By default, it is the column's name in camelCase.

        - ``metric.key`` is a field of the row, and ``.`` is the row itself.
        - ``^path`` starts at the object that contains the row, ``$.path`` at the whole response.
        - ``#0`` or ``#1`` is the position of the row in its array, counted from 0 or 1.
        - ``[0]`` or ``[name]`` is an element of a row that is an array.
        - ``@0`` is the key of the row, if the rows are the entries of an object.
        - ``$.path[@0]`` is the element of another array that has the same position as the row.
    unit : str, optional
        The unit, such as ``count`` or ``seconds``. "per `metric`" means that the unit of each row
        depends on its value in the column ``metric``.
    levels : tuple of str, optional
        The known values of a category.
    ordered : bool
        Whether ``levels`` are ordered, from the lowest to the highest.
    aggregate : Aggregation or str, optional
        How to aggregate the values, such as ``SUM`` or ``"sum"``; by default they must not be
        aggregated.
    null : str, optional
        For a column that identifies rows: the text that replaces null.
    optional : bool
        Whether the field may be absent from a response.
    parse : str, optional
        The notation of the values, if they are not plain JSON numbers, texts and booleans. Percent
        signs are ignored; pass ``scale=0.01`` to convert percent to fractions.

        - Numbers: ``number`` (``1,204``, ``34.5%``, ``#3``, ``1.2k``), ``decimal comma``
          (``1.204,5``), ``money`` (``$1,204.50``), ``currency`` (the sign ``$`` of an amount),
          ``duration`` (``1m 30s``, in seconds), ``parts`` (an object with numerator and
          denominator).
        - Days: ``YYYYMMDD``, ``DD/MM/YYYY``, ``MM/DD/YYYY``, ``zoned day`` (``2026-11-03+01:00``),
          ``iso week`` (``2026-W45``, read as its Monday), ``iso month`` (``2026-11``),
          ``month day`` (``Nov 3``), ``month day year`` (``Nov 3, 2026``), ``epoch days``.
        - Instants: ``epoch s``, ``epoch ms``, ``epoch ns``, ``utc`` (written without a zone).
        - Others: ``boolean`` (``yes``, ``off``, 1), ``any`` (all scalars, kept as text).
    year : str, optional
        For ``month day``: the path to the year or the last day in the response, such as
        ``$.window.end``.
    scale : float, optional
        The factor that numbers are multiplied by, such as 0.01 for percent or cents.
    missing : tuple, optional
        The values that mean a missing value, such as ``(-1, "n/a")``.
    valid : str, optional
        The path to a boolean in the row. Where it is false, the value becomes missing. With ``!``
        before the path, the value becomes missing where it is true.
    units : mapping of str to str, optional
        If ``unit`` is "per `metric`": maps each value of the column ``metric`` to a unit.
    pattern : str
        The path from the top of the response, such as ``rows[].hits``. `Table` sets it.

    Raises
    ------
    ArgumentError
        If the arguments contradict each other, such as a ``parse`` that cannot give the ``dtype``.

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
        """Whether the values are the keys or positions of the rows instead of values of a field.

        Examples
        --------
        >>> Column("engine", "string", source="@0").is_label, Column("n", "Int64").is_label
        (True, False)
        """
        return (self.source or "").lstrip("^")[:1] in ("@", "#")

    @property
    def unit_by(self) -> str | None:
        """The name of the column on which the unit of each row depends; None if all have one unit.

        Examples
        --------
        >>> Column("value", "Float64", unit="per `metric`").unit_by
        'metric'
        """
        match = _UNIT_PER_ROW_PATTERN.fullmatch(self.unit or "")
        return match[1] if match else None

    @property
    def reading(self) -> Reading | None:
        """How to parse the values, as a `Reading`: dtype, notation, scale and missing values.

        It is None if the values are plain JSON values, which need no parsing.

        Examples
        --------
        >>> Column("rate", "Float64", parse="number", scale=0.01).reading.scale
        0.01
        """
        if self.parse is None and self.scale is None and not self.missing:
            return None
        return Reading(self.dtype, self.parse, self.year, self.scale, self.missing)

    def __post_init__(self) -> None:
        problem_text = ""
        dtypes_of_parse = DTYPES_BY_PARSE.get(self.parse or "", ())
        if self.dtype not in DTYPES:
            problem_text = f"dtype {self.dtype!r} is not one of {', '.join(DTYPES)}"
        elif self.parse is not None and self.dtype not in dtypes_of_parse:
            parse_note = (
                f"gives {' or '.join(dtypes_of_parse)}, not" if dtypes_of_parse else "gives no"
            )
            problem_text = f"parse {self.parse!r} {parse_note} {self.dtype}: say so as dtype="
        elif (self.parse == "month day") != (self.year or "").startswith("$."):
            problem_text = (
                "parse='month day' and year= (a path such as '$.window.end') need each other"
            )
        elif self.scale is not None and (self.dtype != "Float64" or not self.scale > 0):
            problem_text = "scale= is a number above 0, for Float64"
        elif not isinstance(self.missing, tuple):
            problem_text = f"missing= is a tuple of values, not a {type(self.missing).__name__}"
        if problem_text:
            raise ArgumentError(f"column {self.name!r}: {problem_text}")
        vars(self)["aggregate"] = as_rule(self.aggregate)

    def _title_and_lines(self) -> tuple[str, list[str]]:
        """Return the title and the lines of text with which the column is printed."""
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
def to_snake_case(name: str) -> str:
    """Convert the name of a JSON field to snake_case.

    Examples
    --------
    >>> to_snake_case("shareOfVoicePct"), to_snake_case("AdRows"), to_snake_case("HTTPStatus")
    ('share_of_voice_pct', 'ad_rows', 'http_status')
    """
    name = name[:80]
    if name.isascii() and name.isalnum() and name.islower():
        return name
    separated_name = re.sub(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])", "_", name)
    return re.sub(r"\W+|__+", "_", separated_name).strip("_").lower() or "field"


# --- short forms --------------------------------------------------------------------------------


class ShortForm(Protocol):
    """The signature of functions such as `text`, which create a `Column` of one kind."""

    __name__: str

    def __call__(
        self, name: str, doc: str = "", source: str | None = None, **more: Any
    ) -> Column: ...


def _make_column(name: str, dtype: str, doc: str, source: str | None, **options: Any) -> Column:
    """Create a `Column`. A name in camelCase, or with a dot before it, is taken for the ``source``.

    The column is then named in snake_case, and its ``source`` is the name without the dot.

    Examples
    --------
    >>> columns = [_make_column(name, "Int64", "", None) for name in ("adCount", ".ad_count")]
    >>> [(column.name, column.source) for column in columns]
    [('ad_count', 'adCount'), ('ad_count', 'ad_count')]
    """
    if source is None and to_snake_case(name) != name:
        name, source = to_snake_case(name), name.removeprefix(".")
    return Column(name, dtype, doc, source, **options)


def _make_short_form(name: str, docstring: str, dtype: str, **preset_options: Any) -> ShortForm:
    """Create a function such as `text`, which creates a `Column` with some parameters set.

    Parameters
    ----------
    name, docstring : str
        The name and the docstring of the new function.
    dtype : str
        The dtype of the columns that it creates.
    **preset_options
        Other parameters of these columns, such as ``unit``.

    Returns
    -------
    function
    """

    def make_column(name: str, doc: str = "", source: str | None = None, **more: Any) -> Column:
        return _make_column(name, dtype, doc, source, **{**preset_options, **more})

    make_column.__name__ = make_column.__qualname__ = name
    make_column.__doc__ = docstring
    SHORT_FORM_BY_DTYPE_AND_UNIT[dtype, preset_options.get("unit")] = make_column
    return make_column


SHORT_FORM_BY_DTYPE_AND_UNIT: dict[tuple[str, str | None], ShortForm] = {}
"""Maps a dtype and a unit to the function, such as `text`, that creates columns with them."""

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
    """Declare a column of categories: texts with few distinct values.

    Parameters
    ----------
    name, doc, source
        As in `Column`.
    levels : tuple of str
        The known values. Other values are kept, and reported in a warning.
    **more
        Other parameters of `Column`.

    Examples
    --------
    >>> category("tone", "The tone.", ("positive", "neutral", "negative")).dtype
    'category'
    """
    return _make_column(name, "category", doc, source, levels=levels, **more)


def count(
    name: str,
    doc: str = "",
    source: str | None = None,
    *,
    among: str | None = None,
    across: str | tuple[str, ...] = (),
    **more: Any,
) -> Column:
    """Declare a column of counts: whole numbers that are summed when rows are aggregated.

    Parameters
    ----------
    name, doc, source
        As in `Column`.
    among : str, optional
        The name of another column of counts. A missing value is ignored in rows where this other
        column is 0.
    across : str or tuple of str
        The names of the columns over which sums are allowed, such as ``engine``; by default all.
    **more
        Other parameters of `Column`.

    Examples
    --------
    >>> str(count("citation_count", across="engine").aggregate)
    'sum over engine'
    """
    rule = Aggregation("sum", across=to_name_tuple(across), among=() if among is None else (among,))
    return _make_column(name, "Int64", doc, source, **{"unit": COUNT, "aggregate": rule, **more})


def fraction(
    name: str,
    doc: str = "",
    source: str | None = None,
    *,
    over: tuple[str, str] | None = None,
    **more: Any,
) -> Column:
    """Declare a column of fractions from 0 to 1.

    Parameters
    ----------
    name, doc, source
        As in `Column`.
    over : tuple of str, optional
        The names of the numerator and the denominator column. Several rows are aggregated by
        dividing the sums of the two. By default, rows must not be aggregated.
    **more
        Other parameters of `Column`.

    Examples
    --------
    >>> str(fraction("mention_rate", over=("mention_count", "answer_count")).aggregate)
    'ratio Σmention_count/Σanswer_count'
    """
    rule = NONE if over is None else ratio(*over)
    return _make_column(
        name, "Float64", doc, source, **{"unit": FRACTION, "aggregate": rule, **more}
    )


def ref(name: str, doc: str = "", source: str | None = None, **more: Any) -> Column:
    """Declare a text column whose value is in the object that contains the row.

    Parameters
    ----------
    name, doc, source
        As in `Column`. By default, ``source`` is ``^`` (the enclosing object) and the column's name
        in camelCase.
    **more
        Other parameters of `Column`.

    Examples
    --------
    >>> ref("prompt_id").source
    '^promptId'
    """
    return _make_column(name, "string", doc, source or f"^{camel(name)}", **more)
