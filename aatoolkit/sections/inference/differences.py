"""Find columns that are the difference of two others: now less before, after less earlier."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import permutations

import numpy as np

from aatoolkit.sections import COUNT, FRACTION, FRACTION_CHANGE, refused
from aatoolkit.sections.inference.findings import OPEN, PROVED, ColumnFinding, Finding
from aatoolkit.sections.inference.identities import FEWEST_ROWS
from aatoolkit.sections.inference.readings import FieldReading
from aatoolkit.sections.inference.units import specific_name
from aatoolkit.sections.inference.words import meaning

_SLACK = 1e-9
_MOST = 24


def settle_differences(columns: list[ColumnFinding], readings: Mapping[str, FieldReading]) -> None:
    """Give a change the unit of the columns whose difference it is, if one pair fits all rows.

    Parameters
    ----------
    columns : list of ColumnFinding
        The columns of one table, with their units; changed.
    readings : mapping of str to FieldReading
        How they are read.
    """
    numbers = [one for one in columns if readings[one.name].is_number and not one.is_key]
    for column in numbers[:_MOST]:
        if meaning(specific_name(column.name, column.path)).kind != "change":
            continue
        found = [
            (now, before, factor)
            for now, before, factor in _pairs(column, numbers[:_MOST])
            if _is_difference(readings, column, now, before, factor)
        ]
        if len(found) != 1:
            continue
        now, before, factor = found[0]
        reason = f"{now.name} - {before.name}{' × 100' if factor == 100 else ''} on every row"
        _settle(column, now, factor, reason)
        why = f"{now.name} less {before.name}: combine these and subtract anew"
        column.rule = Finding(refused(why), PROVED, reason)


def _pairs(
    column: ColumnFinding, numbers: list[ColumnFinding]
) -> Iterator[tuple[ColumnFinding, ColumnFinding, int]]:
    """Yield pairs of one unit whose difference a change may be, with its factor."""
    for now, before in permutations((one for one in numbers if one is not column), 2):
        if now.unit.value is None or now.unit.confidence == OPEN:
            continue
        if (now.unit.value, now.scale) == (before.unit.value, before.scale):
            yield now, before, 1
            if now.unit.value == FRACTION and now.scale == 1.0:
                yield now, before, 100


def _is_difference(
    readings: Mapping[str, FieldReading],
    column: ColumnFinding,
    now: ColumnFinding,
    before: ColumnFinding,
    factor: int,
) -> bool:
    change, a, b = (readings[one.name] for one in (column, now, before))
    known = ~(np.isnan(change.numbers) | np.isnan(a.numbers) | np.isnan(b.numbers))
    half = sum(0.5 * 10.0**-one.decimals if one.decimals else 0.0 for one in (a, b)) * factor
    half += 0.5 * 10.0**-change.decimals if change.decimals else 0.0
    met = factor * (a.numbers - b.numbers)[known]
    different = np.unique(change.numbers[known & (change.numbers != 0)])
    if len(different) < FEWEST_ROWS or float(np.ptp(different)) < 8 * half:
        return False
    return bool((np.abs(met - change.numbers[known]) <= half + _SLACK).all())


def _settle(column: ColumnFinding, now: ColumnFinding, factor: int, reason: str) -> None:
    scale = 0.01 if factor == 100 else now.scale
    unit = now.unit.value
    if unit == FRACTION:
        unit = FRACTION_CHANGE
    elif unit != COUNT:
        return
    if column.scale == 1.0 and scale != 1.0:
        column.dtype = "Float64"
    column.unit, column.scale = Finding(unit, PROVED, reason), scale
