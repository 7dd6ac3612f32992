"""The values of a response by path, and classes for what they say about missing data.

A signal is a statement of the response on whether some of its data could be measured. A hint is a
value that may be such a statement, but was not understood.
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
    echoes_request,
    find_availability_of_listed,
    find_engine_or_field,
    has_numbers,
    is_metadata_key,
    is_sample_size_key,
    make_partial_if_measured,
    score_availability_key,
)
from aatoolkit.availability.status import EMPTY, Availability, Status
from aatoolkit.availability.subject import Condition, make_engine_conditions
from aatoolkit.jsontree.paths import Elements, Entries, Field, Step, format_key, format_path
from aatoolkit.jsontree.vectors import Vector

DAY_PATTERN = re.compile(r"\d{4}-\d\d-\d\d")  # also matches the date of a timestamp

# The maximum length of a value that is kept as JSON text, in characters.
_MAX_JSON_LENGTH = 500

_MAX_DEPTH = 24
MAX_FIELDS = 300
"""If an object has more keys, they are data, such as dates, and not names of fields."""


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


def to_json_text(value: Any) -> str:
    """Return a value as JSON text, truncated if it is long."""
    try:
        text = plain_json(value)
    except RecursionError:
        text = "…"
    return text if len(text) <= _MAX_JSON_LENGTH else text[: _MAX_JSON_LENGTH - 1] + "…"


class PathValues(NamedTuple):
    """All values of a response at one path, such as ``rows[].count``.

    ``steps`` is the parsed path, and ``vector`` has the values, each with its own JSON path.
    ``is_in_list`` says whether the path leads through a list.
    """

    steps: tuple[Step, ...]
    vector: Vector
    field_name: str
    """The name of the field; for elements of a list, the name of the field with the list."""
    is_in_list: bool

    @property
    def is_list(self) -> bool:
        """Whether the path ends at the elements of a list (``rows[]``)."""
        return bool(self.steps) and isinstance(self.steps[-1], Elements)

    @property
    def field_names(self) -> list[str]:
        """The names of the fields on the path, the outermost first."""
        return [step.name for step in self.steps if isinstance(step, Field)]


class Member(NamedTuple):
    """A key of a JSON object, with the value of the key and the JSON path of this value.

    ``parent_object`` is the object that contains the key.
    """

    key: str
    value: Any
    path: str
    parent_object: Mapping[str, Any]
    declared_path: str = ""
    """The path as columns declare it: without the names of wrapper objects."""

    @property
    def is_dict(self) -> bool:
        """Whether the value is a dict."""
        return isinstance(self.value, dict)

    def make_child(self, key: str, value: Any) -> Member:
        """Return a `Member` for one key of the object that is the value of this member.

        ``key`` is the key, and ``value`` the value of the key.
        """
        declared_path = f"{self.declared_path}.{key}" if self.declared_path else key
        return Member(key, value, self.path + format_key(key), self.value, declared_path)


class ResponseScan:
    """Collects what one response says about missing data, as a list of signals.

    A signal is a statement of the response on whether some of its data could be measured. The class
    also finds values of the response by their paths.

    Attributes
    ----------
    document : object
        The decoded response.
    signals : list of Signal
        The signals found so far.
    prose_messages : list of Member
        Messages of the service, written as sentences. They are read after everything else.
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
        self.engine_names = {fold(name): name for name in (*words_of("known_engine"), *engines)}
        self.project_engines = {*map(fold, engines)}
        self.signals: list[Signal] = []
        self.prose_messages: list[Member] = []
        self.statement_list_paths: set[str] = set()
        self.unknown_words: dict[tuple[str, str], Hint] = {}

    def free_memory(self) -> None:
        """Delete the cached properties to free memory; the next access computes them again."""
        for name, attribute in vars(ResponseScan).items():
            if isinstance(attribute, cached_property):
                self.__dict__.pop(name, None)

    def add_signal(
        self,
        scope: str,
        target: str | None,
        availability: Availability,
        path: str,
        rule: str,
        value: Any,
        *,
        rows: tuple[Condition, ...] = (),
        sample_size: int | None = None,
        as_of: str | None = None,
    ) -> None:
        """Append a `Signal`: a statement on data that was read from ``value`` at ``path``.

        The other parameters are the fields of `Signal`: ``scope`` and ``target`` say which data the
        statement is about, and ``rule`` is the name of the rule that read it.
        """
        value_by_key = value if isinstance(value, dict) else {}
        if scope == "engine" and target is not None:
            rows = rows or make_engine_conditions(target)
            other_items = {key: item for key, item in value_by_key.items() if item != target}
            _, field_name = find_engine_or_field(other_items) or ("", "")
            if self.has_field(field_name):  # it is about one field of the engine
                scope, target = "field", self.find_field_path(field_name)
        for key, item in value_by_key.items():
            if sample_size is None and type(item) is int and is_sample_size_key(key):
                sample_size = item
            if as_of is None and isinstance(item, str) and is_word_of(key, "moment"):
                as_of = item
        is_unexplained = isinstance(value, str | bool) and not (
            availability.reason or availability.cause
        )
        if is_unexplained and availability.status not in (Status.AVAILABLE, Status.UNKNOWN):
            availability = replace(
                availability, reason=f"{path.rpartition('.')[2]} is {to_json_text(value)}"
            )
        self.signals.append(
            Signal(
                scope,
                target,
                availability,
                sample_size,
                as_of,
                path,
                rule,
                to_json_text(value),
                rows,
            )
        )

    def add_section_signal(self, availability: Availability, member: Member, rule: str) -> None:
        """Append a `Signal` that says whether all data of the response could be measured.

        The statement was read from ``member``, a key of the response with its value. ``rule`` is
        the name of the rule that read it.
        """
        availability = make_partial_if_measured(availability, self.nonzero_flags)
        self.add_signal("section", None, availability, member.path, rule, member.value)

    @property
    def has_section_signal(self) -> bool:
        """Whether any signal found so far is about all data of the response."""
        return any(signal.scope == "section" for signal in self.signals)

    @property
    def section_name(self) -> str | None:
        """The text under the key ``section`` of the response; None if there is none."""
        name = self.document.get("section") if isinstance(self.document, dict) else None
        return name if isinstance(name, str) else None

    def find_field_path(self, field_name: str) -> str:
        """Return the path of the field with this name; the name if there is not exactly one."""
        paths = (
            []
            if any(character in field_name for character in ".[{")
            else self._field_paths.get(fold(field_name), [])
        )
        return paths[0] if len(paths) == 1 else field_name

    def has_field(self, field_name: str) -> bool:
        """Return whether the response has a field with this name, or the field at this path."""
        first_name = re.split(r"[.\[{]", field_name, maxsplit=1)[0]
        return fold(field_name) in self._field_paths or (
            first_name != field_name and fold(first_name) in self._field_paths
        )

    def has_number(self, field_name: str) -> bool:
        """Return whether any field with this name has or contains a number other than 0."""
        folded_name = fold(field_name.rpartition(".")[2])
        return any(
            True in path_values.vector.nonzero_flags
            for path_values in self.all_path_values
            if folded_name in map(fold, path_values.field_names)
        )

    def is_null(self, field_name: str) -> bool:
        """Return whether any field with this name has the value null."""
        return any(
            type(None) in path_values.vector.types
            for path_values in self.all_path_values
            if fold(path_values.field_name) == fold(field_name)
        )

    def is_engine(self, name: str) -> bool:
        """Return whether a name is the id of a known engine (AI assistant).

        Case and separators are ignored.
        """
        return fold(name) in self.engine_names

    @cached_property
    def dates(self) -> set[str]:
        """A set of the dates in the lists of the response, as texts ``YYYY-MM-DD``."""
        path_values_in_lists = (
            path_values for path_values in self.all_path_values if path_values.is_in_list
        )
        day_path_values = (
            path_values
            for path_values in path_values_in_lists
            if has_word_of(path_values.field_name, "when")
            or path_values.steps.count(Elements()) > 1
        )
        date_texts = (
            date_text
            for path_values in day_path_values
            for date_text in path_values.vector.list_values_of_type(str)
        )
        return {date_text[:10] for date_text in date_texts if DAY_PATTERN.match(date_text)}

    @cached_property
    def has_list_of_numbers(self) -> bool:
        """Whether any list in the response contains numbers."""
        return any(
            path_values.is_in_list and path_values.vector.nonzero_flags
            for path_values in self.all_path_values
        )

    @cached_property
    def has_no_data(self) -> bool:
        """Whether the response has no numbers, and its lists are empty or null.

        False if the response has neither a list nor a null.
        """
        vectors_outside_lists = [
            path_values.vector
            for path_values in self.all_path_values
            if path_values.steps and not path_values.is_in_list
        ]
        are_empty = [
            len(vector.elements()) == 0
            for vector in vectors_outside_lists
            if vector.types & {list, type(None)}
        ]
        return bool(are_empty) and all(are_empty) and not self.nonzero_flags

    @cached_property
    def nonzero_flags(self) -> set[bool]:
        """A set of booleans: for each measured number in the response, whether it is not 0.

        The set has True if there is a number other than 0, and False if there is a 0. It is empty
        if there are no numbers.
        """
        counted_path_values = [
            path_values
            for path_values in self.all_path_values
            if path_values.steps
            and (path_values.is_in_list or not is_sample_size_key(path_values.field_name))
            if not is_metadata_key(path_values.field_name)
        ]
        nonzero_flags = {
            is_nonzero
            for path_values in counted_path_values
            for is_nonzero in path_values.vector.nonzero_flags
        }
        if True not in nonzero_flags and any(
            has_numbers(path_values.vector.values)
            for path_values in counted_path_values
            if str in path_values.vector.types and not has_word_of(path_values.field_name, "id")
        ):
            nonzero_flags.add(True)  # numbers that are written as texts
        return nonzero_flags

    @cached_property
    def list_lengths(self) -> set[int]:
        """The lengths of all lists that are not inside other lists."""
        outermost_lists = (
            path_values
            for path_values in self.all_path_values
            if path_values.is_list and path_values.steps.count(Elements()) == 1
        )
        return {len(path_values.vector) for path_values in outermost_lists}

    @cached_property
    def vector(self) -> Vector:
        """The whole response as a `Vector` with one value."""
        return Vector([self.document])

    @cached_property
    def all_path_values(self) -> list[PathValues]:
        """A list with one item per path of the response: the path with all values at it."""
        unvisited_path_values, all_path_values = [PathValues((), self.vector, "", False)], []
        while unvisited_path_values:
            all_path_values.append(path_values := unvisited_path_values.pop())
            steps, vector, key, is_in_list = path_values
            value_types = vector.types if len(steps) < _MAX_DEPTH else set()
            if list in value_types:
                unvisited_path_values.append(
                    PathValues((*steps, Elements()), vector.elements(), key, True)
                )
            field_names = vector.list_fields() if dict in value_types else []
            if len(field_names) > MAX_FIELDS:
                unvisited_path_values.append(
                    PathValues((*steps, Entries()), vector.entries(), key, is_in_list)
                )
                continue
            unvisited_path_values += [
                PathValues((*steps, Field(name)), vector.field(name), name, is_in_list)
                for name in reversed(field_names)
                if _may_hold_data(name)
            ]
        return all_path_values

    @property
    def list_records(self) -> Iterator[ListRecords]:
        """Yield, for each path of lists, the JSON objects in these lists as `ListRecords`."""
        for element_values in self.all_path_values:
            if (
                not element_values.is_list
                or not len(element_values.vector)
                or any(map(score_availability_key, element_values.field_names))
            ):
                continue
            if element_values.vector.path(0).rpartition("[")[0] not in self.statement_list_paths:
                yield ListRecords(element_values.vector, self.add_signal)

    @cached_property
    def _field_paths(self) -> dict[str, list[str]]:
        """A dict from the name of a field, in lower case, to the paths of all such fields."""
        paths_by_name: dict[str, list[str]] = {}
        for path_values in self.all_path_values:
            is_field = bool(path_values.steps) and isinstance(path_values.steps[-1], Field)
            if is_field and not any(map(_may_name_missing_fields, path_values.field_names[:-1])):
                paths_by_name.setdefault(fold(path_values.field_name), []).append(
                    format_path(path_values.steps)
                )
        return paths_by_name


