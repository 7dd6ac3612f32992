"""The values of a response by path, and the signals and hints read from them.

A signal is a statement about which data could be measured. A hint may be one.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cached_property, lru_cache
from typing import Any, NamedTuple

from aatoolkit._util.lexicon import ends_with_word_of, fold, has_word_of, is_word_of, words_of
from aatoolkit._util.text import plain_json
from aatoolkit.availability.detect.words import (
    PARTIAL,
    find_target,
    has_numbers,
    is_bookkeeping,
    is_sample_size,
    partial_if_measured,
    rate_key,
    repeats_question,
    state_of_names_under,
)
from aatoolkit.availability.status import EMPTY, Availability, Status
from aatoolkit.availability.subject import Condition, engine
from aatoolkit.jsontree.paths import Each, Entries, Field, Step, format_path, key_step
from aatoolkit.jsontree.vectors import MISSING, Vector

DAY = re.compile(r"\d{4}-\d\d-\d\d")  # also the date of a timestamp

_MAX_RAW_LENGTH = 500
_MAX_DEPTH = 24
MAX_FIELDS = 300
"""If an object has more keys, they are data, such as dates, and not names of fields."""

_MAX_CODES = 200
"""If a field has more distinct values, they are free text, and not codes."""


@dataclass(frozen=True)
class Signal:
    """A statement of a response on whether some of its data could be measured.

    Parameters
    ----------
    scope : str
        The kind of data: ``section`` (all data of the response), ``field``, ``row`` or ``engine``.
    target : str or None
        The path of the field or row, or the id of the engine; None for the section.
    availability : Availability
        The status of these data, with cause and reason.
    sample_size : int or None
        The stated number of observations.
    as_of : str or None
        The date or timestamp up to which the data are complete.
    path : str
        The JSON path where the statement was found; or ``status`` or ``header NAME``.
    rule : str
        The name of the rule that read the statement.
    raw : str or None
        The value that was found there, as JSON text.
    rows : tuple of Condition
        Conditions that select the rows that the statement is about; empty for all rows.
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
    """A value that may say whether data could be measured, but was not understood.

    Parameters
    ----------
    path : str
        The JSON path of the value; ``header NAME`` for an HTTP header.
    value : str or None
        The value as JSON text, truncated if it is long.
    why : str
        The reason for listing the value.
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
    return text if len(text) <= _MAX_RAW_LENGTH else text[: _MAX_RAW_LENGTH - 1] + "…"


class Fact(NamedTuple):
    """All values of a response at one path, such as ``rows[].count``."""

    steps: tuple[Step, ...]
    values: Vector
    key: str
    """The name of the field; for elements of a list, the name of the field with the list."""
    is_in_list: bool

    @property
    def is_list(self) -> bool:
        """Whether the path ends at the elements of a list (``rows[]``)."""
        return bool(self.steps) and isinstance(self.steps[-1], Each)

    @property
    def names(self) -> list[str]:
        """The names of the fields on the path, the outermost first."""
        return [step.name for step in self.steps if isinstance(step, Field)]


class Member(NamedTuple):
    """A key of a JSON object, with its value and JSON path.

    ``siblings`` is the object that contains the key.
    """

    key: str
    value: Any
    path: str
    siblings: Mapping[str, Any]
    pattern: str = ""
    """The path as columns declare it: without the names of wrapper objects."""

    @property
    def is_object(self) -> bool:
        """Whether the value is a dict."""
        return isinstance(self.value, dict)

    def child(self, name: str, value: Any) -> Member:
        """Return a `Member` for the key ``name`` of the object that is this member's value."""
        pattern = f"{self.pattern}.{name}" if self.pattern else name
        return Member(name, value, self.path + key_step(name), self.value, pattern)


