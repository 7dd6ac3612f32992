"""Entries: maps and lists that state availability of fields and engines one by one."""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from dataclasses import replace
from typing import Any, NamedTuple

from aatoolkit._util.lexicon import ends, names, tokens
from aatoolkit.availability.detect.facts import Facts, Member
from aatoolkit.availability.detect.states import explained, state_in, state_of
from aatoolkit.availability.detect.words import (
    ABSENT,
    AVAILABLE,
    STATED,
    STRONG,
    WORDS,
    affirms,
    because,
    best,
    denial,
    in_prose,
    is_of_trade,
    kind_of_entries,
    name_of,
    read_word,
    reason_in,
    subject,
)
from aatoolkit.availability.status import Availability, Cause, Status
from aatoolkit.errors import SchemaDriftWarning
from aatoolkit.jsontree.paths import key_step

_WHOLE = ("*", "all", "overall", "section", "default", "total")


class Entry(NamedTuple):
    """An entry of a map or list: what it is about, ``engine`` or ``field`` if known, and where."""

    name: str
    scope: str | None
    value: Any
    path: str


def entries_in(value: Any, path: str, scope: str | None = None) -> list[Entry]:
    """List the entries of a map, or of a list of names or of records that have names."""
    if isinstance(value, dict):
        return [Entry(name, scope, item, path + key_step(name)) for name, item in value.items()]
    listed = []
    for at, item in enumerate(value):
        named = name_of(item) if isinstance(item, dict) else (None, item)
        if named is not None and isinstance(named[1], str):
            own = "engine" if named[0] == "engine" else scope
            listed.append(Entry(named[1], own, item, f"{path}[{at}]"))
    return listed


def add_entry(answer: Facts, entry: Entry, state: Availability, rule: str = "map") -> None:
    """Add a signal about the field or engine of an entry, or about the section by its own name."""
    name, scope, value, path = entry
    given = value if isinstance(value, dict) else {}
    if name == answer.section or (scope is None and name in _WHOLE):
        answer.add("section", None, state, path, rule, value, about=given)
    elif scope == "engine" or (scope is None and answer.is_engine(name)):
        state = answer.weighed(state) if state.cause == Cause.PENDING else state
        answer.add("engine", name, state, path, rule, value, about=given)
    else:
        answer.add("field", answer.about(name), state, path, rule, value, about=given)


def unknown(word: str, path: str) -> Availability:
    """Read a word that is not known as ``unknown``, and warn."""
    warnings.warn(
        f"the word {word!r} of availability is not known @ {path}; it is read as unknown",
        SchemaDriftWarning,
        stacklevel=2,
    )
    return read_word(word)


def read_states(answer: Facts, key: str, entries: list[Entry], *, trusted: bool = False) -> bool:
    """Read a map from fields or engines to their states; return whether it is one."""
    listed = [entry for entry in entries if entry.value is not None]
    states = [state_of(entry.value, key) for entry in listed]
    stated = trusted or subject(key) == STATED
    some = any(state is not None for state in states)
    if not some or (None in states and not stated):
        return False
    if any(type(entry.value) in (int, float) for entry in listed):
        return False
    is_sure = (
        trusted
        or "data" in tokens(key)
        or any(e.scope or answer.is_engine(e.name) or answer.has(e.name) for e in listed)
        or best((entry.value for entry in listed), STRONG)
    )
    for entry, state in zip(listed, states, strict=True) if is_sure else ():
        if state is not None:
            add_entry(answer, entry, state)
        elif isinstance(entry.value, str) and not is_of_trade(entry.value):
            add_entry(answer, entry, unknown(entry.value, entry.path))
    return bool(is_sure)


def read_lacks(answer: Facts, member: Member, *, trusted: bool = False) -> bool:
    """Read the names under a key that denies them, or tells what is wrong; whether it is that.

    ``missingFields``, ``nullReasons``, ``failedEngines``, ``_errors``; also ``enginesWithData``.
    Fields that hold numbers all the same, and names that nobody knows, are left out.
    """
    key, value = member.key, member.value
    scope, failed = kind_of_entries(key), names(key, "failure")
    is_map = isinstance(value, dict)
    state = denial(key)
    if state is not None:
        state = state if is_map else explained(state, member.beside)
    elif failed or (is_map and tokens(key)[-1:] in (("reason",), ("reasons",))):
        state = Availability(*WORDS["error"]) if failed else ABSENT
    elif scope == "engine" and affirms(key) and not is_map:
        state = AVAILABLE
    else:
        return False
    before = len(answer.signals)
    listed = [entry for entry in entries_in(value, member.path, scope) if entry.value is not None]
    if failed and denial(key) is None:
        of_engines = all(answer.is_engine(entry.name) for entry in listed)
        of_nulls = is_map and all(answer.is_null(entry.name, member.path) for entry in listed)
        if not of_engines and not of_nulls:
            return False
    for entry in listed:
        is_engine = entry.scope == "engine" or (not entry.scope and answer.is_engine(entry.name))
        is_named = trusted or (entry.scope and not is_map) or answer.has(entry.name)
        if not is_engine and not is_named:
            continue
        counts = not is_engine and not is_map and not trusted and state.status != Status.PARTIAL
        if counts and answer.counts(entry.name):
            continue
        kind = "engine" if is_engine else "field"
        own = _lack(entry, state, key, in_map=is_map or failed)
        target = entry.name if is_engine else answer.about(entry.name)
        rule = "map" if is_map or failed else "list"
        answer.add(kind, target, own, entry.path, rule, entry.value)
    return len(answer.signals) > before


