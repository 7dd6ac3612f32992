"""The values of a response by path, collected once, and what is read from them: signals, hints.

All of detection reads the response through these classes. A `Fact` holds all values of one path
pattern (``rows[].byEngine{}.count``), `Records` hold the records of the lists at one path pattern,
and a `Member` is one key of an object with its value.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cached_property, lru_cache
from typing import Any, NamedTuple

from aatoolkit._util.lexicon import ends, fold, is_whole, names, words
from aatoolkit._util.text import plain_json
from aatoolkit.availability.detect.words import (
    is_bookkeeping,
    is_sample_size,
    partial_if_measured,
    rate_key,
    repeats_question,
    state_of_names_under,
)
from aatoolkit.availability.status import Availability, Status
from aatoolkit.availability.subject import Condition, engine
from aatoolkit.jsontree.paths import Each, Entries, Field, Step, format_path, key_step
from aatoolkit.jsontree.vectors import MISSING, Vector

_LONGEST_RAW = 500
_DEEPEST = 24
MOST_FIELDS = 300
"""The keys of an object with more keys than this are data, such as dates, and no field names."""

_MOST_CODES = 200
"""A field with more distinct values than this is taken for free text, and not for codes."""


@dataclass(frozen=True)
class Signal:
    """One statement of a response about availability.

    Parameters
    ----------
    scope : str
        ``section``, ``field``, ``row`` or ``engine``.
    target : str or None
        The field's path, the row's path (``points[0]``) or the engine's id; None for the
        whole section.
    availability : Availability
        The availability that is stated.
    sample_size : int or None
        The number of observations, if stated.
    as_of : str or None
        The date or timestamp up to which the data are complete, as stated.
    path : str
        The JSON path of the evidence; ``status`` or ``header NAME`` for evidence outside the
        body.
    rule : str
        The name of the rule that read it.
    raw : str or None
        The evidence itself, as JSON text.
    rows : tuple of Condition
        Conditions on the rows it is about, such as those of its engine or those after a day; empty
        if it is about all rows. If it is about a single row, ``target`` is the row's path.
    """

    scope: str
    target: str | None
    availability: Availability
    sample_size: int | None
    as_of: str | None
    path: str
    rule: str
    raw: str | None = None
    rows: tuple[Condition, ...] = ()


@dataclass(frozen=True)
class Hint:
    """A value that may be about availability and was not read.

    Parameters
    ----------
    path : str
        Its JSON path; ``header NAME`` for a header.
    value : str or None
        The value as JSON text, truncated if it is long.
    why : str
        Why it may be about availability.
    """

    path: str
    value: str | None
    why: str


def raw(value: Any) -> str:
    """Return a value as JSON text, truncated if it is long."""
    try:
        text = plain_json(value)
    except RecursionError:
        text = "…"
    return text if len(text) <= _LONGEST_RAW else text[: _LONGEST_RAW - 1] + "…"


class Fact(NamedTuple):
    """All values of a response at one path pattern: those of a field, or elements of its lists."""

    steps: tuple[Step, ...]
    values: Vector
    key: str
    """The name of the field; for elements, the name of the field that holds their list."""
    in_list: bool

    @property
    def is_list(self) -> bool:
        """Whether the values are the elements of lists."""
        return bool(self.steps) and isinstance(self.steps[-1], Each)

    @property
    def names(self) -> list[str]:
        """The names of the fields on its path, from the outermost to the innermost."""
        return [step.name for step in self.steps if isinstance(step, Field)]


class Member(NamedTuple):
    """One key of an object with its value and path; ``siblings`` is the object itself."""

    key: str
    value: Any
    path: str
    siblings: Mapping[str, Any]
    pattern: str = ""
    """The path as columns spell it, without wrapper objects (``data``) and metadata objects."""

    @property
    def is_object(self) -> bool:
        """Whether its value is an object."""
        return isinstance(self.value, dict)

    def child(self, name: str, value: Any) -> Member:
        """Return a member of this member's value, which is an object."""
        pattern = f"{self.pattern}.{name}" if self.pattern else name
        return Member(name, value, self.path + key_step(name), self.value, pattern)

    def element(self, index: int, value: Any) -> Member:
        """Return a copy of this member for one element of its value, which is a list."""
        return self._replace(value=value, path=f"{self.path}[{index}]")


