"""Maps and lists: what is said of fields and engines one by one, in whatever shape."""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Any

from aatoolkit.availability import Availability, Cause, Status
from aatoolkit.availability.detect import keys, roles
from aatoolkit.availability.detect.context import AnswerContext
from aatoolkit.availability.detect.parts import (
    coverage,
    explained,
    moment_in,
    reason_in,
    said,
    size_in,
    state_in,
)
from aatoolkit.availability.detect.phrases import STRONG, WEAK
from aatoolkit.availability.detect.vocabulary import because, read_word, tokens, understand
from aatoolkit.errors import UnknownAvailabilityWarning
from aatoolkit.jsontree.paths import key_step

_WHOLE = {"*", "all", "overall", "section", "default", "total"}

Place = tuple[str | None, str]
"""What a statement is about (None: the section) and the JSON path it stands at."""

Entry = tuple[str, str | None, Any, str]
"""The name of an entry, whether it is a field or an engine if that is known, value and path."""


def add(
    answer: AnswerContext,
    place: Place,
    state: Availability,
    rule: str,
    value: Any,
    given: Mapping[str, Any] | None = None,
) -> None:
    """Keep what is said of the section, or of the field that a place is about."""
    target, path = place
    size, as_of = (size_in(given), moment_in(given)) if given else (None, None)
    scope = "section" if target is None else "field"
    state = answer.weighed(state) if target is None else state
    answer.add(scope, target, state, path, rule, value, size=size, as_of=as_of)


def unknown(word: str, path: str) -> Availability:
    """A word that is not understood: unknown, the word verbatim, and a warning."""
    warnings.warn(
        f"the word {word!r} of availability is not known @ {path}; it is read as unknown",
        UnknownAvailabilityWarning,
        stacklevel=2,
    )
    return read_word(word)


def is_other(value: str) -> bool:
    """Whether a text is no word at all, or one of trade."""
    no_word = not any(part.isalpha() for part in tokens(value))
    return no_word or roles.is_stock(value) or len(value) > 60


def records(listed: list[Any], path: str) -> list[Entry]:
    """The entries of a list whose every record names a field or an engine."""
    entries: list[Entry] = []
    for at, record in enumerate(listed):
        named = roles.name_of(record) if isinstance(record, dict) else None
        if named is not None:
            entries.append(
                (named[1], named[0] if named[0] == "engine" else None, record, f"{path}[{at}]")
            )
    return entries if len(entries) == len(listed) else []


def entries_of(
    answer: AnswerContext, key: str, entries: Iterable[Entry], *, trusted: bool = False
) -> None:
    """Keep a map from fields or engines to what is said of each, if that is what it is."""
    listed = [entry for entry in entries if entry[2] is not None]
    states = [state_of(value, key) for _, _, value, _ in listed]
    known = [state for state in states if state is not None]
    stated = trusted or keys.subject(key) == keys.STATED
    if not known or (len(known) < len(listed) and not stated):
        return
    if any(type(value) in (int, float) for _, _, value, _ in listed):
        return
    names = [name for name, _, _, _ in listed]
    sure = (
        trusted
        or any(scope for _, scope, _, _ in listed)
        or "data" in tokens(key)
        or any(answer.is_engine(name) or answer.knows(name) for name in names)
        or any(
            isinstance(v, str) and (w := understand(v)) and w.strength >= STRONG
            for _, _, v, _ in listed
        )
    )
    if not sure:
        return
    for (name, scope, value, path), state in zip(listed, states, strict=True):
        if state is not None:
            entry(answer, name, scope, state, path, value)
        elif isinstance(value, str) and not is_other(value):
            entry(answer, name, scope, unknown(value, path), path, value)


