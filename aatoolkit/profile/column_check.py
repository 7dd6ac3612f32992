"""Check how a column is settled against the values that the answers of a draft have."""

from __future__ import annotations

from collections.abc import Iterable

from aatoolkit.availability.detect import raw
from aatoolkit.jsontree.coerce import read_as
from aatoolkit.jsontree.vectors import MISSING
from aatoolkit.sections.column import Reading
from aatoolkit.sections.inference.relations import ColumnFinding


def check_values(found: ColumnFinding) -> None:
    """Refuse a reading that loses values of the answers.

    Raises
    ------
    ValueError
        With examples of what it cannot read.
    """
    known = [None if value is MISSING else value for value in found.values]
    dtype, parse = found.reading.dtype, found.reading.parse
    if found.reading.year is not None or not known:
        return
    odd = read_as(known, Reading(dtype, parse, None, None, found.reading.missing)).odd
    if odd:
        texts = [*dict.fromkeys(raw(known[row]) for row in odd)]
        how = f"parse={parse!r}" if parse else f"dtype={dtype!r}"
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
