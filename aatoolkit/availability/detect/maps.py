"""Maps and lists that state availability of fields and engines one by one."""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Any

from aatoolkit.availability import Availability, Cause, Status
from aatoolkit.availability.detect import keys, roles
from aatoolkit.availability.detect.context import AnswerContext
from aatoolkit.availability.detect.parts import (
    coverage,
    explained,
    moment_in,
    reason_in,
    size_in,
    state_in,
    state_of_flag,
)
from aatoolkit.availability.detect.roles import kind_of_entries, tokens, words
from aatoolkit.availability.detect.vocabulary import (
    STRONG,
    WEAK,
    WORDS,
    because,
    best,
    in_prose,
    read_word,
    understand,
)
from aatoolkit.errors import SchemaDriftWarning
from aatoolkit.jsontree.paths import key_step

_WHOLE = words("* all overall section default total")

_FAILURES = words("failure failures errors failed problems outages")

_OF_REASONS = words("code text detail message")

Place = tuple[str | None, str]
"""What a statement is about (None: the section) and its JSON path."""

Entry = tuple[str, str | None, Any, str]
"""The name of an entry, whether it is a field or an engine if that is known, value and path."""


def add(
    answer: AnswerContext,
    place: Place,
    state: Availability,
    rule: str,
    value: Any,
    given: Mapping[str, Any] | None = None,
) -> None:
    """Add a signal about the section, or about the field of a path."""
    target, path = place
    scope = "section" if target is None else "field"
    state = answer.weighed(state) if target is None else state
    size, as_of = size_in(given or {}), moment_in(given or {})
    answer.add(scope, target, state, path, rule, value, size=size, as_of=as_of)


def unknown(word: str, path: str) -> Availability:
    """Read a word that is not known as ``unknown``, and warn."""
    warnings.warn(
        f"the word {word!r} of availability is not known @ {path}; it is read as unknown",
        SchemaDriftWarning,
        stacklevel=2,
    )
    return read_word(word)


def is_other(value: str) -> bool:
    """Whether a text is no word, a word of trade, or too long for a state."""
    no_word = not any(part.isalpha() for part in tokens(value))
    return no_word or roles.is_stock(value) or len(value) > 60


def entries_in(value: Any, path: str, scope: str | None = None) -> list[Entry]:
    """List the entries of a map, or of a list whose records name fields or engines."""
    if isinstance(value, dict):
        return [(name, scope, item, path + key_step(name)) for name, item in value.items()]
    entries: list[Entry] = []
    for at, record in enumerate(value):
        named = roles.name_of(record) if isinstance(record, dict) else None
        if named is None:
            return []
        own = "engine" if named[0] == "engine" else scope
        entries.append((named[1], own, record, f"{path}[{at}]"))
    return entries


def entries_of(
    answer: AnswerContext, key: str, entries: Iterable[Entry], *, trusted: bool = False
) -> None:
    """Read a map from fields or engines to their states, if it is one."""
    listed = [entry for entry in entries if entry[2] is not None]
    states = [state_of(value, key) for _, _, value, _ in listed]
    known = [state for state in states if state is not None]
    stated = trusted or keys.subject(key) == keys.STATED
    if not known or (len(known) < len(listed) and not stated):
        return
    if any(type(value) in (int, float) for _, _, value, _ in listed):
        return
    sure = (
        trusted
        or "data" in tokens(key)
        or any(scope or answer.is_engine(n) or answer.knows(n) for n, scope, _, _ in listed)
        or best((value for _, _, value, _ in listed), STRONG)
    )
    if not sure:
        return
    for (name, scope, value, path), state in zip(listed, states, strict=True):
        if state is not None:
            entry(answer, name, scope, state, path, value)
        elif isinstance(value, str) and not is_other(value):
            entry(answer, name, scope, unknown(value, path), path, value)


def entry(
    answer: AnswerContext, name: str, scope: str | None, state: Availability, path: str, value: Any
) -> None:
    """Add a signal about a field or engine, or about the section by its own name."""
    given = value if isinstance(value, dict) else {}
    target: str | None = name
    if name == answer.section or (scope is None and name in _WHOLE):
        kind, target = "section", None
    elif scope == "engine" or (scope is None and answer.is_engine(name)):
        kind, state = "engine", answer.weighed(state) if state.cause == Cause.PENDING else state
    else:
        kind, target = "field", answer.about(name)
    size, as_of = size_in(given), moment_in(given)
    answer.add(kind, target, state, path, "map", value, size=size, as_of=as_of)