def entry(
    answer: AnswerContext, name: str, scope: str | None, state: Availability, path: str, value: Any
) -> None:
    """Keep what is said of one field or engine, or of the section under its own name."""
    given = value if isinstance(value, dict) else {}
    size, as_of = size_in(given), moment_in(given)
    if name == answer.section or (scope is None and name in _WHOLE):
        answer.add("section", None, state, path, "map", value, size=size, as_of=as_of)
    elif scope == "engine" or (scope is None and answer.is_engine(name)):
        answer.add("engine", name, state, path, "map", value, size=size, as_of=as_of)
    else:
        answer.add("field", answer.about(name), state, path, "map", value, size=size, as_of=as_of)


def state_of(value: Any, key: str) -> Availability | None:
    """What an entry of a map says, under the key of the map."""
    if isinstance(value, bool):
        return said(value, key)
    if isinstance(value, str):
        known = understand(value)
        return known.availability if known else None
    if isinstance(value, dict):
        state = state_in(value, WEAK) or coverage(key, value, listed=keys.subject(key) > 0)
        flags = [v for v in value.values() if isinstance(v, bool)]
        if state is None and len(flags) == 1:
            return explained(said(flags[0], key), value)
        return state
    return None


def denied(
    answer: AnswerContext,
    key: str,
    listed: list[Any],
    path: str,
    *,
    trusted: bool = False,
    beside: Mapping[str, Any] | None = None,
) -> bool:
    """A list of what is not available, under a key that says so; whether it is one.

    What stands ``beside`` may hold the reason for all of them.
    """
    scope = roles.speaks_of(key)
    state = keys.denial(key)
    if state is not None and beside:
        state = explained(state, beside)
    if state is None and scope == "engine" and keys.affirms(key):
        state = Availability(Status.AVAILABLE)
    if state is None:
        return False
    before = len(answer.found)
    for at, item in enumerate(listed):
        named = roles.name_of(item) if isinstance(item, dict) else None
        name = item if isinstance(item, str) else named[1] if named else None
        own = scope or (named[0] if named and named[0] == "engine" else None)
        if name is None:
            continue
        kept = "engine" not in (own, scope) and state.status != Status.PARTIAL and not trusted
        if kept and answer.holds(name) and not answer.is_engine(name):
            continue
        if trusted or own or answer.is_engine(name) or answer.knows(name):
            said = explained(state, item) if isinstance(item, dict) else state
            if isinstance(item, dict) and (told := state_in(item, WEAK)) is not None:
                said = told
            kind = "engine" if own == "engine" or (not own and answer.is_engine(name)) else "field"
            target = name if kind == "engine" else answer.about(name)
            answer.add(kind, target, said, f"{path}[{at}]", "list", item)
    return len(answer.found) > before


def named_map(answer: AnswerContext, key: str, value: dict[str, Any], path: str) -> bool:
    """A map whose key names its entries (``engines``, ``nullReasons``) or denies them."""
    parts = tokens(key)
    denial = keys.denial(key)
    entries = [(name, item) for name, item in value.items() if item is not None]
    read = [understand(item) for _, item in entries if isinstance(item, str)]
    before = len(answer.found)
    inner = {n: v for n, v in value.items() if isinstance(v, list) and roles.speaks_of(n)}
    if denial is not None and inner:
        for name, item in inner.items():
            denied(answer, f"{key} {name}", item, path + key_step(name), trusted=True, beside=value)
    elif denial is not None and any(map(roles.is_reason, value)):
        state = explained(denial, value)
        if state.status == Status.UNAVAILABLE and answer.measured:
            state = replace(state, status=Status.PARTIAL)
        add(answer, (None, path), state, "statement", value, value)
    elif denial is not None or parts[-1:] in (("reasons",), ("reason",)):
        for name, item in entries:
            if answer.is_engine(name) or answer.knows(name):
                words = (
                    item
                    if isinstance(item, str)
                    else reason_in(item)
                    if isinstance(item, dict)
                    else None
                )
                known = understand(words) if words else None
                sure = known.availability if known and known.strength >= STRONG else denial
                state = because(sure or Availability(Status.UNAVAILABLE), words)
                entry(answer, name, roles.speaks_of(key), state, path + key_step(name), item)
    elif roles.speaks_of(key) and read and all(read) and len(read) == len(entries):
        entries_of(
            answer,
            key,
            [(n, roles.speaks_of(key), v, path + key_step(n)) for n, v in entries],
            trusted=True,
        )
    return len(answer.found) > before