class Facts:
    """The values of a response by path, and the signals read from them so far.

    A signal is a statement on whether data could be measured.

    Attributes
    ----------
    signals : list of Signal
        The signals read so far.
    prose_notices : list of Member
        Messages written as sentences. They are read after everything else.
    statement_list_paths : set of str
        The paths of lists that state the status of engines or fields. They are not read as data.
    unknown_words : dict
        Maps a tuple of a rule's path and a text that the rule does not explain to a `Hint`.
    """

    def __init__(
        self,
        document: Any,
        engines: Collection[str] = (),
        vector: Vector | None = None,
        days: int | None = None,
    ) -> None:
        self.document, self.requested_days = document, days
        if vector is not None:
            self.vector = vector
        self.engines = {fold(name): name for name in (*words_of("known_engine"), *engines)}
        self.project_engines = {*map(fold, engines)}
        self.signals: list[Signal] = []
        self.prose_notices: list[Member] = []
        self.statement_list_paths: set[str] = set()
        self.unknown_words: dict[tuple[str, str], Hint] = {}

    def release(self) -> None:
        """Delete the cached properties to free memory; the next access computes them again."""
        for name, attribute in vars(Facts).items():
            if isinstance(attribute, cached_property):
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
        """Append a signal (a statement on data) that was read from ``value``, found at ``path``."""
        members = value if isinstance(value, dict) else {}
        if scope == "engine" and target is not None:
            rows = rows or engine(target)
            other_members = {key: item for key, item in members.items() if item != target}
            _, name = find_target(other_members) or ("", "")
            if self.has_field(name):  # it is about one field of the engine
                scope, target = "field", self.path_of(name)
        for name, item in members.items():
            if size is None and type(item) is int and is_sample_size(name):
                size = item
            if as_of is None and isinstance(item, str) and is_word_of(name, "moment"):
                as_of = item
        is_bare = isinstance(value, str | bool) and not (state.reason or state.cause)
        if is_bare and state.status not in (Status.AVAILABLE, Status.UNKNOWN):
            state = replace(state, reason=f"{path.rpartition('.')[2]} is {raw(value)}")
        self.signals.append(Signal(scope, target, state, size, as_of, path, rule, raw(value), rows))

    def add_about_section(self, state: Availability, member: Member, rule: str) -> None:
        """Append a signal (a statement) about all data of the response, read from ``member``."""
        state = partial_if_measured(state, self.number_kinds)
        self.add("section", None, state, member.path, rule, member.value)

    @property
    def has_section(self) -> bool:
        """Whether there is a signal (a statement) about all data of the response."""
        return any(signal.scope == "section" for signal in self.signals)

    @property
    def section(self) -> str | None:
        """The value of ``section`` in the response, or None if it has no such text."""
        name = self.document.get("section") if isinstance(self.document, dict) else None
        return name if isinstance(name, str) else None

    def path_of(self, name: str) -> str:
        """Return the path of the field ``name``, or ``name`` if the path is not unique."""
        paths = [] if any(sign in name for sign in ".[{") else self._field_paths.get(fold(name), [])
        return paths[0] if len(paths) == 1 else name

    def has_field(self, name: str) -> bool:
        """Return whether the response has a field with this name."""
        first_name = re.split(r"[.\[{]", name, maxsplit=1)[0]
        return fold(name) in self._field_paths or (
            first_name != name and fold(first_name) in self._field_paths
        )

    def has_number(self, name: str) -> bool:
        """Return whether a field with this name has a number other than 0."""
        folded_name = fold(name.rpartition(".")[2])
        return any(
            True in fact.values.numbers for fact in self.facts if fold(fact.key) == folded_name
        )

    def is_null(self, name: str) -> bool:
        """Return whether any field with this name is null."""
        return any(
            type(None) in fact.values.kinds for fact in self.facts if fold(fact.key) == fold(name)
        )

    def is_engine(self, name: str) -> bool:
        """Return whether a name is the id of a known engine (AI assistant).

        Case and separators are ignored.
        """
        return fold(name) in self.engines

    @cached_property
    def dates(self) -> set[str]:
        """A set of the dates in the lists of the response, as texts ``YYYY-MM-DD``."""
        list_facts = (fact for fact in self.facts if fact.is_in_list)
        day_facts = (
            fact
            for fact in list_facts
            if has_word_of(fact.key, "when") or fact.steps.count(Each()) > 1
        )
        texts = (text for fact in day_facts for text in fact.values.of_type(str))
        return {text[:10] for text in texts if DAY.match(text)}

    @cached_property
    def has_list_of_numbers(self) -> bool:
        """Whether any list in the response contains numbers."""
        return any(fact.is_in_list and fact.values.numbers for fact in self.facts)

    @cached_property
    def is_bare(self) -> bool:
        """Whether the response has no numbers, and only empty lists or nulls."""
        vectors = [fact.values for fact in self.facts if fact.steps and not fact.is_in_list]
        are_empty = [
            len(vector.elements()) == 0 for vector in vectors if vector.kinds & {list, type(None)}
        ]
        return bool(are_empty) and all(are_empty) and not self.number_kinds

    @cached_property
    def number_kinds(self) -> set[bool]:
        """The kinds of numbers in the response, as a set.

        The set has True if there is a number other than 0, and False if there is a 0.
        """
        facts = [
            fact
            for fact in self.facts
            if fact.steps and (fact.is_in_list or not is_sample_size(fact.key))
            if not is_bookkeeping(fact.key)
        ]
        kinds = {is_nonzero for fact in facts for is_nonzero in fact.values.numbers}
        if True not in kinds and any(
            has_numbers(fact.values.values)
            for fact in facts
            if fact.is_in_list and str in fact.values.kinds and not has_word_of(fact.key, "id")
        ):
            kinds.add(True)  # numbers that are written as texts
        return kinds

    @cached_property
    def list_lengths(self) -> set[int]:
        """The lengths of all lists that are not inside other lists."""
        outermost_lists = (
            fact for fact in self.facts if fact.is_list and fact.steps.count(Each()) == 1
        )
        return {len(fact.values) for fact in outermost_lists}

    @cached_property
    def vector(self) -> Vector:
        """The whole response as a `Vector` with one value."""
        return Vector([self.document])

    @cached_property
    def facts(self) -> list[Fact]:
        """A list with one `Fact` (a path with all its values) per path of the response."""
        pending, facts = [Fact((), self.vector, "", False)], []
        while pending:
            facts.append(fact := pending.pop())
            steps, vector, key, is_in_list = fact
            kinds = vector.kinds if len(steps) < _MAX_DEPTH else set()
            if list in kinds:
                pending.append(Fact((*steps, Each()), vector.elements(), key, True))
            field_names = vector.fields() if dict in kinds else []
            if len(field_names) > MAX_FIELDS:
                pending.append(Fact((*steps, Entries()), vector.entries(), key, is_in_list))
                continue
            pending += [
                Fact((*steps, Field(name)), vector.field(name), name, is_in_list)
                for name in reversed(field_names)
                if _is_data(name)
            ]
        return facts

    @property
    def records(self) -> Iterator[Records]:
        """Yield, for each list with data, its JSON objects as `Records`."""
        for fact in self.facts:
            if not fact.is_list or not len(fact.values) or any(map(rate_key, fact.names)):
                continue
            if fact.values.path(0).rpartition("[")[0] not in self.statement_list_paths:
                yield Records(fact.values, self.add)

    @cached_property
    def _field_paths(self) -> dict[str, list[str]]:
        paths_by_name: dict[str, list[str]] = {}
        for fact in self.facts:
            is_field = bool(fact.steps) and isinstance(fact.steps[-1], Field)
            if is_field and not any(map(_is_about_fields, fact.names[:-1])):
                paths_by_name.setdefault(fold(fact.key), []).append(format_path(fact.steps))
        return paths_by_name


