"""Short forms of `Column`, one a kind of value, for declarations that read like a table.

Each takes a name, what the column says, where its values are located if not under that name, and
whatever else `Column` takes. A path in the place of the name gives both:
``count("totals.hitCount")`` is the column ``totals_hit_count``.

>>> count("citation_count", "Citations of the domain.").unit
'count'
>>> fraction("citation_share", "Its citations, of all.", over=("citations", "total")).aggregate
Aggregation(rule='ratio', over=('citations', 'total'))
"""

from __future__ import annotations

from typing import Any

from aatoolkit.sections.aggregation import (
    COUNT,
    FRACTION,
    NONE,
    RANK,
    SCORE,
    Aggregation,
    ratio,
)
from aatoolkit.sections.column import Column, camel, snake


def _column(name: str, dtype: str, doc: str, source: str | None, **more: Any) -> Column:
    if source is None and snake(name) != name:
        name, source = snake(name), name
    return Column(name, dtype, doc, source, **more)


def text(name: str, doc: str = "", source: str | None = None, **more: Any) -> Column:
    """A column of text."""
    return _column(name, "string", doc, source, **more)


def category(
    name: str, doc: str = "", levels: tuple[str, ...] = (), source: str | None = None, **more: Any
) -> Column:
    """A column of few words, whose known levels may be listed."""
    return _column(name, "category", doc, source, levels=levels, **more)


def flag(name: str, doc: str = "", source: str | None = None, **more: Any) -> Column:
    """A column of booleans."""
    return _column(name, "boolean", doc, source, **more)


def words(name: str, doc: str = "", source: str | None = None, **more: Any) -> Column:
    """A column of lists of text."""
    return _column(name, "list<string>", doc, source, **more)


def date(name: str, doc: str = "", source: str | None = None, **more: Any) -> Column:
    """A column of days."""
    return _column(name, "date", doc, source, **more)


def timestamp(name: str, doc: str = "", source: str | None = None, **more: Any) -> Column:
    """A column of instants, in UTC."""
    return _column(name, "timestamp", doc, source, **more)


def integer(name: str, doc: str = "", source: str | None = None, **more: Any) -> Column:
    """A column of whole numbers; without a unit or rule unless they are given."""
    return _column(name, "Int64", doc, source, **more)


def number(name: str, doc: str = "", source: str | None = None, **more: Any) -> Column:
    """A column of numbers; without a unit or rule unless they are given."""
    return _column(name, "Float64", doc, source, **more)


def count(
    name: str,
    doc: str = "",
    source: str | None = None,
    *,
    among: str | None = None,
    across: tuple[str, ...] = (),
    **more: Any,
) -> Column:
    """A column of counts, which add up over all rows, or ``across`` some dimensions only.

    Of no ``among``, another count, there is nothing to add.
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
    """A column of fractions from 0 to 1; ``over`` names numerator and denominator."""
    rule = NONE if over is None else ratio(*over)
    return _column(name, "Float64", doc, source, **{"unit": FRACTION, "aggregate": rule, **more})


def score(name: str, doc: str = "", source: str | None = None, **more: Any) -> Column:
    """A column of scores from 0 to 100."""
    return _column(name, "Float64", doc, source, **{"unit": SCORE, **more})


def rank(name: str, doc: str = "", source: str | None = None, **more: Any) -> Column:
    """A column of whole places, counted from 1."""
    return _column(name, "Int64", doc, source, **{"unit": RANK, **more})


def position(name: str, doc: str = "", source: str | None = None, **more: Any) -> Column:
    """A column of places, or means of places, counted from 1; lower is better."""
    return _column(name, "Float64", doc, source, **{"unit": RANK, **more})


def ref(name: str, doc: str = "", source: str | None = None, **more: Any) -> Column:
    """A key of the record that encloses a row: by default the field of the column's own name."""
    return _column(name, "string", doc, source or f"^{camel(name)}", **more)