class Facts:
    """The values of a response by path pattern, and the signals that have been read so far.

    ``prose`` has the notices in prose that are read last, ``read_lists`` the paths of lists that
    were read as statements, and ``unread`` hints about words that a declared rule does not know.
    """

    def __init__(
        self,
        document: Any,
        engines: Collection[str] = (),
        vector: Vector | None = None,
        days: int | None = None,
    ) -> None:
        self.document, self.days_asked = document, days
        if vector is not None:
            self.vector = vector
        self.engines = {fold(name): name for name in (*words("known_engine"), *engines)}
        self.signals: list[Signal] = []
        self.prose: list[Member] = []
        self.statement_list_paths: set[str] = set()
        self.unread: dict[tuple[str, str], Hint] = {}

    def release(self) -> None:
        """Drop the cached values of the response; they are collected again when needed."""
        for name, member in vars(Facts).items():
            if isinstance(member, cached_property):
                self.__dict__.pop(name, None)

    def add(
        self,
        scope: str,
        target: str | None,
        state: Availability,
        path: str,
        rule: str,
        value: Any,
        *,
        rows: tuple[Condition, ...] = (),
        size: int | None = None,
        as_of: str | None = None,
    ) -> None:
        """Append a signal; its sample size and ``as_of`` are read from the evidence, ``value``."""
        if scope == "engine" and target is not None:
            rows = rows or engine(target)
        members = value if isinstance(value, dict) else {}
        for name, item in members.items():
            if size is None and type(item) is int and is_sample_size(name):
                size = item
            if as_of is None and isinstance(item, str) and is_whole(name, "moment"):
                as_of = item
        is_bare = isinstance(value, str | bool) and not (state.reason or state.cause)
        if is_bare and state.status not in (Status.AVAILABLE, Status.UNKNOWN):
            state = replace(state, reason=f"{path.rpartition('.')[2]} is {raw(value)}")
        self.signals.append(Signal(scope, target, state, size, as_of, path, rule, raw(value), rows))

    def add_whole(self, state: Availability, member: Member, rule: str) -> None:
        """Append a signal about the whole section.

        Its status is ``partial`` if data are pending, or the sample is too small, and the response
        has numbers all the same.
        """
        state = partial_if_measured(state, self.numbers)
        self.add("section", None, state, member.path, rule, member.value)

    @property
    def has_section(self) -> bool:
        """Whether there is a signal about the section as a whole."""
        return any(signal.scope == "section" for signal in self.signals)

    @property
    def section(self) -> str | None:
        """The section's own name, where the response gives it."""
        name = self.document.get("section") if isinstance(self.document, dict) else None
        return name if isinstance(name, str) else None

    def path_of(self, name: str) -> str:
        """Return the path of the field with a name; the name itself unless there is just one."""
        places = [] if any(sign in name for sign in ".[{") else self._places.get(fold(name), [])
        return places[0] if len(places) == 1 else name

    def has_field(self, name: str) -> bool:
        """Whether the response has a field with this name; of a path, its first field counts."""
        first = re.split(r"[.\[{]", name, maxsplit=1)[0]
        return fold(name) in self._places or (first != name and fold(first) in self._places)

    def has_number(self, name: str) -> bool:
        """Whether any field with this name holds a number other than 0."""
        folded = fold(name.rpartition(".")[2])
        return any(True in fact.values.numbers for fact in self.facts if fold(fact.key) == folded)

    def is_null(self, name: str) -> bool:
        """Whether any field with this name is null."""
        return any(
            type(None) in fact.values.kinds for fact in self.facts if fold(fact.key) == fold(name)
        )

    def is_engine(self, name: str) -> bool:
        """Whether a name is the id of an engine."""
        return fold(name) in self.engines

    @cached_property
    def days(self) -> set[str]:
        """The days that the records of the response have, as ``YYYY-MM-DD``."""
        day_facts = (fact for fact in self.facts if fact.in_list and names(fact.key, "when"))
        return {text[:10] for fact in day_facts for text in fact.values.of_type(str)}

    @cached_property
    def is_listing(self) -> bool:
        """Whether the response has a list of records with numbers."""
        return any(fact.in_list and fact.values.numbers for fact in self.facts)

    @cached_property
    def is_bare(self) -> bool:
        """Whether the response has no numbers, and its lists outside records are empty or null.

        At least one list or null must be there.
        """
        vectors = [fact.values for fact in self.facts if fact.steps and not fact.in_list]
        are_empty = [
            len(vector.elements()) == 0 for vector in vectors if vector.kinds & {list, type(None)}
        ]
        return bool(are_empty) and all(are_empty) and not self.numbers

    @cached_property
    def numbers(self) -> set[bool]:
        """For the measured numbers, True if any is not 0, and False if any is 0; may have both."""
        return {
            number
            for fact in self.facts
            if fact.steps and (fact.in_list or not is_sample_size(fact.key))
            if not is_bookkeeping(fact.key)
            for number in fact.values.numbers
        }

    @cached_property
    def lengths(self) -> set[int]:
        """The numbers of elements of lists that are not inside other lists."""
        outermost_lists = (f for f in self.facts if f.is_list and f.steps.count(Each()) == 1)
        return {len(fact.values) for fact in outermost_lists}

    @cached_property
    def vector(self) -> Vector:
        """The whole response as a vector of one value, from which vectors of fields are taken."""
        return Vector([self.document])

    @cached_property
    def facts(self) -> list[Fact]:
        """One fact per path pattern of the data.

        Metadata and objects that repeat the request are left out.
        """
        pending, facts = [Fact((), self.vector, "", False)], []
        while pending:
            facts.append(fact := pending.pop())
            steps, vector, key, in_list = fact
            kinds = vector.kinds if len(steps) < _DEEPEST else set()
            if list in kinds:
                pending.append(Fact((*steps, Each()), vector.elements(), key, True))
            names = vector.fields() if dict in kinds else []
            if len(names) > MOST_FIELDS:
                pending.append(Fact((*steps, Entries()), vector.entries(), key, in_list))
                continue
            pending += [
                Fact((*steps, Field(name)), vector.field(name), name, in_list)
                for name in reversed(names)
                if _is_data(name)
            ]
        return facts

    @property
    def records(self) -> Iterator[Records]:
        """Yield the records of each list of data, except lists that were read as statements."""
        for fact in self.facts:
            if not fact.is_list or not len(fact.values) or any(map(rate_key, fact.names)):
                continue
            if fact.values.path(0).rpartition("[")[0] not in self.statement_list_paths:
                yield Records(fact.values, self.add)

    @cached_property
    def _places(self) -> dict[str, list[str]]:
        places: dict[str, list[str]] = {}
        for fact in self.facts:
            is_field = bool(fact.steps) and isinstance(fact.steps[-1], Field)
            if is_field and not any(map(_is_about_fields, fact.names[:-1])):
                places.setdefault(fold(fact.key), []).append(format_path(fact.steps))
        return places


