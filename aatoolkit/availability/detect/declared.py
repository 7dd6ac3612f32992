"""Read a response by the rules of a known service: an object, a map, a header, or rows."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any, NamedTuple

from aatoolkit.availability.detect.entries import Entry, add_entry
from aatoolkit.availability.detect.facts import Facts, Hint, raw
from aatoolkit.availability.detect.words import (
    EMPTY,
    because,
    denial,
    flag,
    in_prose,
    name_of,
    read_word,
    state_of_flag,
    subject,
    understand,
)
from aatoolkit.availability.status import UNKNOWN, Availability, Status, combine
from aatoolkit.jsontree.paths import Each, Entries, Field, key_step, parse_pattern
from aatoolkit.jsontree.vectors import MISSING, Vector
from aatoolkit.sections.availability_rule import REFERENCE, Rule, word_of

Names = tuple[str, ...]

_PLAIN = frozenset({REFERENCE.status, REFERENCE.engines, REFERENCE.fields, "state"})
"""Names of fields that tell nothing of what is in them: what is above them does."""

_NOT_KNOWN = "a word that the rule of this place does not know"


class Seen(NamedTuple):
    """A value at the place of a rule: what it is about, the fields on the way, and its path."""

    scope: str
    target: str | None
    value: Any
    names: Names
    path: str


def read_rules(answer: Facts, rules: tuple[Rule, ...], headers: Mapping[str, str]) -> bool:
    """Read what rules describe; return whether general rules are to be left out.

    Only a rule about an object covers the whole response; one about rows, a map or a header
    adds to what the general rules find.
    """
    is_whole = False
    for rule in rules or (REFERENCE,):
        before = len(answer.signals)
        if rule.kind == "object":
            stated = rule.find(answer.document)
            if stated is not None and (rules or rule.is_whole(stated)):
                _read_object(answer, rule, stated)
                is_whole |= len(answer.signals) > before
            continue
        _read_places(answer, rule, [*_places(answer, rule, headers)])
        answer.signals[before:] = [
            replace(signal, rule=rule.name) for signal in answer.signals[before:]
        ]
    return is_whole


def state_by(rule: Rule, value: Any, names: Names, reason: object = None) -> Availability | None:
    """The state that a value means by a rule; None where nothing is stated.

    That is by the rule's words, as a word that is known, or as a flag whose name is known. What
    has no meaning of these is unknown, and keeps the value as its reason.

    Parameters
    ----------
    rule : Rule
        With the words of the service.
    value : object
        A word, a flag, a code, or an object of the rule with one.
    names : tuple of str
        The fields on the way to the value, the last one last.
    reason : object
        The service's reason.

    Examples
    --------
    >>> rule = Rule(words={"green": "available", True: "not_run"})
    >>> str(state_by(rule, "green", ("light",))), str(state_by(rule, True, ("light",)))
    ('available', 'unavailable (not run)')
    >>> str(state_by(rule, False, ("light",))), str(state_by(rule, False, ("hasData",)))
    ('unknown: False', 'unavailable')
    """
    if isinstance(value, dict):
        return state_by(rule, value.get(rule.status), (*names, rule.status), value.get(rule.reason))
    if value is None or value is MISSING or isinstance(value, list | float):
        return None
    text = word_of(value)
    word = rule.words.get(text, rule.words.get(text.lower()))
    if word is None and isinstance(value, bool):
        name = next((name for name in reversed(names) if name not in _PLAIN), "")
        state = flag(name, value)
        if state is None and subject(name) > 0 and denial(name) is None:
            state = state_of_flag(value, name)
        if state is not None:
            return because(state, reason if isinstance(reason, str) and reason else None)
    sentence = in_prose(text) if word is None and " " in text.strip() else None
    if sentence is not None and understand(text) is None:
        return sentence.because(text)
    return read_word(value if word is None else word, reason)


def _places(answer: Facts, rule: Rule, headers: Mapping[str, str]) -> Iterator[Seen]:
    """Yield the values at the place of a rule about a header, a map or rows."""
    if rule.kind == "header":
        for name, text in headers.items():
            if name.lower() == rule.header:
                yield Seen("section", None, text, (rule.header,), f"header {rule.header}")
        return
    if rule.kind == "map":
        value, path, names = answer.document, "$", (*rule.steps,)
        for name in names:
            value, path = (
                value.get(name) if isinstance(value, dict) else None,
                path + key_step(name),
            )
        for name, item in value.items() if isinstance(value, dict) else ():
            yield Seen("entry", name, item, names, path + key_step(name))
        return
    whole = answer.whole.values if answer.whole else Vector.of(answer.document)
    *above, last = parse_pattern(rule.at)
    rows = whole.descend([*above, last] if isinstance(last, Each) else above)
    vector, names = (rows.field(last.name), (last.name,)) if isinstance(last, Field) else (rows, ())
    for at, item in enumerate(vector.values):
        target = rows.path(at).removeprefix("$").removeprefix(".")
        if isinstance(last, Entries) and isinstance(item, dict):
            for name, inner in item.items():
                yield Seen(
                    "part", target.rpartition(".")[0], inner, (), vector.path(at) + key_step(name)
                )
        elif type(item) in (str, int, bool):
            record = rows.value(at)
            named = name_of(record) if rule.of == "engine" and isinstance(record, dict) else None
            scope, about = named or (("section", None) if rule.of else ("row", target))
            yield Seen(scope, about, item, names, vector.path(at))


def _read_places(answer: Facts, rule: Rule, places: list[Seen]) -> None:
    # As keys, 1 and True are the same.
    memory: dict[tuple[type, str], Availability | None] = {}
    states = []
    for place in places:
        key = (type(place.value), repr(place.value))
        if key not in memory:
            memory[key] = _understood(answer, rule, place)
        states.append(state := memory[key])
        if state is None:
            continue
        if place.scope == "entry":
            add_entry(answer, Entry(place.target or "", rule.of, place.value, place.path), state)
        elif place.scope == "part":
            # What an engine lacks is missing of its row, which others measure.
            lacking = replace(state, status=Status.PARTIAL)
            if state.status in EMPTY:
                answer.add("row", place.target, lacking, place.path, rule.name, place.value)
        else:
            answer.add(place.scope, place.target, state, place.path, rule.name, place.value)
    known = [state for state in states if state is not None]
    of_rows = rule.kind == "rows" and not rule.of and True not in answer.numbers
    if of_rows and known and all(state and state.status in EMPTY for state in states):
        answer.add("section", None, combine(known), places[0].path, rule.name, places[0].value)
    if rule.kind == "map" and rule.of == "engine" and known and len(known) == len(states):
        # A map of each engine is one of the whole, which the engines add up to.
        path = "$" + "".join(map(key_step, rule.steps))
        value = {place.target: place.value for place in places}
        answer.add("section", None, combine(known), path, rule.name, value)


def _understood(answer: Facts, rule: Rule, place: Seen) -> Availability | None:
    """The state that a value means; None for one that is not known, which is pointed out."""
    state = state_by(rule, place.value, place.names)
    if state is None or state.status != Status.UNKNOWN:
        return state
    # Of two values of a flag, the one that is given a word says that the other is not that.
    if not isinstance(place.value, bool) or not {"true", "false"} & {*rule.words}:
        hint = Hint(place.path, raw(place.value), _NOT_KNOWN)
        answer.unread.setdefault((rule.at, word_of(place.value)), hint)
    return None


def _read_object(answer: Facts, rule: Rule, stated: Mapping[str, Any]) -> None:
    names = (*rule.steps,)
    at = "$" + "".join(map(key_step, names))
    listed = []
    if rule.status in stated:
        own = names if rule.is_bare(answer.document) else (*names, rule.status)
        listed.append(Seen("section", None, stated, own, at))
    for scope, name in (("field", rule.fields), ("engine", rule.engines)):
        narrower = stated.get(name)
        for target, state in narrower.items() if isinstance(narrower, dict) else ():
            given = state if isinstance(state, dict) else {rule.status: state}
            inner = (*names, name, *((rule.status,) if given is state else ()))
            listed.append(
                Seen(scope, target, given, inner, f"{at}{key_step(name)}{key_step(target)}")
            )
    for scope, target, given, inner, path in listed:
        word, size, as_of = map(given.get, (rule.status, rule.sample_size, rule.as_of))
        size = size if type(size) is int else None
        as_of = as_of if isinstance(as_of, str) else None
        state = state_by(rule, word, inner, given.get(rule.reason)) or UNKNOWN
        answer.add(scope, target, state, path, rule.name, given, size=size, as_of=as_of)
