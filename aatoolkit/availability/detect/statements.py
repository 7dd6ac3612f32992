"""Statements: values of a key that names availability, and keys that are about another field."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from aatoolkit.availability import Availability, Cause, Status
from aatoolkit.availability.detect import keys, roles
from aatoolkit.availability.detect.context import AnswerContext, weighed
from aatoolkit.availability.detect.maps import (
    Place,
    add,
    denied,
    entries_in,
    entries_of,
    entry,
    is_other,
    named_map,
    unknown,
)
from aatoolkit.availability.detect.parts import (
    explained,
    reason_in,
    state_in,
    state_of_flag,
    words_in,
)
from aatoolkit.availability.detect.placeholders import instead_of_number
from aatoolkit.availability.detect.roles import kind_of_entries, tokens
from aatoolkit.availability.detect.vocabulary import (
    STRONG,
    WEAK,
    because,
    best,
    understand,
)
from aatoolkit.jsontree.paths import key_step


def read_statement(
    answer: AnswerContext, key: str, value: Any, place: Place, beside: Mapping[str, Any]
) -> bool:
    """Read the value of a key about availability; return whether anything was found."""
    is_stated = keys.subject(key) == keys.STATED
    before = len(answer.found)
    if isinstance(value, str):
        _word(answer, key, value, place, beside)
    elif isinstance(value, bool) and is_stated:
        state = keys.flag(key, value) or state_of_flag(value, key)
        add(answer, place, explained(state, beside), "statement", value)
    elif isinstance(value, dict):
        _object(answer, key, value, place)
    elif isinstance(value, list):
        entries = entries_in(value, place[1], kind_of_entries(key))
        entries_of(answer, key, entries, trusted=is_stated)
    return len(answer.found) > before


def _least(key: str) -> int:
    """The least strength that a word needs to count under a key."""
    return WEAK if keys.subject(key) == keys.STATED else STRONG


def _word(
    answer: AnswerContext, key: str, value: str, place: Place, beside: Mapping[str, Any]
) -> None:
    known = understand(value)
    if known and known.strength >= _least(key):
        add(answer, place, explained(known.availability, beside), "statement", value)
    elif keys.wants_word(key) and place[0] is None and not is_other(value):
        add(answer, place, unknown(value, place[1]), "statement", value)


def _object(answer: AnswerContext, key: str, value: dict[str, Any], place: Place) -> None:
    target, path = place
    scope = kind_of_entries(key) or _kind_of_company(answer, value)
    state = state_in(value, _least(key))
    if state is not None:
        add(answer, place, state, "statement", value, value)
    elif keys.wants_word(key) and target is None:
        texts = (v for k, v in value.items() if isinstance(v, str) and keys.is_word(k))
        odd = next(texts, None)
        if odd is not None and not is_other(odd):
            add(answer, place, unknown(odd, path), "statement", value, value)
    for name, item in value.items():
        at, inner = path + key_step(name), kind_of_entries(name)
        if isinstance(item, list):
            if not denied(answer, name, item, at, trusted=True):
                entries_of(answer, name, entries_in(item, at, inner), trusted=True)
        elif not isinstance(item, dict):
            continue
        elif inner is not None and not _is_statement(item):
            entries_of(answer, key, entries_in(item, at, inner), trusted=True)
        else:
            below = None if _is_part(name) else state_in(item, WEAK)
            known = _least(key) == WEAK or scope or answer.is_engine(name) or answer.knows(name)
            if below is not None and known:
                entry(answer, name, scope, below, at, item)
    if state is None:
        single = {n: item for n, item in value.items() if not isinstance(item, dict | list)}
        entries = {name: item for name, item in single.items() if not _is_part(name)}
        if len(entries) == sum(not roles.is_reason(name) for name in single):
            entries_of(answer, key, entries_in(entries, path, scope))


def _kind_of_company(answer: AnswerContext, value: Mapping[str, Any]) -> str | None:
    """The kind ``engine``, if a map of like objects names a known one and all have states."""
    inner = [item for item in value.values() if isinstance(item, dict)]
    alike = len(inner) == len(value) > 1 and all(set(item) == set(inner[0]) for item in inner)
    named = alike and any(map(answer.is_engine, value))
    return "engine" if named and all(state_in(item, WEAK) for item in inner) else None


def _is_part(name: str) -> bool:
    """Whether a key of a statement is a part of it and not an entry of a map."""
    tests = (roles.is_reason, keys.is_word, roles.is_size, roles.is_moment)
    return any(test(name) for test in tests)


def _is_statement(value: dict[str, Any]) -> bool:
    """Whether an object gives one state and what belongs to it, and no entries."""
    parts = all(_is_part(name) or isinstance(item, bool) for name, item in value.items())
    return parts and state_in(value, WEAK) is not None


_DEEPEST = 12
_VALUES = ("value", "amount", "current")


def read_fields(
    answer: AnswerContext,
    key: str,
    value: dict[str, Any],
    path: str,
    pattern: str,
    peers: Mapping[str, Any],
    depth: int = 0,
) -> None:
    """Read what an object of data states about itself and its own fields."""
    if depth > _DEEPEST or roles.is_business(key):
        return
    read = siblings(answer, value, path, pattern)
    rest = {name: item for name, item in value.items() if name not in read}
    own = _wrapped(rest) or _source(key, rest) or _own(rest, peers)
    if own is not None:
        scope, target = ("engine", key) if answer.is_engine(key) else ("field", pattern)
        answer.add(scope, target, own, path, "field", value)
    connections = roles.is_source(key) and _has_lacking(value)
    figures = roles.is_figures(key) and measures(rest)
    for name, item in rest.items():
        at, below = path + key_step(name), f"{pattern}.{name}"
        if figures and isinstance(item, str) and not keys.is_word(name):
            sign = instead_of_number(item)
            if sign is not None:
                answer.add("field", below, sign, at, "sign", item)
        if isinstance(item, list):
            denied(answer, name, item, at)
        elif keys.subject(name) == keys.STATED and isinstance(item, dict | str):
            if own is None:
                read_statement(answer, name, item, (pattern, at), value)
        elif isinstance(item, dict) and not roles.is_echo(name):
            if _engines(answer, name, item, at):
                continue
            if connections and (state := state_in(item, WEAK)) is not None:
                answer.add("field", below, state, at, "connection", item)
            else:
                read_fields(answer, name, item, at, below, value, depth + 1)


def _engines(answer: AnswerContext, name: str, value: dict[str, Any], path: str) -> bool:
    """Read a map of states by engine, below the metadata; return whether it is one."""
    named = kind_of_entries(name) == "engine" and len(value) > 1
    return named and all(map(answer.is_engine, value)) and named_map(answer, name, value, path)


def _wrapped(value: dict[str, Any]) -> Availability | None:
    """The state beside a value, as in ``{"value": null, "status": "not_connected"}``."""
    name = next((name for name in _VALUES if name in value), None)
    if name is None:
        return None
    rest = {key: item for key, item in value.items() if key != name}
    state, reason = state_in(rest, WEAK), reason_in(rest)
    if state is None and value[name] is None:
        flags = (keys.flag_of_nothing(k, v) for k, v in rest.items() if isinstance(v, bool))
        state = next(filter(None, flags), None)
        if state is None and reason is not None:
            return because(Availability(Status.UNAVAILABLE), reason)
    return state and weighed(state, _given(value[name]))


def _own(value: dict[str, Any], peers: Mapping[str, Any]) -> Availability | None:
    """The state that an object gives about itself; None if it may be one of business."""
    for name, item in value.items():
        state = None
        if isinstance(item, str) and keys.is_word(name):
            known = best([item], STRONG)
            if known and known.canonical != "forbidden":
                sure = known.canonical != "available" or _is_alike(name, peers)
                state = known.availability if sure else None
        elif isinstance(item, bool):
            stated = keys.flag(name, item)
            state = stated if _is_sure(name, stated, value, peers) else None
        if state is not None:
            return weighed(explained(state, value), measures(value))
    return None


def _is_sure(
    name: str, state: Availability | None, value: dict[str, Any], peers: Mapping[str, Any]
) -> bool:
    """Whether a flag of an object is about its data: explained, alike in others, or in vain."""
    if state is None or {*tokens(name)} & {"enabled", "allowed"}:
        return False
    if state.status == Status.AVAILABLE and not keys.is_claim(name):
        return False
    is_explained = any(isinstance(v, str) and roles.is_message(k) for k, v in value.items())
    if is_explained or "data" in tokens(name):
        return True
    return _is_alike(name, peers) if state.status == Status.AVAILABLE else not measures(value)


def _is_alike(name: str, peers: Mapping[str, Any]) -> bool:
    """Whether several objects beside each other have a key."""
    return sum(name in peer for peer in peers.values() if isinstance(peer, dict)) > 1


def _source(key: str, value: dict[str, Any]) -> Availability | None:
    """The state of a connection, also in everyday words; half connected is not connected."""
    state = state_in(value, WEAK) if roles.is_source(key) else None
    if state is not None and state.status == Status.PARTIAL and not measures(value):
        return Availability(Status.UNAVAILABLE, Cause.NOT_CONNECTED, state.reason)
    return state


def _has_lacking(value: dict[str, Any]) -> bool:
    """Whether an object holds things of which one at least is lacking."""
    states = [state_in(item, WEAK) for item in value.values() if isinstance(item, dict)]
    return any(state and state.status != Status.AVAILABLE for state in states)


def measures(value: Mapping[str, Any]) -> set[bool]:
    """The truth values of an object's numbers: whether any is not 0, and whether any is 0."""
    return {
        item != 0
        for name, item in value.items()
        if type(item) in (int, float) and not roles.is_size(name)
    }


