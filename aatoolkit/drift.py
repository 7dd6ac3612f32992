"""Where an answer and its declaration differ, and what no column took."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from itertools import product

from aatoolkit.paths import Each, Entries, Field, Step, format_path, parse_path
from aatoolkit.section import ENVELOPE, Section
from aatoolkit.vectors import MISSING, Vector, leaves


@dataclass(frozen=True)
class Drift:
    """One difference between an answer and its declaration.

    Parameters
    ----------
    kind : str
        ``new``, ``absent``, ``wrong type``, ``new level``, ``null key`` or ``duplicate key``.
    path : str
        Where, with ``[]`` and ``{}`` for any of many; for keys, the table and its columns.
    count : int
        How often.
    example : str or None
        One value, as JSON text.
    """

    kind: str
    path: str
    count: int
    example: str | None = None

    def __str__(self) -> str:
        shown = f", such as {self.example[:60]}" if self.example is not None else ""
        times = f" ({self.count} times)" if self.count > 1 else ""
        return f"{self.kind}{times}{shown} @ {self._place}"

    @property
    def _place(self) -> str:
        if self.kind.endswith(" key"):
            return self.path
        return f"$.{self.path}" if self.path else "$"


@dataclass
class Ledger:
    """What a read finds beside its tables: leaves that no column took, and drift.

    Attributes
    ----------
    extra : dict of str to tuple of str
        By JSON path, the JSON text of a leaf and why it is here.
    drift : dict
        The differences, by kind and path.
    """

    extra: dict[str, tuple[str, str]] = field(default_factory=dict)
    drift: dict[tuple[str, str], Drift] = field(default_factory=dict)

    def note(self, kind: str, path: str, count: int, example: str | None = None) -> None:
        """List one drift; of the same drift seen twice the larger count stays."""
        known = self.drift.get((kind, path))
        if known is None or known.count < count:
            self.drift[kind, path] = Drift(kind, path, count, example)

    def keep(self, vector: Vector, rows: Iterable[int], why: str) -> tuple[int, str | None]:
        """Keep the values at some rows of a vector as extra; their number and one of them."""
        count, example = 0, None
        for row in rows:
            found = leaves(vector.values[row], vector.path(row))
            self.extra.update((path, (value, why)) for path, value in found)
            count, example = count + 1, example if example is not None else found[0][1]
        return count, example

    def report(self, vector: Vector, rows: Iterable[int], kind: str, path: str) -> None:
        """Keep values as extra and list them as one drift."""
        count, example = self.keep(vector, rows, kind)
        if count:
            self.note(kind, path, count, example)


class _Node:
    """One step of the claims of a section: what is below it, and whether it is taken."""

    __slots__ = ("each", "entries", "fields", "known", "taken")

    def __init__(self) -> None:
        self.fields: dict[str, _Node] = {}
        self.each: _Node | None = None
        self.entries: _Node | None = None
        self.taken = False
        self.known: str | None = None

    def down(self, steps: Iterable[Step]) -> _Node:
        at = self
        for step in steps:
            if isinstance(step, Field):
                at = at.fields.setdefault(step.name, _Node())
            elif isinstance(step, Each):
                at.each = at = at.each or _Node()
            else:
                at.entries = at = at.entries or _Node()
        return at


def unclaimed(document: Vector, section: Section, ledger: Ledger) -> None:
    """Keep in a ledger all of a document that no column of a section takes."""
    _walk(document, _claims(section), (), None, ledger)


def _claims(section: Section) -> _Node:
    root = _Node()
    for name in ENVELOPE:
        root.down((Field(name),)).known = "envelope"
    for path in section.kept:
        root.down(parse_path(path)).known = "known"
    for table in section:
        for steps in _spelt_out(table.rows.steps):
            root.down(steps)
        for axis in table.rows.axes:
            root.down((*axis, Each())).taken = True
        for column in table.columns:
            if not column.is_label:
                for steps in _spelt_out(_steps(table.rows.steps, column.pattern)):
                    root.down(steps).taken = True
    return root


def _spelt_out(steps: tuple[Step, ...]) -> Iterator[tuple[Step, ...]]:
    """The same path with a field for each key that an object is limited to."""
    kinds = (
        [Field(name) for name in step.only] if isinstance(step, Entries) and step.only else [step]
        for step in steps
    )
    return product(*kinds)


def _steps(rows: tuple[Step, ...], pattern: str) -> tuple[Step, ...]:
    """The steps of a pattern; where it passes through the rows, with the keys they name."""
    steps = parse_path(pattern)
    named = [
        given if isinstance(given, Entries) and isinstance(step, Entries) else step
        for step, given in zip(steps, rows, strict=False)
    ]
    return (*named, *steps[len(named) :])


def _walk(
    vector: Vector, node: _Node, at: tuple[Step, ...], known: str | None, ledger: Ledger
) -> None:
    known = node.known or known
    if node.taken:
        return
    if node.fields or node.entries is not None or known:
        for below, step, child in _fields(vector, node):
            if child is None:
                _keep(below, (*at, step), known, ledger)
            else:
                _walk(below, child, (*at, step), known, ledger)
    if node.each is not None:
        _walk(vector.each(), node.each, (*at, Each()), known, ledger)
    odd = _unexpected(vector, node, at)
    if odd and known:
        ledger.keep(vector, odd, known)
    elif odd:
        ledger.report(vector, odd, "wrong type", format_path(at))


def _fields(vector: Vector, node: _Node) -> Iterator[tuple[Vector, Step, _Node | None]]:
    """What stands below the objects of a vector, each with the claim to it."""
    if node.entries is not None:
        yield vector.entries(), Entries(), node.entries
        return
    for name in vector.fields():
        yield vector.field(name), Field(name), node.fields.get(name)


def _keep(vector: Vector, at: tuple[Step, ...], known: str | None, ledger: Ledger) -> None:
    rows = [row for row, value in enumerate(vector.values) if value is not MISSING]
    if known:
        ledger.keep(vector, rows, known)
    else:
        ledger.report(vector, rows, "new", format_path(at))


def _unexpected(vector: Vector, node: _Node, at: tuple[Step, ...]) -> list[int]:
    """The rows whose value is of a kind that the claims below it cannot take."""
    takes: set[type] = {type(MISSING)}
    if node.each is not None:
        takes.add(list)
    if node.fields or node.entries is not None:
        takes.add(dict)
    # Null is expected of a field only: an element or an entry that is null has no row.
    if not node.known and at and isinstance(at[-1], Field):
        takes.add(type(None))
    if vector.kinds <= takes:
        return []
    # What is known is kept field by field, so that only an empty object is left to keep.
    return [
        row
        for row, value in enumerate(vector.values)
        if type(value) not in takes and not (node.known and value and type(value) is dict)
    ]
