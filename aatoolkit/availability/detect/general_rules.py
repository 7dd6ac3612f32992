"""Rules that find out which data could be measured, in the responses of any service."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from functools import partial
from itertools import chain, islice
from typing import Any, NamedTuple

from aatoolkit._util.lexicon import (
    ends_with_word_of,
    fold,
    has_word_of,
    is_word_of,
    join_words,
    matches_form,
    tokens,
    words_of,
)
from aatoolkit.availability.detect.response_scan import (
    DAY_PATTERN,
    MAX_FIELDS,
    ListRecords,
    Member,
    ResponseScan,
    RowAvailabilities,
)
from aatoolkit.availability.detect.words import (
    AVAILABILITY_BY_HTTP_STATUS,
    AVAILABILITY_BY_TERM,
    FAILED,
    PARTIAL,
    PLAIN,
    STATED,
    STRONG,
    UNAVAILABLE,
    WEAK,
    add_stated_reason,
    cannot_be_status_text,
    echoes_request,
    find_absence_status_word,
    find_availability_of_listed,
    find_engine_or_field,
    find_kind_of_listed_names,
    find_nonzero_flags,
    find_reason,
    find_status_word,
    find_strong_status_word,
    find_strongest_status_word,
    is_code_text,
    is_status_key,
    make_partial_if_measured,
    may_report_lost_data,
    read_absence_code,
    read_availability_beside_value,
    read_day_flag_availability,
    read_flag_availability,
    read_item_availability,
    read_loss_availability,
    read_object_availability,
    read_observation_code,
    read_sibling_availability,
    read_status_text,
    replace_reason,
    score_availability_key,
    split_key,
)
from aatoolkit.availability.status import Availability, Cause, Status
from aatoolkit.availability.subject import make_conditions_after
from aatoolkit.errors import SchemaDriftWarning, warn
from aatoolkit.jsontree.paths import format_key

_MAX_DEPTH = 12


_BUSINESS_TERMS = ("forbidden", "error", "pending", "not_run")
"""Terms that also occur in business data; they count only if the response has no numbers."""


class NamedItem(NamedTuple):
    """An item of a JSON object or list: the status of one engine (AI assistant) or field.

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


def list_named_items(value: Any, path: str, scope: str | None) -> list[NamedItem]:
    """Return an `NamedItem` for each item of a dict, of a list of names, or of a list of objects.

    Objects without the name of an engine (AI assistant) or field are left out. ``path`` is the JSON
    path of ``value``. ``scope`` says what the names are: ``engine``, ``field`` or None if unknown.
    """
    if isinstance(value, dict):
        return [
            NamedItem(name, scope, item, path + format_key(name))
            for name, item in value.items()
            if item is not None
        ]
    named_items = []
    for position, item in enumerate(value):
        kind_and_name = find_engine_or_field(item) if isinstance(item, dict) else (None, item)
        if kind_and_name is not None and isinstance(kind_and_name[1], str):
            item_scope = "engine" if kind_and_name[0] == "engine" else scope
            named_items.append(NamedItem(kind_and_name[1], item_scope, item, f"{path}[{position}]"))
    return named_items


def add_named_item_signal(
    response_scan: ResponseScan, named_item: NamedItem, availability: Availability
) -> None:
    """Add a `Signal` that the data named by ``named_item`` have the given availability.

    The name is that of an engine (AI assistant), of a field, or of the whole response.
    """
    name, scope, value, path = named_item
    if name == response_scan.section_name or (scope is None and name == "overall"):
        response_scan.add_signal("section", None, availability, path, "map", value)
    elif scope == "engine" or (scope is None and response_scan.is_engine(name)):
        if availability.cause == Cause.PENDING:
            availability = make_partial_if_measured(availability, response_scan.nonzero_flags)
        response_scan.add_signal("engine", name, availability, path, "map", value)
    else:
        response_scan.add_signal(
            "field", response_scan.find_field_path(name), availability, path, "map", value
        )


def warn_of_unknown_word(response_scan: ResponseScan, status_text: str, path: str) -> Availability:
    """Warn of a status text that is not understood, and return the availability ``unknown``.

    The warning is given only the first time that the text occurs in the response.
    """
    availability = read_status_text(status_text)
    if all(signal.availability != availability for signal in response_scan.signals):
        warn(
            f"{status_text!r} seems to state availability @ {path}, and what it means is not "
            "known: it is read as unknown; say what it means in the profile, in a Rule's words=",
            SchemaDriftWarning,
        )
    return availability