def abilities(answer: AnswerContext, key: str, value: Mapping[str, Any], path: str) -> bool:
    """What engines can do, feature by feature: ``{"fanouts": {"chatgpt": true}}``."""
    found = False
    for name, item in value.items():
        able = item.items() if isinstance(item, dict) else ()
        if able and all(answer.is_engine(n) and isinstance(can, bool) for n, can in able):
            at = path + key_step(name)
            listed = [(n, "engine", can, at + key_step(n)) for n, can in able]
            entries_of(answer, key, listed, trusted=True)
            found = True
    return found


def engine_lists(
    answer: AnswerContext, lists: Mapping[str, Any], path: str, *, paired: bool = False
) -> bool:
    """Engines listed by what they could do: ``{"with": ["chatgpt"], "without": ["gemini"]}``."""
    named = {name: item for name, item in lists.items() if isinstance(item, list)}
    ids = [engine for item in named.values() for engine in item]
    if not ids or not all(isinstance(each, str) and answer.is_engine(each) for each in ids):
        return False
    states = {name: _listed(name) for name in named}
    lacking = [state for state in states.values() if state and state.status != Status.AVAILABLE]
    if not (lacking or paired):
        return False
    for name, item in named.items():
        state = states[name]
        for at, engine in enumerate(item if state else ()):
            place = path if paired else path + key_step(name)
            answer.add("engine", engine, state or Availability(), f"{place}[{at}]", "list", engine)
    return True


def _listed(name: str) -> Availability | None:
    """What a list under a name says of its engines, among lists of the same kind."""
    if {*tokens(name)} & {"without", "lacking"}:
        return Availability(Status.UNAVAILABLE)
    if keys.affirms(name) or keys.affirms(name, alone=False):
        return Availability(Status.AVAILABLE)
    return keys.denial(name)


def failures(answer: AnswerContext, key: str, value: list[Any], path: str) -> bool:
    """Engines that failed, each record with its error: ``partialFailures``."""
    if not {*tokens(key)} & {"failure", "failures", "errors", "failed", "problems", "outages"}:
        return False
    entries = [each for each in records(value, path) if answer.is_engine(each[0])]
    for name, _, record, at in entries if len(entries) == len(value) else []:
        state = state_in(record, STRONG) or Availability(Status.UNAVAILABLE, Cause.FAILED)
        reason = reason_in(record) or next(
            (v for k, v in record.items() if k != "engine" and isinstance(v, str)), None
        )
        entry(answer, name, "engine", because(state, reason), at, record)
    return bool(value) and len(entries) == len(value)


def named_list(answer: AnswerContext, key: str, value: list[Any], path: str) -> bool:
    """A list of engines or sections that holds no numbers, only what each could report."""
    scope = roles.speaks_of(key)
    entries = records(value, path) if scope else []
    states = [state_of(record, key) for _, _, record, _ in entries]
    # Whether engines are configured is what scope options list; it is not said of an answer.
    if any("configured" in record for _, _, record, _ in entries):
        return False
    measures = any(
        type(item) in (int, float, list) and not roles.is_size(name)
        for _, _, record, _ in entries
        for name, item in record.items()
    )
    lacking = [state for state in states if state and state.status != Status.AVAILABLE]
    about = scope == "engine" or any(n == answer.section or answer.knows(n) for n, *_ in entries)
    if measures or not lacking or not about:
        return False
    entries_of(answer, key, [(n, s or scope, v, p) for n, s, v, p in entries], trusted=True)
    answer.spoken.add(path)
    return True
