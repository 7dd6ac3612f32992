"""Read lists of records: what each record states about its own data.

Only what is about data by its name, or with evidence beside it, is believed.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

from aatoolkit.availability import Availability, Status
from aatoolkit.availability.detect import keys, roles
from aatoolkit.availability.detect.context import AnswerContext, weighed
from aatoolkit.availability.detect.errors import FAILED, STATUSES
from aatoolkit.availability.detect.fields import MOST_FIELDS, Records, is_read_elsewhere
from aatoolkit.availability.detect.parts import footnote_state, state_in, words_in
from aatoolkit.availability.detect.placeholders import instead_of_number, observed
from aatoolkit.availability.detect.roles import tokens, words
from aatoolkit.availability.detect.statements import measures, sibling_state
from aatoolkit.availability.detect.vocabulary import (
    PLAIN,
    STRONG,
    best,
    lack_of_code,
)

_EMPTY = (Status.UNAVAILABLE, Status.NOT_APPLICABLE)
_FLAGS = words("flag flags status footnote marker symbol")
"""Keys that may hold the flag of a record's one value."""


def read_rows(answer: AnswerContext) -> None:
    """Read what the records of every list state about their own data."""
    for each in answer.fields:
        if not each.is_list or not len(each.values) or any(map(is_read_elsewhere, each.names)):
            continue
        if each.values.path(0).rpartition("[")[0] not in answer.read_lists:
            _read(Records(each.values, answer.add), answer.footnotes)


def _read(records: Records, footnotes: Mapping[str, str]) -> None:
    """Read each field by the first rule that fits its name and its values."""
    if len(records.names) > MOST_FIELDS:
        return
    folded = {roles.fold(name): name for name in records.names}
    for name in records.names:
        kinds = records.rows.field(name).kinds
        suffix = keys.suffix(name)
        beside = folded.get(suffix[0]) if suffix else None
        if bool in kinds and (flag := _flag(records, name)):
            records.add_states(name, bool, flag, "row flag")
        elif bool in kinds and any(keys.flag_of_nothing(name, flag) for flag in (True, False)):
            _flags_of_nothing(records, name)
        elif str in kinds and _is_status(records, name):
            records.add_states(name, str, observed, "row code")
        elif keys.is_absence(name) and kinds & {dict, list}:
            _absences(records, name)
        elif suffix and beside and beside != name and kinds & {bool, str}:
            _cells(records, name, suffix[1], beside)
        elif footnotes and kinds & {str, int, list} and roles.is_footnotes(name):
            _marked(records, name, footnotes)
        elif int in kinds and _is_call(records, name):
            _calls(records, name)
        elif str in kinds and roles.is_reason(name):
            _reasons(records, name)
        elif kinds & {str, list} and keys.may_be_row_word(name):
            _words(records, name)
        elif str in kinds and kinds & {int, float}:
            records.add_states(name, str, instead_of_number, "sign", name)
        if dict in kinds and not keys.is_absence(name):
            _wrapped(records, name)


def _flag(records: Records, name: str) -> Callable[[bool], Availability | None] | None:
    """The function that reads a flag which needs no evidence beside it; None if it does."""
    if keys.is_row_flag(name):
        return partial(keys.flag, name)
    dated = records.are_dated and any(keys.series_flag(name, flag) for flag in (True, False))
    return partial(keys.series_flag, name) if dated else None


def _flags_of_nothing(records: Records, name: str) -> None:
    """Read flags of denial, if no denied row holds a number but 0."""
    zero = records.are_dated or not keys.needs_null(name)
    states = [*records.states(name, bool, partial(keys.flag_of_nothing, name))]
    lacking = [at for at, state in states if state.status in _EMPTY]
    if lacking and all(records.is_idle(at, zero=zero) for at in lacking):
        for at, state in states:
            records.add(name, at, state, "row flag")


