"""The data of an answer: its fields, the records of its lists, members about all of it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from functools import cached_property, lru_cache
from typing import Any, NamedTuple

from aatoolkit.availability import Availability
from aatoolkit.availability.detect.keys import denial, subject
from aatoolkit.availability.detect.roles import (
    fold,
    is_echo,
    is_holder,
    is_note,
    is_notice,
    is_size,
    is_when,
    is_wrapper,
    words,
)
from aatoolkit.jsontree.paths import Each, Entries, Field, Step, format_path, key_step
from aatoolkit.jsontree.vectors import MISSING, Vector

_DEEPEST = 24
MOST_FIELDS = 300
"""An object with more keys than this holds data by key: its keys are no field names."""

_MOST_CODES = 200
"""A field of more distinct texts than this holds texts, and no codes."""


class FullDocument(NamedTuple):
    """The whole answer, where its longest list was cut short in the decoded document.

    Parameters
    ----------
    values : Vector
        All of it.
    steps : tuple of str
        The fields that lead to the list.
    """

    values: Vector
    steps: tuple[str, ...]

    @property
    def path(self) -> str:
        """The JSON path of the list."""
        return "$" + "".join(map(key_step, self.steps))


class DataField(NamedTuple):
    """All values of one field of an answer's data, or all elements of its arrays."""

    steps: tuple[Step, ...]
    values: Vector
    name: str
    """The field's name; of elements that of their list."""
    in_list: bool
    """Whether a list encloses the values, or they are its elements."""

    @property
    def is_list(self) -> bool:
        """Whether the values are the elements of lists."""
        return bool(self.steps) and isinstance(self.steps[-1], Each)

    @property
    def names(self) -> list[str]:
        """The names of the fields that lead to it."""
        return [step.name for step in self.steps if isinstance(step, Field)]


def walk(root: Vector) -> Iterator[DataField]:
    """Yield the fields of an answer's data, without metadata and echoes of the question."""
    waiting = [DataField((), root, "", False)]
    while waiting:
        at = waiting.pop()
        yield at
        steps, vector, name, in_list = at
        if len(steps) >= _DEEPEST:
            continue
        kinds = vector.kinds
        if list in kinds:
            waiting.append(DataField((*steps, Each()), vector.each(), name, True))
        if dict in kinds:
            names = vector.fields()
            if len(names) > MOST_FIELDS:
                waiting.append(DataField((*steps, Entries()), vector.entries(), name, in_list))
            else:
                waiting += [
                    DataField((*steps, Field(below)), vector.field(below), below, in_list)
                    for below in reversed(names)
                    if _is_data(below)
                ]


@lru_cache(maxsize=4096)
def _is_data(name: str) -> bool:
    """Whether a field may hold data: it is no metadata, no statement and not the question."""
    return not (is_echo(name) or is_holder(name) or subject(name) > 1)


@lru_cache(maxsize=4096)
def is_read_elsewhere(name: str) -> bool:
    """Whether a list is a statement, or notices."""
    return (
        subject(name) > 0
        or is_note(name)
        or is_notice(name)
        or denial(name) is not None
        or name in ("errors", "error")
    )