def read_map_of_statuses(
    response_scan: ResponseScan,
    key: str,
    named_items: list[NamedItem],
    *,
    is_key_certain: bool = False,
) -> bool:
    """Read the status of each engine or field from an object such as ``{"gemini": "not_run"}``.

    Add a `Signal` (a statement on missing data) to ``response_scan`` for each item with a status.
    Return whether there is such an item. ``key`` is the key under which the response has them.
    ``is_key_certain`` says that the items are known to be statuses; otherwise, this is guessed
    from their texts.
    """
    availabilities = [read_item_availability(named_item.value, key) for named_item in named_items]
    if None in availabilities and not is_key_certain and score_availability_key(key) < STATED:
        return False
    are_statuses = (
        is_key_certain
        or has_word_of(key, "data")
        or any(
            named_item.scope
            or response_scan.is_engine(named_item.name)
            or response_scan.has_field(named_item.name)
            for named_item in named_items
        )
        or find_strongest_status_word((named_item.value for named_item in named_items), STRONG)
    )
    for named_item, availability in (
        zip(named_items, availabilities, strict=True)
        if are_statuses and any(availabilities)
        else ()
    ):
        if availability is not None:
            add_named_item_signal(response_scan, named_item, availability)
        elif isinstance(named_item.value, str) and not cannot_be_status_text(named_item.value):
            add_named_item_signal(
                response_scan,
                named_item,
                warn_of_unknown_word(response_scan, named_item.value, named_item.path),
            )
    return bool(are_statuses and any(availabilities))


def read_names_without_data(
    response_scan: ResponseScan, member: Member, *, is_key_certain: bool = False
) -> bool:
    """Read the engines (AI assistants) or fields listed under a key such as ``missingFields``.

    Add a `Signal` (a statement on missing data) to ``response_scan`` for each of them. Return
    whether a signal was added. If ``is_key_certain``, names are read even if the response has no
    field of this name.
    """
    key, names_or_map = member.key, member.value
    scope, is_map = find_kind_of_listed_names(key), isinstance(names_or_map, dict)
    availability, is_failure_key = find_availability_of_listed(key), False
    if is_map and any(
        isinstance(item, list) and not {*map(type, item)} <= {str} for item in names_or_map.values()
    ):
        return False  # such as the rows or columns of `gaps`
    if availability is not None:
        availability = (
            availability if is_map else add_stated_reason(availability, member.parent_object)
        )
    elif has_word_of(key, "failure"):
        availability, is_failure_key = AVAILABILITY_BY_TERM["error"], True
    elif is_map and matches_form(key, "reasons"):
        availability = UNAVAILABLE
    else:
        return False
    signal_count_before = len(response_scan.signals)
    named_items = list_named_items(names_or_map, member.path, scope)
    are_all_names_known = all(
        response_scan.is_engine(named_item.name)
        or (is_map and response_scan.is_null(named_item.name))
        for named_item in named_items
    )
    for named_item in named_items if are_all_names_known or not is_failure_key else ():
        is_engine = named_item.scope == "engine" or (
            not named_item.scope and response_scan.is_engine(named_item.name)
        )
        is_known_field = (
            is_key_certain
            or (named_item.scope and not is_map)
            or response_scan.has_field(named_item.name)
        )
        must_lack_numbers = not (is_map or is_key_certain or availability.status == Status.PARTIAL)
        if not is_engine and (
            not is_known_field or (must_lack_numbers and response_scan.has_number(named_item.name))
        ):
            continue
        item_availability = _read_listed_item_availability(
            named_item, availability, is_in_map=is_map or is_failure_key
        )
        target = named_item.name if is_engine else response_scan.find_field_path(named_item.name)
        rule_name = "map" if is_map or is_failure_key else "list"
        response_scan.add_signal(
            "engine" if is_engine else "field",
            target,
            item_availability,
            named_item.path,
            rule_name,
            named_item.value,
        )
    return len(response_scan.signals) > signal_count_before


def _read_listed_item_availability(
    named_item: NamedItem, availability: Availability, *, is_in_map: bool
) -> Availability:
    """Return the availability that one item under a key such as ``missingFields`` states.

    ``availability`` is what the key means; it is returned if the item itself says no more.
    ``is_in_map`` says whether the items are the values of a dict.
    """
    item_value = named_item.value
    if isinstance(item_value, dict):
        item_availability = read_object_availability(item_value) or availability
        return (
            item_availability
            if item_availability.reason
            else replace_reason(item_availability, find_reason(item_value))
        )
    if not is_in_map or not isinstance(item_value, str):
        return availability
    status_word = find_strong_status_word([item_value])
    return replace_reason(status_word.availability if status_word else availability, item_value)


def read_list_of_statuses(response_scan: ResponseScan, member: Member) -> bool:
    """Read the status of engines or fields from a list of objects with their names.

    An example is ``[{"engine": "gemini", "status": "not_run"}]``. Add a `Signal` (a statement on
    missing data) to ``response_scan`` for each object. Return whether a signal was added.
    """
    key, value = member.key, member.value
    scope = find_kind_of_listed_names(key)
    named_items = list_named_items(value, member.path, scope)
    if isinstance(value, dict):
        status_words = [
            isinstance(named_item.value, str) and find_status_word(named_item.value)
            for named_item in named_items
        ]
        is_map = all(status_words) and not read_object_availability(value)
        return is_map and read_map_of_statuses(response_scan, key, named_items, is_key_certain=True)
    records = [named_item.value for named_item in named_items if isinstance(named_item.value, dict)]
    # Records on whether engines are configured are scope options, not about this response.
    if any("configured" in record for record in records) or any(map(find_nonzero_flags, records)):
        return False
    availabilities = [read_object_availability(record) for record in records]
    have_known_names = [
        named_item.name == response_scan.section_name or response_scan.has_field(named_item.name)
        for named_item in named_items
    ]
    has_missing_data = any(
        availability and availability.status != Status.AVAILABLE for availability in availabilities
    )
    if not has_missing_data or not (scope == "engine" or any(have_known_names)):
        return False
    response_scan.statement_list_paths.add(member.path)
    return read_map_of_statuses(response_scan, key, named_items, is_key_certain=True)


