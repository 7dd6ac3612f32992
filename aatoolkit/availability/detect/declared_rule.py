"""Read an answer by the rule of a known service: an object, a map, a header, or rows."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from aatoolkit.availability import Availability, Status, combine
from aatoolkit.availability.detect.context import AnswerContext
from aatoolkit.availability.detect.maps import entry
from aatoolkit.availability.detect.vocabulary import read_word
from aatoolkit.jsontree.paths import Field, key_step, parse_pattern
from aatoolkit.jsontree.vectors import MISSING, Vector
from aatoolkit.sections.availability_rule import REFERENCE, Rule


def read_rule(answer: AnswerContext, rule: Rule | None, headers: Mapping[str, str]) -> bool:
    """Read what a rule describes; return whether general rules are to be left out.

    Only a rule about an object covers the whole answer; one about rows, a map or a header
    adds to what the general rules find.
    """
    known = rule or REFERENCE
    before = len(answer.found)
    if known.kind != "object":
        read = {"header": _header, "map": _map, "rows": _rows}[known.kind]
        read(answer, known, headers)
        answer.found[before:] = [replace(each, rule=known.name) for each in answer.found[before:]]
        return False
    stated = known.find(answer.document)
    if stated is None or (rule is None and not known.is_whole(stated)):
        return False
    _object(answer, known, stated)
    return len(answer.found) > before


def _state(value: Any, rule: Rule, reason: object = None) -> Availability | None:
    """The state that a value means by a rule's words or as a word itself; None if none."""
    if isinstance(value, dict):
        return _state(value.get(rule.status), rule, value.get(rule.reason))
    if value is None or value is MISSING or isinstance(value, list | float):
        return None
    word = rule.words.get(str(value), rule.words.get(str(value).lower(), value))
    if isinstance(word, bool):
        word = "available" if word else "unavailable"
    state = read_word(word, reason)
    return None if state.status == Status.UNKNOWN else state


def _header(answer: AnswerContext, rule: Rule, headers: Mapping[str, str]) -> None:
    wanted = rule.header
    for name, text in headers.items():
        state = _state(text, rule) if name.lower() == wanted else None
        if state is not None:
            answer.add("section", None, state, f"header {wanted}", rule.name, text)


def _map(answer: AnswerContext, rule: Rule, _: Mapping[str, str]) -> None:
    given, path = answer.document, "$"
    for name in rule.steps:
        given, path = given.get(name) if isinstance(given, dict) else None, path + key_step(name)
    states = []
    for name, value in given.items() if isinstance(given, dict) else ():
        state = _state(value, rule)
        states.append(state)
        if state is not None:
            entry(answer, name, rule.of, state, path + key_step(name), value)
    known = [state for state in states if state is not None]
    if rule.of == "engine" and known and len(known) == len(states):
        # A map of each engine is one of the whole, which the engines add up to.
        answer.add("section", None, combine(known), path, rule.name, given)


def _rows(answer: AnswerContext, rule: Rule, _: Mapping[str, str]) -> None:
    whole = answer.whole.values if answer.whole else Vector.of(answer.document)
    *above, last = parse_pattern(rule.at)
    if not isinstance(last, Field):
        return
    rows = whole.descend(above)
    vector = rows.field(last.name)
    states = {
        value: state
        for value in {value for value in vector.values if type(value) in (str, int, bool)}
        if (state := _state(value, rule)) is not None
    }
    for at, value in enumerate(vector.values if states else ()):
        if type(value) in (str, int, bool) and value in states:
            target = rows.path(at).removeprefix("$").removeprefix(".")
            answer.add("row", target, states[value], vector.path(at), rule.name, value)


def _object(answer: AnswerContext, rule: Rule, stated: Mapping[str, Any]) -> None:
    at = "$" + "".join(map(key_step, rule.steps))
    if rule.status in stated:
        _add(answer, rule, "section", None, stated, at)
    for scope, name in (("field", rule.fields), ("engine", rule.engines)):
        narrower = stated.get(name)
        for target, state in narrower.items() if isinstance(narrower, dict) else ():
            given = state if isinstance(state, dict) else {rule.status: state}
            _add(answer, rule, scope, target, given, f"{at}{key_step(name)}{key_step(target)}")


def _add(
    answer: AnswerContext,
    rule: Rule,
    scope: str,
    target: str | None,
    given: Mapping[str, Any],
    path: str,
) -> None:
    word, size, as_of = map(given.get, (rule.status, rule.sample_size, rule.as_of))
    if isinstance(word, bool):
        word = "available" if word else "unavailable"
    word = rule.words.get(word, word) if isinstance(word, str) else word
    size = size if type(size) is int else None
    as_of = as_of if isinstance(as_of, str) else None
    state = read_word(word, given.get(rule.reason))
    answer.add(scope, target, state, path, rule.name, given, size=size, as_of=as_of)