def _given(value: Any) -> set[bool]:
    """The truth value of a number that is there, as a set; empty where it is null."""
    return set() if value is None else {value != 0}


def siblings(answer: AnswerContext, given: dict[str, Any], path: str, pattern: str) -> set[str]:
    """Read keys about another beside them, such as ``revenueReason``; return those read."""
    names = {roles.fold(name): name for name in reversed(given) if name[:1] not in "_@$"}
    read: set[str] = set()
    for key, value in given.items():
        ending = _ending(key, value)
        name = names.get(ending[0]) if ending else None
        if key[:1] in ("_", "@", "$") and key[1:] in given and isinstance(value, str | dict):
            ending, name = ("", "reason" if isinstance(value, str) else "statement"), key[1:]
        if ending is None or name is None or name == key or roles.is_business(name):
            continue
        if isinstance(value, dict):
            # The codes may be further down, as in a coding or an extension.
            coded = best(words_in(value))
            state = state_in(value, WEAK) or (coded.availability if coded else None)
            if state is None and ending[1] == "reason" and given[name] is None:
                texts = (text for text in value.values() if isinstance(text, str) and text)
                text = reason_in(value) or next(texts, None)
                state = Availability(Status.UNAVAILABLE, None, text) if text else None
        else:
            state = sibling_state(ending[1], value, given[name])
        if state is not None:
            read.add(key)
            target = f"{pattern}.{name}" if pattern else name
            answer.add("field", target, state, path + key_step(key), "sibling", value)
    return read


