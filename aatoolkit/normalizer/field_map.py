"""The field map: a tree of the paths that a section's columns read."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import lru_cache
from itertools import product

from aatoolkit.jsontree.paths import Each, Entries, Field, Named, Step, parse_path, parse_pattern
from aatoolkit.sections.section import ENVELOPE, Column, Section, Table


class FieldNode:
    """One step of a section's declared paths: the steps below, and whether columns read it.

    Attributes
    ----------
    fields, each, entries
        The steps below: by field, to the elements of arrays, to the entries of objects.
    taken : bool
        Whether a column takes the value.
    known : str or None
        Why a value that is not taken is no drift: ``envelope`` or ``known``.
    """

    __slots__ = ("each", "entries", "fields", "known", "mapped")

    def __init__(self) -> None:
        self.fields: dict[str, FieldNode] = {}
        self.each: FieldNode | None = None
        self.entries: FieldNode | None = None
        self.mapped = False
        self.known: str | None = None

    @property
    def is_taken_whole(self) -> bool:
        """Whether columns read the value itself, and nothing below it."""
        return self.mapped and not (self.fields or self.each or self.entries)

    def down(self, steps: Iterable[Step]) -> FieldNode:
        """The node some steps below, created where there is none."""
        at = self
        for step in steps:
            if isinstance(step, Field):
                at = at.fields.setdefault(step.name, FieldNode())
            elif isinstance(step, Entries):
                at.entries = at = at.entries or FieldNode()
            else:
                at.each = at = at.each or FieldNode()
        return at


@lru_cache(maxsize=128)
def field_map(section: Section) -> FieldNode:
    """Build the tree of the paths that a section's columns read, and of other known paths."""
    root = FieldNode()
    for name in ENVELOPE:
        root.down((Field(name),)).known = "envelope"
    for path in section.kept:
        root.down(parse_pattern(path)).known = "known"
    for table in section:
        for steps in expand_keys(table.rows.steps):
            at = root.down(steps)
            at.known = "known" if table.rows.function else at.known
        if table.rows.header is not None:
            steps = table.rows.header
            root.down(steps[: steps.index(Each())]).known = "known"
        for column in table.columns:
            for step in parse_path(column.source or "") if "=" in (column.source or "") else ():
                if isinstance(step, Named):
                    last = max(at for at, part in enumerate(step.header) if part == Each())
                    root.down(step.header[:last]).known = "known"
        for column in table.columns:
            if not column.is_label and not _is_made(table, column):
                for steps in expand_keys(_steps(table.rows.steps, column.pattern)):
                    root.down(steps).mapped = True
    return root


def _is_made(table: Table, column: Column) -> bool:
    """Whether a column is computed by its table's row function, not read from the answer."""
    return table.rows.function is not None and (column.source or "")[0] not in "^$"


def expand_keys(steps: tuple[Step, ...]) -> tuple[tuple[Step, ...], ...]:
    """Expand a path to one per key, where entries are limited to certain keys.

    Examples
    --------
    >>> expand_keys((Field("evidence"), Entries(("urls", "ids"))))[1]
    (Field(name='evidence'), Field(name='ids'))
    """
    return tuple(product(*map(_kinds, steps)))


def _kinds(step: Step) -> Iterator[Step]:
    if isinstance(step, Entries) and step.only:
        yield from map(Field, step.only)
    else:
        yield step


def _steps(rows: tuple[Step, ...], pattern: str) -> tuple[Step, ...]:
    """The steps of a pattern; where it passes through the rows, with the keys they name."""
    steps = parse_pattern(pattern)
    named = [
        given if isinstance(given, Entries) and isinstance(step, Entries) else step
        for step, given in zip(steps, rows, strict=False)
    ]
    return (*named, *steps[len(named) :])
