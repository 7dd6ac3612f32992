"""Find total rows, which sum up others: they are left out of sums."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

import numpy as np

from aatoolkit.sections.inference.identities import is_count
from aatoolkit.sections.inference.readings import FieldReading
from aatoolkit.sections.inference.relations import Relation

_LARGE = 50
_TOTAL = re.compile(
    r"[(\[*_\s]*(?:grand total|totals?|all\b.*|overall|sum|summe|gesamt|insgesamt"
    r"|combined|everything|Σ|total général|toplam|итого|всего|合计|総計)[)\]*_\s:]*",
    re.I,
)


def leave_out_totals(relation: Relation, readings: Mapping[str, FieldReading]) -> str:
    """Mark the rows that are totals; return a note on what was seen, empty if none.

    A row is a total if its label says so and no count in it is less than that of another row.
    """
    if relation.shape not in ("records", "grid", "keyed", "tuples") or not len(relation):
        return ""
    for column in relation.columns:
        reading = readings[column.name]
        if reading.dtype != "string" or reading.parse is not None:
            continue
        named = [
            at
            for at, one in enumerate(column.values)
            if isinstance(one, str) and _TOTAL.fullmatch(one.strip())
        ]
        words = {column.values[at] for at in named}
        if not named or len(words) > 2 or len(named) > len(set(relation.answer.tolist())):
            continue
        places = np.array(named, np.intp)
        if len(set(relation.answer[places].tolist())) == len(named) and _tower(
            relation, readings, places
        ):
            relation.without = {column.name: tuple(sorted(words))}
            relation.omitted = places
            return f"{column.name} {', '.join(sorted(words))!r} sums up the other rows"
    return ""


def _tower(relation: Relation, readings: Mapping[str, FieldReading], places: Any) -> bool:
    """Whether a count of these rows is the sum of the others, or none is below another row's."""
    seen = exceeded = False
    for column in relation.columns:
        reading = readings[column.name]
        if not is_count(reading) or column.label:
            continue
        for at in places.tolist():
            rows = reading.numbers[relation.answer == relation.answer[at]]
            value = reading.numbers[at]
            if np.isnan(value) or len(rows) < 3:
                continue
            if value >= _LARGE and (rows > 0).sum() >= 3 and np.nansum(rows) == 2 * value:
                return True
            exceeded |= bool((rows > value).any())
            seen = True
    return seen and not exceeded