# --- statements ------------------------------------------------------------------------------


def read_availability_statement(
    response_scan: ResponseScan, member: Member, *, is_about_all: bool = True
) -> bool:
    """Read the text, object or list under a key such as ``dataAvailability``.

    Add a `Signal` to ``response_scan`` for each statement on missing data in the value. Return
    whether a signal was added. ``is_about_all`` says whether the statement is about all data of the
    response.
    """
    key, value = member.key, member.value
    signal_count_before = len(response_scan.signals)
    is_availability_key = score_availability_key(key) == STATED or (
        isinstance(value, dict) and has_word_of(key, "extent")
    )
    min_strength = WEAK if is_availability_key else STRONG
    availability, status_text = None, value
    if isinstance(value, str):
        status_word = find_status_word(value)
        if status_word and status_word.strength >= min_strength:
            availability = add_stated_reason(status_word.availability, member.parent_object)
    elif isinstance(value, dict):
        availability = read_object_availability(value, min_strength)
        nested_values = (
            nested_object.values()
            for nested_object in value.values()
            if isinstance(nested_object, dict)
        )
        has_false_value = any(item is False for item in chain.from_iterable(nested_values))
        states_only_part = has_false_value or has_word_of(key, "latest")
        if states_only_part and availability and availability.status == Status.AVAILABLE:
            availability = None  # a part is not, or only the last day is said to be there
        status_text = next(
            (item for name, item in value.items() if isinstance(item, str) and is_status_key(name)),
            None,
        )
    if (
        availability is None
        and isinstance(status_text, str)
        and min_strength == WEAK
        and not cannot_be_status_text(status_text)
        and has_word_of(key, "availability", "state")
    ):
        availability = warn_of_unknown_word(response_scan, status_text, member.path)
    if availability is not None and is_about_all:
        response_scan.add_section_signal(availability, member, "statement")
    elif availability is not None:
        response_scan.add_signal(
            "field", member.declared_path, availability, member.path, "statement", value
        )
    if isinstance(value, dict):
        _read_availability_items(
            response_scan, member, min_strength, has_own_status=availability is not None
        )
    elif isinstance(value, list):
        named_items = list_named_items(value, member.path, find_kind_of_listed_names(key))
        record_items = [
            named_item for named_item in named_items if isinstance(named_item.value, dict)
        ]
        if len(record_items) == len(value):
            read_map_of_statuses(
                response_scan, key, record_items, is_key_certain=min_strength == WEAK
            )
    return len(response_scan.signals) > signal_count_before


def _read_availability_items(
    response_scan: ResponseScan, member: Member, min_strength: int, *, has_own_status: bool
) -> None:
    """Read the engines (AI assistants) and fields named in an object such as ``dataAvailability``.

    Add a `Signal` (a statement on missing data) to ``response_scan`` for each of them.
    ``min_strength`` is how surely a text must state availability to count. ``has_own_status`` says
    whether the object also has a status of its own.
    """
    key, value = member.key, member.value
    nested_objects = [item for item in value.values() if isinstance(item, dict)]
    has_engine_keys = nested_objects and any(map(response_scan.is_engine, value))
    scope = find_kind_of_listed_names(key) or ("engine" if has_engine_keys else None)
    for name, item in value.items():
        path = member.path + format_key(name)
        target_kind = find_kind_of_listed_names(name)
        if isinstance(item, list):
            if not read_names_without_data(
                response_scan, Member(name, item, path, {}), is_key_certain=True
            ):
                read_map_of_statuses(
                    response_scan,
                    name,
                    list_named_items(item, path, target_kind),
                    is_key_certain=True,
                )
        elif isinstance(item, dict):
            availability = (
                None if _is_status_or_reason_key(name) else read_object_availability(item)
            )
            may_lack_data = (
                min_strength == WEAK
                or scope
                or response_scan.is_engine(name)
                or response_scan.has_field(name)
            )
            if target_kind is not None and availability is None:
                read_map_of_statuses(
                    response_scan,
                    key,
                    list_named_items(item, path, target_kind),
                    is_key_certain=True,
                )
            elif availability is not None and may_lack_data:
                add_named_item_signal(
                    response_scan, NamedItem(name, scope, item, path), availability
                )
    if not has_own_status:
        plain_items = {
            name: item
            for name, item in value.items()
            if not (isinstance(item, dict | list) or _is_status_or_reason_key(name))
            if not (item is False and has_word_of(name, "negation"))
        }
        read_map_of_statuses(response_scan, key, list_named_items(plain_items, member.path, scope))


def _is_status_or_reason_key(name: str) -> bool:
    """Return whether a key holds a status or a reason, such as ``status`` or ``message``."""
    return ends_with_word_of(name, "reason") or is_status_key(name)