@lru_cache(maxsize=8192)
def _is_data(name: str) -> bool:
    """Whether a field may hold data: not metadata, a statement or a repetition of the request."""
    return not (repeats_question(name) or ends(name, "holder") or rate_key(name) > 1)


@lru_cache(maxsize=4096)
def _is_about_fields(name: str) -> bool:
    """Whether a field states something about other fields (``nullReasons``) and holds no data."""
    is_statement = (
        rate_key(name) > 0 or state_of_names_under(name) is not None or is_whole(name, "footnote")
    )
    return is_statement or name.lower().endswith("reasons")


States = list[tuple[int, Availability]]
"""Pairs of the number of a row and the availability that is read for it."""


class Records:
    """The records of the lists at one path, and the availability that they state.

    Parameters
    ----------
    rows : Vector
        The records; an element that is no object has no fields.
    keep : callable
        Stores a signal; called with the arguments of `Facts.add`.
    """

    def __init__(self, rows: Vector, keep: Callable[..., None]) -> None:
        self.rows, self._keep = rows, keep
        self.names = rows.fields()

    def kinds(self, name: str) -> set[type]:
        """Return the types of a field's values."""
        return self.rows.field(name).kinds

    def column(self, name: str) -> list[Any]:
        """Return the values of a field, with `MISSING` for each record that lacks it."""
        values: list[Any] = self.rows.field(name).values
        return values

    def cells(self, name: str) -> list[tuple[int, Any]]:
        """Return the row number and value of a field, for each record that has it."""
        return [(row, value) for row, value in enumerate(self.column(name)) if value is not MISSING]

    def states(
        self, name: str, meaning: Callable[[Any], Availability | None], kind: type = str
    ) -> States:
        """Return the rows in which a field's value has a meaning, each with this meaning.

        Values are of type ``kind``; ``meaning`` is called once per distinct value. The result is
        empty if there are too many distinct values for codes.
        """
        cells = [(row, value) for row, value in self.cells(name) if type(value) is kind]
        distinct = {value for _, value in cells}
        if len(distinct) > _MOST_CODES:
            return []
        state_by_value = {
            value: state for value in distinct if (state := meaning(value)) is not None
        }
        return [(row, state_by_value[value]) for row, value in cells if value in state_by_value]

    def add(
        self, name: str, row: int, state: Availability, rule: str, sibling: str | None = None
    ) -> None:
        """Store what a field states about its record, or about a sibling field of the record."""
        field = self.rows.field(name)
        place = self.rows.path(row) if sibling is None else self.rows.field(sibling).path(row)
        target = place.removeprefix("$").removeprefix(".")
        self._keep("row", target, state, field.path(row), rule, field.values[row])