def _is_status(records: Records, name: str) -> bool:
    """Whether a field holds the codes that statistics give observations.

    Under a name such as ``flag`` letters may be anything: they are codes where each value that
    is null has one that gives the reason.
    """
    if roles.is_observation_status(name):
        return True
    is_flags = {*tokens(name)} <= _FLAGS
    value = next(filter(roles.is_observation, records.names), None) if is_flags else None
    if value is None:
        return False
    values = zip(records.values(name), records.values(value), strict=True)
    given = {(flag if type(flag) is str else "", item is None) for flag, item in values}
    codes_of = {flag: observed(flag) for flag, _ in given if flag}
    lacking = [codes_of.get(flag) for flag, is_null in given if is_null]
    explained = all(state and state.status in _EMPTY for state in lacking)
    return len(lacking) > 0 and explained and all(codes_of.values())


def _absences(records: Records, name: str) -> None:
    """Read reasons for an absence that are objects of codes, such as a data-absent-reason."""
    for at, value in records.given(name):
        known = best(words_in(value)) if value else None
        if known and known.canonical != "available":
            records.add(name, at, known.availability, "row reason")


def _words(records: Records, name: str) -> None:
    for at, state in records.states(name, str, partial(keys.row_word, name)):
        _add_weighed(records, name, at, state, "row word")
    for at, value in records.given(name):
        texts = [text for text in value if isinstance(text, str)] if type(value) is list else []
        first = next(filter(None, (keys.row_word(name, text) for text in texts)), None)
        if first is not None:
            _add_weighed(records, name, at, first, "row word")


def _reasons(records: Records, name: str) -> None:
    """Read codes of a record's reason, where a number that others have is null."""
    explicit = keys.is_absence(name)
    for at, state in records.states(name, str, lack_of_code):
        if explicit or records.lacks(at):
            _add_weighed(records, name, at, state, "row reason")


def _add_weighed(records: Records, name: str, at: int, state: Availability, rule: str) -> None:
    records.add(name, at, weighed(state, measures(records.rows.value(at))), rule)


def _cells(records: Records, name: str, kind: str, beside: str) -> None:
    """Read a key about another of its record, where that other is null."""
    of = records.values(beside)
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
    if state and of == 0 and isinstance(value, str) and best([value], PLAIN):
        return state
    if state is None or (of is None) == (state.status == Status.AVAILABLE):
        return None
    sure = sure or isinstance(value, bool)
    return state if sure or best([value], STRONG) else None


def _marked(records: Records, name: str, footnotes: Mapping[str, str]) -> None:
    """Read marks of footnotes, where a number that others have is null."""
    for at, value in records.given(name):
        marks = value if isinstance(value, list) else [value]
        texts = [footnotes[str(mark)] for mark in marks if str(mark) in footnotes]
        state = next(filter(None, map(footnote_state, texts)), None)
        if state and (records.lacks(at) or records.is_idle(at, zero=isinstance(value, list))):
            records.add(name, at, state, "footnote")


_CALLS = ("code", "status", "statuscode", "httpstatus", "httpcode", "responsecode")


def _is_of_engine(name: str) -> bool:
    return roles.kind_of_entries(name) == "engine"


def _is_call(records: Records, name: str) -> bool:
    """Whether a field holds the HTTP status of the call to the engine that a record is about.

    Some were answered; those that were not hold nothing where the others hold numbers.
    """
    if roles.fold(name) not in _CALLS or not any(map(_is_of_engine, records.names)):
        return False
    given = {at: v for at, v in records.given(name) if type(v) is int}
    if not given or not all(100 <= status < 600 for status in given.values()):
        return False
    failed = [at for at, status in given.items() if status >= 400]
    return 0 < len(failed) < len(given) and all(map(records.lacks, failed))


def _calls(records: Records, name: str) -> None:
    for at, status in records.given(name):
        if type(status) is int and status >= 400:
            records.add(name, at, STATUSES.get(status, FAILED), "row code")


def _wrapped(records: Records, name: str) -> None:
    """Read statements in records: beside a null value, or under a key that names them."""
    stated = keys.subject(name) == keys.STATED
    if not stated and "value" not in records.rows.field(name).fields():
        return
    for at, value in records.given(name):
        if type(value) is not dict or not (stated or value.get("value", 0) is None):
            continue
        state = state_in(value, STRONG)
        if state is not None and (stated or state.status != Status.AVAILABLE):
            records.add(name, at, state, "row statement", None if stated else name)
