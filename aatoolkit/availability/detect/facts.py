"""The facts of a response: its fields, records and members, flattened once; signals and hints.

Everything that detection reads, it reads here: a `Fact` is all values of one pattern
(``rows[].byEngine{}.count``), `Records` are the rows of one list pattern, and a `Member` is one
key of an object about the whole response.
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
"""An object with more keys than this holds data by key: its keys are no field names."""

_MOST_CODES = 200
"""A field of more distinct values than this holds texts or numbers, and no codes."""


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
        What it states.
    sample_size : int or None
        The observations behind it, where given.
    as_of : str or None
        The moment up to which it is complete, as given.
    path : str
        The JSON path of the evidence; ``status`` or ``header NAME`` for evidence outside the
        body.
    rule : str
        The name of the rule that read it.
    raw : str or None
        The evidence itself, as JSON text.
    rows : tuple of Condition
        The rows it is about, where it is about some only: those of its engine, or those after
        a day. A row's path is its target.
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
        What is given there, as JSON text, cut where it is long.
    why : str
        Why it may be about availability.
    """

    path: str
    value: str | None
    why: str


def raw(value: Any) -> str:
    """Format evidence as JSON text, cut where it is long."""
    try:
        text = plain_json(value)
    except RecursionError:
        text = "…"
    return text if len(text) <= _LONGEST_RAW else text[: _LONGEST_RAW - 1] + "…"


class Fact(NamedTuple):
    """All values of one pattern of the data: of a field, or the elements of its lists."""

    steps: tuple[Step, ...]
    values: Vector
    key: str
    """The field's name; of elements that of their list."""
    in_list: bool

    @property
    def is_list(self) -> bool:
        """Whether the values are the elements of lists."""
        return bool(self.steps) and isinstance(self.steps[-1], Each)

    @property
    def names(self) -> list[str]:
        """The names of the fields that lead to it."""
        return [step.name for step in self.steps if isinstance(step, Field)]


class Member(NamedTuple):
    """A member of an object, with the object that holds it."""

    key: str
    value: Any
    path: str
    siblings: Mapping[str, Any]
    pattern: str = ""
    """The path without wrappers and metadata, as columns spell it."""

    @property
    def is_object(self) -> bool:
        """Whether its value has members itself."""
        return isinstance(self.value, dict)

    def child(self, name: str, value: Any) -> Member:
        """Return the member of this member's value, an object, under a name."""
        pattern = f"{self.pattern}.{name}" if self.pattern else name
        return Member(name, value, self.path + key_step(name), self.value, pattern)

    def element(self, index: int, value: Any) -> Member:
        """Return this member for one element of its value, a list."""
        return self._replace(value=value, path=f"{self.path}[{index}]")


