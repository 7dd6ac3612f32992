"""The paths of declared columns, for tests that look for their values in an answer."""

from __future__ import annotations

from aatoolkit.jsontree.paths import Elements, Entries, Field, Step, parse_pattern
from aatoolkit.sections import Column, Table


def steps(table: Table, column: Column) -> tuple[Step, ...]:
    """A column's pattern, limited to the keys its table is limited to."""
    pattern = parse_pattern(column.pattern)
    limited = tuple(
        row if isinstance(row, Entries) and isinstance(step, Entries) else step
        for step, row in zip(pattern, table.rows.steps, strict=False)
    )
    elements = (Elements(),) if column.dtype == "list<string>" else ()
    return (*limited, *pattern[len(limited) :], *elements)


def fits_step(name: str | int, step: Step) -> bool:
    """Whether a step leads to a name of an object or a number of an array."""
    if isinstance(step, Field):
        return name == step.name
    if isinstance(step, Elements):
        return isinstance(name, int)
    return isinstance(name, str) and (not step.only_keys or name in step.only_keys)
