"""Statements and their entries: maps and lists of engines and fields, and what objects state."""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from typing import Any, NamedTuple

from aatoolkit._util.lexicon import ends, fits, fold, names, tokens
from aatoolkit.availability.detect.facts import Facts, Member
from aatoolkit.availability.detect.words import (
    ABSENT,
    STATED,
    STATES,
    STRONG,
    WEAK,
    because,
    best,
    denial,
    explained,
    is_echo,
    is_of_trade,
    is_word,
    kind_of_entries,
    measures,
    name_of,
    read_word,
    reason_in,
    state_beside_value,
    state_in,
    state_of,
    state_of_sibling,
    subject,
    suffix,
    sure,
    understand,
    weighed,
)
from aatoolkit.availability.status import Availability, Cause, Status
from aatoolkit.errors import SchemaDriftWarning
from aatoolkit.jsontree.paths import key_step

_DEEPEST = 12


class Entry(NamedTuple):
    """An entry of a map or list: what it is about, ``engine`` or ``field`` if known, and where."""

    name: str
    scope: str | None
    value: Any
    path: str


def entries_in(value: Any, path: str, scope: str | None = None) -> list[Entry]:
    """List the entries of a map, or of a list of names or of records that have names."""
    if isinstance(value, dict):
        listed = [Entry(name, scope, item, path + key_step(name)) for name, item in value.items()]
        return [entry for entry in listed if entry.value is not None]
    listed = []
    for at, item in enumerate(value):
        named = name_of(item) if isinstance(item, dict) else (None, item)
        if named is not None and isinstance(named[1], str):
            own = "engine" if named[0] == "engine" else scope
            listed.append(Entry(named[1], own, item, f"{path}[{at}]"))
    return listed


def add_entry(answer: Facts, entry: Entry, state: Availability) -> None:
    """Add a signal about the field or engine of an entry, or about the section by its own name."""
    name, scope, value, path = entry
    if name == answer.section or (scope is None and name == "overall"):
        answer.add("section", None, state, path, "map", value)
    elif scope == "engine" or (scope is None and answer.is_engine(name)):
        state = weighed(state, answer.numbers) if state.cause == Cause.PENDING else state
        answer.add("engine", name, state, path, "map", value)
    else:
        answer.add("field", answer.about(name), state, path, "map", value)


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
    states = [state_of(entry.value, key) for entry in entries]
    if None in states and not trusted and subject(key) < STATED:
        return False
    is_sure = (
        trusted
        or names(key, "data")
        or any(e.scope or answer.is_engine(e.name) or answer.has(e.name) for e in entries)
        or best((entry.value for entry in entries), STRONG)
    )
    for entry, state in zip(entries, states, strict=True) if is_sure and any(states) else ():
        if state is not None:
            add_entry(answer, entry, state)
        elif isinstance(entry.value, str) and not is_of_trade(entry.value):
            add_entry(answer, entry, unknown(entry.value, entry.path))
    return bool(is_sure and any(states))


def read_lacks(answer: Facts, member: Member, *, trusted: bool = False) -> bool:
    """Read the names under a key that denies or affirms them, or tells what is wrong.

    ``missingFields``, ``nullReasons``, ``failedEngines``, ``_errors``; also ``enginesWithData``.
    Fields that hold numbers all the same, and names that nobody knows, are left out.
    """
    key, value = member.key, member.value
    scope, is_map = kind_of_entries(key), isinstance(value, dict)
    state, failed = denial(key), False
    if state is not None:
        state = state if is_map else explained(state, member.beside)
    elif names(key, "failure"):
        state, failed = STATES["error"], True
    elif is_map and fits(key, "reasons"):
        state = ABSENT
    else:
        return False
    before = len(answer.signals)
    entries = entries_in(value, member.path, scope)
    is_fault = all(answer.is_engine(e.name) or (is_map and answer.is_null(e.name)) for e in entries)
    for entry in entries if is_fault or not failed else ():
        is_engine = entry.scope == "engine" or (not entry.scope and answer.is_engine(entry.name))
        is_named = trusted or (entry.scope and not is_map) or answer.has(entry.name)
        denied = not (is_map or trusted or state.status == Status.PARTIAL)
        if not is_engine and (not is_named or (denied and answer.counts(entry.name))):
            continue
        own = _lack(entry, state, in_map=is_map or failed)
        target = entry.name if is_engine else answer.about(entry.name)
        rule = "map" if is_map or failed else "list"
        answer.add("engine" if is_engine else "field", target, own, entry.path, rule, entry.value)
    return len(answer.signals) > before


