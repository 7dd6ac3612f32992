"""Statements: the values of keys that name availability, and what objects of data state."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from aatoolkit._util.lexicon import ends, fold, is_whole, names, tokens
from aatoolkit.availability.detect.entries import (
    add_entry,
    entries_in,
    read_lacks,
    read_listed_engines,
    read_lists,
    read_states,
    unknown,
)
from aatoolkit.availability.detect.facts import Facts, Member, weighed
from aatoolkit.availability.detect.states import (
    explained,
    measures,
    state_beside_value,
    state_in,
    state_of_flag,
    state_of_sibling,
)
from aatoolkit.availability.detect.words import (
    STATED,
    STRONG,
    WEAK,
    best,
    flag,
    instead_of_number,
    is_claim,
    is_echo,
    is_of_trade,
    is_word,
    kind_of_entries,
    subject,
    suffix,
    understand,
    wants_word,
)
from aatoolkit.availability.status import Availability, Cause, Status
from aatoolkit.jsontree.paths import key_step

_DEEPEST = 12


def read_statement(answer: Facts, member: Member, *, of_whole: bool = True) -> bool:
    """Read the value of a key about availability; return whether anything was found.

    It is about the whole response, or else about the field of the member's pattern.
    """
    key, value, before = member.key, member.value, len(answer.signals)
    stated = subject(key) == STATED
    least = WEAK if stated else STRONG
    state, odd = None, None
    if isinstance(value, str):
        word = understand(value)
        if word and word.strength >= least:
            state = explained(word.availability, member.beside)
        odd = value
    elif isinstance(value, bool) and stated:
        state = explained(flag(key, value) or state_of_flag(value, key), member.beside)
    elif isinstance(value, dict):
        state = state_in(value, least)
        odd = next((v for k, v in value.items() if isinstance(v, str) and is_word(k)), None)
    if state is None and odd and wants_word(key) and of_whole and not is_of_trade(odd):
        state = unknown(odd, member.path)
    about = value if isinstance(value, dict) else {}
    if state is not None and of_whole:
        answer.add_whole(state, member, "statement", about=about)
    elif state is not None:
        answer.add("field", member.pattern, state, member.path, "statement", value, about=about)
    if isinstance(value, dict):
        _read_parts(answer, member, least, has_state=state is not None)
    elif isinstance(value, list):
        listed = entries_in(value, member.path, kind_of_entries(key))
        records = [entry for entry in listed if isinstance(entry.value, dict)]
        if len(records) == len(value):
            read_states(answer, key, records, trusted=stated)
    return len(answer.signals) > before


def _read_parts(answer: Facts, member: Member, least: int, *, has_state: bool) -> None:
    """Read the parts of a statement: lists, maps and objects of fields and engines."""
    key, value = member.key, member.value
    inner = [item for item in value.values() if isinstance(item, dict)]
    alike = len(inner) == len(value) > 1 and all(set(item) == set(inner[0]) for item in inner)
    of_engines = alike and any(map(answer.is_engine, value)) and all(map(state_in, inner))
    scope = kind_of_entries(key) or ("engine" if of_engines else None)
    for name, item in value.items():
        at, kind = member.path + key_step(name), kind_of_entries(name)
        if isinstance(item, list):
            if not read_lacks(answer, Member(name, item, at, {}), trusted=True):
                read_states(answer, name, entries_in(item, at, kind), trusted=True)
        elif isinstance(item, dict):
            if kind is not None and not _is_one_state(item):
                read_states(answer, key, entries_in(item, at, kind), trusted=True)
                continue
            state = None if _is_part(name) else state_in(item)
            entry = entries_in({name: item}, member.path, scope)[0]
            is_named = answer.is_engine(name) or answer.has(name)
            if state is not None and (least == WEAK or scope or is_named):
                add_entry(answer, entry, state)
    if not has_state:
        single = {n: item for n, item in value.items() if not isinstance(item, dict | list)}
        if not any(_is_part(name) and not ends(name, "reason") for name in single):
            listed = {n: item for n, item in single.items() if not _is_part(n)}
            read_states(answer, key, entries_in(listed, member.path, scope))


def _is_part(name: str) -> bool:
    """Whether a key of a statement is a part of it and not an entry of a map."""
    parts = is_whole(name, "size") or is_whole(name, "moment")
    return parts or ends(name, "reason") or is_word(name)


def _is_one_state(value: Mapping[str, Any]) -> bool:
    """Whether an object gives one state and what belongs to it, and no entries."""
    parts = all(_is_part(name) or isinstance(item, bool) for name, item in value.items())
    return parts and state_in(value) is not None


# --- keys about a field beside them ----------------------------------------------------------


def read_siblings(answer: Facts, given: Mapping[str, Any], path: str, pattern: str) -> set[str]:
    """Read keys about another beside them, such as ``revenueReason``; return those read."""
    fields = {fold(name): name for name in reversed([*given]) if name[:1] not in "_@$"}
    read: set[str] = set()
    for key, value in given.items():
        about, kind = _ending(key, value) or ("", "")
        name = fields.get(about)
        if key[:1] in ("_", "@", "$") and key[1:] in given and isinstance(value, str | dict):
            name, kind = key[1:], "reason" if isinstance(value, str) else "statement"
        if not kind or name is None or name == key or names(name, "business"):
            continue
        state = state_of_sibling(kind, value, given[name])
        if state is not None:
            read.add(key)
            target = f"{pattern}.{name}" if pattern else name
            answer.add("field", target, state, path + key_step(key), "sibling", value)
    return read


def _ending(key: str, value: Any) -> tuple[str, str] | None:
    """The field that a key is about, and the kind of statement; None if it can state nothing."""
    if isinstance(value, dict) and ends(key, "holder"):
        return "".join(tokens(key)[:-1]), "statement"
    found = suffix(key)
    is_reason = isinstance(value, dict) and found is not None and found[1] == "reason"
    return found if isinstance(value, bool | str) or is_reason else None


# --- objects of data -------------------------------------------------------------------------


def read_object(answer: Facts, member: Member, depth: int = 0) -> None:
    """Read what an object of data states about itself and its own fields."""
    key, value, path, peers, pattern = member
    if depth > _DEEPEST or names(key, "business"):
        return
    read = read_siblings(answer, value, path, pattern)
    rest = {name: item for name, item in value.items() if name not in read}
    own = state_beside_value(rest) or _connection(key, rest) or _own(rest, peers)
    if own is not None:
        scope, target = ("engine", key) if answer.is_engine(key) else ("field", pattern)
        answer.add(scope, target, own, path, "field", value)
    inner = [state_in(item) for item in value.values() if isinstance(item, dict)]
    connections = names(key, "source") and any(s and s.status != "available" for s in inner)
    figures = names(key, "figures") and measures(rest)
    for name, item in rest.items():
        below = Member(name, item, path + key_step(name), value, f"{pattern}.{name}")
        sign = instead_of_number(item) if figures and isinstance(item, str) else None
        if sign is not None and not is_word(name):
            answer.add("field", below.pattern, sign, below.path, "sign", item)
        if isinstance(item, list):
            read_lacks(answer, below)
        elif subject(name) == STATED and isinstance(item, dict | str):
            if own is None:
                read_statement(answer, below, of_whole=False)
        elif isinstance(item, dict) and not is_echo(name):
            state = state_in(item) if connections else None
            if _is_map_of_engines(answer, below):
                continue
            if state is not None:
                answer.add("field", below.pattern, state, below.path, "connection", item)
            else:
                read_object(answer, below, depth + 1)


def _is_map_of_engines(answer: Facts, member: Member) -> bool:
    """Read a map of states by engine, below the metadata; return whether it is one."""
    if kind_of_entries(member.key) != "engine" or len(member.value) < 2:
        return False
    if not all(map(answer.is_engine, member.value)):
        return False
    return (
        read_lists(answer, member)
        or read_lacks(answer, member)
        or read_listed_engines(answer, member)
    )


def _connection(key: str, value: Mapping[str, Any]) -> Availability | None:
    """The state of a connection, also in everyday words; half connected is not connected."""
    state = state_in(value) if names(key, "source") else None
    if state is not None and state.status == Status.PARTIAL and not measures(value):
        return Availability(Status.UNAVAILABLE, Cause.NOT_CONNECTED, state.reason)
    return state


def _own(value: Mapping[str, Any], peers: Mapping[str, Any]) -> Availability | None:
    """The state that an object gives about itself; None if it may be one of business."""
    for name, item in value.items():
        state = None
        alike = sum(name in peer for peer in peers.values() if isinstance(peer, dict)) > 1
        if isinstance(item, str) and is_word(name):
            word = best([item], STRONG)
            if word and word.canonical != "forbidden" and (word.canonical != "available" or alike):
                state = word.availability
        elif isinstance(item, bool):
            stated = flag(name, item)
            state = stated if _is_sure(name, stated, value, alike) else None
        if state is not None:
            return weighed(explained(state, value), measures(value))
    return None


def _is_sure(name: str, state: Availability | None, value: Mapping[str, Any], alike: bool) -> bool:
    """Whether a flag of an object is about its data: explained, alike in others, or in vain."""
    if state is None or {*tokens(name)} & {"enabled", "allowed"}:
        return False
    if state.status == Status.AVAILABLE and not is_claim(name):
        return False
    if "data" in tokens(name):
        return True
    if any(isinstance(item, str) and is_whole(key, "message") for key, item in value.items()):
        return True
    return alike if state.status == Status.AVAILABLE else not measures(value)