def _ending(key: str, value: Any) -> tuple[str, str] | None:
    """The field that a key is about, and the kind of statement; None if it can state nothing."""
    if isinstance(value, dict) and roles.is_holder(key):
        return roles.fold(tokens(key)[:-1]), "statement"
    ending = keys.suffix(key)
    states = isinstance(value, bool | str) or (isinstance(value, dict) and _is_reason(ending))
    return ending if states else None


def _is_reason(ending: tuple[str, str] | None) -> bool:
    return ending is not None and ending[1] == "reason"


def sibling_state(kind: str, value: bool | str, of: Any) -> Availability | None:
    """The state that a key gives to another whose value is given; None if none."""
    if isinstance(value, bool):
        if kind == "part":
            return Availability(Status.PARTIAL) if value and of is not None else None
        if kind == "denial":
            return Availability(Status.UNAVAILABLE) if value and of is None else None
        return Availability(Status.AVAILABLE if value else Status.UNAVAILABLE)
    known = understand(value)
    if known and (known.strength >= STRONG or of is None):
        reason = value if " " in value.strip() else None
        return weighed(replace(known.availability, reason=reason), _given(of))
    if kind == "reason" and of is None and value.strip():
        return explained(Availability(Status.UNAVAILABLE), {"reason": value})
    return None
