"""Check how a column is settled against the values that the answers of a draft have."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from aatoolkit.availability.detect import raw
from aatoolkit.jsontree.vectors import MISSING
from aatoolkit.normalizer.parse import read_as
from aatoolkit.sections.column import Reading
from aatoolkit.sections.inference.findings import ColumnFinding

READING = ("dtype", "parse", "missing", "year")
"""The facts of a column that say how its values are read."""


def check_values(found: ColumnFinding, values: list[Any]) -> None:
    """Refuse a reading that loses values of the answers.

    Raises
    ------
    ValueError
        With examples of what it cannot read.
    """
    known = [None if value is MISSING else value for value in values]
    if found.year is not None or not known:
        return
    reading = Reading(found.dtype, found.parse, None, None, found.missing)
    odd = read_as(known, reading).odd
    if odd:
        texts = [*dict.fromkeys(raw(known[row]) for row in odd)]
        how = f"parse={found.parse!r}" if found.parse else f"dtype={found.dtype!r}"
        raise ValueError(
            f"{how} reads {len(known) - len(odd)} of {len(known)} values, and not "
            f"{', '.join(texts[:3])}; say another parse=, or missing= for what stands for none"
        )


def check_rule(names: Iterable[str], found: ColumnFinding) -> None:
    """Refuse a rule that needs columns which the table does not have.

    Raises
    ------
    ValueError
        With the columns that are lacking.
    """
    rule = found.aggregate
    used = {*(rule.over or ()), rule.by, rule.within} - {None}
    lacking = sorted(str(one) for one in used - set(names))
    if lacking:
        raise ValueError(f"its rule needs {', '.join(lacking)}, which the table does not have")
