"""Statements: what stands under a key that says availability, or beside the field it is about."""

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
    entries_of,
    entry,
    is_other,
    records,
    unknown,
)
from aatoolkit.availability.detect.parts import explained, reason_in, said, state_in, words_in
from aatoolkit.availability.detect.phrases import STRONG, WEAK
from aatoolkit.availability.detect.vocabulary import (
    because,
    best,
    instead_of_number,
    tokens,
    understand,
)
from aatoolkit.jsontree.paths import key_step


def read_statement(
    answer: AnswerContext, key: str, value: Any, place: Place, beside: Mapping[str, Any]
) -> bool:
    """Read what stands under a key about availability; whether anything was found."""
    grade = keys.subject(key)
    before = len(answer.found)
    target, path = place
    if isinstance(value, str):
        _word(answer, key, value, place, beside)
    elif isinstance(value, bool) and grade == keys.STATED:
        state = keys.flag(key, value) or said(value, key)
        add(answer, place, explained(state, beside), "statement", value)
    elif isinstance(value, dict):
        _object(answer, key, value, target, path)
    elif isinstance(value, list):
        entries = records(value, path)
        scope = roles.speaks_of(key)
        listed = [(name, own or scope, record, at) for name, own, record, at in entries]
        entries_of(answer, key, listed, trusted=grade == keys.STATED)
    return len(answer.found) > before


def _word(
    answer: AnswerContext, key: str, value: str, place: Place, beside: Mapping[str, Any]
) -> None:
    known = understand(value)
    least = WEAK if keys.subject(key) == keys.STATED else STRONG
    if known and known.strength >= least:
        add(answer, place, explained(known.availability, beside), "statement", value)
    elif keys.wants_word(key) and place[0] is None and not is_other(value):
        add(answer, place, unknown(value, place[1]), "statement", value)


def _object(
    answer: AnswerContext, key: str, value: dict[str, Any], target: str | None, path: str
) -> None:
    least = WEAK if keys.subject(key) == keys.STATED else STRONG
    state = state_in(value, least)
    if state is not None:
        add(answer, (target, path), state, "statement", value, value)
    elif keys.wants_word(key) and target is None:
        said = (v for k, v in value.items() if keys.is_word(k) and isinstance(v, str))
        odd = next(said, None)
        if odd is not None and not is_other(odd):
            add(answer, (target, path), unknown(odd, path), "statement", value, value)
    inner = [(name, item) for name, item in value.items() if isinstance(item, dict | list)]
    for name, item in inner:
        at = path + key_step(name)
        scope = roles.speaks_of(name)
        if isinstance(item, list):
            if not denied(answer, name, item, at, trusted=True):
                listed = [(n, s or scope, v, p) for n, s, v, p in records(item, at)]
                entries_of(answer, name, listed, trusted=True)
        elif scope is not None:
            listed = [(n, scope, v, at + key_step(n)) for n, v in item.items()]
            entries_of(answer, key, listed, trusted=True)
        elif (
            (below := state_in(item, WEAK)) is not None
            and not _form(name)
            and (least == WEAK or answer.is_engine(name) or answer.knows(name))
        ):
            entry(answer, name, roles.speaks_of(key), below, at, item)
    if state is None:
        scope = roles.speaks_of(key)
        plain = [
            (name, scope, item, path + key_step(name))
            for name, item in value.items()
            if not isinstance(item, dict | list) and not _form(name)
        ]
        single = [n for n, item in value.items() if not isinstance(item, dict | list)]
        if len(plain) == sum(not roles.is_reason(name) for name in single):
            entries_of(answer, key, plain)


def _form(name: str) -> bool:
    """Whether a key of a statement is part of its form and not an entry of a map."""
    return (
        roles.is_reason(name) or keys.is_word(name) or roles.is_size(name) or roles.is_moment(name)
    )


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
    """Read what an object that holds data says of itself and of its own fields."""
    if depth > _DEEPEST or roles.is_business(key):
        return
    spoken = siblings(answer, value, path, pattern)
    rest = {name: item for name, item in value.items() if name not in spoken}
    own = _wrapped(rest) or _source(key, rest) or _own(rest, peers)
    if own is not None:
        scope, target = ("engine", key) if answer.is_engine(key) else ("field", pattern)
        answer.add(scope, target, own, path, "field", value)
    connections = roles.is_source(key) and _has_lacking(value)
    figures = roles.is_figures(key) and measures(rest)
    for name, item in rest.items():
        at, below = path + key_step(name), f"{pattern}.{name}"
        if figures and isinstance(item, str) and not keys.is_word(name):
            state = instead_of_number(item)
            if state is not None:
                answer.add("field", below, state, at, "sign", item)
        if isinstance(item, list):
            denied(answer, name, item, at)
        elif keys.subject(name) == keys.STATED and isinstance(item, dict | str):
            if own is None:
                read_statement(answer, name, item, (pattern, at), value)
        elif isinstance(item, dict) and not roles.is_echo(name):
            if connections and (state := state_in(item, WEAK)) is not None:
                answer.add("field", below, state, at, "connection", item)
            else:
                read_fields(answer, name, item, at, below, value, depth + 1)


