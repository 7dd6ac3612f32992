"""Statements: what stands under a key that says availability, in whatever shape."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from aatoolkit.availability.detect import keys, roles
from aatoolkit.availability.detect.context import Answer
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
from aatoolkit.availability.detect.parts import explained, said, state_in
from aatoolkit.availability.detect.phrases import STRONG, WEAK
from aatoolkit.availability.detect.vocabulary import understand
from aatoolkit.jsontree.vectors import step


def read(answer: Answer, key: str, value: Any, place: Place, beside: Mapping[str, Any]) -> bool:
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


def _word(answer: Answer, key: str, value: str, place: Place, beside: Mapping[str, Any]) -> None:
    known = understand(value)
    least = WEAK if keys.subject(key) == keys.STATED else STRONG
    if known and known.strength >= least:
        add(answer, place, explained(known.availability, beside), "statement", value)
    elif keys.wants_word(key) and place[0] is None and not is_other(value):
        add(answer, place, unknown(value, place[1]), "statement", value)


def _object(answer: Answer, key: str, value: dict[str, Any], target: str | None, path: str) -> None:
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
        at = path + step(name)
        scope = roles.speaks_of(name)
        if isinstance(item, list):
            if not denied(answer, name, item, at, trusted=True):
                listed = [(n, s or scope, v, p) for n, s, v, p in records(item, at)]
                entries_of(answer, name, listed, trusted=True)
        elif scope is not None:
            listed = [(n, scope, v, at + step(n)) for n, v in item.items()]
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
            (name, scope, item, path + step(name))
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
