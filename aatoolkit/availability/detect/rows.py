"""Rows: what the records of a list state about their own data, and codes with an explanation.

Only what is about data by its name, or with evidence beside it, is believed. Codes that the
response explains (a legend, declared sentinels) are believed where records with a code of a lack
hold nothing, or 0.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import partial
from typing import Any, NamedTuple

from aatoolkit._util.lexicon import ends, fits, fold, is_whole, names, tokens, words
from aatoolkit.availability.detect.facts import MOST_FIELDS, Facts, Member, Records, States
from aatoolkit.availability.detect.rules import any_key, footnotes_in, form
from aatoolkit.availability.detect.words import (
    ABSENT,
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
    is_echo,
    lack,
    lack_of_code,
    measures,
    name_of,
    observed,
    row_word,
    state_in,
    state_of_sibling,
    subject,
    suffix,
    sure,
    understand,
    weighed,
)
from aatoolkit.availability.status import Availability, Cause, Status
from aatoolkit.jsontree.paths import format_path, key_step


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
    notes = _marked_notes(answer)
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
            if notes and is_whole(name, "footnote"):
                _read_marks(records, name, notes)
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
    return [(at, weighed(state, measures(records.rows.value(at)))) for at, state in states]


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


def _marked_notes(answer: Facts) -> dict[str, str]:
    """The footnotes of a response by their marks."""
    listed = (m for m in answer.members if is_whole(m.key, "footnote"))
    notes = (note for m in listed if isinstance(m.value, dict | list) for note in footnotes_in(m))
    return {mark: text for marks, text, _ in notes for mark in marks}


def _read_marks(records: Records, name: str, notes: dict[str, str]) -> None:
    """Read marks of footnotes, where a number that others have is null."""
    for at, value in records.given(name):
        marks = value if isinstance(value, list) else [value]
        word = lack(notes[str(mark)] for mark in marks if str(mark) in notes)
        if word and (records.lacking(at) or records.is_idle(at, zero=isinstance(value, list))):
            reason = next(notes[str(mark)] for mark in marks if str(mark) in notes)
            records.add(name, at, word.because(reason), "footnote")


# --- codes with an explanation -----------------------------------------------------------------

_MEANS = re.compile(
    r"(?i)^(?:(?:a|the|any) )?(?:(?:value|values|entry|cell|number) (?:of )?)?"
    r"[\"'(]?(-?\d+(?:\.\d+)?)[\"')]?"
    r"\s+(?:means|stands for|denotes|indicates|=|is|marks)\s+(.+)$"
)
_CLAUSES = re.compile(r"[;,.()](?=\s|$)|\s[(]|\s[-–—]\s")
_UNLIKE = re.compile(r"-\d+(\.\d+)?|0|9{2,}")
"""Numbers that fields of numbers seldom hold, unlike ``404`` of a status."""

Codes = dict[str, Availability]
"""What codes mean, each as text."""


def explains(key: str) -> bool:
    """Whether a key may hold a legend, sentinels, or texts that declare them."""
    return fits(key, "sentinel") or fits(key, "explaining")


def read_codes(answer: Facts) -> None:
    """Read legends and declared sentinels, and the cells that they explain."""
    members = [member for member in answer.members if explains(member.key)]
    records = [r for r in answer.records if members and not explains(_list_of(r))]
    for member in members:
        codes = _legend(member)
        used = [_read_legend(listed, codes) for listed in records if codes]
        if codes and True not in used:
            _read_alone(answer, member, codes)
    for name, codes in [*_sentinels(members)]:
        for listed in records:
            _replace(listed, codes, listed.names if name is None else [name])
        if name is None:
            _read_single(answer, codes)


def _list_of(records: Records) -> str:
    """The name of the list that holds records."""
    return re.split(r"[.\[\]\"]+", records.rows.path(0).rpartition("[")[0])[-1]


def _legend(member: Member) -> Codes:
    """Read a legend of codes about availability; empty if no code surely is."""
    texts = dict(_texts(member.value)) if names(member.key, "legend") else {}
    # The word that a label means is that of all of it, or the surest of its parts.
    meant = {
        code: sure([text]) or understand(text) or best(re.split(r"[,;:(]\s*", text))
        for code, text in texts.items()
    }
    if not lack(texts.values()) and not any(lack([text]) for text in texts.values()):
        return {}
    states = {code: word.because(texts[code]) for code, word in meant.items() if word}
    return states if len(states) == len(texts) else {}


def _texts(value: Any) -> Iterator[tuple[str, str]]:
    """Codes with their texts: an object, or a list of records of both."""
    if isinstance(value, dict):
        yield from ((code, text) for code, text in value.items() if isinstance(text, str))
    for given in value if isinstance(value, list) else ():
        record = given if isinstance(given, dict) else {}
        texts = [v for k, v in record.items() if k in words("meaning") and isinstance(v, str)]
        code = next((v for k, v in record.items() if k in words("code")), None)
        if type(code) in (int, str) and texts:
            yield str(code), texts[0]


def _sentinels(members: list[Member]) -> Iterator[tuple[str | None, Codes]]:
    """Yield the values that a response declares to mean missing, by field or for all of them.

    They stand under a key of their own, also in the record of a field, or in a sentence such as
    ``-1 means not measured``, which is about the field that it is under.
    """
    waiting: list[tuple[str | None, str, Any, int]] = [
        (None, member.key, member.value, 0) for member in members
    ]
    for name, key, value, depth in waiting:  # it grows meanwhile
        if fits(key, "sentinel"):
            listed = value if isinstance(value, list) else [value]
            codes = _lacking(_texts(value))
            if all(type(item) in (int, float, str) for item in listed):
                codes = dict.fromkeys(map(str, listed), ABSENT)
            yield name, codes
        elif isinstance(value, str):
            clauses = _CLAUSES.split(value) if name else [value.rstrip(". ")]
            matches = [match for text in clauses if (match := _MEANS.match(text.strip()))]
            codes = _lacking((match[1], match[2]) for match in matches)
            yield (
                name,
                {code: s for code, s in codes.items() if not name or _UNLIKE.fullmatch(code)},
            )
        elif isinstance(value, dict) and depth < 4:
            named = name_of(value)
            waiting += [(named[1] if named else k, k, v, depth + 1) for k, v in value.items()]
        elif isinstance(value, list) and depth < 4:
            waiting += [(name, "", item, depth + 1) for item in value[:MOST_FIELDS]]


def _lacking(texts: Iterator[tuple[str, str]]) -> Codes:
    meant = {code: (lack([text]), text) for code, text in texts}
    states = {code: word.because(text) for code, (word, text) in meant.items() if word}
    return {code: state for code, state in states.items() if state.status in EMPTY}


def _read_legend(records: Records, codes: Codes) -> bool:
    """Read a column of codes, if every row without a number has a code for a lack."""
    for name in records.names:
        used = {at: str(v) for at, v in records.given(name) if type(v) in (str, int) and v != ""}
        if not used or not {*used.values()} <= codes.keys():
            continue
        thin = (Cause.INSUFFICIENT_SAMPLE, Cause.PENDING)
        rows = [
            at
            for at, code in used.items()
            if codes[code].status in EMPTY and codes[code].cause not in thin
        ]
        empty = all(map(records.lacking, rows)) or all(
            records.is_idle(at, zero=True, apart=name) for at in rows
        )
        if rows and empty:
            for at, code in used.items():
                state = codes[code]
                if state.cause in thin and not records.lacking(at):
                    state = replace(state, status=Status.PARTIAL)
                records.add(name, at, state, "legend")
            return True
    return False


def _read_alone(answer: Facts, legend: Member, codes: Codes) -> None:
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


def _replace(records: Records, codes: Codes, fields: list[str]) -> None:
    """Read cells that hold a sentinel where others hold numbers."""
    for name in fields if codes else ():
        values = records.given(name) if name in records.names and not names(name, "when") else []
        if any(type(value) in (int, float) or _is_number(value) for _, value in values):
            for at, value in values:
                state = _state(codes, value)
                if state is not None:
                    records.add(name, at, state, "sentinel", name)


def _is_number(value: object) -> bool:
    return isinstance(value, str) and re.fullmatch(r"-?\d+([.,]\d+)*%?", value.strip()) is not None


def _read_single(answer: Facts, codes: Codes) -> None:
    """Read fields outside lists that hold a numeric sentinel."""
    for fact in answer.facts if codes else ():
        if len(fact.steps) < 2 or fact.in_list or len(fact.values) != 1:
            continue
        value = fact.values.value(0)
        state = None if isinstance(value, str) else _state(codes, value)
        if state is not None:
            path = fact.values.path(0)
            answer.add("field", format_path(fact.steps), state, path, "sentinel", value)


def _state(codes: Codes, value: object) -> Availability | None:
    if type(value) not in (int, float, str):
        return None
    is_whole_number = isinstance(value, float) and value.is_integer()
    return codes.get(f"{value:.0f}" if is_whole_number else str(value))