@lru_cache(maxsize=8192)
def _is_data(name: str) -> bool:
    """Return whether a field may hold data. Metadata and copies of request filters are not data."""
    return not (repeats_question(name) or ends_with_word_of(name, "holder") or rate_key(name) > 1)


@lru_cache(maxsize=4096)
def _is_about_fields(name: str) -> bool:
    """Return whether a field may say that other fields are missing, such as ``nullReasons``."""
    is_statement = (
        rate_key(name) > 0 or state_of_names_under(name) is not None or is_word_of(name, "footnote")
    )
    return is_statement or name.lower().endswith("reasons")


States = list[tuple[int, Availability]]
"""Pairs of the position of a row, from 0, and its availability."""


class Records:
    """The JSON objects in the lists at one path."""

    def __init__(self, rows: Vector, store_signal: Callable[..., None]) -> None:
        self.rows, self._store_signal = rows, store_signal
        self.names = rows.fields()

    def values_of_field(self, name: str) -> list[Any]:
        """Return the value of a field in each JSON object; `MISSING` where there is none."""
        values: list[Any] = self.rows.field(name).values
        return values

    def positions_and_values(self, name: str) -> list[tuple[int, Any]]:
        """Return tuples of position and value for the JSON objects that have a field."""
        return [
            (row, value)
            for row, value in enumerate(self.values_of_field(name))
            if value is not MISSING
        ]

    def states(
        self, name: str, state_of: Callable[[Any], Availability | None], value_type: type = str
    ) -> States:
        """Return tuples of the position of an object and the availability that its field states.

        ``state_of`` is a function that takes a value of the field, and returns its meaning or None.
        """
        cells = [
            (row, value)
            for row, value in self.positions_and_values(name)
            if type(value) is value_type
        ]
        distinct_values = {value for _, value in cells}
        if len(distinct_values) > _MAX_CODES:
            return []
        state_by_value = {
            value: state for value in distinct_values if (state := state_of(value)) is not None
        }
        return [(row, state_by_value[value]) for row, value in cells if value in state_by_value]

    def add(
        self, name: str, row: int, state: Availability, rule: str, sibling: str | None = None
    ) -> None:
        """Store a signal (a statement on data) about the object at position ``row``.

        ``name`` is the field from which it was read. With ``sibling``, it is only about this field
        of the object.
        """
        field = self.rows.field(name)
        path = self.rows.path(row) if sibling is None else self.rows.field(sibling).path(row)
        target = path.removeprefix("$").removeprefix(".")
        if rule == "row code" and state.status in EMPTY and has_numbers(self.rows.values[row]):
            state = PARTIAL  # it is about some of the numbers
        self._store_signal("row", target, state, field.path(row), rule, field.values[row])
