"""Rules that find out which data could be measured, in the responses of any service."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import replace
from functools import partial
from itertools import chain
from typing import Any, NamedTuple

from aatoolkit._util.lexicon import (
    ends_with_word_of,
    fold,
    has_word_of,
    is_word_of,
    matches_form,
    spaced,
    tokens,
    words_of,
)
from aatoolkit.availability.detect.facts import DAY, MAX_FIELDS, Facts, Member, Records, States
from aatoolkit.availability.detect.words import (
    ABSENT,
    FAILED,
    PARTIAL,
    PLAIN,
    STATED,
    STATES,
    STATUSES,
    STRONG,
    WEAK,
    Word,
    find_absence_word,
    find_entry_kind,
    find_number_kinds,
    find_reason,
    find_strong_word,
    find_strongest_word,
    find_target,
    find_word,
    find_word_in_text,
    is_code,
    is_state_key,
    may_state_loss,
    names_no_state,
    partial_if_measured,
    rate_key,
    read_absence_code,
    read_object_state,
    read_state_beside_value,
    read_word,
    repeats_question,
    split_key,
    state_of_entry,
    state_of_loss,
    state_of_named_flag,
    state_of_names_under,
    state_of_observation_code,
    state_of_series_flag,
    state_of_sibling,
    with_explanation,
    with_reason,
)
from aatoolkit.availability.status import Availability, Cause, Status
from aatoolkit.availability.subject import after
from aatoolkit.errors import SchemaDriftWarning, warn
from aatoolkit.jsontree.paths import key_step

_MAX_DEPTH = 12


_BUSINESS_WORDS = ("forbidden", "error", "pending", "not_run")
"""Words that are common in business, too; they count only if nothing was measured."""


class Entry(NamedTuple):
    """An item of a JSON object or list with the status of one engine (AI assistant) or field.

    Attributes
    ----------
    name : str
        The engine or field.
    scope : str or None
        Whether ``name`` is an ``engine`` or a ``field``; None if unknown.
    value : object
        The item, such as ``"not_run"``.
    path : str
        The JSON path of the item.
    """

    name: str
    scope: str | None
    value: Any
    path: str


def list_entries(value: Any, path: str, scope: str | None) -> list[Entry]:
    """Return an `Entry` for each item of a dict, of a list of names, or of a list of objects.

    Objects without the name of an engine (AI assistant) or field are left out.
    """
    if isinstance(value, dict):
        return [
            Entry(name, scope, item, path + key_step(name))
            for name, item in value.items()
            if item is not None
        ]
    entries = []
    for index, item in enumerate(value):
        kind_and_name = find_target(item) if isinstance(item, dict) else (None, item)
        if kind_and_name is not None and isinstance(kind_and_name[1], str):
            entry_scope = "engine" if kind_and_name[0] == "engine" else scope
            entries.append(Entry(kind_and_name[1], entry_scope, item, f"{path}[{index}]"))
    return entries


def add_entry(facts: Facts, entry: Entry, state: Availability) -> None:
    """Add a statement (`Signal`): the data named by ``entry`` have the availability ``state``.

    The entry names an engine (AI assistant), a field or the whole response.
    """
    name, scope, value, path = entry
    if name == facts.section or (scope is None and name == "overall"):
        facts.add("section", None, state, path, "map", value)
    elif scope == "engine" or (scope is None and facts.is_engine(name)):
        if state.cause == Cause.PENDING:
            state = partial_if_measured(state, facts.number_kinds)
        facts.add("engine", name, state, path, "map", value)
    else:
        facts.add("field", facts.path_of(name), state, path, "map", value)


def warn_of_unknown_word(facts: Facts, word: str, path: str) -> Availability:
    """Return the availability ``unknown`` for a text; warn the first time that the text occurs."""
    state = read_word(word)
    if all(signal.availability != state for signal in facts.signals):
        warn(
            f"{word!r} seems to state availability @ {path}, and what it means is not known: it is "
            "read as unknown; say what it means in the profile, in a Rule's words=",
            SchemaDriftWarning,
        )
    return state


def read_map_of_states(
    facts: Facts, key: str, entries: list[Entry], *, is_trusted: bool = False
) -> bool:
    """Read entries such as ``{"gemini": "not_run"}``: the status of each engine or field.

    Add a `Signal` (a statement on data) to ``facts`` for each; return whether there are any.
    """
    if any(facts.is_engine(entry.name) for entry in entries):
        # A name beside engines that is no field is an engine, too, though it was not listed.
        entries = [
            entry
            if entry.name == "overall" or facts.has_field(entry.name)
            else entry._replace(scope="engine")
            for entry in entries
        ]
    states = [state_of_entry(entry.value, key) for entry in entries]
    if None in states and not is_trusted and rate_key(key) < STATED:
        return False
    is_sure = (
        is_trusted
        or has_word_of(key, "data")
        or any(
            entry.scope or facts.is_engine(entry.name) or facts.has_field(entry.name)
            for entry in entries
        )
        or find_strongest_word((entry.value for entry in entries), STRONG)
    )
    for entry, state in zip(entries, states, strict=True) if is_sure and any(states) else ():
        if state is not None:
            add_entry(facts, entry, state)
        elif isinstance(entry.value, str) and not names_no_state(entry.value):
            add_entry(facts, entry, warn_of_unknown_word(facts, entry.value, entry.path))
    return bool(is_sure and any(states))


def read_names_without_data(facts: Facts, member: Member, *, is_trusted: bool = False) -> bool:
    """Read the engines (AI assistants) or fields listed under a key such as ``missingFields``.

    Add a `Signal` (a statement on data) to ``facts`` for each; return whether there are any.
    """
    key, value = member.key, member.value
    scope, is_map = find_entry_kind(key), isinstance(value, dict)
    state, is_failure = state_of_names_under(key), False
    if state is not None:
        state = state if is_map else with_explanation(state, member.siblings)
    elif has_word_of(key, "failure"):
        state, is_failure = STATES["error"], True
    elif is_map and matches_form(key, "reasons"):
        state = ABSENT
    else:
        return False
    signal_count_before = len(facts.signals)
    entries = list_entries(value, member.path, scope)
    are_all_known = all(
        facts.is_engine(entry.name) or (is_map and facts.is_null(entry.name)) for entry in entries
    )
    for entry in entries if are_all_known or not is_failure else ():
        is_engine = entry.scope == "engine" or (not entry.scope and facts.is_engine(entry.name))
        is_known_field = is_trusted or (entry.scope and not is_map) or facts.has_field(entry.name)
        must_lack_numbers = not (is_map or is_trusted or state.status == Status.PARTIAL)
        if not is_engine and (
            not is_known_field or (must_lack_numbers and facts.has_number(entry.name))
        ):
            continue
        entry_state = _state_of_entry_without_data(entry, state, is_in_map=is_map or is_failure)
        target = entry.name if is_engine else facts.path_of(entry.name)
        rule = "map" if is_map or is_failure else "list"
        facts.add(
            "engine" if is_engine else "field", target, entry_state, entry.path, rule, entry.value
        )
    return len(facts.signals) > signal_count_before


def _state_of_entry_without_data(
    entry: Entry, state: Availability, *, is_in_map: bool
) -> Availability:
    """Return the availability of one item under a key such as ``missingFields``.

    ``state`` is used if the item itself does not say more.
    """
    item = entry.value
    if isinstance(item, dict):
        own_state = read_object_state(item) or state
        return own_state if own_state.reason else with_reason(own_state, find_reason(item))
    if not is_in_map or not isinstance(item, str):
        return state
    word = find_strong_word([item])
    return with_reason(word.availability if word else state, item)


def read_list_of_states(facts: Facts, member: Member) -> bool:
    """Read a list such as ``[{"engine": "gemini", "status": "not_run"}]``.

    Add a `Signal` (a statement on data) to ``facts`` for each engine or field; return whether there
    are any.
    """
    key, value = member.key, member.value
    scope = find_entry_kind(key)
    entries = list_entries(value, member.path, scope)
    if isinstance(value, dict):
        entry_words = [isinstance(entry.value, str) and find_word(entry.value) for entry in entries]
        is_map = all(entry_words) and not read_object_state(value)
        return is_map and read_map_of_states(facts, key, entries, is_trusted=True)
    records = [entry.value for entry in entries if isinstance(entry.value, dict)]
    # Records on whether engines are configured are scope options, not about this response.
    if any("configured" in record for record in records) or any(map(find_number_kinds, records)):
        return False
    states = [read_object_state(record) for record in records]
    are_named = [entry.name == facts.section or facts.has_field(entry.name) for entry in entries]
    is_any_lacking = any(state and state.status != Status.AVAILABLE for state in states)
    if not is_any_lacking or not (scope == "engine" or any(are_named)):
        return False
    facts.statement_list_paths.add(member.path)
    return read_map_of_states(facts, key, entries, is_trusted=True)


# --- statements ------------------------------------------------------------------------------


def read_statement(facts: Facts, member: Member, *, is_about_all: bool = True) -> bool:
    """Read the value of a key such as ``dataAvailability``, which may be a text, object or list.

    Add a `Signal` to ``facts`` for each statement in it; return whether there are any.
    """
    key, value = member.key, member.value
    signal_count_before = len(facts.signals)
    is_stated = rate_key(key) == STATED or (isinstance(value, dict) and has_word_of(key, "extent"))
    strength = WEAK if is_stated else STRONG
    state, text = None, value
    if isinstance(value, str):
        word = find_word(value)
        if word and word.strength >= strength:
            state = with_explanation(word.availability, member.siblings)
    elif isinstance(value, dict):
        state = read_object_state(value, strength)
        parts = (part.values() for part in value.values() if isinstance(part, dict))
        is_denied = any(item is False for item in chain.from_iterable(parts))
        if is_denied and state and state.status == Status.AVAILABLE:
            state = None  # a part is not
        text = next(
            (item for name, item in value.items() if isinstance(item, str) and is_state_key(name)),
            None,
        )
    if state is None and isinstance(text, str) and strength == WEAK and not names_no_state(text):
        is_state_name = has_word_of(key, "availability") or has_word_of(key, "state")
        state = warn_of_unknown_word(facts, text, member.path) if is_state_name else None
    if state is not None and is_about_all:
        facts.add_about_section(state, member, "statement")
    elif state is not None:
        facts.add("field", member.pattern, state, member.path, "statement", value)
    if isinstance(value, dict):
        _read_statement_items(facts, member, strength, has_state=state is not None)
    elif isinstance(value, list):
        entries = list_entries(value, member.path, find_entry_kind(key))
        record_entries = [entry for entry in entries if isinstance(entry.value, dict)]
        if len(record_entries) == len(value):
            read_map_of_states(facts, key, record_entries, is_trusted=strength == WEAK)
    return len(facts.signals) > signal_count_before


def _read_statement_items(facts: Facts, member: Member, strength: int, *, has_state: bool) -> None:
    """Read the engines (AI assistants) and fields named in an object such as ``dataAvailability``.

    Add a `Signal` (a statement on missing data) to ``facts`` for each.
    """
    key, value = member.key, member.value
    objects = [item for item in value.values() if isinstance(item, dict)]
    are_alike = all(set(item) == set(objects[0]) for item in objects)
    is_of_engines = objects and are_alike and any(map(facts.is_engine, value))
    scope = find_entry_kind(key) or ("engine" if is_of_engines else None)
    for name, item in value.items():
        path = member.path + key_step(name)
        entry_kind = find_entry_kind(name)
        if isinstance(item, list):
            if not read_names_without_data(facts, Member(name, item, path, {}), is_trusted=True):
                read_map_of_states(
                    facts, name, list_entries(item, path, entry_kind), is_trusted=True
                )
        elif isinstance(item, dict):
            state = None if _is_state_or_reason(name) else read_object_state(item)
            is_target = strength == WEAK or scope or facts.is_engine(name) or facts.has_field(name)
            if entry_kind is not None and state is None:
                read_map_of_states(
                    facts, key, list_entries(item, path, entry_kind), is_trusted=True
                )
            elif state is not None and is_target:
                add_entry(facts, Entry(name, scope, item, path), state)
    if not has_state:
        entries = {
            name: item
            for name, item in value.items()
            if not (isinstance(item, dict | list) or _is_state_or_reason(name))
            if not (item is False and has_word_of(name, "negation"))
        }
        read_map_of_states(facts, key, list_entries(entries, member.path, scope))


def _is_state_or_reason(name: str) -> bool:
    """Return whether a key holds a status or a reason, such as ``status`` or ``message``."""
    return ends_with_word_of(name, "reason") or is_state_key(name)


def read_siblings(facts: Facts, holder: Member) -> set[str]:
    """Read keys of an object that explain another of its keys, such as ``revenueReason``.

    Add a `Signal` (a statement on data) to ``facts`` for each; return the keys that were read.
    """
    members = holder.value
    name_by_folded = {fold(name): name for name in reversed([*members]) if name[:1] not in "_@$"}
    read_keys = set()
    for key, value in members.items():
        sibling, kind = split_key(key)
        name = name_by_folded.get(sibling)
        if isinstance(value, dict) and ends_with_word_of(key, "holder"):
            name, kind = name_by_folded.get("".join(tokens(key)[:-1])), "statement"
        elif isinstance(value, dict) and kind != "reason":
            kind = ""
        if key[:1] in ("_", "@", "$") and key[1:] in members and isinstance(value, str | dict):
            name, kind = key[1:], "reason" if isinstance(value, str) else "statement"
        may_state = kind and isinstance(value, bool | str | dict)
        if not may_state or name is None or name == key or has_word_of(name, "business"):
            continue
        state = state_of_sibling(kind, value, members[name])
        if state is not None:
            read_keys.add(key)
            explanation = holder.child(key, value)
            if is_word_of(name, "wrapper"):
                facts.add_about_section(state, explanation, "sibling")
            else:
                target = holder.child(name, None).pattern
                facts.add("field", target, state, explanation.path, "sibling", value)
    return read_keys


# --- objects of data -------------------------------------------------------------------------


def read_object(facts: Facts, member: Member, depth: int = 0) -> None:
    """Read the keys of an object, and of objects in it, that say which data are missing.

    Add a `Signal` (a statement on missing data) to ``facts`` for each.
    """
    key, value, path, _, pattern = member
    if depth > _MAX_DEPTH or has_word_of(key, "business"):
        return
    read_keys = read_siblings(facts, member)
    unread_members = {name: item for name, item in value.items() if name not in read_keys}
    state = read_state_beside_value(unread_members)
    if state is not None:
        scope, target = ("engine", key) if facts.is_engine(key) else ("field", pattern)
        facts.add(scope, target, state, path, "field", value)
    for name, item in unread_members.items():
        child = member.child(name, item)
        if isinstance(item, list):
            read_names_without_data(facts, child)
        elif rate_key(name) == STATED and isinstance(item, dict | str):
            if state is None:
                read_statement(facts, child, is_about_all=False)
        elif isinstance(item, dict) and not repeats_question(name):
            read_object(facts, child, depth + 1)


# --- forms of the envelope --------------------------------------------------------------------

RuleResult = Availability | bool | None
"""The availability of the whole response, or whether signals were added."""


class GeneralRule(NamedTuple):
    """A rule for the responses of any service: a function, and the keys and types it can read."""

    name: str
    key: Callable[[str], object]
    kinds: set[type]
    read: Callable[..., Any]
    """Takes a member and returns a `RuleResult`; in `ROWS`, takes a field and returns `States`."""


def apply_rule(facts: Facts, general_rule: GeneralRule, member: Member) -> bool:
    """Call the function of a rule for a key, if the key and the type of its value fit the rule.

    Return whether the function found a statement about missing data.
    """
    if type(member.value) not in general_rule.kinds or not general_rule.key(member.key):
        return False
    state = general_rule.read(facts, member)
    if isinstance(state, Availability):
        facts.add_about_section(state, member, general_rule.name)
    return bool(state)


def read_envelope(facts: Facts, envelope: Member, depth: int = 0) -> None:
    """Apply the general rules to the keys of a response body, or of an object with its metadata.

    Each statement about missing data is added to ``facts`` as a `Signal`.
    """
    read_keys = read_siblings(facts, envelope)
    containers = [item for item in envelope.value.values() if isinstance(item, dict | list)]
    for name, value in envelope.value.items():
        # The key of an annotation is what follows its namespace: ``partial`` of ``@odata.partial``.
        key = name.rpartition(".")[2] if name.startswith("@") else name
        if name in read_keys or repeats_question(key):
            continue
        member = envelope.child(name, value)._replace(key=key)
        if any(apply_rule(facts, rule, member) for rule in ENVELOPE) or not member.is_object:
            continue
        is_whole_body = (
            containers == [value]
            and any(isinstance(item, dict | list) for item in value.values())
            and not has_word_of(key, "business")
        )
        is_wrapper = is_whole_body or is_word_of(key, "wrapper")
        if depth < _MAX_DEPTH and (is_wrapper or ends_with_word_of(key, "holder")):
            read_envelope(facts, member if is_wrapper else member._replace(pattern=""), depth + 1)
        else:
            read_object(facts, member)


# --- notices: notes, warnings, remarks and footnotes, in codes and in prose ------------------

_ABOUT_CALL = re.compile(
    r"(?i)deprecat|\b(parameter|argument|endpoint|version|browser|locale|currency|time ?zone)\b"
)
"""Words of notices that are about the call, and not about data."""


def _read_notices(facts: Facts, member: Member) -> bool:
    """Read the notices (messages of the service) under a key such as ``warnings``.

    Return whether the key holds notices, or any was read as a statement about missing data.
    """
    key, value = member.key, member.value
    is_note = matches_form(key, "note")
    # Remarks may be about anything; they count only if nothing was measured.
    is_remark = is_word_of(key, "remark") and not facts.number_kinds
    is_notice = is_note or is_remark or matches_form(key, "notice")
    signal_count_before = len(facts.signals)
    notices = [member]
    if isinstance(value, list):
        notices = [
            member._replace(value=item, path=f"{member.path}[{index}]")
            for index, item in enumerate(value)
        ]
    elif isinstance(value, dict) and is_word_of(key, "footnote"):
        notices = [
            member.child(name, {"field": name, "text": item}) for name, item in value.items()
        ]
    for notice in notices:
        text = find_reason(notice.value) if notice.is_object else notice.value
        if is_note and isinstance(text, str) and text.strip():
            state = with_reason(PARTIAL, text)
            facts.add("section", None, state, notice.path, "note", notice.value)
        elif not is_note:
            _read_notice(facts, notice, is_about_all=is_notice)
    return is_notice or len(facts.signals) > signal_count_before


def _read_notice(facts: Facts, notice: Member, *, is_about_all: bool) -> None:
    """Read a notice (a message of the service) on missing fields or engines (AI assistants).

    Add a `Signal` (a statement on missing data) to ``facts`` for each of them. If the notice is a
    sentence that names none, store it for `read_prose`.
    """
    members = notice.value if notice.is_object else {"": notice.value}
    texts = [text for text in members.values() if isinstance(text, str)]
    targets = [
        name
        for name in list_notice_targets(members)
        if facts.is_engine(name) or facts.has_field(name)
    ]
    word = find_strong_word(texts) if targets else None
    if word:
        state = word.because(next((text for text in texts if " " in text), None))
        # A field that has numbers all the same was measured in part.
        partial_state = replace(state, status=Status.PARTIAL)
        for name in targets:
            if facts.is_engine(name):
                facts.add("engine", name, state, notice.path, "notice", notice.value)
            elif is_about_all or not facts.has_number(name):
                field_state = partial_state if facts.has_number(name) else state
                facts.add(
                    "field", facts.path_of(name), field_state, notice.path, "notice", notice.value
                )
    if word or not is_about_all:
        return
    for text in filter(read_absence_code, texts):
        scope, target = find_target(members) or ("section", None)
        target = facts.path_of(target) if scope == "field" and target else target
        state = with_reason(read_absence_code(text) or ABSENT, find_reason(members) or text)
        state = partial_if_measured(state, facts.number_kinds)
        facts.add(scope, target, state, notice.path, "notice", notice.value)
        return
    is_prose = ends_with_word_of(notice.key, "prose") or is_word_of(notice.key, "remark")
    if is_prose and not any(map(_ABOUT_CALL.search, texts)):
        facts.prose_notices += [notice._replace(key=text) for text in texts]


def list_notice_targets(notice: Mapping[str, Any]) -> list[str]:
    """Return the distinct names of the fields and engines (AI assistants) in a notice.

    A notice is an object with a message of the service.
    """
    kind_and_name = find_target(notice)
    targets = [kind_and_name[1]] if kind_and_name else []
    for key, item in notice.items():
        if isinstance(item, list) and has_word_of(key, "target"):
            targets += [name for name in item if isinstance(name, str)]
    return [*dict.fromkeys(targets)]


def read_prose(facts: Facts) -> None:
    """Add a `Signal` (a statement on missing data) to ``facts`` from the messages stored in it.

    It is read from the first message about missing data.
    """
    for notice in () if facts.has_section else facts.prose_notices:
        text = notice.value if isinstance(notice.value, str) else notice.key
        word = None if _ABOUT_CALL.search(text) else find_word(text) or find_absence_word([text])
        # Everyday words are trusted only where they are the code.
        is_everyday = word and word.canonical in ("available", "unavailable", "error")
        if word and (word.is_lack or (is_code(text) and not is_everyday)):
            state = partial_if_measured(word.because(text), facts.number_kinds)
            if state.status == Status.UNAVAILABLE and True in facts.number_kinds:
                state = replace(state, status=Status.PARTIAL)
            facts.add("section", None, state, notice.path, "notice", notice.value)
            return


# --- errors inside a body --------------------------------------------------------------------


def find_error_word(texts: Iterable[str]) -> Word | None:
    """Return the surest known term in the texts of an error, such as ``not_connected``, or None.

    Codes are searched before sentences.

    Examples
    --------
    >>> find_error_word(["Forbidden", "Query expansions are not part of the plan."])
    Word(canonical='forbidden', strength=2)
    """
    texts = [*texts]
    words = [find_strongest_word(filter(is_code, texts)), *map(find_word_in_text, texts)]
    return max(filter(None, words), key=lambda word: word.strength, default=None)


def iter_error_texts(body: Any, depth: int = 0) -> Iterator[tuple[str, str]]:
    """Yield a tuple of key and text for each text in the body of an error response.

    Nested objects are included.
    """
    if isinstance(body, list) and body:
        body = body[0]
    if not isinstance(body, dict) or depth > 3:
        return
    for key, value in body.items():
        if is_word_of(key, "error") and isinstance(value, str):
            yield "detail" if " " in value else "code", value
        elif is_word_of(key, "error"):
            yield from iter_error_texts(value, depth + 1)
    for key, value in body.items():
        if isinstance(value, str) and key != "type":
            yield key, value
    for key, value in body.items():  # an object with a reason says less than the texts beside it
        is_reason = is_word_of(key, "reason") and not is_word_of(key, "error")
        if is_reason or ends_with_word_of(key, "holder"):
            nested_texts = iter_error_texts(value, depth + 1)
            yield from ((name, text) for name, text in nested_texts if name not in body)


def is_error_key(key: str) -> bool:
    """Return whether a key, such as ``errorCode`` or ``success``, may report an error."""
    match = re.match(r"(error|fault)(code|message|detail)", fold(key))
    return match is not None or key in ("success", "ok", "code", "status")


def _read_error(facts: Facts, member: Member) -> RuleResult:
    """Read an error that is reported in the body of a response with the HTTP status 200.

    Add a `Signal` (a statement on missing data) to ``facts``. Return True if there is such an
    error, else None.
    """
    key, value, siblings = member.key, member.value, member.siblings
    texts = [text for text in siblings.values() if isinstance(text, str)]
    section_states = [
        signal.availability.status for signal in facts.signals if signal.scope == "section"
    ]
    if member.path.count(".") > 2 or {*section_states} - {Status.AVAILABLE}:
        return None
    paths = (
        [item.get("path") for item in value if isinstance(item, dict)] if key == "errors" else []
    )
    if any(_is_about_part(facts, path) for path in paths):
        return None
    error: Any = None
    if is_word_of(key, "error"):
        error = value if _is_error(value) else None
    elif key in ("success", "ok"):
        error = siblings if value is False else None
    elif key == "status":
        is_titled = type(value) is int and value >= 400 and isinstance(siblings.get("title"), str)
        is_failed = isinstance(value, str) and find_word(value) == find_word("error")
        is_explained = is_failed and len(siblings) <= 6 and find_reason(siblings)
        error = siblings if is_titled or is_explained else None
    elif find_absence_word(texts):
        error_fields = {fold(name): item for name, item in siblings.items()}
        if key != "code":
            error_fields = {
                name[5:]: item
                for name, item in error_fields.items()
                if re.match("error|fault", name)
            }
        error = (siblings if key == "code" else error_fields) if _is_error(error_fields) else None
    if error is None:
        return None
    text_by_key = dict(iter_error_texts(error if isinstance(error, dict) else {"error": error}))
    word = find_error_word(text_by_key.values())
    values = error.values() if isinstance(error, dict) else ()
    state = next(
        (STATUSES[item] for item in values if type(item) is int and item in STATUSES), FAILED
    )
    state = word.availability if word and word.is_lack else state
    state = replace(state, status=Status.PARTIAL) if facts.number_kinds else state
    reason = find_reason(text_by_key) or (error if isinstance(error, str) else None)
    facts.add("section", None, replace(state, reason=reason), member.path, "error", error)
    return True


def _is_about_part(facts: Facts, path: Any) -> bool:
    """Return whether an error with this ``path`` concerns only a part of the response.

    Such a part is a page of a website, or a single field while other fields have numbers. In
    GraphQL, a path that begins with a field of ``data`` means that ``data`` itself is incomplete;
    the result is then False.
    """
    data = facts.document.get("data")
    is_graphql = isinstance(data, dict) and isinstance(path, list) and path[:1] != []
    is_in_data = is_graphql and path[0] in data
    return isinstance(path, str) or bool(path and facts.number_kinds and not is_in_data)


def _is_error(value: Any) -> bool:
    if isinstance(value, str):
        return bool(value.strip())
    if isinstance(value, list):
        return bool(value) and all(
            isinstance(item, str | dict) and _is_error(item) for item in value
        )
    keys = {fold(name) for name in value}
    text_keys = keys & {"message", "detail", "title", "description"}
    return bool(keys & {"message", "code", "detail"}) and (
        keys <= words_of("error_field")
        or bool(text_keys and keys & {"code", "type", "status", "reason"})
    )


# --- members of the envelope -----------------------------------------------------------------


def _read_flag(facts: Facts, member: Member) -> RuleResult:
    """Return the availability of the whole response that a boolean such as ``isConnected`` means.

    Return None if it means nothing.
    """
    key, value = member.key, member.value
    state = state_of_named_flag(key, value)
    if state is None or (state.status == Status.AVAILABLE and not matches_form(key, "claim")):
        return None
    if state.cause == Cause.WITHHELD and facts.number_kinds:
        return None
    word = value and find_word(spaced(key, ("is",)))
    if word and not word.is_lack and not (facts.has_list_of_numbers or facts.is_bare):
        return None
    return with_explanation(state, member.siblings)


def _read_job_status(facts: Facts, member: Member) -> RuleResult:
    """Return the availability that the status of a job means, such as ``pending``, or None."""
    word = find_word(member.value)
    if word is None or word.canonical not in _BUSINESS_WORDS or facts.number_kinds:
        return None
    is_sole_word = len(tokens(member.key)) == 1 and word.canonical != "not_run"
    return (
        with_explanation(word.availability, member.siblings)
        if is_sole_word or facts.is_bare
        else None
    )


def _read_message(facts: Facts, member: Member) -> RuleResult:
    """Store the message of a response without data for `read_prose`; return whether it did so."""
    if facts.is_bare:
        facts.prose_notices.append(member)
    return facts.is_bare


def _read_last_day(facts: Facts, member: Member) -> RuleResult:
    """Add a statement (`Signal`) that the rows after the last complete day are ``partial``.

    Return True if there are such rows, else None.
    """
    as_of = member.value[:10]
    if DAY.match(as_of) and max(facts.dates, default="") > as_of:
        day = member.value
        state = replace(PARTIAL, cause=Cause.PENDING)
        facts.add("section", None, state, member.path, "through", day, rows=after(day), as_of=as_of)
        return True
    return None


def _read_named_reason(facts: Facts, member: Member) -> RuleResult:
    """Return the availability that the text of a key such as ``emptyReason`` means, or None."""
    members = member.value if member.is_object else {"reason": member.value}
    phrase = " ".join(tokens(member.key)[: None if member.is_object else -1])
    has_list = any(isinstance(item, list) for item in members.values())
    state = state_of_names_under(phrase) if find_reason(members) and not has_list else None
    if state and member.is_object and state.status == Status.UNAVAILABLE and facts.number_kinds:
        state = replace(state, status=Status.PARTIAL)
    return with_explanation(state, members) if state else None


def _may_list_names(key: str) -> bool:
    """Return whether a key, such as ``missingFields``, may list what has no data.

    The list has names of fields or of engines (AI assistants).
    """
    is_fault = has_word_of(key, "failure") or matches_form(key, "reasons")
    return state_of_names_under(key) is not None or is_fault


Kinds = set[type]
_TEXT: Kinds = {str}
_LIST: Kinds = {list}
_DICT: Kinds = {dict}
_BOOL: Kinds = {bool}
_NUMBER: Kinds = {int, float}
ENVELOPE = (
    GeneralRule("error", lambda key: is_word_of(key, "error"), _TEXT | _LIST | _DICT, _read_error),
    GeneralRule("error", is_error_key, _BOOL | {int} | _TEXT, _read_error),
    GeneralRule("through", lambda key: matches_form(key, "through"), _TEXT, _read_last_day),
    GeneralRule("count", may_state_loss, _NUMBER | _LIST | _TEXT,
         lambda _, m: state_of_loss(m.key, m.value)),
    GeneralRule("flag", lambda key: any(state_of_named_flag(key, value) for value in (True, False)),
         _BOOL, _read_flag),
    GeneralRule("statement", rate_key, _DICT, read_statement),
    GeneralRule("notice", lambda key: matches_form(key, "noted"), _TEXT | _LIST | _DICT,
         _read_notices),
    GeneralRule("statement", rate_key, _TEXT, read_statement),
    GeneralRule("status", lambda key: matches_form(key, "stage"), _TEXT, _read_job_status),
    GeneralRule("reason", lambda key: is_word_of(key, "message"), _TEXT, _read_message),
    GeneralRule("reason", lambda key: split_key(key)[1] == "reason", _TEXT, _read_named_reason),
    GeneralRule("reason", state_of_names_under, _DICT, _read_named_reason),
    GeneralRule("map", _may_list_names, _DICT | _LIST, read_names_without_data),
    GeneralRule("map", find_entry_kind, _DICT | _LIST, read_list_of_states),
    GeneralRule("statement", rate_key, _LIST, read_statement),
)  # fmt: skip
"""The rules for the objects about the whole response; the first rule that reads a key wins."""


# --- rows: what the records of a list state about their own data -----------------------------


def read_rows(facts: Facts) -> None:
    """Add a statement (`Signal`) for each object in a list that says that its data are missing."""
    for records in facts.records:
        for name in records.names if len(records.names) <= MAX_FIELDS else ():
            kinds = records.rows.field(name).kinds
            for rule in ROWS:
                if rule.kinds & kinds and rule.key(name):
                    states = rule.read(records, name)
                    sibling = _find_sibling_name(records, name) if rule.name == "cell" else None
                    for row, state in states or ():
                        records.add(name, row, state, rule.name, sibling)
                    if states is not None:
                        break


def _read_row_flags(records: Records, name: str) -> States | None:
    """Return tuples of row position and availability, read from the boolean field ``name``.

    Return None if the field is not about availability.
    """
    if matches_form(name, "row_flag", ("is",)):
        return records.states(name, partial(state_of_named_flag, name), bool)
    has_days = any(has_word_of(field, "when") for field in records.names)
    return (has_days and records.states(name, partial(state_of_series_flag, name), bool)) or None


def _find_sibling_name(records: Records, name: str) -> str | None:
    """Return the field that another field explains, such as ``revenue`` for ``revenueReason``.

    Return None if there is no such field.
    """
    stem, _ = split_key(name)
    sibling = next((n for n in records.names if fold(n) == stem), None) if stem else None
    return sibling if sibling != name else None


def _read_sibling_states(records: Records, name: str) -> States | None:
    """Return the availability of a field such as ``revenue``, as stated by ``revenueReason``.

    The result has tuples of row position and availability; None if there is no such field.
    """
    sibling = _find_sibling_name(records, name)
    if sibling is None:
        return None
    sibling_values = records.values_of_field(sibling)
    kind = split_key(name)[1]
    cells = [
        (row, item, sibling_values[row])
        for row, item in records.positions_and_values(name)
        if isinstance(item, bool | str)
    ]
    # A text that is present exactly if the sibling is null can only be the reason for the null.
    have_texts = [
        type(item) is str and bool(item.strip()) for item in records.values_of_field(name)
    ]
    marks_nulls = kind == "reason" and have_texts == [item is None for item in sibling_values]
    states = []
    for row, value, sibling_value in cells:
        state = state_of_sibling(
            kind, value, sibling_value if isinstance(sibling_value, str | int | float) else None
        )
        is_certain = marks_nulls or isinstance(value, bool) or find_strongest_word([value], STRONG)
        is_denial = (
            sibling_value == 0 and isinstance(value, str) and find_strongest_word([value], PLAIN)
        )
        is_consistent = state and (sibling_value is None) != (state.status == Status.AVAILABLE)
        if state and (is_denial or (is_consistent and is_certain)):
            states.append((row, state))
    return states if any(state.status != Status.AVAILABLE for _, state in states) else []


ROWS = (
    GeneralRule("row flag", bool, {bool}, _read_row_flags),
    GeneralRule("row code", lambda key: matches_form(key, "observation_status"), {str},
         lambda records, name: records.states(name, state_of_observation_code)),
    GeneralRule("cell", lambda n: split_key(n)[1], {bool, str}, _read_sibling_states)
)  # fmt: skip
"""The rules for fields of records; the first rule that reads a field wins."""