def _lack(entry: Entry, state: Availability, *, in_map: bool) -> Availability:
    """The state of an entry that its key denies: by its own word, or with its own reason."""
    item = entry.value
    if isinstance(item, dict):
        own = state_in(item, STRONG if in_map else WEAK) or state
        texts = [v for v in item.values() if isinstance(v, str) and v != entry.name]
        return own if own.reason else because(own, reason_in(item) or next(iter(texts), None))
    if not in_map or not isinstance(item, str):
        return state
    word = sure([item])
    return because(word.availability if word else state, item)


def read_listed(answer: Facts, member: Member) -> bool:
    """Read records or words of engines, fields or sections, by what each could report."""
    key, value, scope = member.key, member.value, kind_of_entries(member.key)
    entries = entries_in(value, member.path, scope)
    if isinstance(value, dict):
        words_of = [isinstance(entry.value, str) and understand(entry.value) for entry in entries]
        is_map = entries and all(words_of) and not state_in(value)
        return bool(is_map) and read_states(answer, key, entries, trusted=True)
    records = [entry.value for entry in entries if isinstance(entry.value, dict)]
    # Whether engines are configured is what scope options list; it is not about a response.
    if any("configured" in record for record in records) or any(map(measures, records)):
        return False
    states = [state_in(r) or (state_of(r, key) if subject(key) else None) for r in records]
    is_named = [entry.name == answer.section or answer.has(entry.name) for entry in entries]
    lacking = any(state and state.status != Status.AVAILABLE for state in states)
    if not lacking or not (scope == "engine" or any(is_named)):
        return False
    answer.read_lists.add(member.path)
    return read_states(answer, key, entries, trusted=True)


# --- statements ------------------------------------------------------------------------------


def read_statement(answer: Facts, member: Member, *, of_whole: bool = True) -> bool:
    """Read the value of a key about availability; return whether anything was found.

    It is about the whole response, or else about the field of the member's pattern.
    """
    key, value, before = member.key, member.value, len(answer.signals)
    least = WEAK if subject(key) == STATED else STRONG
    state, odd = None, value
    if isinstance(value, str):
        word = understand(value)
        if word and word.strength >= least:
            state = explained(word.availability, member.beside)
    elif isinstance(value, dict):
        state = state_in(value, least)
        odd = next((v for k, v in value.items() if isinstance(v, str) and is_word(k)), None)
    if state is None and isinstance(odd, str) and least == WEAK and not is_of_trade(odd):
        named = names(key, "availability") or names(key, "state")
        state = unknown(odd, member.path) if named else None
    if state is not None and of_whole:
        answer.add_whole(state, member, "statement")
    elif state is not None:
        answer.add("field", member.pattern, state, member.path, "statement", value)
    if isinstance(value, dict):
        _read_parts(answer, member, least, has_state=state is not None)
    elif isinstance(value, list):
        listed = entries_in(value, member.path, kind_of_entries(key))
        records = [entry for entry in listed if isinstance(entry.value, dict)]
        if len(records) == len(value):
            read_states(answer, key, records, trusted=least == WEAK)
    return len(answer.signals) > before


