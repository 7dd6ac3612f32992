"""The parts of a statement: its state, its words, the size of its sample, its moment."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from aatoolkit.availability import Availability, Cause, Status
from aatoolkit.availability.detect import keys, roles
from aatoolkit.availability.detect.vocabulary import because, in_prose, tokens, understand

_DEEPEST = 4
_CAUSES = ("not_connected", "not_configured", "forbidden", "pending", "insufficient_sample")
"""What a sentence is believed to say of the cause; for more it takes a word of its own."""


def state_in(given: Mapping[str, Any], least: int) -> Availability | None:
    """The state an object gives by a word or a flag among its own keys."""
    reason = reason_in(given)
    for name, value in given.items():
        if isinstance(value, str) and keys.is_absence(name):
            return because(Availability(Status.UNAVAILABLE), value)
        if isinstance(value, str) and (keys.is_word(name) or roles.fold(name) == "value"):
            known = understand(value)
            if known and known.strength >= least:
                if reason == value:
                    return known.availability
                return explained(known.availability, given)
    flags = [keys.flag(n, v) for n, v in given.items() if isinstance(v, bool)]
    told = [state for state in flags if state is not None]
    denials = [state for state in told if state.status != Status.AVAILABLE]
    if told:
        return explained((denials or told)[0], given)
    return None


def words_in(value: Any, depth: int = 0) -> Iterator[str]:
    """The codes that a statement gives, however deep: in a coding, in extensions, in details."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, list) and depth < _DEEPEST:
        for item in value[:_DEEPEST]:
            yield from words_in(item, depth + 1)
    elif isinstance(value, dict) and depth < _DEEPEST:
        for name, item in value.items():
            coded = {*tokens(name)} & {"code", "reason", "status", "state"}
            if isinstance(item, dict | list) or coded or roles.is_reason(name):
                yield from words_in(item, depth + 1)


def reason_in(given: Mapping[str, Any]) -> str | None:
    """The words for a state, among the keys of an object."""
    found = [v for k, v in given.items() if roles.is_reason(k) and isinstance(v, str) and v]
    prose = [text for text in found if " " in text]
    return next(iter(found if not prose or found[0] in prose else prose), None)


def explained(state: Availability, given: Mapping[str, Any]) -> Availability:
    """A state with the words beside it; a reason among them names the cause of a bare absence.

    Examples
    --------
    >>> denied = Availability(Status.UNAVAILABLE)
    >>> explained(denied, {"reason": "Search Console is not connected."}).cause
    <Cause.NOT_CONNECTED: 'not_connected'>
    >>> explained(denied, {"message": "Not enough data"}).cause
    """
    told = because(state, reason_in(given))
    reasons = (v for k, v in given.items() if roles.is_cause(k) and isinstance(v, str))
    for text in reasons if told.cause is None and told.status == Status.UNAVAILABLE else ():
        known = in_prose(text)
        if known and known.canonical in _CAUSES:
            return Availability(told.status, known.availability.cause, told.reason)
    return told


def size_in(given: Mapping[str, Any]) -> int | None:
    """The number of observations, among the keys of a statement."""
    sizes = (v for k, v in given.items() if roles.is_size(k) and type(v) is int)
    return next(sizes, None)


def moment_in(given: Mapping[str, Any]) -> str | None:
    """The moment up to which a statement holds, among its keys."""
    moments = (v for k, v in given.items() if roles.is_moment(k) and isinstance(v, str))
    return next(moments, None)


def said(value: bool, key: str) -> Availability:
    """What true or false mean under a key: support, connection or plain availability."""
    text = " ".join(part for part in tokens(key))
    if value:
        return Availability(Status.AVAILABLE)
    if any(word in text for word in ("support", "expose", "capabilit")):
        return Availability(Status.NOT_APPLICABLE, Cause.NOT_SUPPORTED)
    if "connect" in text or "integrat" in text:
        return Availability(Status.UNAVAILABLE, Cause.NOT_CONNECTED)
    if "configur" in text:
        return Availability(Status.UNAVAILABLE, Cause.NOT_CONFIGURED)
    return Availability(Status.UNAVAILABLE)