@lru_cache(maxsize=8192)
def _may_hold_data(name: str) -> bool:
    """Return whether a field, by its name, may hold data.

    Metadata and copies of the request's filters are not data.
    """
    return not (
        echoes_request(name)
        or ends_with_word_of(name, "holder")
        or score_availability_key(name) > 1
    )


@lru_cache(maxsize=4096)
def _may_name_missing_fields(name: str) -> bool:
    """Return whether a field may say which other fields are missing, such as ``nullReasons``."""
    is_statement = (
        score_availability_key(name) > 0
        or find_availability_of_listed(name) is not None
        or is_word_of(name, "footnote")
    )
    return is_statement or name.lower().endswith("reasons")


RowAvailabilities = list[tuple[int, Availability]]
"""Tuples of the position of a row, from 0, and the availability of the row."""


class ListRecords:
    """All JSON objects in the lists at one path.

    For example, at the path ``days[].rows[]`` there is one list for each element of ``days``.
    ``store_signal`` is the method `ResponseScan.add_signal`, which stores a statement on data.
    """

    def __init__(self, record_vector: Vector, store_signal: Callable[..., None]) -> None:
        self.record_vector, self._store_signal = record_vector, store_signal
        self.field_names = record_vector.list_fields()

    def list_field_values(self, field_name: str) -> list[Any]:
        """Return the value of a field in each JSON object; `MISSING` where there is none."""
        field_values: list[Any] = self.record_vector.field(field_name).values
        return field_values

    def read_availabilities(
        self,
        field_name: str,
        read_value: Callable[[Any], Availability | None],
        value_type: type = str,
    ) -> RowAvailabilities:
        """Return tuples of the position of an object and the availability that its field states.

        Parameters
        ----------
        field_name : str
            The name of the field.
        read_value : callable
            Takes a value of the field, and returns the availability that it means, or None.
        value_type : type
            Values of the field that have another type are ignored.
        """
        return [
            (record_position, availability)
            for record_position, value in enumerate(self.list_field_values(field_name))
            if type(value) is value_type and (availability := read_value(value)) is not None
        ]

    def add_signal(
        self,
        field_name: str,
        record_position: int,
        availability: Availability,
        rule: str,
        sibling_name: str | None = None,
    ) -> None:
        """Store a signal: the statement of an object on whether its data could be measured.

        Parameters
        ----------
        field_name : str
            The name of the field that has the statement.
        record_position : int
            The position of the object among all objects, from 0.
        availability : Availability
            Whether the data could be measured.
        rule : str
            The name of the rule that read the statement.
        sibling_name : str, optional
            The field of the object that the statement is about; by default the whole object.
        """
        field_vector = self.record_vector.field(field_name)
        path = (
            self.record_vector.path(record_position)
            if sibling_name is None
            else self.record_vector.field(sibling_name).path(record_position)
        )
        target = path.removeprefix("$").removeprefix(".")
        if (
            rule == "row code"
            and availability.status in EMPTY
            and has_numbers(self.record_vector.values[record_position])
        ):
            availability = PARTIAL  # it is about some of the numbers
        self._store_signal(
            "row",
            target,
            availability,
            field_vector.path(record_position),
            rule,
            field_vector.values[record_position],
        )
