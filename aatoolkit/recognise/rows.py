"""Rows: inside lists of records only flags that speak of data by name are believed."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import partial
from typing import Any

from aatoolkit.availability import Availability, Status
from aatoolkit.paths import Each, Field
from aatoolkit.recognise import codes, footnotes, keys, roles
from aatoolkit.recognise.answer import Answer, given, weighed
from aatoolkit.recognise.fields import measures, sibling_state
from aatoolkit.recognise.parts import state_in, words_in
from aatoolkit.recognise.phrases import STRONG
from aatoolkit.recognise.words import best, is_code, tokens, understand
from aatoolkit.vectors import Vector

EMPTY = (Status.UNAVAILABLE, Status.NOT_APPLICABLE)


def walk(answer: Answer) -> None:
    """Read what the records of every list say of their own data."""
    for steps, vector in answer.vectors:
        listed = len(steps) > 0 and isinstance(steps[-1], Each)
        names = [step.name for step in steps if isinstance(step, Field)]
        if not listed or not len(vector) or any(_spoken_for(name) for name in names):
            continue
        if vector.path(0).rpartition("[")[0] not in answer.spoken:
            _rows(answer, vector)


def _spoken_for(name: str) -> bool:
    """Whether a list is a statement, or notices, which are read elsewhere."""
    return (
        keys.subject(name) > 0
        or roles.is_note(name)
        or roles.is_notice(name)
        or keys.denial(name) is not None
        or name in ("errors", "error")
    )


def _rows(answer: Answer, rows: Vector) -> None:
    objects = [value for value in rows.values if type(value) is dict]
    names = dict.fromkeys(name for one in objects for name in one)
    folded = {roles.fold(name): name for name in names}
    for name in names:
        said = keys.suffix(name)
        beside = folded.get(said[0]) if said else None
        column = rows.field(name)
        kinds = set(map(type, column.values))
        dated = any(keys.series_flag(name, flag) for flag in (True, False))
        if bool in kinds and keys.is_row_flag(name):
            _flags(answer, rows, partial(keys.flag, name), column)
        elif bool in kinds and dated and any(map(roles.is_when, names)):
            _flags(answer, rows, partial(keys.series_flag, name), column)
        elif bool in kinds and any(keys.flag_of_nothing(name, flag) for flag in (True, False)):
            _flags_of_nothing(answer, rows, name, names, column)
        elif str in kinds and _is_status(name, names, rows):
            _codes(answer, rows, column)
        elif keys.is_absence(name) and kinds & {dict, list}:
            _absences(answer, rows, column)
        elif said and beside and beside != name and kinds & {bool, str}:
            _cells(answer, rows, column, said[1], beside)
        elif kinds & {str, int} and roles.is_footnotes(name) and answer.footnotes:
            _marked(answer, rows, column)
        elif str in kinds and roles.is_reason(name):
            _reasons(answer, rows, name, column)
        elif kinds & {str, list} and keys.may_be_row_word(name):
            _words(answer, rows, name, column)
        elif str in kinds and kinds & {int, float}:
            _instead_of_numbers(answer, rows, name, column)
        if dict in kinds and not keys.is_absence(name):
            _wrapped(answer, rows, name, column)


def _flags(
    answer: Answer, rows: Vector, says: Callable[[bool], Availability | None], column: Vector
) -> None:
    for at, value in given(column):
        state = says(value) if isinstance(value, bool) else None
        if state is not None:
            _add(answer, rows, at, state, column, "row flag")


def _flags_of_nothing(
    answer: Answer, rows: Vector, name: str, names: Iterable[str], column: Vector
) -> None:
    """Flags that deny what is not there: believed if no denied row holds a number but 0."""
    flags = [(at, value) for at, value in given(column) if isinstance(value, bool)]
    states = [(at, keys.flag_of_nothing(name, value)) for at, value in flags]
    lacking = [at for at, state in states if state and state.status in EMPTY]
    numbers = {at: _numbers(rows.values[at]) for at, _ in states}
    measured = {key for at in numbers for key, value in numbers[at].items() if value}
    null = keys.needs_null(name) and not any(map(roles.is_when, names))
    in_vain = all(
        not any(numbers[at].values())
        and any(
            key in measured and not (null and value == 0) for key, value in rows.values[at].items()
        )
        for at in lacking
    )
    if lacking and in_vain:
        for at, state in states:
            if state is not None:
                _add(answer, rows, at, state, column, "row flag")


def _numbers(row: dict[str, Any]) -> dict[str, float]:
    return {
        name: value
        for name, value in row.items()
        if type(value) in (int, float) and not roles.is_size(name) and not roles.is_when(name)
    }


def _is_status(name: str, names: Iterable[str], rows: Vector) -> bool:
    """Whether a column holds the codes that statistics give observations.

    Under a name such as ``flag`` letters may be anything: they are codes where each value that
    is null bears one that says why.
    """
    if codes.is_observation_status(name):
        return True
    beside = next(filter(codes.is_observation, names), None) if keys.is_flags(name) else None
    if beside is None:
        return False
    pairs = [(row.get(name), row.get(beside)) for row in rows.values if type(row) is dict]
    given = [
        (codes.observed(code), value) for code, value in pairs if isinstance(code, str) and code
    ]
    lacking = [state for state, value in given if value is None]
    return (
        all(state for state, _ in given)
        and len(lacking) == sum(value is None for _, value in pairs) > 0
        and all(state and state.status in EMPTY for state in lacking)
    )


def _codes(answer: Answer, rows: Vector, column: Vector) -> None:
    for at, value in given(column):
        state = codes.observed(value) if isinstance(value, str) else None
        if state is not None:
            _add(answer, rows, at, state, column, "row code")


def _absences(answer: Answer, rows: Vector, column: Vector) -> None:
    """A reason for an absence that is an object of codes, as a data-absent-reason is."""
    for at, value in given(column):
        known = best(words_in(value)) if value else None
        if known and known.canonical != "available":
            _add(answer, rows, at, known.availability, column, "row reason")


def _instead_of_numbers(answer: Answer, rows: Vector, name: str, column: Vector) -> None:
    """Words and signs where other rows have numbers."""
    for at, value in given(column):
        state = codes.instead_of_number(value) if isinstance(value, str) else None
        if state is not None:
            _add(answer, rows, at, state, column, "sign", name)


def _words(answer: Answer, rows: Vector, name: str, column: Vector) -> None:
    for at, value in given(column):
        texts = value if isinstance(value, list) else [value]
        states = [keys.row_word(name, text) for text in texts if isinstance(text, str)]
        state = next((state for state in states if state is not None), None)
        if state is not None:
            state = weighed(state, measures(rows.values[at]))
            _add(answer, rows, at, state, column, "row word")


def _reasons(answer: Answer, rows: Vector, name: str, column: Vector) -> None:
    """A code that gives the reason of a record, where what others measured is null."""
    nulled = {
        key
        for row in rows.values
        if type(row) is dict
        for key, value in row.items()
        if value is None
    }
    counted = {
        key
        for row in rows.values
        if type(row) is dict
        for key in nulled & row.keys()
        if type(row[key]) in (int, float)
    }
    explicit = bool({*tokens(name)} & {"null", "missing", "absent", "empty", "na"})
    for at, value in given(column):
        known = understand(value) if is_code(value) else None
        if known is None or known.strength < STRONG or known.canonical == "available":
            continue
        row = rows.values[at]
        if explicit or any(key in row and row[key] is None for key in counted):
            state = weighed(known.availability, measures(row))
            _add(answer, rows, at, state, column, "row reason")


def _cells(answer: Answer, rows: Vector, column: Vector, kind: str, beside: str) -> None:
    """A key that speaks of another of its record is believed where that other is null."""
    states = [(at, _cell(kind, value, rows.values[at].get(beside))) for at, value in given(column)]
    if any(state and state.status != Status.AVAILABLE for _, state in states):
        for at, state in states:
            if state is not None:
                _add(answer, rows, at, state, column, "cell", beside)


def _cell(kind: str, value: Any, of: Any) -> Availability | None:
    state = sibling_state(kind, value, of)
    if state is None or (of is None) == (state.status == Status.AVAILABLE):
        return None
    known = understand(value) if isinstance(value, str) else None
    return state if isinstance(value, bool) or (known and known.strength >= STRONG) else None


def _marked(answer: Answer, rows: Vector, column: Vector) -> None:
    """Rows that bear the mark of a footnote, where what others measured is null."""
    measured = {name for row in rows.values if type(row) is dict for name in _numbers(row)}
    for at, value in given(column):
        text = answer.footnotes.get(str(value))
        state = footnotes.said(text) if text else None
        row = rows.values[at]
        if state and any(name in row and row[name] is None for name in measured):
            _add(answer, rows, at, state, column, "footnote")


def _wrapped(answer: Answer, rows: Vector, name: str, column: Vector) -> None:
    """A statement in a record: beside a null value, or under a key that says so."""
    stated = keys.subject(name) == keys.STATED
    for at, value in given(column):
        if type(value) is not dict or not (stated or value.get("value", 0) is None):
            continue
        state = state_in(value, STRONG)
        if state is not None and (stated or state.status != Status.AVAILABLE):
            beside = None if stated else name
            _add(answer, rows, at, state, column, "row statement", beside)


def _add(
    answer: Answer,
    rows: Vector,
    at: int,
    state: Availability,
    column: Vector,
    rule: str,
    beside: str | None = None,
) -> None:
    place = rows.path(at) if beside is None else rows.field(beside).path(at)
    target = place.removeprefix("$").removeprefix(".")
    answer.add("row", target, state, column.path(at), rule, column.values[at])
