"""Numbers of the demonstration after every verb, against plain Python over the JSON of the answers.

The other side of each comparison reads the bytes of an answer, or the bare cells of a frame, and
uses neither metadata nor any code of the frames.
"""

from __future__ import annotations

import math
import warnings
from collections import defaultdict
from collections.abc import Iterator
from typing import Any

import pandas as pd
import pytest
from helpers.effort import is_thorough
from serving import demo_dataset

import aatoolkit as aa
from aatoolkit.errors import AAToolkitWarning, AvailabilityError
from aatoolkit.sections import Aggregation

Row = dict[str, Any]


def rows_of(frame: pd.DataFrame) -> list[Row]:
    """The bare cells, None where one is missing."""
    plain = pd.DataFrame({name: frame[name].array for name in frame}).astype(object)
    return [
        {name: None if missing(cell) else cell for name, cell in row.items()}
        for row in plain.to_dict("records")
    ]


def missing(cell: Any) -> bool:
    return cell is None or (
        not isinstance(cell, list) and bool(pd.api.types.is_scalar(cell)) and bool(pd.isna(cell))
    )


def expected(rows: list[Row], name: str, rule: Aggregation) -> float | None:
    """What becomes of the rows of a group; None if nothing does."""
    if rule.over:
        above, below = rule.over
        both = [row for row in rows if row[above] is not None and row[below] is not None]
        trials = sum(row[below] for row in both)
        return sum(row[above] for row in both) / trials if trials else None
    there = [row for row in rows if row[name] is not None]
    if rule.by:
        there = [row for row in there if row[rule.by] is not None]
        weight = sum(row[rule.by] for row in there)
        return sum(row[name] * row[rule.by] for row in there) / weight if weight else None
    values = [row[name] for row in there]
    if not values:
        return None
    makers: dict[str, Any] = {
        "sum": math.fsum,
        "min": min,
        "max": max,
        "mean": lambda numbers: math.fsum(numbers) / len(numbers),
        "first": lambda numbers: numbers[0],
        "last": lambda numbers: numbers[-1],
    }
    result: float = makers[rule.rule](values)
    return result


def aggregated(frame: pd.DataFrame, by: str | None, **options: Any) -> pd.DataFrame | None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", AAToolkitWarning)
        try:
            return frame.aa.aggregate(by, **options)
        except AvailabilityError:
            return None


def compared(frame: pd.DataFrame, table: str, by: str | None) -> Iterator[tuple[Any, Any]]:
    """Each number of an aggregate beside what it should be."""
    result = aggregated(frame, by, skip_missing=True)
    if result is None:
        return
    groups: dict[Any, list[Row]] = defaultdict(list)
    for row in rows_of(frame):
        groups[None if by is None else row[by]].append(row)
    for total in rows_of(result):
        rows = groups[None if by is None else total[by]]
        for column in aa.sections.table(table).columns:
            has_rule = column.aggregate.rule not in ("none", "key")
            if column.name in total and column.name != by and has_rule:
                yield total[column.name], expected(rows, column.name, column.aggregate)


def is_same(first: Any, second: Any) -> bool:
    if first is None or second is None:
        return first is second
    return (
        math.isclose(first, second, rel_tol=1e-9)
        if isinstance(first, int | float)
        else first == second
    )


FAST = ("overview", "conversions", "gaps")
"""The sections of a fast run; a thorough one takes all."""


@pytest.mark.thorough
def test_every_aggregate_of_the_demonstration_is_that_of_its_cells() -> None:
    wrong, tried = [], 0
    for section, tables in demo_dataset().items():
        for table, frame in tables.items() if is_thorough() or section in FAST else ():
            for by in (None, *(name for name in frame if name in aa.sections.table(table).key)):
                for at, (actual, wanted) in enumerate(compared(frame, table, by)):
                    tried += 1
                    if not is_same(actual, wanted):
                        wrong.append((table, by, at, actual, wanted))
    assert wrong == []
    assert tried > (500 if is_thorough() else 150), tried