def state_of(value: Any, key: str) -> Availability | None:
    """The state that an entry of a map means, under the key of the map; None if none."""
    if isinstance(value, bool):
        return state_of_flag(value, key)
    if isinstance(value, str):
        known = understand(value)
        return known.availability if known else None
    if isinstance(value, dict):
        state = state_in(value, WEAK) or coverage(key, value, listed=keys.subject(key) > 0)
        flags = [v for v in value.values() if isinstance(v, bool)]
        if state is None and len(flags) == 1:
            return explained(state_of_flag(flags[0], key), value)
        return state
    return None


def denied(
    answer: AnswerContext,
    key: str,
    listed: list[Any],
    path: str,
    *,
    trusted: bool = False,
    beside: Mapping[str, Any] | None = None,
) -> bool:
    """Read a list of what is unavailable under a key that denies it; return whether it is one.

    The members ``beside`` may hold the reason for all of them.
    """
    scope = kind_of_entries(key)
    state = keys.denial(key)
    if state is not None:
        state = explained(state, beside or {})
    elif scope == "engine" and keys.affirms(key):
        state = Availability(Status.AVAILABLE)
    else:
        return False
    before = len(answer.found)
    for at, item in enumerate(listed):
        named = roles.name_of(item) if isinstance(item, dict) else None
        name = item if isinstance(item, str) else named[1] if named else None
        own = scope or (named[0] if named and named[0] == "engine" else None)
        if name is None:
            continue
        kept = "engine" not in (own, scope) and state.status != Status.PARTIAL and not trusted
        if kept and answer.holds(name) and not answer.is_engine(name):
            continue
        if trusted or own or answer.is_engine(name) or answer.knows(name):
            stated = state
            if isinstance(item, dict):
                stated = state_in(item, WEAK) or explained(state, item)
            is_engine = own == "engine" or (not own and answer.is_engine(name))
            kind, target = ("engine", name) if is_engine else ("field", answer.about(name))
            answer.add(kind, target, stated, f"{path}[{at}]", "list", item)
    return len(answer.found) > before


def named_map(answer: AnswerContext, key: str, value: dict[str, Any], path: str) -> bool:
    """Read a map whose key names its entries or denies them; return whether it is one."""
    denial, scope = keys.denial(key), kind_of_entries(key)
    entries = [entry for entry in entries_in(value, path, scope) if entry[2] is not None]
    read = [understand(item) for _, _, item, _ in entries if isinstance(item, str)]
    before = len(answer.found)
    inner = {n: v for n, v in value.items() if isinstance(v, list) and kind_of_entries(n)}
    if denial is not None and inner:
        for name, item in inner.items():
            denied(answer, f"{key} {name}", item, path + key_step(name), trusted=True, beside=value)
    elif denial is not None and any(map(roles.is_reason, value)):
        state = explained(denial, value)
        if state.status == Status.UNAVAILABLE and answer.measured:
            state = replace(state, status=Status.PARTIAL)
        add(answer, (None, path), state, "statement", value, value)
    elif denial is None and tokens(key)[-1:] == ("reason",) and _is_reason(value):
        if answer.is_bare and tokens(key) == ("reason",):
            texts = [item for item in value.values() if isinstance(item, str)]
            known = best(texts, STRONG) or next(filter(None, map(in_prose, texts)), None)
            lack = known.availability if known and known.is_lack else _ABSENT
            state = replace(lack, reason=reason_in(value) or next(iter(texts), None))
            add(answer, (None, path), state, "reason", value, value)
    elif denial is not None or tokens(key)[-1:] in (("reasons",), ("reason",)):
        for name, _, item, at in entries:
            if answer.is_engine(name) or answer.knows(name):
                given = item if isinstance(item, dict) else {}
                text = item if isinstance(item, str) else reason_in(given)
                known = best([text], STRONG)
                state = known.availability if known else denial or Availability(Status.UNAVAILABLE)
                entry(answer, name, scope, because(state, text), at, item)
    elif scope and read and all(read) and len(read) == len(entries) and not state_in(value, WEAK):
        entries_of(answer, key, entries, trusted=True)
    return len(answer.found) > before


