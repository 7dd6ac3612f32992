"""Rows: what the records of a list state about their own data, and codes with an explanation.

Only what is about data by its name, or with evidence beside it, is believed. Codes that the
response explains (a legend, declared sentinels, a least sample size) are believed where records
with a code of a lack hold nothing, or 0.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from functools import partial
from typing import Any, NamedTuple

from aatoolkit._util.lexicon import ends, fits, fold, is_whole, names, tokens, words
from aatoolkit.availability.detect.facts import MOST_FIELDS, Facts, Member, Records, weighed
from aatoolkit.availability.detect.notices import footnote_state, marked_notes
from aatoolkit.availability.detect.protocol import FAILED, STATUSES
from aatoolkit.availability.detect.states import measures, state_in, state_of_sibling, words_in
from aatoolkit.availability.detect.words import (
    ABSENT,
    EMPTY,
    PLAIN,
    STATED,
    STRONG,
    Word,
    best,
    flag,
    flag_of_nothing,
    instead_of_number,
    is_absence,
    is_echo,
    is_note,
    is_observation_status,
    kind_of_entries,
    lack_of_code,
    observed,
    row_word,
    series_flag,
    subject,
    suffix,
    sure,
    understand,
)
from aatoolkit.availability.status import Availability, Cause, Status
from aatoolkit.jsontree.paths import format_path, key_step

Notes = Mapping[str, str]


class RowForm(NamedTuple):
    """A form of a field of records: its name, what kinds of values it has, and how it is read."""

    kinds: set[type]
    key: Callable[[Records, str], object]
    read: Callable[[Records, str, Notes], None]


def read_rows(answer: Facts) -> None:
    """Read what the records of every list state about their own data."""
    notes = marked_notes(answer.document)
    for records in answer.records():
        for name in records.names if len(records.names) <= MOST_FIELDS else ():
            kinds = records.rows.field(name).kinds
            rule = next((r for r in ROWS if r.kinds & kinds and r.key(records, name)), None)
            if rule is not None:
                rule.read(records, name, notes)
            if dict in kinds and not is_absence(name):
                _statements(records, name)


def _add_states(
    records: Records,
    name: str,
    kind: type,
    meaning: Callable[[Any], Availability | None],
    rule: str,
    about: str | None = None,
) -> None:
    for at, state in records.states(name, kind, meaning):
        records.add(name, at, state, rule, about)


def _is_flag(records: Records, name: str) -> bool:
    return fits(name, "row_flag", ("is",)) or _is_in_series(records, name)


def _is_in_series(records: Records, name: str) -> bool:
    return records.are_dated and any(series_flag(name, value) for value in (True, False))


def _flags(records: Records, name: str, _: Notes) -> None:
    """Read a flag which needs no evidence beside it."""
    meaning = flag if fits(name, "row_flag", ("is",)) else series_flag
    _add_states(records, name, bool, partial(meaning, name), "row flag")


def _flags_of_nothing(records: Records, name: str, _: Notes) -> None:
    """Read flags of denial, if no denied row holds a number but 0."""
    zero = records.are_dated or bool({*tokens(name)[-1:]} & {"collected", "ingested"})
    states = records.states(name, bool, partial(flag_of_nothing, name))
    lacking = [at for at, state in states if state.status in EMPTY]
    if lacking and all(records.is_idle(at, zero=zero) for at in lacking):
        for at, state in states:
            records.add(name, at, state, "row flag")


def _is_status(records: Records, name: str) -> bool:
    """Whether a field holds the codes that statistics give observations.

    Under a name such as ``flag`` letters may be anything: they are codes where each value that
    is null has one that gives the reason.
    """
    if is_observation_status(name):
        return True
    is_flags = {*tokens(name)} <= words("flagged")
    value = next((n for n in records.names if is_whole(n, "one_value")), None) if is_flags else None
    if value is None:
        return False
    values = zip(records.column(name), records.column(value), strict=True)
    given = {(mark if type(mark) is str else "", item is None) for mark, item in values}
    states = {mark: observed(mark) for mark, _ in given if mark}
    lacking = [states.get(mark) for mark, is_null in given if is_null]
    explained = all(state and state.status in EMPTY for state in lacking)
    return bool(lacking) and explained and all(states.values())


def _codes(records: Records, name: str, _: Notes) -> None:
    _add_states(records, name, str, observed, "row code")


def _absences(records: Records, name: str, _: Notes) -> None:
    """Read reasons for an absence that are objects of codes, such as a data-absent-reason."""
    for at, value in records.given(name):
        word = best(words_in(value)) if value else None
        if word and word.canonical != "available":
            records.add(name, at, word.availability, "row reason")


def _beside(records: Records, name: str) -> str | None:
    """The field of records that another is about by its name."""
    about, _ = suffix(name) or ("", "")
    other = next((n for n in records.names if fold(n) == about), None) if about else None
    return other if other != name else None


def _cells(records: Records, name: str, _: Notes) -> None:
    """Read a key about another of its record, where that other is null."""
    beside = _beside(records, name) or name
    of, kind = records.column(beside), (suffix(name) or ("", ""))[1]
    # A text that is there exactly where the other is null can only be the reason for that.
    apart = kind == "reason" and all(
        (type(value) is str and bool(value.strip())) == (of[at] is None)
        for at, value in records.given(name)
    )
    states = {at: _cell(kind, v, of[at], apart) for at, v in records.given(name)}
    if any(state and state.status != Status.AVAILABLE for state in states.values()):
        for at, state in states.items():
            if state is not None:
                records.add(name, at, state, "cell", beside)


def _cell(kind: str, value: Any, of: Any, apart: bool) -> Availability | None:
    if not isinstance(value, bool | str):
        return None
    of = of if isinstance(of, str | int | float | list | dict) else None
    state = state_of_sibling(kind, value, of)
    if state and of == 0 and isinstance(value, str) and best([value], PLAIN):
        return state
    if state is None or (of is None) == (state.status == Status.AVAILABLE):
        return None
    return state if apart or isinstance(value, bool) or best([value], STRONG) else None


def _marks(records: Records, name: str, notes: Notes) -> None:
    """Read marks of footnotes, where a number that others have is null."""
    for at, value in records.given(name):
        marks = value if isinstance(value, list) else [value]
        texts = [notes[str(mark)] for mark in marks if str(mark) in notes]
        state = next(filter(None, map(footnote_state, texts)), None)
        if state and (records.lacking(at) or records.is_idle(at, zero=isinstance(value, list))):
            records.add(name, at, state, "footnote")


def _is_call(records: Records, name: str) -> bool:
    """Whether a field holds the HTTP status of the call to the engine that a record is about.

    Some were answered; those that were not hold nothing where the others hold numbers.
    """
    of_engines = any(kind_of_entries(other) == "engine" for other in records.names)
    if not of_engines or not fits(name, "call_status"):
        return False
    given = {at: v for at, v in records.given(name) if type(v) is int}
    failed = [at for at, status in given.items() if status >= 400]
    in_range = all(100 <= status < 600 for status in given.values())
    return in_range and 0 < len(failed) < len(given) and all(map(records.lacking, failed))


def _calls(records: Records, name: str, _: Notes) -> None:
    for at, status in records.given(name):
        if type(status) is int and status >= 400:
            records.add(name, at, STATUSES.get(status, FAILED), "row code")


def _reasons(records: Records, name: str, _: Notes) -> None:
    """Read codes of a record's reason, where a number that others have is null."""
    for at, state in records.states(name, str, lack_of_code):
        if is_absence(name) or records.lacking(at):
            _add_weighed(records, name, at, state, "row reason")


