"""Walk an answer's objects outside lists of records: metadata, notes and notices."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from aatoolkit.availability import Availability, Cause, Status
from aatoolkit.availability.detect import keys, roles
from aatoolkit.availability.detect.context import AnswerContext
from aatoolkit.availability.detect.maps import (
    abilities,
    denied,
    engine_lists,
    failures,
    field_errors,
    named_list,
    named_map,
)
from aatoolkit.availability.detect.parts import (
    coverage,
    explained,
    is_data,
    loss,
    read_footnotes,
    reason_in,
    targets_of,
)
from aatoolkit.availability.detect.roles import kind_of_entries, tokens, words
from aatoolkit.availability.detect.statements import read_fields, read_statement, siblings
from aatoolkit.availability.detect.vocabulary import (
    STRONG,
    Word,
    because,
    best,
    in_prose,
    is_code,
    lack_of_code,
    understand,
)
from aatoolkit.jsontree.paths import key_step

_DEEPEST = 12
_WAITING = ("forbidden", "error", "pending", "not_run")
"""Words that are common for business things too; they count where nothing was measured."""


def read_objects(answer: AnswerContext) -> None:
    """Read what the objects of an answer state."""
    if isinstance(answer.document, dict):
        _envelope(answer, answer.document, "$", "", 0)
    _read_prose(answer)


def _envelope(
    answer: AnswerContext, given: dict[str, Any], path: str, pattern: str, depth: int
) -> None:
    """Read an object about the whole answer: the answer itself, or its metadata."""
    read = siblings(answer, given, path, pattern)
    for name, value in given.items():
        at, below = path + key_step(name), f"{pattern}.{name}" if pattern else name
        # An annotation is called by what follows its namespace: ``@odata.partial``.
        key = name.rpartition(".")[2] if name.startswith("@") else name
        if name in read or roles.is_echo(key):
            continue
        if read_footnotes(answer, key, value, at):
            continue
        if (lost := loss(key, value)) is not None:
            answer.add("section", None, lost, at, "count", value)
        elif isinstance(value, bool):
            _flag(answer, key, value, at, given)
        elif isinstance(value, str):
            _text(answer, key, value, at, given)
        elif isinstance(value, dict):
            _object(answer, key, value, at, below, given, depth)
        elif isinstance(value, list) or value is None:
            _list(answer, key, value or [], at, given)


def _object(
    answer: AnswerContext,
    key: str,
    value: dict[str, Any],
    at: str,
    below: str,
    given: Mapping[str, Any],
    depth: int,
) -> None:
    if keys.subject(key) and read_statement(answer, key, value, (None, at), given):
        return
    if read_notices(answer, key, value, at) or named_map(answer, key, value, at):
        return
    counted = coverage(key, value, listed=at.count(".") > 1 and is_data(key))
    if counted is not None:
        answer.add("section", None, counted, at, "count", value)
        return
    if _work(answer, key, value, at):
        return
    if keys.is_ability(key) and abilities(answer, key, value, at):
        return
    if kind_of_entries(key) == "engine" and engine_lists(answer, value, at):
        return
    if field_errors(answer, key, value, at):
        return
    if roles.is_right(key) and value.get(answer.section or "") is False and not answer.measured:
        state = Availability(Status.UNAVAILABLE, Cause.WITHHELD)
        answer.add("section", None, state, at + key_step(answer.section or ""), "flag", value)
        return
    shared = any(place.startswith(f"{at.removeprefix('$.')}.") for place in answer.envelope)
    if depth < _DEEPEST and (roles.is_holder(key) or roles.is_wrapper(key) or shared):
        inner = below if roles.is_wrapper(key) else ""
        _envelope(answer, value, at, inner, depth + 1)
    else:
        read_fields(answer, key, value, at, below, given)


def _work(answer: AnswerContext, key: str, value: dict[str, Any], at: str) -> bool:
    """Read the state of the work behind an empty answer; return whether that was found."""
    if not roles.is_process(key) or answer.has_section:
        return False
    for name, item in value.items():
        if isinstance(item, dict) and roles.is_stage(name):
            return _work(answer, key, item, at + key_step(name))
        known = best([item]) if roles.is_stage(name) else None
        sure = known and known.is_lack and roles.is_of_data(key)
        if known and known.canonical != "available" and (answer.is_bare or sure):
            state = answer.weighed(explained(known.availability, value))
            answer.add("section", None, state, at + key_step(name), "status", item)
            return True
    return False


def _flag(answer: AnswerContext, key: str, value: bool, at: str, given: Mapping[str, Any]) -> None:
    state = keys.flag(key, value)
    if state is None or (state.status == Status.AVAILABLE and not keys.is_claim(key)):
        return
    if state.cause == Cause.WITHHELD and answer.measured:
        return
    if value and keys.is_soft(key) and not (answer.is_listing or answer.is_bare):
        return
    state = answer.weighed(explained(state, given))
    answer.add("section", None, state, at, "flag", value)


def _text(answer: AnswerContext, key: str, value: str, at: str, given: Mapping[str, Any]) -> None:
    if read_notices(answer, key, value, at):
        return
    if keys.subject(key) and read_statement(answer, key, value, (None, at), given):
        return
    known = understand(value)
    ending = keys.suffix(key)
    if known and roles.is_stage(key):
        alone = len(tokens(key)) == 1 and known.canonical != "not_run"
        waiting = known.canonical in _WAITING and (alone or answer.is_bare)
        if waiting and not answer.measured and not answer.has_section:
            state = explained(known.availability, given)
            answer.add("section", None, state, at, "status", value)
    elif roles.is_message(key) and answer.is_bare:
        answer.prose.append((value, at, value))
    elif known and at.removeprefix("$.") in answer.envelope and known.canonical != "available":
        state = answer.weighed(explained(known.availability, given))
        answer.add("section", None, state, at, "envelope", value)
    elif ending and ending[1] == "reason" and value.strip():
        # The key itself names the absence: ``emptyReason``, ``noDataReason``.
        denial = keys.denial(" ".join(tokens(key)[:-1]))
        if denial is not None:
            state = answer.weighed(explained(denial, {"reason": value}))
            answer.add("section", None, state, at, "reason", value)


def _list(
    answer: AnswerContext, key: str, value: list[Any], at: str, given: Mapping[str, Any]
) -> None:
    if not value:
        _source(answer, key, at)
    elif (
        read_notices(answer, key, value, at)
        or denied(answer, key, value, at)
        or (_is_counterpart(key, given) and engine_lists(answer, {key: value}, at, paired=True))
        or failures(answer, key, value, at)
        or named_list(answer, key, value, at)
    ):
        return
    elif keys.subject(key):
        read_statement(answer, key, value, (None, at), given)
    elif tokens(key)[:1] == ("sampling",) and all(isinstance(item, dict) for item in value):
        answer.add("section", None, Availability(Status.PARTIAL), at, "sampling", value)


def _is_counterpart(key: str, given: Mapping[str, Any]) -> bool:
    """Whether a list of engines is beside one of those that could not report."""
    others = (name for name in given if name != key and kind_of_entries(name) == "engine")
    return kind_of_entries(key) == "engine" and any(map(keys.denial, others))


def _source(answer: AnswerContext, key: str, at: str) -> None:
    """Read that no source of data is connected, where the answer measured nothing."""
    parts = {*tokens(key)}
    bare = parts & {"integrations", "connections", "connectors"}
    stated = parts & {"available", "active", "connected", "linked", "configured", "data"}
    if not roles.is_source(key) or not (bare or stated) or answer.measured:
        return
    if not any(signal.rule == "source" for signal in answer.found):
        state = Availability(Status.UNAVAILABLE, Cause.NOT_CONNECTED)
        answer.add("section", None, state, at, "source", None)


_ASIDE = re.compile(
    r"(?i)deprecat|\b(parameter|argument|endpoint|version|browser|locale|currency|time ?zone)\b"
)
"""Notices that are about the call, and not about data."""

_OF_ENGINES = words("not_run unavailable not_configured not_connected not_applicable pending")
_LONGEST_NOTE = 300
_SPAN = re.compile(r"(?i)\b(between|from|since|until|till|on|during|before|after|for)\b[^.]*\d")
"""A time in a sentence: what it says is of that time and not of all."""

_IDLE = ("id", "name", "key", "section", "property", "path")
"""Names in a notice that are the notice's own, not those of a field."""


