"""States: what a value means under a key, be it a word, a flag, an object, a count or a code.

Numbers are metrics nearly everywhere, so counts are believed only under a key that is about
data: ``dataCoverage``, ``sampling``, ``_shards``, ``suppressedRows``.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any

from aatoolkit._util.lexicon import ends, fits, is_whole, names, patterns, spaced, tokens, words
from aatoolkit.availability.detect.facts import weighed
from aatoolkit.availability.detect.words import (
    ABSENT,
    AVAILABLE,
    PARTIAL,
    STRONG,
    WEAK,
    WORDS,
    because,
    best,
    flag,
    flag_of_nothing,
    in_prose,
    is_absence,
    is_word,
    reason_in,
    understand,
)
from aatoolkit.availability.status import Availability, Status

_DEEPEST = 4
_CAUSES = ("not_connected", "not_configured", "forbidden", "pending", "insufficient_sample")
"""Causes that a sentence may name; for others it takes a word of its own."""

_DENIAL = re.compile(r"(?i)\b(not|no|never|none|without|cannot)\b|n't\b")


def state_in(given: Mapping[str, Any], least: int = WEAK) -> Availability | None:
    """The state that an object gives by a word or a flag of its own; None if it gives none."""
    reason = reason_in(given)
    for name, value in given.items():
        if not isinstance(value, str):
            continue
        if value.strip() and is_absence(name):
            return because(ABSENT, value)
        word = understand(value) if is_word(name) or is_whole(name, "one_value") else None
        if word and word.strength >= least:
            return word.availability if reason == value else explained(word.availability, given)
    flags = [flag(name, value) for name, value in given.items() if isinstance(value, bool)]
    states = [state for state in flags if state is not None]
    denials = [state for state in states if state.status != Status.AVAILABLE]
    return explained((denials or states)[0], given) if states else None


def state_of(value: Any, key: str) -> Availability | None:
    """The state that an entry of a map means, under the key of the map; None if none."""
    if isinstance(value, bool):
        return state_of_flag(value, key)
    if isinstance(value, str):
        word = understand(value)
        return word.availability if word else None
    if isinstance(value, dict):
        state = state_in(value) or coverage(key, value, listed=True)
        flags = [item for item in value.values() if isinstance(item, bool)]
        if state is None and len(flags) == 1:
            return explained(state_of_flag(flags[0], key), value)
        return state
    return None


def state_of_flag(value: bool, key: str) -> Availability:
    """The state that true or false means under a key: support, connection or availability."""
    if value:
        return AVAILABLE
    stems = ((word, stem) for (word, _), stem in patterns("stem").items())
    return Availability(*WORDS[next(word for word, stem in stems if stem.match(spaced(key)))])


def explained(state: Availability, given: Mapping[str, Any]) -> Availability:
    """Add the words beside a state; a reason among them names the cause of a bare absence.

    A flag that is fine beside a sentence that denies is in doubt: what an engine supports it need
    not have measured.

    Examples
    --------
    >>> explained(ABSENT, {"reason": "Search Console is not connected."}).cause
    <Cause.NOT_CONNECTED: 'not_connected'>
    >>> explained(ABSENT, {"message": "Not enough data"}).cause
    """
    reason = reason_in(given)
    if state.status == Status.AVAILABLE and reason and " " in reason:
        word = in_prose(reason)
        if word and word.canonical != "unavailable":
            return word.because(reason)
        doubted = Availability(Status.UNKNOWN, None, reason)
        return doubted if _DENIAL.search(reason) else because(state, reason)
    state = because(state, reason)
    for key, text in given.items() if state.cause is None and state.status == "unavailable" else ():
        word = in_prose(text) if isinstance(text, str) and ends(key, "cause") else None
        if word and word.canonical in _CAUSES:
            return replace(state, cause=word.availability.cause)
    return state


def words_in(value: Any, depth: int = 0) -> Iterator[str]:
    """Yield the codes in a statement, however deep: in a coding, extensions or details."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, list) and depth < _DEEPEST:
        for item in value[:_DEEPEST]:
            yield from words_in(item, depth + 1)
    elif isinstance(value, dict) and depth < _DEEPEST:
        for name, item in value.items():
            coded = {*tokens(name)} & {"code", "reason", "status", "state"}
            if isinstance(item, dict | list) or coded or ends(name, "reason"):
                yield from words_in(item, depth + 1)


def measures(given: Mapping[str, Any]) -> set[bool]:
    """The truth values of an object's numbers: whether any is not 0, and whether any is 0."""
    return {
        item != 0
        for name, item in given.items()
        if type(item) in (int, float) and not is_whole(name, "size")
    }


def truth(value: Any) -> set[bool]:
    """The truth value of a value that is there, as a set; empty where it is null."""
    return set() if value is None else {value != 0}