_ABSENT = Availability(Status.UNAVAILABLE)


def _is_reason(value: Mapping[str, Any]) -> bool:
    """Whether an object is one reason, a code with its words, and no map of reasons."""
    return any(roles.fold(name) in _OF_REASONS for name in value)


def abilities(answer: AnswerContext, key: str, value: Mapping[str, Any], path: str) -> bool:
    """Read engines' abilities: ``{"fanouts": {"chatgpt": true}}``; return whether it is that."""
    found = False
    for name, item in value.items():
        able = item.items() if isinstance(item, dict) else ()
        if able and all(answer.is_engine(n) and isinstance(can, bool) for n, can in able):
            entries = entries_in(item, path + key_step(name), "engine")
            entries_of(answer, key, entries, trusted=True)
            found = True
    return found


def engine_lists(
    answer: AnswerContext, lists: Mapping[str, Any], path: str, *, paired: bool = False
) -> bool:
    """Read lists of engines by ability, ``{"with": […], "without": […]}``; whether it is that."""
    named = {name: item for name, item in lists.items() if isinstance(item, list)}
    ids = [engine for item in named.values() for engine in item]
    if not ids or not all(isinstance(each, str) and answer.is_engine(each) for each in ids):
        return False
    states = {name: state for name in named if (state := _state_of_list(name))}
    if not paired and all(state.status == Status.AVAILABLE for state in states.values()):
        return False
    for name, state in states.items():
        place = path if paired else path + key_step(name)
        for at, engine in enumerate(named[name]):
            answer.add("engine", engine, state, f"{place}[{at}]", "list", engine)
    return True


def _state_of_list(name: str) -> Availability | None:
    """The state that a list's name, such as ``without``, gives to the engines in it."""
    if {*tokens(name)} & {"without", "lacking"}:
        return Availability(Status.UNAVAILABLE)
    if keys.affirms(name) or keys.affirms(name, alone=False):
        return Availability(Status.AVAILABLE)
    return keys.denial(name)


def failures(answer: AnswerContext, key: str, value: list[Any], path: str) -> bool:
    """Read records of engines that failed, ``partialFailures``; return whether it is that."""
    if _FAILURES.isdisjoint(tokens(key)):
        return False
    entries = entries_in(value, path)
    if not entries or not all(answer.is_engine(name) for name, *_ in entries):
        return False
    for name, _, record, at in entries:
        state = state_in(record, STRONG) or Availability(Status.UNAVAILABLE, Cause.FAILED)
        texts = (v for k, v in record.items() if k != "engine" and isinstance(v, str))
        reason = reason_in(record) or next(texts, None)
        entry(answer, name, "engine", because(state, reason), at, record)
    return True


def field_errors(answer: AnswerContext, key: str, value: dict[str, Any], path: str) -> bool:
    """Read errors by field: ``{"_errors": {"orders": …}}``; return whether it is that.

    Every entry is a field elsewhere in the answer that is null.
    """
    if _FAILURES.isdisjoint(tokens(key)) or not value:
        return False
    if not all(answer.is_null(name, path) for name in value):
        return False
    for name, item in value.items():
        text = (
            item if isinstance(item, str) else reason_in(item) if isinstance(item, dict) else None
        )
        if text:
            known = best([text], STRONG) or in_prose(text)
            state = known.availability if known else Availability(*WORDS["error"])
            entry(answer, name, "field", replace(state, reason=text), path + key_step(name), item)
    return True


def named_list(answer: AnswerContext, key: str, value: list[Any], path: str) -> bool:
    """Read a list of engines or sections by what each could report; whether it is that."""
    scope = kind_of_entries(key)
    entries = entries_in(value, path, scope) if scope else []
    states = [state_of(record, key) for _, _, record, _ in entries]
    # Whether engines are configured is what scope options list; it is not about an answer.
    if any("configured" in record for _, _, record, _ in entries):
        return False
    measures = any(
        type(item) in (int, float, list) and not roles.is_size(name)
        for _, _, record, _ in entries
        for name, item in record.items()
    )
    lacking = [state for state in states if state and state.status != Status.AVAILABLE]
    about = scope == "engine" or any(n == answer.section or answer.knows(n) for n, *_ in entries)
    if measures or not lacking or not about:
        return False
    entries_of(answer, key, entries, trusted=True)
    answer.read_lists.add(path)
    return True
