"""Read an answer by the rules of a known service: an object, a map, a header, or rows."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from aatoolkit.availability import UNKNOWN, Availability, Status, combine
from aatoolkit.availability.detect.context import AnswerContext, Hint, raw
from aatoolkit.availability.detect.keys import denial, flag, subject
from aatoolkit.availability.detect.maps import entry
from aatoolkit.availability.detect.parts import state_of_flag
from aatoolkit.availability.detect.vocabulary import because, read_word
from aatoolkit.jsontree.paths import Field, key_step, parse_pattern
from aatoolkit.jsontree.vectors import MISSING, Vector
from aatoolkit.sections.availability_rule import REFERENCE, Rule, word_of

Names = tuple[str, ...]

_PLAIN = frozenset({REFERENCE.status, REFERENCE.engines, REFERENCE.fields, "state"})
"""Names of fields that tell nothing of what is in them: what is above them does."""

_NOT_KNOWN = "a word that the rule of this place does not know"


def read_rules(answer: AnswerContext, rules: tuple[Rule, ...], headers: Mapping[str, str]) -> bool:
    """Read what rules describe; return whether general rules are to be left out.

    Only a rule about an object covers the whole answer; one about rows, a map or a header
    adds to what the general rules find.
    """
    is_whole = False
    for rule in rules or (REFERENCE,):
        before = len(answer.found)
        if rule.kind != "object":
            read = {"header": _header, "map": _map, "rows": _rows}[rule.kind]
            read(answer, rule, headers)
            answer.found[before:] = [replace(one, rule=rule.name) for one in answer.found[before:]]
            continue
        stated = rule.find(answer.document)
        if stated is not None and (rules or rule.is_whole(stated)):
            _object(answer, rule, stated)
            is_whole |= len(answer.found) > before
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
        known = _flag(value, names)
        if known is not None:
            return because(known, reason if isinstance(reason, str) and reason else None)
    return read_word(value if word is None else word, reason)


def _flag(value: bool, names: Names) -> Availability | None:
    """The state that a flag means by its name; None if the name is not known."""
    named = [name for name in names if name not in _PLAIN]
    name = named[-1] if named else ""
    known = flag(name, value)
    if known is None and subject(name) > 0 and denial(name) is None:
        return state_of_flag(value, name)
    return known


def _understood(
    answer: AnswerContext, rule: Rule, value: Any, names: Names, path: str
) -> Availability | None:
    """The state that a value means; None for one that is not known, which is pointed out."""
    state = state_by(rule, value, names)
    if state is None or state.status != Status.UNKNOWN:
        return state
    # Of two values of a flag, the one that is given a word says that the other is not that.
    if not isinstance(value, bool) or not {"true", "false"} & {*rule.words}:
        answer.unread.setdefault((rule.at, word_of(value)), Hint(path, raw(value), _NOT_KNOWN))
    return None


def _header(answer: AnswerContext, rule: Rule, headers: Mapping[str, str]) -> None:
    wanted = rule.header
    for name, text in headers.items():
        path = f"header {wanted}"
        if name.lower() == wanted:
            state = _understood(answer, rule, text, (wanted,), path)
            if state is not None:
                answer.add("section", None, state, path, rule.name, text)


def _map(answer: AnswerContext, rule: Rule, _: Mapping[str, str]) -> None:
    given, path, names = answer.document, "$", (*rule.steps,)
    for name in names:
        given, path = given.get(name) if isinstance(given, dict) else None, path + key_step(name)
    states = []
    for name, value in given.items() if isinstance(given, dict) else ():
        state = _understood(answer, rule, value, names, path + key_step(name))
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
    states: dict[tuple[type, Any], Availability | None] = {}
    for at, value in enumerate(vector.values):
        if type(value) not in (str, int, bool):
            continue
        # As keys, 1 and True are the same.
        kind = (type(value), value)
        if kind not in states:
            states[kind] = _understood(answer, rule, value, (last.name,), vector.path(at))
        state = states[kind]
        if state is not None:
            target = rows.path(at).removeprefix("$").removeprefix(".")
            answer.add("row", target, state, vector.path(at), rule.name, value)


def _object(answer: AnswerContext, rule: Rule, stated: Mapping[str, Any]) -> None:
    names = (*rule.steps,)
    at = "$" + "".join(map(key_step, names))
    if rule.status in stated:
        own = names if rule.is_bare(answer.document) else (*names, rule.status)
        _add(answer, rule, "section", None, stated, at, own)
    for scope, name in (("field", rule.fields), ("engine", rule.engines)):
        narrower = stated.get(name)
        for target, state in narrower.items() if isinstance(narrower, dict) else ():
            given = state if isinstance(state, dict) else {rule.status: state}
            inner = (*names, name, *((rule.status,) if given is state else ()))
            path = f"{at}{key_step(name)}{key_step(target)}"
            _add(answer, rule, scope, target, given, path, inner)


def _add(
    answer: AnswerContext,
    rule: Rule,
    scope: str,
    target: str | None,
    given: Mapping[str, Any],
    path: str,
    names: Names,
) -> None:
    word, size, as_of = map(given.get, (rule.status, rule.sample_size, rule.as_of))
    size = size if type(size) is int else None
    as_of = as_of if isinstance(as_of, str) else None
    state = state_by(rule, word, names, given.get(rule.reason)) or UNKNOWN
    answer.add(scope, target, state, path, rule.name, given, size=size, as_of=as_of)
