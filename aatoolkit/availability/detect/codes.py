"""Codes and sentinels that an answer explains itself: a legend, and the rows that use it."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

from aatoolkit.availability import Availability, Status
from aatoolkit.availability.detect import roles
from aatoolkit.availability.detect.context import AnswerContext
from aatoolkit.availability.detect.forms import ObjectMember, meaning, members
from aatoolkit.availability.detect.rows import Records, is_spoken_for
from aatoolkit.availability.detect.vocabulary import tokens, understand
from aatoolkit.jsontree.paths import Each, Field, format_path

_LEGEND = {"legend", "codes", "code", "glossary", "lookup", "meanings", "notation", "flags", "key"}
_SENTINEL = re.compile(
    r"(null|no data|nodata|missing|na|absent|empty|no value|unmeasured) "
    r"(values?|codes?|markers?|sentinels?|placeholders?|as|symbols?)"
    r"|(special|reserved) (values?|codes?)|sentinels?( values?)?"
)
_MEANS = re.compile(
    r"^[\"'(]?(-?\d+(?:\.\d+)?)[\"')]?\s+(?:means|stands for|denotes|indicates|=|is|marks)\s+(.+)$"
)
_CODE, _LABEL = (
    ("code", "value", "id", "key", "symbol"),
    ("label", "meaning", "text", "description"),
)
_EMPTY = (Status.UNAVAILABLE, Status.NOT_APPLICABLE)

States = dict[str, Availability]
"""What codes mean, each as text."""


def read(answer: AnswerContext) -> None:
    """Read legends and declared sentinels, and what bears their codes."""
    found = [*members(answer.document)]
    legends = [(member, codes) for member in found if (codes := _legend(member))]
    sentinels = [(member, codes) for member in found if (codes := _sentinels(member))]
    if not legends and not sentinels:
        return
    records = [*_records(answer)]
    for member, codes in legends:
        columns = [listed for listed in records if _coded(listed, codes)]
        if not columns:
            _alone(answer, member, codes)
    for _, codes in sentinels:
        for listed in records:
            _replace(listed, codes)
        _single(answer, codes)


def _legend(member: ObjectMember) -> States:
    """The codes of a legend that are about availability; none where no code surely is."""
    if not {*tokens(member.key)} & _LEGEND:
        return {}
    texts = dict(_texts(member.value))
    words = {code: meaning(text) or understand(text) for code, text in texts.items()}
    sure = [word for text in texts.values() if (word := meaning(text)) is not None]
    if all(word.canonical == "available" for word in sure) or not all(words.values()):
        return {}
    return {
        code: Availability(word.availability.status, word.availability.cause, texts[code])
        for code, word in words.items()
        if word
    }


def _sentinels(member: ObjectMember) -> States:
    """Values that an answer declares to stand for a missing one."""
    value = member.value
    if isinstance(value, list | str) and (roles.is_remark(member.key) or roles.is_note(member.key)):
        sentences = [each for each in _listed(value) if isinstance(each, str)]
        found = [match for each in sentences if (match := _MEANS.match(each.rstrip(". ")))]
        told = {match[1]: (match[2], meaning(match[2])) for match in found}
        return {
            code: Availability(word.availability.status, word.availability.cause, text)
            for code, (text, word) in told.items()
            if word and word.availability.status in _EMPTY
        }
    if not _SENTINEL.fullmatch(" ".join(tokens(member.key))):
        return {}
    if type(value) in (int, float, str):
        return {str(value): Availability(Status.UNAVAILABLE)}
    if isinstance(value, list) and all(type(each) in (int, float, str) for each in value):
        return dict.fromkeys(map(str, value), Availability(Status.UNAVAILABLE))
    texts = dict(_texts(value))
    words = {code: meaning(text) for code, text in texts.items()}
    return {
        code: Availability(word.availability.status, word.availability.cause, texts[code])
        for code, word in words.items()
        if word and word.availability.status in _EMPTY
    }


def _listed(value: Any) -> list[Any]:
    return value if isinstance(value, list) else [value]


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
    for steps, vector in answer.vectors:
        names = [each.name for each in steps if isinstance(each, Field)]
        listed = bool(steps) and isinstance(steps[-1], Each) and dict in vector.kinds
        stated = any(is_spoken_for(name) or {*tokens(name)} & _LEGEND for name in names)
        if listed and not stated:
            yield Records(answer, vector)


def _coded(records: Records, codes: States) -> bool:
    """Read a column of codes, if each row that lacks a number bears one that says so."""
    for name in records.names:
        values = records.rows.field(name).values
        used = {value for value in values if type(value) in (str, int)}
        if not used or len(used) > len(codes) or not {str(value) for value in used} <= codes.keys():
            continue
        lacking = {value for value in used if codes[str(value)].status in _EMPTY}
        rows = [
            at for at, value in enumerate(values) if type(value) in (str, int) and value in lacking
        ]
        if rows and all(records.lacks(at) for at in rows):
            for at, value in enumerate(values):
                if type(value) in (str, int):
                    records.add(name, at, codes[str(value)], "legend")
            return True
    return False


def _alone(answer: AnswerContext, legend: ObjectMember, codes: States) -> None:
    """A field beside the legend that bears one of its codes and speaks of the whole answer."""
    for name, value in legend.beside.items():
        if type(value) not in (str, int) or str(value) not in codes or roles.is_echo(name):
            continue
        folded = roles.fold(name)
        akin = any(
            part.startswith(folded) or folded.startswith(part) for part in tokens(legend.key)
        )
        if isinstance(value, str) or akin:
            state = answer.weighed(codes[str(value)])
            path = legend.path.rpartition(legend.key)[0].rstrip('.["') + f".{name}"
            answer.add("section", None, state, path, "legend", value)
            return


def _replace(records: Records, codes: Mapping[str, Availability]) -> None:
    """Cells that hold a sentinel where others hold numbers."""
    for name in records.names:
        vector = records.rows.field(name)
        if not vector.kinds & {int, float} or roles.is_when(name):
            continue
        for at, value in enumerate(vector.values):
            if type(value) in (int, float, str):
                state = codes.get(_spelt(value))
                if state is not None:
                    records.add(name, at, state, "sentinel", name)


def _single(answer: AnswerContext, codes: Mapping[str, Availability]) -> None:
    """Fields outside lists that hold a sentinel which is a number."""
    for steps, vector in answer.vectors:
        if len(steps) < 2 or Each() in steps or len(vector) != 1:
            continue
        value = vector.value(0)
        state = codes.get(_spelt(value)) if type(value) in (int, float) else None
        if state is not None:
            answer.add("field", format_path(steps), state, vector.path(0), "sentinel", value)


def _spelt(value: float | str) -> str:
    return str(int(value)) if isinstance(value, float) and value.is_integer() else str(value)