def read_explaining_keys(response_scan: ResponseScan, parent: Member) -> set[str]:
    """Read the keys of an object that explain other keys, such as ``revenueReason``.

    Add a `Signal` (a statement on missing data) to ``response_scan`` for each explaining key, and
    return these keys. ``parent`` has the object as its value, and the JSON path of the object.
    """
    value_by_key = parent.value
    key_by_folded_key = {
        fold(explained_key): explained_key for explained_key in reversed([*value_by_key])
    }
    explaining_keys = set()
    for key, value in value_by_key.items():
        folded_name, statement_kind = split_key(key)
        explained_key = key_by_folded_key.get(folded_name)
        if isinstance(value, dict) and ends_with_word_of(key, "holder"):
            explained_key, statement_kind = (
                key_by_folded_key.get("".join(tokens(key)[:-1])),
                "statement",
            )
        elif isinstance(value, dict) and statement_kind != "reason":
            statement_kind = ""
        may_be_statement = statement_kind and isinstance(value, bool | str | dict)
        if (
            not may_be_statement
            or explained_key is None
            or explained_key == key
            or has_word_of(explained_key, "business")
        ):
            continue
        availability = read_sibling_availability(statement_kind, value, value_by_key[explained_key])
        if availability is not None:
            explaining_keys.add(key)
            explaining_member = parent.make_child(key, value)
            if is_word_of(explained_key, "wrapper"):
                response_scan.add_section_signal(availability, explaining_member, "sibling")
            else:
                target = parent.make_child(explained_key, None).declared_path
                response_scan.add_signal(
                    "field", target, availability, explaining_member.path, "sibling", value
                )
    return explaining_keys


# --- objects of data -------------------------------------------------------------------------


def read_data_object(response_scan: ResponseScan, member: Member, depth: int = 0) -> None:
    """Find the keys of an object, and of the objects in it, that say which data are missing.

    Add a `Signal` (a statement on missing data) to ``response_scan`` for each such key. ``member``
    has the object as its value. ``depth`` is the depth of nesting, from 0.
    """
    key, value, path, _, declared_path = member
    if depth > _MAX_DEPTH or has_word_of(key, "business"):
        return
    explaining_keys = read_explaining_keys(response_scan, member)
    other_items = {name: item for name, item in value.items() if name not in explaining_keys}
    availability = read_availability_beside_value(other_items)
    if availability is not None:
        scope, target = (
            ("engine", key) if response_scan.is_engine(key) else ("field", declared_path)
        )
        response_scan.add_signal(scope, target, availability, path, "field", value)
    for name, item in other_items.items():
        child_member = member.make_child(name, item)
        if isinstance(item, list):
            read_names_without_data(response_scan, child_member)
        elif score_availability_key(name) == STATED and isinstance(item, dict | str):
            if availability is None:
                read_availability_statement(response_scan, child_member, is_about_all=False)
        elif isinstance(item, dict) and not echoes_request(name):
            read_data_object(response_scan, child_member, depth + 1)


# --- forms of the envelope --------------------------------------------------------------------

RuleResult = Availability | bool | None
"""What a rule returns: the availability of the whole response, or whether it added signals."""


class GeneralRule(NamedTuple):
    """A rule that finds, in the responses of any service, what a value says on missing data.

    It consists of a function, and the keys and values that the function can read.

    ``matches_key`` takes a key and returns whether the function can read it. ``value_types`` are
    the types of the values that the function can read.
    """

    name: str
    matches_key: Callable[[str], object]
    value_types: set[type]
    read_value: Callable[..., Any]
    """Takes a `Member` and returns a `RuleResult`. In a row rule, takes `ListRecords` and the
    name of a field, and returns `RowAvailabilities`.
    """


def apply_rule(response_scan: ResponseScan, general_rule: GeneralRule, member: Member) -> bool:
    """Call the function of a rule for a key, if the rule fits the key and the type of its value.

    ``member`` is the key with its value. Return whether a statement on missing data was found.
    """
    if type(member.value) not in general_rule.value_types or not general_rule.matches_key(
        member.key
    ):
        return False
    availability = general_rule.read_value(response_scan, member)
    if isinstance(availability, Availability):
        response_scan.add_section_signal(availability, member, general_rule.name)
    return bool(availability)


def read_envelope(response_scan: ResponseScan, envelope: Member, depth: int = 0) -> None:
    """Apply the general rules to the keys of a response body, or of an object around its data.

    Each statement on missing data is added to ``response_scan`` as a `Signal`. ``envelope`` is the
    body or object, and ``depth`` its depth of nesting, from 0.
    """
    explaining_keys = read_explaining_keys(response_scan, envelope)
    nested_values = [item for item in envelope.value.values() if isinstance(item, dict | list)]
    for name, value in envelope.value.items():
        # The key of an annotation is what follows its namespace: ``partial`` of ``@odata.partial``.
        key = name.rpartition(".")[2] if name.startswith("@") else name
        if name in explaining_keys or echoes_request(key):
            continue
        member = envelope.make_child(name, value)._replace(key=key)
        if (
            any(apply_rule(response_scan, rule, member) for rule in ENVELOPE_RULES)
            or not member.is_dict
        ):
            continue
        is_whole_body = (
            nested_values == [value]
            and any(isinstance(item, dict | list) for item in value.values())
            and not has_word_of(key, "business")
        )
        wraps_data = is_whole_body or is_word_of(key, "wrapper")
        if depth < _MAX_DEPTH and (wraps_data or ends_with_word_of(key, "holder")):
            read_envelope(
                response_scan,
                member if wraps_data else member._replace(declared_path=""),
                depth + 1,
            )
        else:
            read_data_object(response_scan, member)