class Facts:
    """A response as values by path pattern, and the statements of availability read so far."""

    def __init__(
        self,
        document: Any,
        engines: Collection[str] = (),
        vector: Vector | None = None,
    ) -> None:
        self.document = document
        if vector is not None:
            self.vector = vector
        self.engines = {fold(name): name for name in (*words("known_engine"), *engines)}
        self.signals: list[Signal] = []
        self.prose: list[Member] = []
        self.statement_list_paths: set[str] = set()
        self.unread: dict[tuple[str, str], Hint] = {}

    def release(self) -> None:
        """Release the values of the response, which can be flattened again from the document."""
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
        """Keep a signal with its evidence, from which its sample size and moment are read."""
        if scope == "engine" and target is not None:
            rows = rows or engine(target)
        members = value if isinstance(value, dict) else {}
        for name, item in members.items():
            if size is None and type(item) is int and is_sample_size(name):
                size = item
            if as_of is None and isinstance(item, str) and is_whole(name, "moment"):
                as_of = item
        is_bare = isinstance(value, str | bool) and state.reason is None and state.cause is None
        if is_bare and state.status not in (Status.AVAILABLE, Status.UNKNOWN):
            state = replace(state, reason=f"{path.rpartition('.')[2]} is {raw(value)}")
        self.signals.append(Signal(scope, target, state, size, as_of, path, rule, raw(value), rows))

    def add_whole(self, state: Availability, member: Member, rule: str) -> None:
        """Keep a signal about the section; pending or thin data beside numbers is ``partial``."""
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
        """The path of a named field as columns spell it, if there is only one of the name."""
        places = [] if any(sign in name for sign in ".[{") else self._places.get(fold(name), [])
        return places[0] if len(places) == 1 else name

    def has_field(self, name: str) -> bool:
        """Whether the response has a field of a name, or the first field of a path."""
        first = re.split(r"[.\[{]", name, maxsplit=1)[0]
        return fold(name) in self._places or (first != name and fold(first) in self._places)

    def has_number(self, name: str) -> bool:
        """Whether a field of the name holds a number other than 0 anywhere."""
        folded = fold(name.rpartition(".")[2])
        return any(True in fact.values.numbers for fact in self.facts if fold(fact.key) == folded)

    def is_null(self, name: str) -> bool:
        """Whether a field of the name is null somewhere."""
        return any(
            type(None) in fact.values.kinds for fact in self.facts if fold(fact.key) == fold(name)
        )

    def is_engine(self, name: str) -> bool:
        """Whether a name is the id of an engine."""
        return fold(name) in self.engines

    @cached_property
    def days(self) -> set[str]:
        """The days of the response's records, as text."""
        dated = (fact for fact in self.facts if fact.in_list and names(fact.key, "when"))
        return {text[:10] for fact in dated for text in fact.values.of_type(str)}

    @cached_property
    def is_listing(self) -> bool:
        """Whether the response holds records of numbers."""
        return any(fact.in_list and fact.values.numbers for fact in self.facts)

    @cached_property
    def is_bare(self) -> bool:
        """Whether nothing was measured and there are only null or empty lists outside records."""
        vectors = [fact.values for fact in self.facts if fact.steps and not fact.in_list]
        are_empty = [
            len(vector.elements()) == 0 for vector in vectors if vector.kinds & {list, type(None)}
        ]
        return bool(are_empty) and all(are_empty) and not self.numbers

    @cached_property
    def numbers(self) -> set[bool]:
        """The truth values of the measured numbers: whether any is not 0, and any is 0."""
        return {
            number
            for fact in self.facts
            if fact.steps and (fact.in_list or not is_sample_size(fact.key))
            if not is_bookkeeping(fact.key)
            for number in fact.values.numbers
        }

    @cached_property
    def lengths(self) -> set[int]:
        """The lengths of the outermost lists."""
        outermost = (f for f in self.facts if f.is_list and f.steps.count(Each()) == 1)
        return {len(fact.values) for fact in outermost}

    @cached_property
    def vector(self) -> Vector:
        """The response at the root, from which fields are taken for all rows at once."""
        return Vector([self.document])

    @cached_property
    def facts(self) -> list[Fact]:
        """The values of the data, pattern by pattern; metadata and echoes are left out."""
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
        """The records of each list of data, but of those that were read as statements."""
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
    """Whether a field may hold data: it is no metadata, no statement and not the question."""
    return not (repeats_question(name) or ends(name, "holder") or rate_key(name) > 1)


@lru_cache(maxsize=4096)
def _is_about_fields(name: str) -> bool:
    """Whether the value of a field is about other fields, and no data itself."""
    is_statement = (
        rate_key(name) > 0 or state_of_names_under(name) is not None or is_whole(name, "footnote")
    )
    return is_statement or name.lower().endswith("reasons")


States = list[tuple[int, Availability]]
"""Rows, each with the state that is read for it."""


class Records:
    """The records of a list, and the states found in them.

    Parameters
    ----------
    rows : Vector
        The records; what is no object has no fields.
    keep : callable
        Takes what is found, as `Facts.add` does.
    """

    def __init__(self, rows: Vector, keep: Callable[..., None]) -> None:
        self.rows, self._keep = rows, keep
        self.names = rows.fields()

    def kinds(self, name: str) -> set[type]:
        """The types of a field's values."""
        return self.rows.field(name).kinds

    def column(self, name: str) -> list[Any]:
        """The values of a field, `MISSING` where a record lacks it."""
        values: list[Any] = self.rows.field(name).values
        return values

    def cells(self, name: str) -> list[tuple[int, Any]]:
        """The rows that have a field, each with its value."""
        return [(row, value) for row, value in enumerate(self.column(name)) if value is not MISSING]

    def states(
        self, name: str, meaning: Callable[[Any], Availability | None], kind: type = str
    ) -> States:
        """The rows whose text or flag has a meaning; each distinct value is read once."""
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
        """Keep what a field states about its record, or about another field of it."""
        field = self.rows.field(name)
        place = self.rows.path(row) if sibling is None else self.rows.field(sibling).path(row)
        target = place.removeprefix("$").removeprefix(".")
        self._keep("row", target, state, field.path(row), rule, field.values[row])