class Records:
    """The records of a list, and the states found in them.

    Parameters
    ----------
    rows : Vector
        The records; what is no object has no fields.
    keep : callable
        Takes what is found, as `AnswerContext.add` does.
    """

    def __init__(self, rows: Vector, keep: Callable[..., None]) -> None:
        self.rows = rows
        self.names = rows.fields()
        self._keep = keep

    def values(self, name: str) -> list[Any]:
        """The values of a field, `MISSING` where a record lacks it."""
        values: list[Any] = self.rows.field(name).values
        return values

    @cached_property
    def are_dated(self) -> bool:
        """Whether the records are points in time."""
        return any(map(is_when, self.names))

    @cached_property
    def counted(self) -> list[list[Any]]:
        """The values of the fields that hold a number in some record."""
        return [self.values(name) for name in self.names if self.rows.field(name).numbers]

    @cached_property
    def _measured(self) -> list[tuple[str, list[Any], bool]]:
        """The numeric fields that are no sample sizes or moments: name, values, and any but 0."""
        fields = [name for name in self.names if not (is_size(name) or is_when(name))]
        numbers = {name: self.rows.field(name).numbers for name in fields}
        listed = ((name, found) for name, found in numbers.items() if found)
        return [(name, self.values(name), True in found) for name, found in listed]

    def lacks(self, at: int) -> bool:
        """Whether a record holds null where others hold numbers."""
        return any(values[at] is None for values in self.counted)

    def lacking(self, at: int) -> list[str]:
        """The fields in which a record holds null where others hold numbers."""
        counting = (name for name in self.names if self.rows.field(name).numbers)
        return [name for name in counting if self.values(name)[at] is None]

    def is_idle(self, at: int, *, zero: bool, apart: str = "") -> bool:
        """Whether a record lacks numbers that others have and has none but 0 itself.

        The field ``apart`` holds no measure.
        """
        measures = [(values, some) for name, values, some in self._measured if name != apart]
        null = self.lacks(at) or any(
            zero and counts and values[at] == 0 for values, counts in measures
        )
        numbers = (values[at] for values, _ in measures)
        return null and not any(type(one) in (int, float) and one for one in numbers)

    def states(
        self, name: str, kind: type, meaning: Callable[[Any], Availability | None]
    ) -> Iterator[tuple[int, Availability]]:
        """Yield the rows whose value has a meaning; each distinct value is read once."""
        values = self.values(name)
        distinct = {value for value in values if type(value) is kind}
        if len(distinct) > _MOST_CODES:
            return
        known = {value: state for value in distinct if (state := meaning(value)) is not None}
        for at, value in enumerate(values if known else ()):
            if type(value) is kind and value in known:
                yield at, known[value]

    def given(self, name: str) -> Iterator[tuple[int, Any]]:
        """Yield the rows that have a field, each with its value."""
        return ((at, value) for at, value in enumerate(self.values(name)) if value is not MISSING)

    def add_states(
        self,
        name: str,
        kind: type,
        meaning: Callable[[Any], Availability | None],
        rule: str,
        about: str | None = None,
    ) -> None:
        """Keep the states that a field's values of a type mean."""
        for at, state in self.states(name, kind, meaning):
            self.add(name, at, state, rule, about)

    def add(
        self, name: str, at: int, state: Availability, rule: str, about: str | None = None
    ) -> None:
        """Keep what a field states about its record, or about another field of it."""
        field = self.rows.field(name)
        place = self.rows.path(at) if about is None else self.rows.field(about).path(at)
        target = place.removeprefix("$").removeprefix(".")
        self._keep("row", target, state, field.path(at), rule, field.values[at])


_DEEPEST_ABOUT = 4
_PAGING = words("paging pagination links page cursor cursors")


class ObjectMember(NamedTuple):
    """A member of an object outside lists, with the object that holds it."""

    key: str
    value: Any
    path: str
    beside: Mapping[str, Any]


def members(document: Any, *, deepest: int = _DEEPEST_ABOUT) -> Iterator[ObjectMember]:
    """Yield the members of the objects about a whole answer: root, metadata, wrappers."""
    waiting = [(document, "$", 0)]
    while waiting:
        given, path, depth = waiting.pop()
        for key, value in given.items() if isinstance(given, dict) else ():
            at = path + key_step(key)
            yield ObjectMember(key, value, at, given)
            outer = is_holder(key) or is_wrapper(key) or fold(key) in _PAGING
            outer |= isinstance(value, dict) and isinstance(value.get("conditions"), list)
            if isinstance(value, dict) and depth < deepest and outer:
                waiting.append((value, at, depth + 1))


_DEEPEST_SHARED = 8


def envelope_of(documents: Mapping[str, Any]) -> set[str]:
    """The paths that most sections share although they share no schema: the envelope.

    Parameters
    ----------
    documents : mapping of str to object
        The decoded answer of each section.

    Returns
    -------
    set of str
        Paths of fields outside lists, of more than half of at least three sections.

    Examples
    --------
    >>> bare = {name: {"meta": {"state": "x"}, name: []} for name in ("ads", "gaps", "urls")}
    >>> sorted(envelope_of(bare))
    ['meta', 'meta.state']
    """
    if len(documents) < 3:
        return set()
    counted = Counter(names for document in documents.values() for names in _paths(document))
    shared = (names for names, count in counted.items() if count * 2 > len(documents))
    return {format_path(tuple(map(Field, names))) for names in shared}


def _paths(document: Any) -> Iterator[tuple[str, ...]]:
    """Yield the names of the fields that lead to each value outside lists."""
    waiting: list[tuple[tuple[str, ...], Any]] = [((), document)]
    while waiting:
        names, value = waiting.pop()
        if names:
            yield names
        if isinstance(value, dict) and len(names) < _DEEPEST_SHARED:
            waiting += [((*names, name), item) for name, item in value.items()]