# --- messages of the service: notes, warnings, remarks and footnotes, in codes and in prose --

_REQUEST_PATTERN = re.compile(
    r"(?i)deprecat|\b(parameter|argument|endpoint|version|browser|locale|currency|time ?zone)\b"
)
"""Words of messages that are about the request itself, and not about its data."""


def _read_service_messages(response_scan: ResponseScan, member: Member) -> bool:
    """Read the messages of the service under a key such as ``warnings``.

    Return True if the key is known to hold messages, or if a message says that data are missing.
    """
    key, value = member.key, member.value
    is_note_key = matches_form(key, "note")
    # Remarks may be about anything; they count only if nothing was measured.
    is_remark_key = is_word_of(key, "remark") and not response_scan.nonzero_flags
    is_message_key = is_note_key or is_remark_key or matches_form(key, "notice")
    signal_count_before = len(response_scan.signals)
    service_messages = [member]
    if isinstance(value, list):
        service_messages = [
            member._replace(value=item, path=f"{member.path}[{position}]")
            for position, item in enumerate(value)
        ]
    elif isinstance(value, dict) and is_word_of(key, "footnote"):
        service_messages = [
            member.make_child(name, {"field": name, "text": item}) for name, item in value.items()
        ]
    for service_message in service_messages:
        message_text = (
            find_reason(service_message.value) if service_message.is_dict else service_message.value
        )
        if is_note_key and isinstance(message_text, str) and message_text.strip():
            availability = replace_reason(PARTIAL, message_text)
            response_scan.add_signal(
                "section", None, availability, service_message.path, "note", service_message.value
            )
        elif not is_note_key:
            _read_service_message(response_scan, service_message, is_about_all=is_message_key)
    return is_message_key or len(response_scan.signals) > signal_count_before


def _read_service_message(
    response_scan: ResponseScan, service_message: Member, *, is_about_all: bool
) -> None:
    """Read a message of the service on missing fields or engines (AI assistants).

    Add a `Signal` (a statement on missing data) to ``response_scan`` for each field or engine that
    the message names. ``is_about_all`` says whether a message without names is about all data of
    the response. If so, a sentence in it is stored for `read_prose_messages`.
    """
    value_by_key = service_message.value if service_message.is_dict else {"": service_message.value}
    message_texts = [
        message_text for message_text in value_by_key.values() if isinstance(message_text, str)
    ]
    target_names = [
        target_name
        for target_name in list_message_targets(value_by_key)
        if response_scan.is_engine(target_name) or response_scan.has_field(target_name)
    ]
    status_word = find_strong_status_word(message_texts) if target_names else None
    if status_word:
        availability = status_word.with_reason(
            next((message_text for message_text in message_texts if " " in message_text), None)
        )
        # A field that has numbers all the same was measured in part.
        partial_availability = replace(availability, status=Status.PARTIAL)
        for target_name in target_names:
            if response_scan.is_engine(target_name):
                response_scan.add_signal(
                    "engine",
                    target_name,
                    availability,
                    service_message.path,
                    "notice",
                    service_message.value,
                )
            elif is_about_all or not response_scan.has_number(target_name):
                field_availability = (
                    partial_availability if response_scan.has_number(target_name) else availability
                )
                response_scan.add_signal(
                    "field",
                    response_scan.find_field_path(target_name),
                    field_availability,
                    service_message.path,
                    "notice",
                    service_message.value,
                )
    if status_word or not is_about_all:
        return
    for message_text in filter(read_absence_code, message_texts):
        scope, target = find_engine_or_field(value_by_key) or ("section", None)
        target = response_scan.find_field_path(target) if scope == "field" and target else target
        availability = replace_reason(
            read_absence_code(message_text) or UNAVAILABLE,
            find_reason(value_by_key) or message_text,
        )
        availability = make_partial_if_measured(availability, response_scan.nonzero_flags)
        response_scan.add_signal(
            scope, target, availability, service_message.path, "notice", service_message.value
        )
        return
    may_be_prose = ends_with_word_of(service_message.key, "prose") or is_word_of(
        service_message.key, "remark"
    )
    if may_be_prose and not any(map(_REQUEST_PATTERN.search, message_texts)):
        response_scan.prose_messages += [
            service_message._replace(key=message_text) for message_text in message_texts
        ]


def list_message_targets(message_object: Mapping[str, Any]) -> list[str]:
    """Return the distinct names of the fields and engines (AI assistants) that a message names.

    ``message_object`` is the object that has the message of the service.
    """
    kind_and_target_name = find_engine_or_field(message_object)
    target_names = [kind_and_target_name[1]] if kind_and_target_name else []
    for key, item in message_object.items():
        if isinstance(item, list) and has_word_of(key, "target"):
            target_names += [name for name in item if isinstance(name, str)]
    return [*dict.fromkeys(target_names)]


