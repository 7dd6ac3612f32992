"""Codes that an answer explains itself: legends, declared sentinels, a least sample size.

Each is believed with evidence in the records: those with a code of a lack hold nothing, or 0.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from typing import Any

from aatoolkit.availability import Availability, Cause, Status
from aatoolkit.availability.detect import roles
from aatoolkit.availability.detect.context import AnswerContext
from aatoolkit.availability.detect.fields import (
    ObjectMember,
    Records,
    is_read_elsewhere,
    members,
)
from aatoolkit.availability.detect.forms import meaning
from aatoolkit.availability.detect.roles import fold, spaced, tokens, words
from aatoolkit.availability.detect.vocabulary import Word, best, understand
from aatoolkit.jsontree.paths import format_path

_THIN = (Cause.INSUFFICIENT_SAMPLE, Cause.PENDING)
_EMPTY = (Status.UNAVAILABLE, Status.NOT_APPLICABLE)

_LEGEND = words("legend codes code glossary lookup meanings notation flags key")
_SENTINEL = re.compile(
    r"(null|no data|nodata|missing|na|absent|empty|no value|unmeasured) "
    r"(values?|codes?|markers?|sentinels?|placeholders?|as|symbols?)"
    r"|(special|reserved) (values?|codes?)|sentinels?( values?)?"
)
_MEANS = re.compile(
    r"(?i)^(?:(?:a|the|any) )?(?:(?:value|values|entry|cell|number) (?:of )?)?"
    r"[\"'(]?(-?\d+(?:\.\d+)?)[\"')]?"
    r"\s+(?:means|stands for|denotes|indicates|=|is|marks)\s+(.+)$"
)
_CLAUSES = re.compile(r"[;.,()](?=\s|$)|\s[(]|\s[-–—]\s")
_UNLIKE = re.compile(r"-\d+(\.\d+)?|0|9{2,}")
"""Numbers that fields of numbers seldom hold, unlike ``404`` of a status."""

_CODE = ("code", "value", "id", "key", "symbol", "flag", "sign", "letter", "mark")
_LABEL = ("label", "meaning", "text", "description")
_LABELS = frozenset(_LABEL)

States = dict[str, Availability]
"""What codes mean, each as text."""


def read_codes(answer: AnswerContext) -> None:
    """Read legends and declared sentinels, and the cells that hold their codes."""
    found = [*members(answer.document)]
    _minimum(answer, found)
    _described(answer)
    _explained(answer, found)
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
    """Read a legend of codes about availability; empty if no code surely is."""
    if _LEGEND.isdisjoint(tokens(member.key)):
        return {}
    texts = dict(_texts(member.value))
    sure = [word for text in texts.values() if (word := meaning(text))]
    known = {code: _known(text) for code, text in texts.items()}
    if all(word.canonical == "available" for word in sure) or not all(known.values()):
        return {}
    return {code: word.because(texts[code]) for code, word in known.items() if word}


def _known(text: str) -> Word | None:
    """The word that a code's label means: the whole label, or the surest of its parts."""
    return meaning(text) or understand(text) or best(re.split(r"[,;:(]\s*", text))


def _sentinels(member: ObjectMember) -> States:
    """Read the values that an answer declares to mean missing."""
    value = member.value
    listed = value if isinstance(value, list) else [value]
    if isinstance(value, list | str) and _is_remark(member.key):
        sentences = (each.rstrip(". ") for each in listed if isinstance(each, str))
        return _meant(sentences)
    if not _SENTINEL.fullmatch(spaced(member.key)):
        return {}
    if all(type(each) in (int, float, str) for each in listed):
        return dict.fromkeys(map(str, listed), Availability(Status.UNAVAILABLE))
    return _lacks(dict(_texts(value)))


def _meant(sentences: Iterable[str]) -> States:
    """Read what sentences such as "-1 means not measured" declare to mean missing."""
    return _lacks({match[1]: match[2] for match in map(_MEANS.match, sentences) if match})


def _lacks(texts: Mapping[str, str]) -> States:
    return {
        code: word.because(text)
        for code, text in texts.items()
        if (word := meaning(text)) and word.availability.status in _EMPTY
    }


def _is_remark(key: str) -> bool:
    about = fold(key) in ("readme", "about", "description", "help")
    return about or roles.is_remark(key) or roles.is_note(key)


