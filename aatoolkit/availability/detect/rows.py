"""Lists of records: only what speaks of data by name, or with evidence beside it, is believed."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import cached_property, partial
from typing import Any

from aatoolkit.availability import Availability, Status
from aatoolkit.availability.detect import keys, roles
from aatoolkit.availability.detect.context import MOST_FIELDS, AnswerContext, weighed
from aatoolkit.availability.detect.parts import footnote_state, state_in, words_in
from aatoolkit.availability.detect.phrases import STRONG
from aatoolkit.availability.detect.statements import measures, sibling_state
from aatoolkit.availability.detect.vocabulary import (
    best,
    instead_of_number,
    is_code,
    is_observation,
    is_observation_status,
    observed,
    understand,
)
from aatoolkit.jsontree.paths import Each, Field
from aatoolkit.jsontree.vectors import MISSING, Vector

_MOST_CODES = 200
"""A column of more distinct texts than this holds texts, and no """

Told = tuple[int, Any, Availability]
"""A row, what stands in it, and what that says."""


class Records:
    """The records of a list, and what is found in them.

    Parameters
    ----------
    answer : AnswerContext
        The answer, which takes what is found.
    rows : Vector
        The records; what is no object has no fields.
    """

    def __init__(self, answer: AnswerContext, rows: Vector) -> None:
        self.answer = answer
        self.rows = rows
        self.names = rows.fields()

    @cached_property
    def are_dated(self) -> bool:
        """Whether they are points in time."""
        return any(map(roles.is_when, self.names))

    @cached_property
    def counted(self) -> set[str]:
        """The fields that hold a number in some record."""
        return {name for name in self.names if self.rows.field(name).numbers}

    @cached_property
    def measured(self) -> set[str]:
        """Those of them that are no sizes of samples and no moments."""
        return {n for n in self.counted if not roles.is_size(n) and not roles.is_when(n)}

    @cached_property
    def counting(self) -> set[str]:
        """Those of them that hold a number other than 0."""
        return {name for name in self.measured if True in self.rows.field(name).numbers}

    def lacks(self, at: int) -> bool:
        """Whether a record holds null where others hold numbers."""
        return any(self.rows.field(name).values[at] is None for name in self.counted)

    def is_idle(self, at: int, *, zero: bool) -> bool:
        """Whether a record holds nothing where others count; with ``zero``, nothing or 0."""
        zeros = (self.rows.field(name).values[at] for name in self.counting) if zero else ()
        null = self.lacks(at) or any(value == 0 for value in zeros)
        numbers = (self.rows.field(name).values[at] for name in self.measured)
        return null and not any(type(one) in (int, float) and one for one in numbers)

    def telling(
        self, name: str, kind: type, says: Callable[[Any], Availability | None]
    ) -> Iterator[Told]:
        """The values of a type that say something; each distinct one is asked once."""
        values = self.rows.field(name).values
        distinct = {value for value in values if type(value) is kind}
        if len(distinct) > _MOST_CODES:
            return
        states = {value: state for value in distinct if (state := says(value)) is not None}
        if states:
            for at, value in enumerate(values):
                if type(value) is kind and value in states:
                    yield at, value, states[value]

    def given(self, name: str) -> Iterator[tuple[int, Any]]:
        """The values of a field that are there, each with its row."""
        for at, value in enumerate(self.rows.field(name).values):
            if value is not MISSING:
                yield at, value

    def add(
        self, name: str, at: int, state: Availability, rule: str, about: str | None = None
    ) -> None:
        """Keep what a field says of its record, or of another field of it."""
        told = self.rows.field(name)
        place = self.rows.path(at) if about is None else self.rows.field(about).path(at)
        target = place.removeprefix("$").removeprefix(".")
        self.answer.add("row", target, state, told.path(at), rule, told.values[at])


_EMPTY = (Status.UNAVAILABLE, Status.NOT_APPLICABLE)


def walk(answer: AnswerContext) -> None:
    """Read what the records of every list say of their own data."""
    for steps, vector in answer.vectors:
        listed = len(steps) > 0 and isinstance(steps[-1], Each)
        names = [step.name for step in steps if isinstance(step, Field)]
        if not listed or not len(vector) or any(map(is_spoken_for, names)):
            continue
        if vector.path(0).rpartition("[")[0] not in answer.spoken:
            _read(Records(answer, vector))


def is_spoken_for(name: str) -> bool:
    """Whether a list is a statement, or notices, which are read elsewhere."""
    return (
        keys.subject(name) > 0
        or roles.is_note(name)
        or roles.is_notice(name)
        or keys.denial(name) is not None
        or name in ("errors", "error")
    )


def _read(records: Records) -> None:
    """Read each field by the first rule that fits its name and its values."""
    if len(records.names) > MOST_FIELDS:
        return
    folded = {roles.fold(name): name for name in records.names}
    for name in records.names:
        kinds = records.rows.field(name).kinds
        said = keys.suffix(name)
        beside = folded.get(said[0]) if said else None
        if bool in kinds and (says := _flag(records, name)):
            _flags(records, name, says)
        elif bool in kinds and any(keys.flag_of_nothing(name, flag) for flag in (True, False)):
            _flags_of_nothing(records, name)
        elif str in kinds and _is_status(records, name):
            for at, _, state in records.telling(name, str, observed):
                records.add(name, at, state, "row code")
        elif keys.is_absence(name) and kinds & {dict, list}:
            _absences(records, name)
        elif said and beside and beside != name and kinds & {bool, str}:
            _cells(records, name, said[1], beside)
        elif kinds & {str, int} and roles.is_footnotes(name) and records.answer.footnotes:
            _marked(records, name)
        elif str in kinds and roles.is_reason(name):
            _reasons(records, name)
        elif kinds & {str, list} and keys.may_be_row_word(name):
            _words(records, name)
        elif str in kinds and kinds & {int, float}:
            for at, _, state in records.telling(name, str, instead_of_number):
                records.add(name, at, state, "sign", name)
        if dict in kinds and not keys.is_absence(name):
            _wrapped(records, name)


def _flag(records: Records, name: str) -> Callable[[bool], Availability | None] | None:
    """What tells the meaning of a flag that needs no evidence beside it."""
    if keys.is_row_flag(name):
        return partial(keys.flag, name)
    dated = records.are_dated and any(keys.series_flag(name, flag) for flag in (True, False))
    return partial(keys.series_flag, name) if dated else None


def _flags(records: Records, name: str, says: Callable[[bool], Availability | None]) -> None:
    for at, _, state in records.telling(name, bool, says):
        records.add(name, at, state, "row flag")


def _flags_of_nothing(records: Records, name: str) -> None:
    """Flags that deny what is not there: believed if no denied row holds a number but 0."""
    says = partial(keys.flag_of_nothing, name)
    zero = records.are_dated or not keys.needs_null(name)
    lacking = [at for at, _, _ in records.telling(name, bool, partial(_lacking, says))]
    if lacking and all(records.is_idle(at, zero=zero) for at in lacking):
        _flags(records, name, says)


def _lacking(says: Callable[[bool], Availability | None], flag: bool) -> Availability | None:
    state = says(flag)
    return state if state and state.status in _EMPTY else None


def _is_status(records: Records, name: str) -> bool:
    """Whether a field holds the codes that statistics give observations.

    Under a name such as ``flag`` letters may be anything: they are codes where each value that
    is null bears one that says why.
    """
    if is_observation_status(name):
        return True
    value = next(filter(is_observation, records.names), None) if keys.is_flags(name) else None
    if value is None:
        return False
    flags, values = records.rows.field(name).values, records.rows.field(value).values
    given = {(flag, item is None) for flag, item in zip(flags, values, strict=True)}
    codes_of = {flag: observed(flag) for flag, _ in given if isinstance(flag, str) and flag}
    lacking = [codes_of.get(flag) for flag, is_null in given if is_null]
    return (
        all(codes_of.values())
        and len(lacking) > 0
        and all(state and state.status in _EMPTY for state in lacking)
    )


def _absences(records: Records, name: str) -> None:
    """A reason for an absence that is an object of codes, as a data-absent-reason is."""
    for at, value in records.given(name):
        known = best(words_in(value)) if value else None
        if known and known.canonical != "available":
            records.add(name, at, known.availability, "row reason")


def _words(records: Records, name: str) -> None:
    for at, _, state in records.telling(name, str, partial(keys.row_word, name)):
        _add_weighed(records, name, at, state, "row word")
    for at, value in records.given(name) if list in records.rows.field(name).kinds else ():
        texts = [text for text in value if isinstance(text, str)] if type(value) is list else []
        states = (keys.row_word(name, text) for text in texts)
        for first in [state for state in states if state is not None][:1]:
            _add_weighed(records, name, at, first, "row word")


def _reasons(records: Records, name: str) -> None:
    """A code that gives the reason of a record, where what others measured is null."""
    explicit = keys.is_absence(name)
    for at, _, state in records.telling(name, str, _strong):
        if explicit or records.lacks(at):
            _add_weighed(records, name, at, state, "row reason")


def _strong(text: str) -> Availability | None:
    known = understand(text) if is_code(text) else None
    sure = known and known.strength >= STRONG and known.canonical != "available"
    return known.availability if known and sure else None


def _add_weighed(records: Records, name: str, at: int, state: Availability, rule: str) -> None:
    records.add(name, at, weighed(state, measures(records.rows.value(at))), rule)


def _cells(records: Records, name: str, kind: str, beside: str) -> None:
    """A key that speaks of another of its record is believed where that other is null."""
    of = records.rows.field(beside).values
    given = dict(records.given(name))
    # A text that is there exactly where the other is null can only be the reason for that.
    apart = kind == "reason" and all(
        (type(value) is str and bool(value.strip())) == (of[at] is None)
        for at, value in given.items()
    )
    states = [(at, _cell(kind, value, of[at], sure=apart)) for at, value in given.items()]
    if any(state and state.status != Status.AVAILABLE for _, state in states):
        for at, state in states:
            if state is not None:
                records.add(name, at, state, "cell", beside)


def _cell(kind: str, value: Any, of: Any, *, sure: bool) -> Availability | None:
    if not isinstance(value, bool | str):
        return None
    of = of if isinstance(of, str | int | float | list | dict) else None
    state = sibling_state(kind, value, of)
    if state is None or (of is None) == (state.status == Status.AVAILABLE):
        return None
    known = understand(value) if isinstance(value, str) else None
    if sure or isinstance(value, bool) or (known and known.strength >= STRONG):
        return state
    return None


def _marked(records: Records, name: str) -> None:
    """Rows that bear the mark of a footnote, where what others measured is null."""
    for at, value in records.given(name):
        text = records.answer.footnotes.get(str(value))
        state = footnote_state(text) if text else None
        if state and records.lacks(at):
            records.add(name, at, state, "footnote")


def _wrapped(records: Records, name: str) -> None:
    """A statement in a record: beside a null value, or under a key that says so."""
    stated = keys.subject(name) == keys.STATED
    if not stated and "value" not in records.rows.field(name).fields():
        return
    for at, value in records.given(name):
        if type(value) is not dict or not (stated or value.get("value", 0) is None):
            continue
        state = state_in(value, STRONG)
        if state is not None and (stated or state.status != Status.AVAILABLE):
            records.add(name, at, state, "row statement", None if stated else name)