def read_notices(answer: AnswerContext, key: str, value: Any, path: str) -> bool:
    """Read the notes or notices under a key; return whether the key is one for them."""
    note = roles.is_note(key)
    # Remarks are about anything; where nothing was measured, they may give the reason.
    remark = roles.is_remark(key) and not answer.measured
    is_read = note or remark or roles.is_notice(key)
    if not is_read and not (
        roles.is_remark(key) or roles.is_footnotes(key) or roles.is_message(key)
    ):
        return False
    places = enumerate(value) if isinstance(value, list) else ()
    of_engines = False
    for item, place in [(item, f"{path}[{at}]") for at, item in places] or [(value, path)]:
        if _of_engines(answer, item, place):
            of_engines = True
        elif note:
            _note(answer, item, place)
        elif is_read:
            _notice(answer, key, item, place)
    return is_read or of_engines


def _of_engines(answer: AnswerContext, item: Any, path: str) -> bool:
    """Read sentences that name engines without data; return whether one does."""
    text = reason_in(item) if isinstance(item, dict) else item
    found = False
    for sentence in re.split(r"(?<=[.!?;])\s+", text) if isinstance(text, str) else ():
        known = in_prose(sentence) if " " in sentence and len(sentence) <= _LONGEST_NOTE else None
        named = answer.engines_in(sentence) if known else []
        if known is None or known.canonical not in _OF_ENGINES:
            continue
        for engine in named:
            state = known.because(sentence)
            if _SPAN.search(sentence):
                state = replace(state, status=Status.PARTIAL)
            answer.add("engine", engine, state, path, "note", item)
            found = True
    return found