def _may_be_word(key: str) -> bool:
    return subject(key) > 0 or ends(key, "notice") or names(key, "state")


def _words(records: Records, name: str, _: Notes) -> None:
    for at, state in records.states(name, str, partial(row_word, name)):
        _add_weighed(records, name, at, state, "row word")
    for at, value in records.given(name):
        texts = [text for text in value if isinstance(text, str)] if type(value) is list else []
        first = next(filter(None, (row_word(name, text) for text in texts)), None)
        if first is not None:
            _add_weighed(records, name, at, first, "row word")


def _add_weighed(records: Records, name: str, at: int, state: Availability, rule: str) -> None:
    records.add(name, at, weighed(state, measures(records.rows.value(at))), rule)


def _signs(records: Records, name: str, _: Notes) -> None:
    if records.rows.field(name).kinds & {int, float}:
        _add_states(records, name, str, instead_of_number, "sign", name)


def _statements(records: Records, name: str) -> None:
    """Read statements in records: beside a null value, or under a key that names them."""
    stated = subject(name) == STATED
    if not stated and "value" not in records.rows.field(name).fields():
        return
    for at, value in records.given(name):
        if type(value) is not dict or not (stated or value.get("value", 0) is None):
            continue
        state = state_in(value, STRONG)
        if state is not None and (stated or state.status != Status.AVAILABLE):
            records.add(name, at, state, "row statement", None if stated else name)