def state_of_sibling(kind: str, value: Any, of: Any) -> Availability | None:
    """The state that a key gives to another whose value is given; None if none.

    Parameters
    ----------
    kind : str
        What the key's ending states: ``available``, ``status``, ``reason``, ``denial``, ``part``.
    value, of : object
        What the key holds, and what the other does.
    """
    if isinstance(value, dict):
        # The codes may be further down, as in a coding or an extension.
        word = best(words_in(value))
        state = state_in(value) or (word.availability if word else None)
        texts = (text for text in value.values() if isinstance(text, str) and text)
        text = reason_in(value) or next(texts, None)
        absent = state is None and kind == "reason" and of is None and text
        return Availability(Status.UNAVAILABLE, None, text) if absent else state
    if isinstance(value, bool):
        if kind == "part":
            return PARTIAL if value and of is not None else None
        if kind == "denial":
            return ABSENT if value and of is None else None
        return AVAILABLE if value else ABSENT
    word = understand(value)
    if word and (word.strength >= STRONG or of is None):
        return weighed(word.because(value if " " in value.strip() else None), truth(of))
    if kind == "reason" and of is None and value.strip():
        return explained(ABSENT, {"reason": value})
    return None


def state_beside_value(given: Mapping[str, Any]) -> Availability | None:
    """The state beside a value, as in ``{"value": null, "status": "not_connected"}``."""
    name = next((name for name in ("value", "amount", "current") if name in given), None)
    if name is None:
        return None
    rest = {key: item for key, item in given.items() if key != name}
    state, reason = state_in(rest), reason_in(rest)
    if state is None and given[name] is None:
        flags = (flag_of_nothing(k, v) for k, v in rest.items() if isinstance(v, bool))
        state = next(filter(None, flags), because(ABSENT, reason) if reason else None)
    return state and weighed(state, truth(given[name]))


# --- parts and wholes ------------------------------------------------------------------------


def coverage(key: str, value: Mapping[str, Any], *, listed: bool = False) -> Availability | None:
    """The state that a part and a whole mean, ``{"observed": 22, "expected": 30}``; or None.

    ``listed`` if the object is the entry of a list that is about availability.

    Examples
    --------
    >>> coverage("_shards", {"total": 5, "failed": 2}).status
    <Status.PARTIAL: 'partial'>
    >>> coverage("brandCoverage", {"observed": 12, "total": 40})
    """
    about = {*tokens(key)}
    if about <= words("without") and any((_number(item) or 0) > 0 for item in value.values()):
        return PARTIAL
    covers = "coverage" in about and names(key, "part_data")
    is_about = (names(key, "part_about") or covers) and about <= words(
        "part_about", "part_data"
    ) | {"coverage"}
    if not listed and not is_about:
        return None
    if any(loss(f"{key} {name}", item) or loss(name, item) for name, item in value.items()):
        return PARTIAL
    parts, wholes = _numbers(value, "part"), _numbers(value, "whole")
    sizes = _numbers(value, "sample_size") if about & {"sample", "sampling"} else {}
    # A number may have the name alone of which another is the whole: ``runs``.
    named = {tokens(name): _number(item) for name, item in [*value.items()][::-1]}
    plain = {of: part for of in wholes if of and (part := named.get(of)) is not None}
    for of, part in {**sizes, **plain, **parts}.items() if wholes else ():
        whole = wholes.get(of, wholes.get((), next(iter(wholes.values()))))
        if 0 <= part <= whole and whole > 0:
            return Availability(status_of_part(part, whole))
    lost = wholes and any(number > 0 for number in _numbers(value, "part_lost").values())
    return PARTIAL if lost else None


def status_of_part(part: float, whole: float = 1) -> Status:
    """The status of a part measured of a whole: none, a part, or all."""
    if part == whole:
        return Status.AVAILABLE
    return Status.PARTIAL if part else Status.UNAVAILABLE


def _numbers(value: Mapping[str, Any], *concepts: str) -> dict[tuple[str, ...], float]:
    """The numbers whose names contain a word of some concepts, by the rest of their names."""
    wanted = words(*concepts)
    found: dict[tuple[str, ...], float] = {}
    for name, item in value.items():
        parts, number = tokens(name), _number(item)
        if number is not None and {*parts} & wanted:
            rest = tuple(part for part in parts if part not in wanted | words("part_form"))
            found.setdefault(rest, number)
    return found


def _number(item: Any) -> float | None:
    if type(item) in (int, float):
        return float(item)
    return float(item) if isinstance(item, str) and re.fullmatch(r"\d{1,15}", item) else None


def loss(key: str, value: Any) -> Availability | None:
    """The state ``partial``, if a count, list or moment under a key means that data lack.

    Examples
    --------
    >>> loss("suppressedRows", 3).status, loss("first_incomplete_date", "2026-11-18").status
    (<Status.PARTIAL: 'partial'>, <Status.PARTIAL: 'partial'>)
    >>> loss("missingPages", ["/pricing"]), loss("suppressedRows", 0)
    (None, None)
    """
    number = value if type(value) in (int, float) else 0
    some = number > 0 or (isinstance(value, list) and len(value) > 0)
    most = 100 if names(key, "percent") else 1
    sampled = 0 < number < most and fits(key, "sample_rate")
    lost = some and fits(spaced(key).removesuffix(" count"), "loss")
    begun = isinstance(value, str) and value != "" and fits(key, "since")
    return PARTIAL if sampled or lost or begun else None