def _lack(entry: Entry, state: Availability, key: str, *, in_map: bool) -> Availability:
    """The state of an entry that its key denies: by its own word, or with its own reason."""
    item = entry.value
    if isinstance(item, dict):
        own = state_in(item, STRONG if in_map else 1)
        texts = (v for k, v in item.items() if isinstance(v, str) and v != entry.name)
        reason = reason_in(item) or (next(texts, None) if names(key, "failure") else None)
        if own is not None:
            return because(own, reason) if own.reason is None else own
        return explained(state, item) if reason_in(item) else because(state, reason)
    if not in_map or not isinstance(item, str):
        return state
    word = best([item], STRONG) or (in_prose(item) if names(key, "failure") else None)
    return because(word.availability if word else state, item)


def read_lists(answer: Facts, member: Member, *, paired: bool = False) -> bool:
    """Read lists of engines or fields by what they could do: ``{"with": […], "without": […]}``.

    ``paired`` if the lists stand beside each other under names of their own.
    """
    lists = {name: item for name, item in member.value.items() if isinstance(item, list)}
    denied = denial(member.key) is not None
    if denied and any(map(kind_of_entries, lists)):
        for name, item in lists.items():
            path = member.path + key_step(name)
            inner = Member(f"{member.key} {name}", item, path, member.value)
            if kind_of_entries(name):
                read_lacks(answer, inner, trusted=True)
        return True
    ids = [engine for item in lists.values() for engine in item]
    if not ids or not all(isinstance(name, str) and answer.is_engine(name) for name in ids):
        return False
    states = {name: state for name in lists if (state := _state_of_list(name))}
    if not paired and all(state == AVAILABLE for state in states.values()):
        return False
    for name, state in states.items():
        path = member.path + ("" if paired else key_step(name))
        for at, engine in enumerate(lists[name]):
            answer.add("engine", engine, state, f"{path}[{at}]", "list", engine)
    return True


def _state_of_list(name: str) -> Availability | None:
    """The state that a list's name, such as ``without``, gives to the engines in it."""
    if {*tokens(name)} & {"without", "lacking"}:
        return ABSENT
    if affirms(name) or affirms(name, "affirms_beside"):
        return AVAILABLE
    return denial(name)


def read_reason(answer: Facts, member: Member) -> bool:
    """Read an object that is the reason of what a key denies, or of an empty response."""
    key, value = member.key, member.value
    state = denial(key)
    if state is not None and any(ends(name, "reason") for name in value):
        state = explained(state, value)
        if state.status == Status.UNAVAILABLE and answer.numbers:
            state = replace(state, status=Status.PARTIAL)
        answer.add_whole(state, member, "statement", about=value)
        return True
    coded = any(name.lower() in ("code", "text", "detail", "message") for name in value)
    if state is None and tokens(key)[-1:] == ("reason",) and coded:
        texts = [item for item in value.values() if isinstance(item, str)]
        word = best(texts, STRONG) or next(filter(None, map(in_prose, texts)), None)
        if answer.is_bare and tokens(key) == ("reason",):
            lack = word.availability if word and word.is_lack else ABSENT
            reason = reason_in(value) or next(iter(texts), None)
            answer.add_whole(replace(lack, reason=reason), member, "reason", about=value)
        return True
    return False


def read_listed_engines(answer: Facts, member: Member) -> bool:
    """Read records or words of engines, or sections, by what each could report."""
    scope = kind_of_entries(member.key)
    value = member.value
    if isinstance(value, dict):
        return bool(scope) and _read_words(answer, member, scope)
    listed = entries_in(value, member.path, scope) if scope else []
    records = [entry.value for entry in listed if isinstance(entry.value, dict)]
    # Whether engines are configured is what scope options list; it is not about a response.
    if len(records) != len(value) or any("configured" in record for record in records):
        return False
    states = [state_of(record, member.key) for record in records]
    lacking = any(state and state.status != Status.AVAILABLE for state in states)
    about = scope == "engine" or any(e.name == answer.section or answer.has(e.name) for e in listed)
    if any(map(_measures, records)) or not lacking or not about:
        return False
    read_states(answer, member.key, listed, trusted=True)
    answer.read_lists.add(member.path)
    return True


def _measures(record: Mapping[str, Any]) -> bool:
    from aatoolkit._util.lexicon import is_whole

    return any(
        type(item) in (int, float, list) and not is_whole(name, "size")
        for name, item in record.items()
    )


def _read_words(answer: Facts, member: Member, scope: str | None) -> bool:
    """Read a map of engines or fields whose every text is a word of a state."""
    listed = [e for e in entries_in(member.value, member.path, scope) if e.value is not None]
    words = [best([entry.value]) for entry in listed if isinstance(entry.value, str)]
    if not words or not all(words) or len(words) != len(listed) or state_in(member.value):
        return False
    return read_states(answer, member.key, listed, trusted=True)


def read_abilities(answer: Facts, member: Member) -> bool:
    """Read engines' abilities: ``{"fanouts": {"chatgpt": true}}``; return whether it is that."""
    able = {
        name: item
        for name, item in member.value.items()
        if isinstance(item, dict)
        and item
        and all(answer.is_engine(engine) and isinstance(can, bool) for engine, can in item.items())
    }
    for name, item in able.items():
        listed = entries_in(item, member.path + key_step(name), "engine")
        read_states(answer, member.key, listed, trusted=True)
    return bool(able)
