"""Rows: what the records of a list state about their own data, and codes with an explanation.

Only what is about data by its name, or with evidence beside it, is believed. Codes that the
response explains (a legend, declared sentinels) are believed where records with a code of a lack
hold nothing, or 0.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import NamedTuple

from aatoolkit._util.lexicon import ends, fits, fold, is_whole, names, tokens
from aatoolkit.availability.detect.facts import MOST_FIELDS, Facts, Records, States
from aatoolkit.availability.detect.rules import any_key, form
from aatoolkit.availability.detect.words import (
    EMPTY,
    PLAIN,
    STATED,
    STRONG,
    best,
    codes_in,
    flag,
    flag_in_series,
    flag_of_nothing,
    instead_of_number,
    lack_of_code,
    measures,
    observed,
    row_word,
    state_in,
    state_of_sibling,
    subject,
    suffix,
    weighed,
)
from aatoolkit.availability.status import Status


class RowRule(NamedTuple):
    """A form of a field of records: its name, the keys and kinds of values, and what it gives."""

    name: str
    key: Callable[[str], object]
    kinds: set[type]
    read: Callable[[Records, str], States | None]
    by_word: bool = False
    """Whether a text says nothing unless it means a lack."""


def read_rows(answer: Facts) -> None:
    """Read what the records of every list state about their own data."""
    for records in answer.records:
        for name in records.names if len(records.names) <= MOST_FIELDS else ():
            kinds = records.kinds(name)
            for rule in ROWS:
                if rule.kinds & kinds and rule.key(name):
                    states = rule.read(records, name)
                    about = {"cell": _beside(records, name), "sign": name}.get(rule.name)
                    for at, state in states or ():
                        records.add(name, at, state, rule.name, about)
                    if states is not None:
                        break
            if dict in kinds and not fits(name, "absence"):
                _read_statements(records, name)


def _flags(records: Records, name: str) -> States | None:
    """Read flags which need no evidence beside them, or only a day."""
    if fits(name, "row_flag", ("is",)):
        return records.states(name, partial(flag, name), bool)
    dated = records.are_dated
    return records.states(name, partial(flag_in_series, name), bool) if dated else None


def _flags_of_nothing(records: Records, name: str) -> States:
    """Read flags of denial, if no denied row holds a number but 0."""
    zero = records.are_dated or bool({*tokens(name)[-1:]} & {"collected", "ingested"})
    states = records.states(name, partial(flag_of_nothing, name), bool)
    lacking = [at for at, state in states if state.status in EMPTY]
    idle = lacking and all(records.is_idle(at, zero=zero) for at in lacking)
    return states if idle else []


def _observed(records: Records, name: str) -> States | None:
    """Read the codes that statistics give observations.

    Under a name such as ``flag`` letters may be anything: they are codes where each value that
    is null has one that gives the reason.
    """
    states = records.states(name, observed)
    if fits(name, "observation_status"):
        return states
    value = next((n for n in records.names if is_whole(n, "one_value")), None)
    read = dict(states)
    null = [at for at, item in enumerate(records.column(value)) if item is None] if value else []
    marks = [at for at, mark in records.given(name) if type(mark) is str and mark]
    explained = all(at in read and read[at].status in EMPTY for at in null)
    return states if null and explained and len(read) == len(marks) else None


def _absences(records: Records, name: str) -> States:
    """Read reasons for an absence that are objects of codes, such as a data-absent-reason."""
    listed = ((at, best(codes_in(v))) for at, v in records.given(name) if type(v) in (dict, list))
    return [(at, w.availability) for at, w in listed if w and w.canonical != "available"]


def _beside(records: Records, name: str) -> str | None:
    """The field of records that another is about by its name."""
    about, _ = suffix(name) or ("", "")
    other = next((n for n in records.names if fold(n) == about), None) if about else None
    return other if other != name else None


def _cells(records: Records, name: str) -> States | None:
    """Read a key about another of its record, where that other is null."""
    beside = _beside(records, name)
    if beside is None:
        return None
    of, kind = records.column(beside), (suffix(name) or ("", ""))[1]
    given = [(at, v, of[at]) for at, v in records.given(name) if isinstance(v, bool | str)]
    # A text that is there exactly where the other is null can only be the reason for that.
    texts = [type(v) is str and bool(v.strip()) for v in records.column(name)]
    apart = kind == "reason" and texts == [item is None for item in of]
    states = []
    for at, value, item in given:
        state = state_of_sibling(kind, value, item if isinstance(item, str | int | float) else None)
        certain = apart or isinstance(value, bool) or best([value], STRONG)
        zero = item == 0 and isinstance(value, str) and best([value], PLAIN)
        fine = state and (item is None) != (state.status == Status.AVAILABLE)
        if state and (zero or (fine and certain)):
            states.append((at, state))
    return states if any(state.status != Status.AVAILABLE for _, state in states) else []


def _reasons(records: Records, name: str) -> States:
    """Read codes of a record's reason, where a number that others have is null."""
    states = records.states(name, lack_of_code)
    certain = fits(name, "absence")
    return _weighed(records, [pair for pair in states if certain or records.lacking(pair[0])])


def _words(records: Records, name: str) -> States:
    """Read words of a state, also in lists of texts."""
    states = records.states(name, partial(row_word, name))
    for at, value in records.given(name) if list in records.kinds(name) else ():
        texts = [text for text in value if isinstance(text, str)] if type(value) is list else []
        states += [(at, s) for s in [row_word(name, text) for text in texts] if s][:1]
    return _weighed(records, states)


def _weighed(records: Records, states: States) -> States:
    return [(at, weighed(state, measures(records.rows.values[at]))) for at, state in states]


def _signs(records: Records, name: str) -> States:
    is_numeric = records.kinds(name) & {int, float}
    return records.states(name, instead_of_number) if is_numeric else []


def _may_be_word(key: str) -> bool:
    return subject(key) > 0 or fits(key, "notice") or names(key, "state")


def _is_flag(key: str) -> bool:
    in_series = any(flag_in_series(key, value) for value in (True, False))
    return in_series or fits(key, "row_flag", ("is",))


def _is_denial(key: str) -> bool:
    return any(flag_of_nothing(key, value) for value in (True, False))


ROWS = (
    RowRule("row flag", _is_flag, {bool}, _flags),
    RowRule("row flag", _is_denial, {bool}, _flags_of_nothing),
    RowRule("row code", form("observation_status"), {str}, _observed),
    RowRule("row code", form("flagging"), {str}, _observed, by_word=True),
    RowRule("row reason", lambda n: fits(n, "absence"), {dict, list}, _absences),
    RowRule("cell", lambda n: suffix(n) is not None, {bool, str}, _cells),
    RowRule("row reason", lambda n: ends(n, "reason"), {str}, _reasons, by_word=True),
    RowRule("row word", _may_be_word, {str, list}, _words, by_word=True),
    RowRule("sign", any_key, {str}, _signs),
)  # fmt: skip
"""What fields of records state: the first rule that has something to read of a field ends."""


def _read_statements(records: Records, name: str) -> None:
    """Read statements in records: beside a null value, or under a key that names them."""
    stated = subject(name) == STATED
    for at, value in records.given(name):
        if type(value) is not dict or not (stated or value.get("value", 0) is None):
            continue
        state = state_in(value, STRONG)
        if state is not None and (stated or state.status != Status.AVAILABLE):
            records.add(name, at, state, "row statement", None if stated else name)
