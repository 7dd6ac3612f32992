"""Notices: notes, warnings, remarks and footnotes, in codes and in prose."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from aatoolkit._util.lexicon import ends, is_whole, names
from aatoolkit.availability.detect.facts import Facts, Member
from aatoolkit.availability.detect.words import (
    STRONG,
    because,
    best,
    in_prose,
    is_code,
    is_note,
    lack_of_code,
    name_of,
    reason_in,
    understand,
)
from aatoolkit.availability.status import Availability, Status
from aatoolkit.jsontree.paths import key_step

_ASIDE = re.compile(
    r"(?i)deprecat|\b(parameter|argument|endpoint|version|browser|locale|currency|time ?zone)\b"
)
"""Notices that are about the call, and not about data."""

_OF_ENGINES = (
    *("not_run", "unavailable", "not_configured", "not_connected"),
    *("not_applicable", "pending"),
)
_LONGEST = 300
_SPAN = re.compile(r"(?i)\b(between|from|since|until|till|on|during|before|after|for)\b[^.]*\d")
"""A time in a sentence: what it says is of that time and not of all."""

_IDLE = ("id", "name", "key", "section", "property", "path")
"""Names in a notice that are the notice's own, not those of a field."""


def read_notices(answer: Facts, member: Member) -> bool:
    """Read the notes or notices under a key; return whether the key is one for them."""
    key, value = member.key, member.value
    # Remarks are about anything; where nothing was measured, they may give the reason.
    remark = is_whole(key, "remark") and not answer.numbers
    is_read = is_note(key) or remark or ends(key, "notice")
    if not is_read and not any(is_whole(key, of) for of in ("remark", "footnote", "message")):
        return False
    items = [value]
    if isinstance(value, list):
        items = value or []
    of_engines = False
    for at, item in enumerate(items):
        path = f"{member.path}[{at}]" if isinstance(value, list) else member.path
        notice = Member(key, item, path, member.beside)
        if _read_engines(answer, notice):
            of_engines = True
        elif is_note(key):
            text = reason_in(item) if isinstance(item, dict) else item
            if isinstance(text, str) and text.strip():
                word = understand(text) if is_code(text) else None
                cause = word.availability.cause if word else None
                state = Availability(Status.PARTIAL, cause, text)
                answer.add("section", None, state, path, "note", item)
        elif is_read:
            _read_notice(answer, notice)
    return is_read or of_engines


def _read_engines(answer: Facts, notice: Member) -> bool:
    """Read sentences that name engines without data; return whether one does."""
    text = reason_in(notice.value) if isinstance(notice.value, dict) else notice.value
    before = len(answer.signals)
    for sentence in re.split(r"(?<=[.!?;])\s+", text) if isinstance(text, str) else ():
        word = in_prose(sentence) if " " in sentence and len(sentence) <= _LONGEST else None
        if word is None or word.canonical not in _OF_ENGINES:
            continue
        state = word.because(sentence)
        if _SPAN.search(sentence):
            state = replace(state, status=Status.PARTIAL)
        for engine in answer.engines_in(sentence):
            answer.add("engine", engine, state, notice.path, "note", notice.value)
    return len(answer.signals) > before


def _read_notice(answer: Facts, notice: Member) -> None:
    """Read a notice with a code; defer one in prose until all else is read."""
    item = notice.value
    given = item if isinstance(item, dict) else {}
    texts = [text for text in given.values() if isinstance(text, str)]
    texts += [item] if isinstance(item, str) else []
    lists = {name: value for name, value in given.items() if isinstance(value, list)}
    targets = [name for name in targets_of(lists) if answer.is_engine(name) or answer.has(name)]
    if targets:
        stated = _read_targets(answer, targets, texts, notice)
        if stated or any(map(answer.is_engine, targets)):
            return
    for text in texts:
        lack = lack_of_code(text)
        if lack is not None:
            state = answer.weighed(because(lack, reason_in(given) or text))
            named = name_of({name: value for name, value in given.items() if name not in _IDLE})
            scope, target = named or ("section", None)
            target = answer.about(target) if scope == "field" and target else target
            answer.add(scope, target, state, notice.path, "notice", item)
            return
    prose = ends(notice.key, "prose") or is_whole(notice.key, "remark")
    if prose and not any(map(_ASIDE.search, texts)):
        answer.prose += [notice._replace(key=text) for text in texts]