def _read_parts(answer: Facts, member: Member, least: int, *, has_state: bool) -> None:
    """Read the parts of a statement: lists, maps and objects of fields and engines."""
    key, value = member.key, member.value
    inner = [item for item in value.values() if isinstance(item, dict)]
    alike = all(set(item) == set(inner[0]) for item in inner)
    of_engines = inner and alike and any(map(answer.is_engine, value))
    scope = kind_of_entries(key) or ("engine" if of_engines else None)
    for name, item in value.items():
        at, kind = member.path + key_step(name), kind_of_entries(name)
        if isinstance(item, list):
            if not read_lacks(answer, Member(name, item, at, {}), trusted=True):
                read_states(answer, name, entries_in(item, at, kind), trusted=True)
        elif isinstance(item, dict):
            state = None if _is_part(name) else state_in(item)
            is_named = least == WEAK or scope or answer.is_engine(name) or answer.has(name)
            if kind is not None and state is None:
                read_states(answer, key, entries_in(item, at, kind), trusted=True)
            elif state is not None and is_named:
                add_entry(answer, Entry(name, scope, item, at), state)
    parts = {n: item for n, item in value.items() if not isinstance(item, dict | list)}
    if not has_state:
        listed = {n: item for n, item in parts.items() if not _is_part(n)}
        read_states(answer, key, entries_in(listed, member.path, scope))


def _is_part(name: str) -> bool:
    """Whether a key of a statement is a part of it and not an entry of a map."""
    return ends(name, "reason") or is_word(name)


def read_siblings(answer: Facts, holder: Member) -> set[str]:
    """Read keys about another beside them, such as ``revenueReason``; return those read."""
    given = holder.value
    fields = {fold(name): name for name in reversed([*given]) if name[:1] not in "_@$"}
    read: set[str] = set()
    for key, value in given.items():
        about, kind = suffix(key) or ("", "")
        name = fields.get(about)
        if isinstance(value, dict) and ends(key, "holder"):
            name, kind = fields.get("".join(tokens(key)[:-1])), "statement"
        elif isinstance(value, dict) and kind != "reason":
            kind = ""
        if key[:1] in ("_", "@", "$") and key[1:] in given and isinstance(value, str | dict):
            name, kind = key[1:], "reason" if isinstance(value, str) else "statement"
        is_stating = kind and isinstance(value, bool | str | dict)
        if not is_stating or name is None or name == key or names(name, "business"):
            continue
        state = state_of_sibling(kind, value, given[name])
        if state is not None:
            read.add(key)
            target, path = holder.inner(name, None).pattern, holder.inner(key, None).path
            answer.add("field", target, state, path, "sibling", value)
    return read


# --- objects of data -------------------------------------------------------------------------


def read_object(answer: Facts, member: Member, depth: int = 0) -> None:
    """Read what an object of data states about itself and its own fields."""
    key, value, path, _, pattern = member
    if depth > _DEEPEST or names(key, "business"):
        return
    read = read_siblings(answer, member)
    rest = {name: item for name, item in value.items() if name not in read}
    own = state_beside_value(rest) or (None if fits(key, "process") else _own(rest))
    if own is not None:
        scope, target = ("engine", key) if answer.is_engine(key) else ("field", pattern)
        answer.add(scope, target, own, path, "field", value)
    inner = [state_in(item) for item in value.values() if isinstance(item, dict)]
    connections = names(key, "source") and any(s and s.status != "available" for s in inner)
    for name, item in rest.items():
        below = member.inner(name, item)
        if isinstance(item, list):
            read_lacks(answer, below)
        elif subject(name) == STATED and isinstance(item, dict | str):
            if own is None:
                read_statement(answer, below, of_whole=False)
        elif isinstance(item, dict) and not is_echo(name):
            state = state_in(item) if connections else None
            if state is not None:
                answer.add("field", below.pattern, state, below.path, "connection", item)
            elif kind_of_entries(name) != "engine" or not _is_map_of_engines(answer, below):
                read_object(answer, below, depth + 1)


def _own(value: Mapping[str, Any]) -> Availability | None:
    """The lack that an object without numbers states of itself."""
    plain = {n: v for n, v in value.items() if not {*tokens(n)} & {"enabled", "allowed"}}
    state = None if measures(value) else state_in(plain, STRONG)
    is_lack = state and state.status != Status.AVAILABLE and state.cause != Cause.WITHHELD
    return state if is_lack else None


def _is_map_of_engines(answer: Facts, member: Member) -> bool:
    """Read a map of states by engine, below the metadata; return whether it is one."""
    if len(member.value) < 2 or not all(map(answer.is_engine, member.value)):
        return False
    return any(read(answer, member) for read in (read_lacks, read_listed))