def _read_prose(answer: AnswerContext) -> None:
    """Read the notices of prose, where nothing else is about the section."""
    for text, path, value in () if answer.has_section else answer.prose:
        known = None if _ASIDE.search(text) else understand(text) or in_prose(text)
        if known is not None and _is_trusted(text, known):
            state = answer.weighed(known.availability)
            part = state.status == Status.UNAVAILABLE and answer.counted
            state = Availability(Status.PARTIAL if part else state.status, state.cause, text)
            answer.add("section", None, state, path, "notice", value)
            return


def _is_trusted(text: str, known: Word) -> bool:
    """Whether a word of a notice can be trusted; everyday words only where they are the code."""
    coded = is_code(text) and known.canonical not in ("available", "unavailable", "error")
    return known.is_lack or coded


def _note(answer: AnswerContext, item: Any, path: str) -> None:
    text = reason_in(item) if isinstance(item, dict) else item
    if isinstance(text, str) and text.strip():
        known = understand(text) if is_code(text) else None
        cause = known.availability.cause if known else None
        answer.add("section", None, Availability(Status.PARTIAL, cause, text), path, "note", item)


def _notice(answer: AnswerContext, key: str, item: Any, path: str) -> None:
    """Read a notice with a code; defer one in prose until all else is read."""
    given = item if isinstance(item, dict) else {}
    texts = [text for text in given.values() if isinstance(text, str)]
    texts += [item] if isinstance(item, str) else []
    listed = {name: value for name, value in given.items() if isinstance(value, list)}
    if targets := [
        name for name in targets_of(listed) if answer.is_engine(name) or answer.knows(name)
    ]:
        stated = _targeted(answer, targets, texts, path, item)
        if stated or any(map(answer.is_engine, targets)):
            return
    for text in texts:
        lack = lack_of_code(text)
        if lack is not None:
            state = answer.weighed(because(lack, reason_in(given) or text))
            _add(answer, given, state, path, item)
            return
    if (roles.is_prose(key) or roles.is_remark(key)) and not any(map(_ASIDE.search, texts)):
        answer.prose += [(text, path, item) for text in texts]


def _targeted(
    answer: AnswerContext, targets: list[str], texts: list[str], path: str, item: Any
) -> bool:
    """Read a notice about the fields and engines that it lists; return whether it states any.

    What holds numbers all the same is measured in part.
    """
    known = best(texts, STRONG) or next(filter(None, map(in_prose, texts)), None)
    if known is None or known.canonical == "available":
        return False
    reason = next((text for text in texts if " " in text), None)
    for name in targets:
        state = known.because(reason)
        if answer.is_engine(name):
            answer.add("engine", name, state, path, "notice", item)
            continue
        if answer.holds(name):
            state = replace(state, status=Status.PARTIAL)
        answer.add("field", answer.about(name), state, path, "notice", item)
    return True


def _add(
    answer: AnswerContext, given: dict[str, Any], state: Availability, path: str, item: Any
) -> None:
    """Add a signal of a notice about the field or engine it names, else about the section."""
    named = roles.name_of({name: value for name, value in given.items() if name not in _IDLE})
    if named is None:
        answer.add("section", None, state, path, "notice", item)
    elif named[0] == "engine":
        answer.add("engine", named[1], state, path, "notice", item)
    else:
        answer.add("field", answer.about(named[1]), state, path, "notice", item)
