"""Complete texts from their surroundings: the year of days, the currency of amounts."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

from aatoolkit.jsontree.paths import Field, format_path
from aatoolkit.jsontree.text_values import currency
from aatoolkit.sections.inference.readings import FieldReading
from aatoolkit.sections.inference.relations import Measure, Relation, fresh
from aatoolkit.sections.inference.text_formats import is_month_day
from aatoolkit.sections.inference.words import tokens

_DAY = re.compile(r"\d{4}-\d{2}-\d{2}")
_LAST = ("end", "to", "until", "through", "year")
_DEEPEST = 3


def complete_texts(relation: Relation, readings: dict[str, FieldReading], year: str | None) -> None:
    """Parse days without a year by the answer's year; add a column for the currency of amounts.

    Parameters
    ----------
    relation : Relation
        A table; with amounts in text it gets a column of their currency.
    readings : dict
        How its columns are read; changed.
    year : str, optional
        Where the answer has the year.
    """
    for column in list(relation.columns):
        reading = readings[column.name]
        if reading.parse == "money":
            _add_currency(relation, readings, column, reading)
        elif year and reading.dtype == "string" and _are_month_days(column, reading):
            readings[column.name] = replace(
                reading,
                dtype="date",
                parse="month day",
                year=year,
                evidence=f"days without a year, which {year} has",
            )


def _are_month_days(column: Measure, reading: FieldReading) -> bool:
    known = [one for one in column.values if one not in reading.missing]
    return not column.label and is_month_day(known)


def year_path(documents: list[Any]) -> str | None:
    """The path in all answers of the year, or last day, for days without a year.

    Examples
    --------
    >>> year_path([{"window": {"from": "2026-10-10", "to": "2026-11-08"}}])
    '$.window.to'
    """
    found = [dict(_days(one, (), 0)) for one in documents]
    shared = [path for path in (found[0] if found else ()) if all(path in one for one in found)]
    ranked = [path for word in _LAST for path in shared if tokens(path[-1])[-1:] == [word]]
    return f"$.{format_path(map(Field, ranked[0]))}" if ranked else None


def _days(value: Any, path: tuple[str, ...], depth: int) -> Iterator[tuple[tuple[str, ...], str]]:
    """The days and years outside lists, by their path."""
    if isinstance(value, dict) and depth < _DEEPEST:
        for name, one in value.items():
            yield from _days(one, (*path, name), depth + 1)
    elif not path:
        return  # an answer that is one value has no name for it
    elif isinstance(value, str) and _DAY.match(value):
        yield path, value
    elif type(value) is int and 1900 < value < 2200 and tokens(path[-1])[-1:] == ["year"]:
        yield path, str(value)


def _add_currency(
    relation: Relation,
    readings: dict[str, FieldReading],
    column: Measure,
    reading: FieldReading,
) -> None:
    name = fresh(f"{column.name}_currency", readings)
    signs = [currency(one) if isinstance(one, str) else one for one in column.values]
    beside = Measure(name, column.source, column.path, signs)
    relation.columns.insert(relation.columns.index(column) + 1, beside)
    readings[name] = FieldReading(
        "string", "currency", reading.missing, "the signs or codes of the amounts"
    )