def _wrapped(value: dict[str, Any]) -> Availability | None:
    """The state beside a value: ``{"value": null, "status": "not_connected"}``."""
    name = next((name for name in _VALUES if name in value), None)
    if name is None:
        return None
    rest = {key: item for key, item in value.items() if key != name}
    state, reason = state_in(rest, WEAK), reason_in(rest)
    if state is None and value[name] is None:
        flags = ((key, item) for key, item in rest.items() if isinstance(item, bool))
        state = next((s for key, item in flags if (s := keys.flag_of_nothing(key, item))), None)
    if state is None and value[name] is None and reason is not None:
        return because(Availability(Status.UNAVAILABLE), reason)
    return state and weighed(state, _given(value[name]))


def _own(value: dict[str, Any], peers: Mapping[str, Any]) -> Availability | None:
    """What an object says of itself, where it cannot be the state of a business thing."""
    for name, item in value.items():
        state = None
        if isinstance(item, str) and keys.is_word(name):
            known = understand(item)
            alike = sum(name in peer for peer in peers.values() if isinstance(peer, dict)) > 1
            if known and known.strength >= STRONG and known.canonical != "forbidden":
                state = known.availability if alike or known.canonical != "available" else None
        elif isinstance(item, bool):
            said = keys.flag(name, item)
            state = said if _is_sure(name, said, value, peers) else None
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
    explained = any(roles.is_message(key) and isinstance(item, str) for key, item in value.items())
    if explained or "data" in tokens(name):
        return True
    if state.status == Status.AVAILABLE:
        return sum(name in peer for peer in peers.values() if isinstance(peer, dict)) > 1
    return not measures(value)


def _source(key: str, value: dict[str, Any]) -> Availability | None:
    """The state of a connection, which everyday words may give; what is half made is not made."""
    state = state_in(value, WEAK) if roles.is_source(key) else None
    if state is not None and state.status == Status.PARTIAL and not measures(value):
        return Availability(Status.UNAVAILABLE, Cause.NOT_CONNECTED, state.reason)
    return state


def _has_lacking(value: dict[str, Any]) -> bool:
    """Whether an object holds things of which one at least is lacking."""
    states = [state_in(item, WEAK) for item in value.values() if isinstance(item, dict)]
    return any(state and state.status != Status.AVAILABLE for state in states)


def measures(value: Mapping[str, Any]) -> set[bool]:
    """Of the numbers of an object that are no sizes of samples, whether they are other than 0."""
    return {
        item != 0
        for name, item in value.items()
        if type(item) in (int, float) and not roles.is_size(name)
    }


def _given(value: Any) -> set[bool]:
    """Whether a value that is there is other than 0; nothing where it is null."""
    return set() if value is None else {value != 0}


def siblings(answer: AnswerContext, given: dict[str, Any], path: str, pattern: str) -> set[str]:
    """Read the keys that speak of one beside them (``revenueReason``); those that did."""
    names = {roles.fold(name): name for name in reversed(given) if name[:1] not in "_@$"}
    spoken: set[str] = set()
    for key, value in given.items():
        ending = _ending(key, value)
        name = names.get(ending[0]) if ending else None
        if key[:1] in ("_", "@", "$") and key[1:] in given and isinstance(value, str | dict):
            ending, name = ("", "reason" if isinstance(value, str) else "statement"), key[1:]
        if ending is None or name is None or name == key or roles.is_business(name):
            continue
        state = (
            state_in(value, WEAK) or _coded(value)
            if isinstance(value, dict)
            else sibling_state(ending[1], value, given[name])
        )
        if state is not None:
            spoken.add(key)
            target = f"{pattern}.{name}" if pattern else name
            answer.add("field", target, state, path + key_step(key), "sibling", value)
    return spoken


def _coded(value: dict[str, Any]) -> Availability | None:
    """The state that codes further down in a statement give, as in a coding or an extension."""
    known = best(words_in(value))
    return known.availability if known else None


def _ending(key: str, value: Any) -> tuple[str, str] | None:
    """The name that a key speaks of and what it says of it, if its value can say anything."""
    if isinstance(value, dict) and roles.is_holder(key):
        return roles.fold(tokens(key)[:-1]), "statement"
    return keys.suffix(key) if isinstance(value, bool | str) else None


def sibling_state(kind: str, value: bool | str, of: Any) -> Availability | None:
    """What a key says of another whose value is given, if it is about data."""
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