ROWS = (
    RowForm({bool}, _is_flag, _flags),
    RowForm(
        {bool}, lambda _, n: any(flag_of_nothing(n, v) for v in (True, False)), _flags_of_nothing
    ),
    RowForm({str}, _is_status, _codes),
    RowForm({dict, list}, lambda _, n: is_absence(n), _absences),
    RowForm({bool, str}, _beside, _cells),
    RowForm({str, int, list}, lambda _, n: is_whole(n, "footnote"), _marks),
    RowForm({int}, _is_call, _calls),
    RowForm({str}, lambda _, n: ends(n, "reason"), _reasons),
    RowForm({str, list}, lambda _, n: _may_be_word(n), _words),
    RowForm({str}, lambda *_: True, _signs),
)
"""What fields of records state: the first rule that fits a field's name and values reads it."""


# --- codes with an explanation -----------------------------------------------------------------

_MEANS = re.compile(
    r"(?i)^(?:(?:a|the|any) )?(?:(?:value|values|entry|cell|number) (?:of )?)?"
    r"[\"'(]?(-?\d+(?:\.\d+)?)[\"')]?"
    r"\s+(?:means|stands for|denotes|indicates|=|is|marks)\s+(.+)$"
)
_CLAUSES = re.compile(r"[;,.()](?=\s|$)|\s[(]|\s[-–—]\s")
_UNLIKE = re.compile(r"-\d+(\.\d+)?|0|9{2,}")
"""Numbers that fields of numbers seldom hold, unlike ``404`` of a status."""

States = dict[str, Availability]
"""What codes mean, each as text."""


def read_codes(answer: Facts) -> None:
    """Read legends, declared sentinels, least sample sizes, and the cells that they explain."""
    members = answer.members
    records = [*answer.records(coded=True)]
    legends = [(member, codes) for member in members if (codes := _legend(member))]
    sentinels = [codes for member in members if (codes := _sentinels(member))]
    of_fields = [*_sentinels_of_fields(answer.document, members)]
    for listed in records if members else ():
        for member in members:
            _read_minimum(listed, member)
        for name, codes in of_fields:
            _replace(listed, codes, [name] if name in listed.names else [])
    for member, codes in legends:
        used = [_read_legend(listed, codes) for listed in records]
        if True not in used:
            _read_alone(answer, member, codes)
    for codes in sentinels:
        for listed in records:
            _replace(listed, codes, listed.names)
        _read_single(answer, codes)


def _legend(member: Member) -> States:
    """Read a legend of codes about availability; empty if no code surely is."""
    if not names(member.key, "legend"):
        return {}
    texts = dict(_texts(member.value, "code"))
    certain = [word for text in texts.values() if (word := sure(text))]
    meant = {code: _meaning(text) for code, text in texts.items()}
    if all(word.canonical == "available" for word in certain) or not all(meant.values()):
        return {}
    return {code: word.because(texts[code]) for code, word in meant.items() if word}


def _meaning(text: str) -> Word | None:
    """The word that a code's label means: the whole label, or the surest of its parts."""
    return sure(text) or understand(text) or best(re.split(r"[,;:(]\s*", text))


def _sentinels(member: Member) -> States:
    """Read the values that a response declares to mean missing."""
    value = member.value
    listed = value if isinstance(value, list) else [value]
    remarks = is_whole(member.key, "remark") or is_whole(member.key, "about_remark")
    if isinstance(value, list | str) and (remarks or is_note(member.key)):
        return _meant(text.rstrip(". ") for text in listed if isinstance(text, str))
    if not fits(member.key, "sentinel"):
        return {}
    if all(type(item) in (int, float, str) for item in listed):
        return dict.fromkeys(map(str, listed), ABSENT)
    return _lacks(_texts(value, "code"))


def _meant(sentences: Iterator[str]) -> States:
    """Read what sentences such as "-1 means not measured" declare to mean missing."""
    return _lacks((match[1], match[2]) for match in map(_MEANS.match, sentences) if match)


def _lacks(texts: Iterator[tuple[str, str]]) -> States:
    words_of = {code: (sure(text), text) for code, text in texts}
    return {
        code: word.because(text)
        for code, (word, text) in words_of.items()
        if word and word.availability.status in EMPTY
    }


def _texts(value: Any, concept: str) -> Iterator[tuple[str, str]]:
    """Codes or names with their texts: an object, or a list of records of both."""
    if isinstance(value, dict):
        yield from ((code, text) for code, text in value.items() if isinstance(text, str))
    for given in value if isinstance(value, list) else ():
        if isinstance(given, dict):
            text = next(
                (v for k, v in given.items() if k in words("meaning") and isinstance(v, str)), None
            )
            code = next((v for k, v in given.items() if k in words(concept)), None)
            if type(code) in (int, str) and text is not None:
                yield str(code), text