def read_prose_messages(response_scan: ResponseScan) -> None:
    """Add a `Signal` (a statement on missing data) for the first message about missing data.

    The messages of the service are stored in ``response_scan``. If there already is a signal about
    all data of the response, nothing is done.
    """
    if not response_scan.has_section_signal:
        for availability, service_message in islice(iter_prose_statements(response_scan), 1):
            response_scan.add_signal(
                "section", None, availability, service_message.path, "notice", service_message.value
            )


def iter_prose_statements(response_scan: ResponseScan) -> Iterator[tuple[Availability, Member]]:
    """Yield the availability that a message of the service states for all data, and the message.

    Messages that are not about missing data are left out.
    """
    for service_message in response_scan.prose_messages:
        message_text = (
            service_message.value if isinstance(service_message.value, str) else service_message.key
        )
        status_word = (
            None
            if _REQUEST_PATTERN.search(message_text)
            else find_status_word(message_text) or find_absence_status_word([message_text])
        )
        # Everyday words are trusted only where they are the code.
        is_everyday_word = status_word and status_word.term in ("available", "unavailable", "error")
        if status_word and (
            status_word.means_missing or (is_code_text(message_text) and not is_everyday_word)
        ):
            availability = make_partial_if_measured(
                status_word.with_reason(message_text), response_scan.nonzero_flags
            )
            if availability.status == Status.UNAVAILABLE and True in response_scan.nonzero_flags:
                availability = replace(availability, status=Status.PARTIAL)
            yield availability, service_message


# --- errors inside a body --------------------------------------------------------------------


