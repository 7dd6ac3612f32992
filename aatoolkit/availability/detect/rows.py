"""Lists of records, and the codes that an answer explains: legends and declared sentinels.

Only what is about data by its name, or with evidence beside it, is believed.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from functools import partial
from typing import Any

from aatoolkit.availability import Availability, Status
from aatoolkit.availability.detect import keys, roles
from aatoolkit.availability.detect.context import AnswerContext, weighed
from aatoolkit.availability.detect.fields import MOST_FIELDS, Records, is_read_elsewhere
from aatoolkit.availability.detect.forms import ObjectMember, meaning, members
from aatoolkit.availability.detect.parts import footnote_state, state_in, words_in
from aatoolkit.availability.detect.roles import spaced, tokens, words
from aatoolkit.availability.detect.statements import measures, sibling_state
from aatoolkit.availability.detect.vocabulary import (
    STRONG,
    best,
    instead_of_number,
    lack_of_code,
    observed,
    understand,
)
from aatoolkit.jsontree.paths import format_path

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
        elif footnotes and kinds & {str, int} and roles.is_footnotes(name):
            _marked(records, name, footnotes)
        elif str in kinds and roles.is_reason(name):
            _reasons(records, name)
        elif kinds & {str, list} and keys.may_be_row_word(name):
            _words(records, name)
        elif str in kinds and kinds & {int, float}:
            records.add_states(name, str, instead_of_number, "sign", name)
        if dict in kinds and not keys.is_absence(name):
            _wrapped(records, name)


def _flag(records: Records, name: str) -> Callable[[bool], Availability | None] | None:
    """The meaning of a flag that needs no evidence beside it."""
    if keys.is_row_flag(name):
        return partial(keys.flag, name)
    dated = records.are_dated and any(keys.series_flag(name, flag) for flag in (True, False))
    return partial(keys.series_flag, name) if dated else None


def _flags_of_nothing(records: Records, name: str) -> None:
    """Flags that deny what is not there: believed if no denied row holds a number but 0."""
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
    """A reason for an absence that is an object of codes, as a data-absent-reason is."""
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
    """A code that gives the reason of a record, where what others measured is null."""
    explicit = keys.is_absence(name)
    for at, state in records.states(name, str, lack_of_code):
        if explicit or records.lacks(at):
            _add_weighed(records, name, at, state, "row reason")


def _add_weighed(records: Records, name: str, at: int, state: Availability, rule: str) -> None:
    records.add(name, at, weighed(state, measures(records.rows.value(at))), rule)


def _cells(records: Records, name: str, kind: str, beside: str) -> None:
    """A key about another of its record is believed where that other is null."""
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
    if state is None or (of is None) == (state.status == Status.AVAILABLE):
        return None
    sure = sure or isinstance(value, bool)
    return state if sure or best([value], STRONG) else None


def _marked(records: Records, name: str, footnotes: Mapping[str, str]) -> None:
    """Rows with the mark of a footnote, where what others measured is null."""
    for at, value in records.given(name):
        text = footnotes.get(str(value))
        state = footnote_state(text) if text else None
        if state and records.lacks(at):
            records.add(name, at, state, "footnote")


def _wrapped(records: Records, name: str) -> None:
    """A statement in a record: beside a null value, or under a key that names it."""
    stated = keys.subject(name) == keys.STATED
    if not stated and "value" not in records.rows.field(name).fields():
        return
    for at, value in records.given(name):
        if type(value) is not dict or not (stated or value.get("value", 0) is None):
            continue
        state = state_in(value, STRONG)
        if state is not None and (stated or state.status != Status.AVAILABLE):
            records.add(name, at, state, "row statement", None if stated else name)


# --- codes that an answer explains itself -------------------------------------------------------

_LEGEND = words("legend codes code glossary lookup meanings notation flags key")
_SENTINEL = re.compile(
    r"(null|no data|nodata|missing|na|absent|empty|no value|unmeasured) "
    r"(values?|codes?|markers?|sentinels?|placeholders?|as|symbols?)"
    r"|(special|reserved) (values?|codes?)|sentinels?( values?)?"
)
_MEANS = re.compile(
    r"^[\"'(]?(-?\d+(?:\.\d+)?)[\"')]?\s+(?:means|stands for|denotes|indicates|=|is|marks)\s+(.+)$"
)
_CODE = ("code", "value", "id", "key", "symbol")
_LABEL = ("label", "meaning", "text", "description")

States = dict[str, Availability]
"""What codes mean, each as text."""


def read_codes(answer: AnswerContext) -> None:
    """Read legends and declared sentinels, and the cells that hold their codes."""
    found = [*members(answer.document)]
    legends = [(member, codes) for member in found if (codes := _legend(member))]
    sentinels = [(member, codes) for member in found if (codes := _sentinels(member))]
    if not legends and not sentinels:
        return
    records = [*_records(answer)]
    for member, codes in legends:
        is_used = [_coded(listed, codes) for listed in records]
        if not any(is_used):
            _alone(answer, member, codes)
    for _, codes in sentinels:
        for listed in records:
            _replace(listed, codes)
        _single(answer, codes)


def _legend(member: ObjectMember) -> States:
    """The codes of a legend that are about availability; none where no code surely is."""
    if _LEGEND.isdisjoint(tokens(member.key)):
        return {}
    texts = dict(_texts(member.value))
    sure = [word for text in texts.values() if (word := meaning(text))]
    known = {code: meaning(text) or understand(text) for code, text in texts.items()}
    if all(word.canonical == "available" for word in sure) or not all(known.values()):
        return {}
    return {code: word.because(texts[code]) for code, word in known.items() if word}


def _sentinels(member: ObjectMember) -> States:
    """Values that an answer declares to mean that something is missing."""
    value = member.value
    listed = value if isinstance(value, list) else [value]
    if isinstance(value, list | str) and (roles.is_remark(member.key) or roles.is_note(member.key)):
        sentences = (each.rstrip(". ") for each in listed if isinstance(each, str))
        texts = {match[1]: match[2] for match in map(_MEANS.match, sentences) if match}
    elif not _SENTINEL.fullmatch(spaced(member.key)):
        return {}
    elif all(type(each) in (int, float, str) for each in listed):
        return dict.fromkeys(map(str, listed), Availability(Status.UNAVAILABLE))
    else:
        texts = dict(_texts(value))
    return {
        code: word.because(text)
        for code, text in texts.items()
        if (word := meaning(text)) and word.availability.status in _EMPTY
    }


def _texts(value: Any) -> Iterator[tuple[str, str]]:
    """Codes with their texts: an object, or a list of records of a code and a label."""
    if isinstance(value, dict):
        yield from ((code, text) for code, text in value.items() if isinstance(text, str))
    for each in value if isinstance(value, list) else ():
        given = each if isinstance(each, dict) else {}
        code = next((given[name] for name in _CODE if name in given), None)
        text = next((given[name] for name in _LABEL if isinstance(given.get(name), str)), None)
        if type(code) in (int, str) and text is not None:
            yield str(code), text


def _records(answer: AnswerContext) -> Iterator[Records]:
    for each in answer.fields:
        stated = any(is_read_elsewhere(name) or {*tokens(name)} & _LEGEND for name in each.names)
        if each.is_list and dict in each.values.kinds and not stated:
            yield Records(each.values, answer.add)


def _coded(records: Records, codes: States) -> bool:
    """Read a column of codes, if each row that lacks a number has one that means a lack."""
    for name in records.names:
        used = {at: v for at, v in enumerate(records.values(name)) if type(v) in (str, int)}
        distinct = {*used.values()}
        if not used or len(distinct) > len(codes) or not {*map(str, distinct)} <= codes.keys():
            continue
        lacking = {value for value in distinct if codes[str(value)].status in _EMPTY}
        rows = [at for at, value in used.items() if value in lacking]
        if rows and all(map(records.lacks, rows)):
            for at, value in used.items():
                records.add(name, at, codes[str(value)], "legend")
            return True
    return False


def _alone(answer: AnswerContext, legend: ObjectMember, codes: States) -> None:
    """A field beside the legend that has one of its codes and is about the whole answer."""
    for name, value in legend.beside.items():
        if type(value) not in (str, int) or str(value) not in codes or roles.is_echo(name):
            continue
        folded, parts = roles.fold(name), tokens(legend.key)
        akin = any(part.startswith(folded) or folded.startswith(part) for part in parts)
        if isinstance(value, str) or akin:
            state = answer.weighed(codes[str(value)])
            path = legend.path.rpartition(legend.key)[0].rstrip('.["') + f".{name}"
            answer.add("section", None, state, path, "legend", value)
            return


def _replace(records: Records, codes: States) -> None:
    """Cells that hold a sentinel where others hold numbers."""
    for name in records.names:
        if records.rows.field(name).kinds.isdisjoint((int, float)) or roles.is_when(name):
            continue
        for at, value in records.given(name):
            state = _state(codes, value)
            if state is not None:
                records.add(name, at, state, "sentinel", name)


def _single(answer: AnswerContext, codes: States) -> None:
    """Fields outside lists that hold a sentinel which is a number."""
    for each in answer.fields:
        if len(each.steps) < 2 or each.in_list or len(each.values) != 1:
            continue
        value = each.values.value(0)
        state = None if isinstance(value, str) else _state(codes, value)
        if state is not None:
            path = format_path(each.steps)
            answer.add("field", path, state, each.values.path(0), "sentinel", value)


def _state(codes: States, value: object) -> Availability | None:
    if type(value) not in (int, float, str):
        return None
    whole = isinstance(value, float) and value.is_integer()
    return codes.get(f"{value:.0f}" if whole else str(value))
