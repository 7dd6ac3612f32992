"""Relations: the rows found in the answers of one section, with their values column by column.

A relation knows where its rows are located, in the words of a declaration, and holds what they
hold, so that types, identities and keys can be looked for without another walk of the answers.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from aatoolkit import sections
from aatoolkit.jsontree.paths import Each, Entries, Step, format_path
from aatoolkit.jsontree.vectors import MISSING

Places = np.ndarray[tuple[int], np.dtype[np.intp]]


@dataclass(frozen=True)
class RowsCall:
    """The call that declares rows, of a row shape of ``aatoolkit.sections``.

    Attributes
    ----------
    function : str
        Its name, such as ``records``.
    args : tuple
        Its arguments.
    kwargs : mapping of str to object
        Its keyword arguments.

    Examples
    --------
    >>> call = RowsCall("records", ("domains",))
    >>> str(call), call.build().path
    ("records('domains')", 'domains[]')
    """

    function: str
    args: tuple[Any, ...] = ()
    kwargs: Mapping[str, Any] = field(default_factory=dict)

    def __str__(self) -> str:
        listed = [repr(one) for one in self.args]
        if self.function == "Rows":
            listed[0] = f"parse_pattern({listed[0]})"
        listed += [f"{name}={value!r}" for name, value in self.kwargs.items()]
        return f"{self.function}({', '.join(listed)})"

    def build(self) -> sections.Rows:
        """The rows that the call declares."""
        args = self.args
        if self.function == "Rows":
            args = (sections.parse_pattern(args[0]), *args[1:])
        rows: sections.Rows = getattr(sections, self.function)(*args, **self.kwargs)
        return rows


def rows_call(steps: tuple[Step, ...], labels: tuple[str, ...], first: int = 0) -> RowsCall:
    """The call that declares rows at a path, from the ``first`` of each list on.

    Examples
    --------
    >>> from aatoolkit.jsontree.paths import Field
    >>> print(rows_call((Field("rows"), Each()), ()))
    records('rows')
    >>> print(rows_call((Field("a"), Entries(), Field("b"), Each()), ("engine",)))
    records('a{}.b', key='engine')
    """
    if not steps:
        return RowsCall("single")
    key = labels[0] if len(labels) == 1 else labels
    if isinstance(steps[-1], Each):
        path = format_path(steps[:-1])
        if len(steps) > 1 and isinstance(steps[-2], Each):
            path = format_path(steps)
        given = ({"key": key} if labels else {}) | ({"first": first} if first else {})
        return RowsCall("records", (path,), given)
    trailing = 0
    while trailing < len(steps) and isinstance(steps[-1 - trailing], Entries):
        trailing += 1
    if trailing == len(labels) and trailing:
        return RowsCall("keyed", (format_path(steps[:-trailing]),), {"key": key})
    return RowsCall("Rows", (format_path(steps), labels))


@dataclass(eq=False)
class Measure:
    """The values of one column of a relation.

    Attributes
    ----------
    name : str
        The column's name, from the service's own words.
    source : str
        Where its values are, in the words of `Column.source`.
    path : str
        The same from the top of the answer, for people.
    values : list
        One value a row; `MISSING` where there is none.
    label : bool
        Whether it takes keys, positions or an axis rather than values of fields.
    inherited : bool
        Whether the values are those of rows around.
    """

    name: str
    source: str
    path: str
    values: list[Any]
    label: bool = False
    inherited: bool = False

    @property
    def is_own(self) -> bool:
        """Whether the values are fields of the row itself, and no keys, positions or labels."""
        return not (self.label or self.inherited or self.source.startswith("#"))

    def present(self) -> list[Any]:
        """The values that are neither missing nor null."""
        return [value for value in self.values if value is not MISSING and value is not None]


@dataclass(eq=False)
class Relation:
    """Rows of one kind in the answers of one section.

    Attributes
    ----------
    name : str
        The table's name.
    shape : str
        ``records``, ``keyed``, ``grid`` or ``single``.
    steps : tuple of Step
        The path to the rows.
    rows : RowsCall
        The call that declares the rows.
    columns : list of Measure
        The columns, labels first.
    answer : array of int
        For each row, the number of the answer that holds it.
    parent : Relation, optional
        The relation whose rows enclose these.
    above : array of int
        For each row, its row in the parent.
    holder : tuple of Step
        The path to what the rows are named by.
    """

    name: str
    shape: str
    steps: tuple[Step, ...]
    rows: RowsCall
    columns: list[Measure]
    answer: Places
    parent: Relation | None = None
    above: Places = field(default_factory=lambda: np.empty(0, np.intp))
    holder: tuple[Step, ...] = ()
    key: tuple[str, ...] = ()
    without: dict[str, tuple[Any, ...]] = field(default_factory=dict)
    omitted: Places = field(default_factory=lambda: np.empty(0, np.intp))

    def __len__(self) -> int:
        return len(self.answer)

    def __getitem__(self, name: str) -> Measure:
        for column in self.columns:
            if column.name == name:
                return column
        raise KeyError(name)

    @property
    def path(self) -> str:
        """The path to the rows, for people."""
        return format_path(self.steps) or "$"

    @property
    def depth(self) -> int:
        """The number of arrays that enclose a row."""
        return sum(isinstance(step, Each) for step in self.steps)

    def chain(self) -> Iterator[tuple[Relation, Places]]:
        """The relation and those around it, each with the row there of every row here."""
        relation: Relation | None = self
        places: Places = np.arange(len(self))
        while relation is not None:
            yield relation, places
            if relation.parent is not None:
                places = relation.above[places]
            relation = relation.parent

    def rows_of(self, answer: int) -> Places:
        """The rows that one answer holds, without those left out as totals."""
        found = np.flatnonzero(self.answer == answer)
        return np.setdiff1d(found, self.omitted) if len(self.omitted) else found


def fresh(name: str, taken: Iterable[str]) -> str:
    """A name that is not taken yet."""
    used, found, number = set(taken), name, 2
    while found in used:
        found, number = f"{name}_{number}", number + 1
    return found