def _read_targets(answer: Facts, targets: list[str], texts: list[str], notice: Member) -> bool:
    """Read a notice about the fields and engines that it lists; return whether it states any.

    What holds numbers all the same is measured in part.
    """
    word = best(texts, STRONG) or next(filter(None, map(in_prose, texts)), None)
    if word is None or word.canonical == "available":
        return False
    state = word.because(next((text for text in texts if " " in text), None))
    for name in targets:
        if answer.is_engine(name):
            answer.add("engine", name, state, notice.path, "notice", notice.value)
            continue
        of_field = replace(state, status=Status.PARTIAL) if answer.counts(name) else state
        answer.add("field", answer.about(name), of_field, notice.path, "notice", notice.value)
    return True


def read_prose(answer: Facts) -> None:
    """Read the notices of prose, where nothing else is about the section."""
    for notice in () if answer.has_section else answer.prose:
        text = notice.value if isinstance(notice.value, str) else notice.key
        word = None if _ASIDE.search(text) else understand(text) or in_prose(text)
        if word is None:
            continue
        # Everyday words are trusted only where they are the code.
        coded = is_code(text) and word.canonical not in ("available", "unavailable", "error")
        if word.is_lack or coded:
            state = answer.weighed(word.because(text))
            if state.status == Status.UNAVAILABLE and True in answer.numbers:
                state = replace(state, status=Status.PARTIAL)
            answer.add("section", None, state, notice.path, "notice", notice.value)
            return


# --- footnotes -------------------------------------------------------------------------------


def read_footnotes(answer: Facts, member: Member) -> bool:
    """Read footnotes that name their field or engine; return whether any did."""
    before = len(answer.signals)
    for target, text, note in _targets(member):
        state = footnote_state(text)
        if state is None:
            continue
        if answer.is_engine(target):
            answer.add("engine", target, state, note.path, "footnote", note.value)
        elif answer.has(target) and not answer.counts(target):
            field = answer.about(target)
            answer.add("field", field, state, note.path, "footnote", note.value)
    return len(answer.signals) > before


def _targets(member: Member) -> list[tuple[str, str, Member]]:
    """List the targets of footnotes, each with its text and the note."""
    listed = []
    if isinstance(member.value, dict):
        for name, text in member.value.items():
            note = Member(name, text, member.path + key_step(name), member.value)
            listed += [(name, text, note)] if isinstance(text, str) else []
        return listed
    for at, item in enumerate(member.value):
        given = item if isinstance(item, dict) else {}
        text = reason_in(given) or given.get("code")
        note = Member("", item, f"{member.path}[{at}]", given)
        listed += [(name, text, note) for name in targets_of(given) if isinstance(text, str)]
    return listed


def footnote_state(text: str) -> Availability | None:
    """The state that a footnote means for a missing value; None if none."""
    word = best([text], STRONG) or in_prose(text)
    return word.because(text) if word and word.canonical != "available" else None


def marked_notes(document: Any) -> dict[str, str]:
    """The footnotes of a response by their marks."""
    found: dict[str, str] = {}
    for key, value in document.items() if isinstance(document, dict) else ():
        if not is_whole(key, "footnote"):
            continue
        if isinstance(value, dict):
            found |= {mark: text for mark, text in value.items() if isinstance(text, str)}
        for note in value if isinstance(value, list) else ():
            given = note if isinstance(note, dict) else {}
            mark = next((v for k, v in given.items() if is_whole(k, "mark")), None)
            text = reason_in(given)
            if isinstance(mark, str | int) and text:
                found[str(mark)] = text
    return found


def targets_of(given: Mapping[str, Any]) -> list[str]:
    """The fields and engines that a note names: by one name, or in a list of them."""
    named = name_of(given)
    lists = (v for k, v in given.items() if isinstance(v, list) and names(k, "target"))
    targets = [named[1]] if named else []
    targets += [name for listed in lists for name in listed if isinstance(name, str)]
    return [*dict.fromkeys(targets)]