def iter_error_texts(body: Any, depth: int = 0) -> Iterator[tuple[str, str]]:
    """Yield a tuple of a key and its text for each text in the body of an error response.

    Texts in nested objects are included. ``depth`` is the depth of nesting, from 0.
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
            nested_keys_and_texts = iter_error_texts(value, depth + 1)
            yield from (
                (name, error_text) for name, error_text in nested_keys_and_texts if name not in body
            )


def _read_error(response_scan: ResponseScan, member: Member) -> RuleResult:
    """Read an error that is reported in the body of a response with the HTTP status 200.

    Add a `Signal` (a statement on missing data) to ``response_scan``. Return True if there is such
    an error, else None.
    """
    key, value, parent_object = member.key, member.value, member.parent_object
    sibling_texts = [
        sibling_text for sibling_text in parent_object.values() if isinstance(sibling_text, str)
    ]
    section_statuses = [
        signal.availability.status for signal in response_scan.signals if signal.scope == "section"
    ]
    if member.path.count(".") > 2 or {*section_statuses} - {Status.AVAILABLE}:
        return None
    error_paths = (
        [item.get("path") for item in value if isinstance(item, dict)] if key == "errors" else []
    )
    if any(_is_partial_error(response_scan, path) for path in error_paths):
        return None
    error_value: Any = None
    if is_word_of(key, "error"):
        error_value = value if _describes_error(value) else None
    elif key in ("success", "ok"):
        error_value = parent_object if value is False else None
    elif key == "status":
        has_error_code = (
            type(value) is int and value >= 400 and isinstance(parent_object.get("title"), str)
        )
        is_error_word = isinstance(value, str) and find_status_word(value) == find_status_word(
            "error"
        )
        has_reason = is_error_word and len(parent_object) <= 6 and find_reason(parent_object)
        error_value = parent_object if has_error_code or has_reason else None
    elif find_absence_status_word(sibling_texts):
        error_fields = {fold(field_name): item for field_name, item in parent_object.items()}
        if key != "code":
            error_fields = {
                field_name[5:]: item
                for field_name, item in error_fields.items()
                if re.match("error|fault", field_name)
            }
        error_value = (
            (parent_object if key == "code" else error_fields)
            if _describes_error(error_fields)
            else None
        )
    if error_value is None:
        return None
    text_by_key = dict(
        iter_error_texts(error_value if isinstance(error_value, dict) else {"error": error_value})
    )
    status_word = find_strong_status_word(text_by_key.values())
    values_in_error = error_value.values() if isinstance(error_value, dict) else ()
    availability = next(
        (
            AVAILABILITY_BY_HTTP_STATUS[item]
            for item in values_in_error
            if type(item) is int and item in AVAILABILITY_BY_HTTP_STATUS
        ),
        FAILED,
    )
    availability = (
        status_word.availability if status_word and status_word.means_missing else availability
    )
    availability = (
        replace(availability, status=Status.PARTIAL)
        if response_scan.nonzero_flags
        else availability
    )
    reason = find_reason(text_by_key) or (error_value if isinstance(error_value, str) else None)
    response_scan.add_signal(
        "section", None, replace(availability, reason=reason), member.path, "error", error_value
    )
    return True


def _is_partial_error(response_scan: ResponseScan, path: Any) -> bool:
    """Return whether an error with this ``path`` is about only a part of the response.

    A ``path`` that is a text is a page of a website, which is a part. A ``path`` that is a list (as
    in GraphQL) leads to a part if the response has numbers, unless it begins with a field of
    ``data``: then ``data`` itself is incomplete.
    """
    data_object = response_scan.document.get("data")
    is_graphql_error = isinstance(data_object, dict) and isinstance(path, list) and path[:1] != []
    is_in_data = is_graphql_error and path[0] in data_object
    return isinstance(path, str) or bool(path and response_scan.nonzero_flags and not is_in_data)


def _describes_error(value: Any) -> bool:
    """Return whether a text, list or object under a key such as ``error`` describes an error."""
    if isinstance(value, str):
        return bool(value.strip())
    if isinstance(value, list):
        return bool(value) and all(
            isinstance(item, str | dict) and _describes_error(item) for item in value
        )
    folded_keys = {fold(name) for name in value}
    text_keys = folded_keys & {"message", "detail", "title", "description"}
    return bool(folded_keys & {"message", "code", "detail"}) and (
        folded_keys <= words_of("error_field")
        or bool(text_keys and folded_keys & {"code", "type", "status", "reason"})
    )


# --- members of the envelope -----------------------------------------------------------------


def _read_flag(response_scan: ResponseScan, member: Member) -> RuleResult:
    """Return the availability of the whole response that a boolean such as ``isConnected`` means.

    ``member`` has the key and the boolean. Return None if they say nothing about availability.
    """
    key, value = member.key, member.value
    availability = read_flag_availability(key, value)
    if availability is None or (
        availability.status == Status.AVAILABLE and not matches_form(key, "claim")
    ):
        return None
    if availability.cause == Cause.WITHHELD and response_scan.nonzero_flags:
        return None
    status_word = value and find_status_word(join_words(key, ("is",)))
    if (
        status_word
        and not status_word.means_missing
        and not (response_scan.has_list_of_numbers or response_scan.has_no_data)
    ):
        return None
    return add_stated_reason(availability, member.parent_object)


def _read_job_status(response_scan: ResponseScan, member: Member) -> RuleResult:
    """Return the availability that the status of a job means, such as ``pending``, or None.

    ``member`` has the key and the status, which is a text.
    """
    status_word = find_status_word(member.value)
    if (
        status_word is None
        or status_word.term not in _BUSINESS_TERMS
        or response_scan.nonzero_flags
    ):
        return None
    is_single_word = len(tokens(member.key)) == 1 and status_word.term != "not_run"
    return (
        add_stated_reason(status_word.availability, member.parent_object)
        if is_single_word or response_scan.has_no_data
        else None
    )


def _store_prose_message(response_scan: ResponseScan, member: Member) -> RuleResult:
    """Store a message to read it later, if the response has no data; return whether it has none."""
    if response_scan.has_no_data:
        response_scan.prose_messages.append(member)
    return response_scan.has_no_data


def _read_last_day(response_scan: ResponseScan, member: Member) -> RuleResult:
    """Add a `Signal` that the rows after the last complete day are ``partial``.

    The value of ``member`` is this day, as text. Return True if there are later rows, else None.
    """
    last_day = member.value[:10]
    if DAY_PATTERN.match(last_day) and max(response_scan.dates, default="") > last_day:
        last_moment = member.value
        availability = replace(PARTIAL, cause=Cause.PENDING)
        response_scan.add_signal(
            "section",
            None,
            availability,
            member.path,
            "through",
            last_moment,
            rows=make_conditions_after(last_moment),
            as_of=last_day,
        )
        return True
    return None


def _read_named_reason(response_scan: ResponseScan, member: Member) -> RuleResult:
    """Return the availability of the whole response that a key such as ``emptyReason`` states.

    ``member`` has the key, and as its value the reason or an object with the reason. Return None if
    no availability is stated.
    """
    reason_object = member.value if member.is_dict else {"reason": member.value}
    spaced_key = " ".join(tokens(member.key)[: None if member.is_dict else -1])
    contains_list = any(isinstance(item, list) for item in reason_object.values())
    availability = (
        find_availability_of_listed(spaced_key)
        if find_reason(reason_object) and not contains_list
        else None
    )
    if (
        availability
        and member.is_dict
        and availability.status == Status.UNAVAILABLE
        and response_scan.nonzero_flags
    ):
        availability = replace(availability, status=Status.PARTIAL)
    return add_stated_reason(availability, reason_object) if availability else None


def _may_list_names(key: str) -> bool:
    """Return whether a key, such as ``missingFields``, may list the fields or engines without data.

    An engine is an AI assistant.
    """
    may_list_failures = has_word_of(key, "failure") or matches_form(key, "reasons")
    return find_availability_of_listed(key) is not None or may_list_failures


ENVELOPE_RULES = (
    GeneralRule("error", lambda key: is_word_of(key, "error"), {str, list, dict}, _read_error),
    GeneralRule("error", lambda key: matches_form(key, "error_part"),
         {bool, int, str}, _read_error),
    GeneralRule("through", lambda key: matches_form(key, "through"), {str}, _read_last_day),
    GeneralRule("count", may_report_lost_data, {int, float, list, str},
         lambda _, member: read_loss_availability(member.key, member.value)),
    GeneralRule("flag", lambda key: any(read_flag_availability(key, flag)
         for flag in (True, False)),
         {bool}, _read_flag),
    GeneralRule("statement", score_availability_key, {dict}, read_availability_statement),
    GeneralRule("notice", lambda key: matches_form(key, "noted"), {str, list, dict},
         _read_service_messages),
    GeneralRule("statement", score_availability_key, {str}, read_availability_statement),
    GeneralRule("status", lambda key: matches_form(key, "stage"), {str}, _read_job_status),
    GeneralRule("reason", lambda key: is_word_of(key, "message"), {str}, _store_prose_message),
    GeneralRule("reason", lambda key: split_key(key)[1] == "reason", {str}, _read_named_reason),
    GeneralRule("reason", find_availability_of_listed, {dict}, _read_named_reason),
    GeneralRule("map", _may_list_names, {dict, list}, read_names_without_data),
    GeneralRule("map", find_kind_of_listed_names, {dict, list}, read_list_of_statuses),
    GeneralRule("statement", score_availability_key, {list}, read_availability_statement),
)  # fmt: skip
"""The rules for the objects about the whole response; the first rule that reads a key wins."""


# --- rows: what the records of a list state about their own data -----------------------------


def read_rows(response_scan: ResponseScan) -> None:
    """Add a `Signal` for each JSON object in a list which says whether its data could be measured.

    A `Signal` is a statement on data, stored in ``response_scan``. An example of an object with a
    statement is ``{"day": "2026-11-20", "isPartial": true}``.
    """
    for records in response_scan.list_records:
        for field_name in records.field_names if len(records.field_names) <= MAX_FIELDS else ():
            value_types = records.record_vector.field(field_name).types
            for rule in ROW_RULES:
                if rule.value_types & value_types and rule.matches_key(field_name):
                    row_availabilities = rule.read_value(records, field_name)
                    sibling_name = (
                        _find_sibling_name(records, field_name) if rule.name == "cell" else None
                    )
                    for record_position, availability in row_availabilities or ():
                        records.add_signal(
                            field_name, record_position, availability, rule.name, sibling_name
                        )
                    if row_availabilities is not None:
                        break


def _read_row_flags(records: ListRecords, name: str) -> RowAvailabilities | None:
    """Return the availability of each row, as its boolean field ``name`` states it.

    The result is a list of tuples: the position of a row, from 0, and its availability. Return None
    if the field is not about availability.
    """
    if matches_form(name, "row_flag", ("is",)):
        return records.read_availabilities(name, partial(read_flag_availability, name), bool)
    has_days = any(has_word_of(field_name, "when") for field_name in records.field_names)
    return (
        has_days
        and records.read_availabilities(name, partial(read_day_flag_availability, name), bool)
    ) or None


def _find_sibling_name(records: ListRecords, field_name: str) -> str | None:
    """Return the name of the field that a field explains: ``revenue`` for ``revenueReason``.

    Return None if the objects ``records`` have no such field.
    """
    folded_name, _ = split_key(field_name)
    sibling_name = (
        next((field for field in records.field_names if fold(field) == folded_name), None)
        if folded_name
        else None
    )
    return sibling_name if sibling_name != field_name else None


def _read_sibling_availabilities(
    records: ListRecords, explaining_name: str
) -> RowAvailabilities | None:
    """Return the availability of a field such as ``revenue`` that ``revenueReason`` states.

    ``explaining_name`` is ``revenueReason``. The result is a list of tuples: the
    position of a row, from 0, and the availability of ``revenue`` in this row. Return None if the
    rows have no field ``revenue``.
    """
    sibling_name = _find_sibling_name(records, explaining_name)
    if sibling_name is None:
        return None
    sibling_values = records.list_field_values(sibling_name)
    statement_kind = split_key(explaining_name)[1]
    explaining_values = records.list_field_values(explaining_name)
    # A text that is present exactly if the sibling is null can only be the reason for the null.
    has_text_flags = [type(item) is str and bool(item.strip()) for item in explaining_values]
    explains_nulls = statement_kind == "reason" and has_text_flags == [
        item is None for item in sibling_values
    ]
    row_availabilities = []
    for record_position, (explaining_value, sibling_value) in enumerate(
        zip(explaining_values, sibling_values, strict=True)
    ):
        if not isinstance(explaining_value, bool | str):
            continue
        availability = read_sibling_availability(
            statement_kind,
            explaining_value,
            sibling_value if isinstance(sibling_value, str | int | float) else None,
        )
        is_certain = (
            explains_nulls
            or isinstance(explaining_value, bool)
            or find_strongest_status_word([explaining_value], STRONG)
        )
        denies_zero = (
            sibling_value == 0
            and isinstance(explaining_value, str)
            and find_strongest_status_word([explaining_value], PLAIN)
        )
        is_consistent = availability and (sibling_value is None) != (
            availability.status == Status.AVAILABLE
        )
        if availability and (denies_zero or (is_consistent and is_certain)):
            row_availabilities.append((record_position, availability))
    return (
        row_availabilities
        if any(availability.status != Status.AVAILABLE for _, availability in row_availabilities)
        else []
    )


ROW_RULES = (
    GeneralRule("row flag", bool, {bool}, _read_row_flags),
    GeneralRule("row code", lambda key: matches_form(key, "observation_status"), {str},
         lambda records, name: records.read_availabilities(name, read_observation_code)),
    GeneralRule("cell", lambda key: split_key(key)[1], {bool, str}, _read_sibling_availabilities)
)  # fmt: skip
"""The rules for the fields of the objects in lists; the first rule that reads a field wins."""