def _sentinels_of_fields(document: Any, members: list[Member]) -> Iterator[tuple[str, States]]:
    """Yield sentinels of one field each: declared in a schema, or in a text about the field."""
    given = document if isinstance(document, dict) else {}
    for key in ("schema", "fields", "columns", "metadata"):
        listed = given.get(key)
        listed = listed.get("fields", listed.get("columns")) if isinstance(listed, dict) else listed
        for item in listed if isinstance(listed, list) else ():
            name = item.get("name", item.get("id")) if isinstance(item, dict) else None
            declared = [v for k, v in item.items() if fits(k, "sentinel")] if name else []
            flat = [
                v for value in declared for v in (value if isinstance(value, list) else [value])
            ]
            yield str(name), dict.fromkeys(map(str, flat), ABSENT)
    for member in members:
        for name, text in _texts(member.value, "named"):
            codes = _meant(map(str.strip, _CLAUSES.split(text)))
            yield name, {code: state for code, state in codes.items() if _UNLIKE.fullmatch(code)}


def _read_minimum(records: Records, member: Member) -> None:
    """Read a least sample size, if just the rows below it hold null for numbers."""
    least = {"min", "minimum", "least", "threshold"}
    of = "".join(part for part in tokens(member.key) if part not in least)
    if type(member.value) is not int or not of or not least & {*tokens(member.key)}:
        return
    name = next((name for name in records.numeric if fold(name) == of), None)
    sizes = dict(records.given(name)) if name else {}
    below = [at for at, n in sizes.items() if type(n) in (int, float) and n < member.value]
    if name and 0 < len(below) < len(sizes) and all(map(records.lacking, below)):
        reason = f"{member.key} is {member.value}"
        state = Availability(Status.UNAVAILABLE, Cause.INSUFFICIENT_SAMPLE, reason)
        for at in below:
            for field in records.lacking(at):
                records.add(name, at, state, "minimum", field)


def _read_legend(records: Records, codes: States) -> bool:
    """Read a column of codes, if every row without a number has a code for a lack."""
    for name in records.names:
        used = {at: v for at, v in records.given(name) if type(v) in (str, int) and v != ""}
        distinct = {*used.values()}
        if not used or len(distinct) > len(codes) or not {*map(str, distinct)} <= codes.keys():
            continue
        thin = {
            value
            for value in distinct
            if codes[str(value)].cause in (Cause.INSUFFICIENT_SAMPLE, Cause.PENDING)
        }
        lacking = {value for value in distinct - thin if codes[str(value)].status in EMPTY}
        rows = [at for at, value in used.items() if value in lacking]
        empty = all(map(records.lacking, rows)) or all(
            records.is_idle(at, zero=True, apart=name) for at in rows
        )
        if rows and empty:
            for at, value in used.items():
                state = codes[str(value)]
                if value in thin and not records.lacking(at):
                    state = replace(state, status=Status.PARTIAL)
                records.add(name, at, state, "legend")
            return True
    return False


def _read_alone(answer: Facts, legend: Member, codes: States) -> None:
    """Read a field beside the legend that holds one of its codes for the whole response."""
    above = legend.path[: -len(key_step(legend.key))]
    for name, value in legend.beside.items():
        if type(value) not in (str, int) or str(value) not in codes or is_echo(name):
            continue
        folded, parts = fold(name), tokens(legend.key)
        akin = any(part.startswith(folded) or folded.startswith(part) for part in parts)
        if isinstance(value, str) or akin:
            field = Member(name, value, above + key_step(name), legend.beside)
            answer.add_whole(codes[str(value)], field, "legend")
            return


def _replace(records: Records, codes: States, fields: list[str]) -> None:
    """Read cells that hold a sentinel where others hold numbers."""
    for name in fields if codes else ():
        values = [value for _, value in records.given(name)]
        numeric = any(type(value) in (int, float) or _is_number(value) for value in values)
        if not numeric or names(name, "when"):
            continue
        for at, value in records.given(name):
            state = _state(codes, value)
            if state is not None:
                records.add(name, at, state, "sentinel", name)


def _is_number(value: object) -> bool:
    return isinstance(value, str) and re.fullmatch(r"-?\d+([.,]\d+)*%?", value.strip()) is not None


def _read_single(answer: Facts, codes: States) -> None:
    """Read fields outside lists that hold a numeric sentinel."""
    for fact in answer.facts:
        if len(fact.steps) < 2 or fact.in_list or len(fact.values) != 1:
            continue
        value = fact.values.value(0)
        state = None if isinstance(value, str) else _state(codes, value)
        if state is not None:
            path = fact.values.path(0)
            answer.add("field", format_path(fact.steps), state, path, "sentinel", value)


def _state(codes: States, value: object) -> Availability | None:
    if type(value) not in (int, float, str):
        return None
    is_whole_number = isinstance(value, float) and value.is_integer()
    return codes.get(f"{value:.0f}" if is_whole_number else str(value))