def _texts(value: Any) -> Iterator[tuple[str, str]]:
    """Codes with their texts: an object, or a list of records of a code and a label."""
    if isinstance(value, dict):
        yield from ((code, text) for code, text in value.items() if isinstance(text, str))
    for given in value if isinstance(value, list) else ():
        if not isinstance(given, dict) or _LABELS.isdisjoint(given):
            continue
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
    """Read a column of codes, if every row without a number has a code for a lack."""
    for name in records.names:
        used = {
            at: v for at, v in enumerate(records.values(name)) if type(v) in (str, int) and v != ""
        }
        distinct = {*used.values()}
        if not used or len(distinct) > len(codes) or not {*map(str, distinct)} <= codes.keys():
            continue
        thin = {value for value in distinct if codes[str(value)].cause in _THIN}
        lacking = {value for value in distinct - thin if codes[str(value)].status in _EMPTY}
        rows = [at for at, value in used.items() if value in lacking]
        empty = all(map(records.lacks, rows)) or all(
            records.is_idle(at, zero=True, apart=name) for at in rows
        )
        if rows and empty:
            for at, value in used.items():
                state = codes[str(value)]
                if value in thin and not records.lacks(at):
                    state = replace(state, status=Status.PARTIAL)
                records.add(name, at, state, "legend")
            return True
    return False


def _alone(answer: AnswerContext, legend: ObjectMember, codes: States) -> None:
    """Read a field beside the legend that holds one of its codes for the whole answer."""
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


def _replace(records: Records, codes: States, names: tuple[str, ...] = ()) -> None:
    """Read cells that hold a sentinel where others hold numbers."""
    for name in names or records.names:
        given = [value for _, value in records.given(name)]
        numeric = any(type(value) in (int, float) or _is_number(value) for value in given)
        if not numeric or roles.is_when(name):
            continue
        for at, value in records.given(name):
            state = _state(codes, value)
            if state is not None:
                records.add(name, at, state, "sentinel", name)


def _is_number(value: object) -> bool:
    return isinstance(value, str) and re.fullmatch(r"-?\d+([.,]\d+)*%?", value.strip()) is not None


def _described(answer: AnswerContext) -> None:
    """Read sentinels that a description of the fields declares, field by field."""
    document = answer.document if isinstance(answer.document, dict) else {}
    for key in ("schema", "fields", "columns", "metadata"):
        listed = document.get(key)
        listed = listed.get("fields", listed.get("columns")) if isinstance(listed, dict) else listed
        for each in listed if isinstance(listed, list) else ():
            name = each.get("name", each.get("id")) if isinstance(each, dict) else None
            if not isinstance(name, str):
                continue
            declared = [value for k, value in each.items() if _SENTINEL.fullmatch(spaced(k))]
            flat = [
                v for value in declared for v in (value if isinstance(value, list) else [value])
            ]
            codes = dict.fromkeys(map(str, flat), Availability(Status.UNAVAILABLE))
            for records in _records(answer) if codes else ():
                if name in records.names:
                    _replace(records, codes, (name,))


def _explained(answer: AnswerContext, found: list[ObjectMember]) -> None:
    """Read sentinels that a text about a field declares: ``{"hits": "Hits; -1 = no data"}``."""
    texts = [pair for member in found for pair in _texts_of_fields(member.value)]
    declared = [
        (name, codes)
        for name, text in texts
        if (codes := _meant(map(str.strip, _CLAUSES.split(text))))
    ]
    for records in _records(answer) if declared else ():
        for name, codes in declared:
            unlike = {code: state for code, state in codes.items() if _UNLIKE.fullmatch(code)}
            if name in records.names:
                _replace(records, unlike, (name,))


def _texts_of_fields(value: Any) -> Iterator[tuple[str, str]]:
    """Names with texts: an object of texts, or records of a name and a description."""
    if isinstance(value, dict):
        yield from ((name, text) for name, text in value.items() if isinstance(text, str))
    for given in value if isinstance(value, list) else ():
        if not isinstance(given, dict) or _LABELS.isdisjoint(given):
            continue
        name = next((given[key] for key in ("name", "field", "id") if key in given), None)
        text = next((given[key] for key in _LABEL if isinstance(given.get(key), str)), None)
        if isinstance(name, str) and text is not None:
            yield name, text


_LEAST = words("min minimum least threshold")


def _minimum(answer: AnswerContext, found: list[ObjectMember]) -> None:
    """Read a least sample size, if just the rows below it hold null for numbers."""
    for member in found:
        parts = tokens(member.key)
        of = fold(tuple(part for part in parts if part not in _LEAST))
        if type(member.value) is not int or not of or not _LEAST & {*parts}:
            continue
        for records in _records(answer):
            name = next((name for name in records.names if fold(name) == of), None)
            if name is None:
                continue
            sizes = {at: v for at, v in records.given(name) if type(v) in (int, float)}
            below = [at for at, size in sizes.items() if size < member.value]
            if below and len(below) < len(sizes) and all(map(records.lacks, below)):
                state = Availability(
                    Status.UNAVAILABLE,
                    Cause.INSUFFICIENT_SAMPLE,
                    f"{member.key} is {member.value}",
                )
                for at in below:
                    for of_row in records.lacking(at):
                        records.add(name, at, state, "minimum", of_row)


def _single(answer: AnswerContext, codes: States) -> None:
    """Read fields outside lists that hold a numeric sentinel."""
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
