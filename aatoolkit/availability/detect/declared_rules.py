"""Find out by the user's rules for one service which data of a response could be measured.

A rule gives the JSON path of a value, and the status that each text at this path means.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

from aatoolkit._util.lexicon import fold, matches_form
from aatoolkit._util.text import parse_datetime
from aatoolkit.availability.detect.general_rules import NamedItem, add_named_item_signal
from aatoolkit.availability.detect.response_scan import Hint, ResponseScan, to_json_text
from aatoolkit.availability.detect.words import (
    AVAILABLE,
    NO_MEANING,
    PARTIAL,
    find_availability_of_listed,
    find_engine_or_field,
    find_nonzero_flags,
    find_status_word,
    find_status_word_in_sentence,
    has_numbers,
    make_partial_if_measured,
    read_status_text,
)
from aatoolkit.availability.status import EMPTY, UNKNOWN, Availability, Status, combine
from aatoolkit.jsontree.paths import (
    Elements,
    Entries,
    Field,
    NamedColumn,
    Step,
    format_key,
    parse_pattern,
)
from aatoolkit.jsontree.vectors import MISSING
from aatoolkit.sections.availability_rule import (
    EMPTY_LIST_WORD,
    REFERENCE_RULE,
    Rule,
    find_total,
    join_short_list,
    parse_count,
    to_completeness,
    to_rule_word,
)

_UNKNOWN_WORD_REASON = "a word that the rule of this place does not know"


class RuleValue(NamedTuple):
    """A value that a response has at the JSON path of a user's rule.

    Attributes
    ----------
    scope : str
        The kind of data that the value is about: ``section`` (all data), ``engine``, ``field``,
        ``row``, ``entry`` (an engine or field) or ``part`` (an engine's part of a row).
    target : str or None
        The engine, the field, or the path of the row that the value is about.
    value : object
        The value.
    path : str
        The JSON path of the value.
    row : mapping
        The row that has the value, if the value is about a row.
    """

    scope: str
    target: str | None
    value: Any
    path: str
    row: Mapping[str, Any] = {}


def apply_rules(
    response_scan: ResponseScan, rules: tuple[Rule, ...], headers: Mapping[str, str]
) -> bool:
    """Find by the user's rules, which name JSON paths, what a response says on its missing data.

    Add a `Signal` to ``response_scan`` for each value at such a path that says whether data could
    be measured. Return whether the rules cover the whole response, so that the general rules, for
    responses of any service, need not read it.
    """
    covers_response, section_statements = False, []
    for rule in rules or (REFERENCE_RULE,):
        rule_values: list[RuleValue] = []
        status_steps = () if rule.kind == "header" else parse_pattern(rule.at)
        if rule.kind == "object":
            is_plain_value, status_object = (
                rule.is_bare(response_scan.document),
                rule.find(response_scan.document, response_scan.requested_days),
            )
            status_steps = status_steps if is_plain_value else (*status_steps, Field(rule.status))
            if status_object is not None and (rules or rule.is_whole(status_object)):
                signal_count_before = len(response_scan.signals)
                _read_status_object(response_scan, rule, status_object)
                if not (rule.total or is_plain_value):
                    covers_response |= len(response_scan.signals) > signal_count_before
                    continue
            elif not rules:
                continue
        else:
            rule_values = [*_find_rule_values(response_scan, rule, headers)]
        if status_steps:  # what states is no measurement
            response_scan.document = _remove_path(response_scan.document, status_steps)
            if rule.total:
                response_scan.document = _remove_path(
                    response_scan.document, (*status_steps[:-1], Field(rule.total))
                )
            response_scan.free_memory()
        section_statements += _read_rule_values(response_scan, rule, rule_values)
    availability_by_target = add_missing_causes(response_scan)
    is_section_empty = any(
        signal.scope == "section" and signal.availability.status in EMPTY
        for signal in response_scan.signals
    )
    has_counts = not rules or has_numbers(response_scan.document)
    for targets_and_availabilities, path, rule_name, value in (
        () if is_section_empty else section_statements
    ):
        availability = combine(
            _add_known_cause(availability, target, availability_by_target)
            for target, availability in targets_and_availabilities
        )
        if availability.status == Status.UNAVAILABLE and has_counts:
            availability = replace(
                availability, status=Status.PARTIAL
            )  # something else was counted
        response_scan.add_signal("section", None, availability, path, rule_name, value)
    if rules:
        _read_first_day(response_scan, rules)
    if response_scan.unknown_words:  # one of them may say that data are missing
        response_scan.signals[:] = [
            signal
            for signal in response_scan.signals
            if signal.scope != "section" or signal.availability.status != Status.AVAILABLE
        ]
    return covers_response


def _read_first_day(response_scan: ResponseScan, rules: tuple[Rule, ...]) -> None:
    """Add a `Signal` that all data are ``partial`` if the first requested days are missing.

    A `Signal` is a statement of a response on its data. The days are missing if the response says
    that measuring began after the first requested day.
    """
    dates = response_scan.dates
    datetimes = [*filter(None, map(parse_datetime, dates))]
    # Weekly rows or days of single events do not show which days were requested.
    if not datetimes or (max(datetimes) - min(datetimes)).days + 1 != len(dates):
        return
    for path_values in response_scan.all_path_values:
        if path_values.is_in_list or not len(path_values.vector):
            continue
        parent_path = path_values.vector.path(0).rpartition(".")[0]
        is_on_rule_path = any(f"$.{rule.at}.".startswith(f"{parent_path}.") for rule in rules)
        first_day = str(path_values.vector.values[0])[:10]
        if not (
            is_on_rule_path and matches_form(path_values.field_name, "begun") and first_day in dates
        ):
            continue
        if first_day > min(dates) or len(dates) < (response_scan.requested_days or 0):
            response_scan.add_signal(
                "section", None, PARTIAL, path_values.vector.path(0), "through", first_day
            )


AvailabilityByTarget = Mapping[str | None, Availability]
"""Maps an engine or field to an availability that says that it has no data, and the cause."""


def add_missing_causes(response_scan: ResponseScan) -> AvailabilityByTarget:
    """Add the missing causes to signals (statements on data) of the status ``unavailable``.

    Such a signal gets the availability of another signal about the same engine (AI assistant) or
    field, which has a cause; first of all of one that says that the data do not apply to it. Return
    a dict from each engine or field with a cause to its availability.
    """
    availability_by_target = {
        signal.target: signal.availability
        for signal in sorted(
            response_scan.signals,
            key=lambda signal: signal.availability.status == Status.NOT_APPLICABLE,
        )
        if signal.availability.status in EMPTY and signal.availability.cause
    }
    for position, signal in enumerate(response_scan.signals if availability_by_target else ()):
        availability = _add_known_cause(signal.availability, signal.target, availability_by_target)
        if availability is not signal.availability:
            response_scan.signals[position] = replace(signal, availability=availability)
    return availability_by_target


def _add_known_cause(
    availability: Availability, target: str | None, availability_by_target: AvailabilityByTarget
) -> Availability:
    """Replace the availability ``unavailable`` by that of ``target`` in ``availability_by_target``.

    It is replaced if it has no cause, or if the data do not apply to ``target``, an engine or
    field. Any other availability is returned unchanged.
    """
    target_availability = availability_by_target.get(target, availability)
    # What does not apply to an engine is not missing, whatever other fields say.
    is_inapplicable = target is not None and target_availability.status == Status.NOT_APPLICABLE
    is_replaced = availability.status == Status.UNAVAILABLE and (
        availability.cause is None or is_inapplicable
    )
    return target_availability if is_replaced else availability


def _remove_path(value: Any, steps: Sequence[Step]) -> Any:
    """Return a copy of a JSON value without the fields at a path; ``steps`` is the parsed path."""
    first_step, *remaining_steps = steps
    is_last_field = not any(isinstance(step, Field | NamedColumn) for step in remaining_steps)
    if isinstance(value, list) and isinstance(first_step, Elements) and not is_last_field:
        return [_remove_path(item, remaining_steps) for item in value]
    if not isinstance(value, dict) or not isinstance(first_step, Field | Entries):
        return value
    path_keys = {first_step.name} if isinstance(first_step, Field) else value.keys()
    return {
        name: _remove_path(item, remaining_steps) if name in path_keys else item
        for name, item in value.items()
        if name not in path_keys or not is_last_field
    }


def read_availability(rule: Rule, value: Any, reason: object = None) -> Availability | None:
    """Return the availability (a status, cause and reason) that a rule gives to a value, or None.

    ``reason`` is the explanation beside the value.

    Examples
    --------
    >>> rule = Rule(words={"green": "available", True: "not_run"})
    >>> [str(read_availability(rule, value)) for value in ("green", True, False)]
    ['available', 'unavailable (not run)', 'unknown: False']
    """
    if isinstance(value, dict):
        return read_availability(rule, rule.value_in(value), value.get(rule.reason))
    if value is MISSING or isinstance(value, list):
        return None
    value_text = to_rule_word(value)
    meaning, _ = rule.meaning_of(value)
    if meaning is not None:
        return read_status_text(meaning, reason)
    if value is None or isinstance(value, float):
        return None
    status_word = (
        find_status_word_in_sentence(value_text)
        if " " in value_text.strip() and find_status_word(value_text) is None
        else None
    )
    return status_word.with_reason(value_text) if status_word else read_status_text(value, reason)


def _find_rule_values(
    response_scan: ResponseScan, rule: Rule, headers: Mapping[str, str]
) -> Iterator[RuleValue]:
    """Yield each value that the response has at the path of a rule, as a `RuleValue`.

    A rule may also name one of the HTTP ``headers``.
    """
    if rule.kind == "header":
        for name, header_value in headers.items():
            if name.lower() == rule.header:
                yield RuleValue("section", None, header_value, f"header {rule.header}")
        return
    *parent_steps, last_step = steps = parse_pattern(rule.at)
    if EMPTY_LIST_WORD in rule.words and Elements() in steps:
        list_vector = response_scan.vector.descend(steps[: steps.index(Elements())])
        if [*list_vector.values] == [[]] and has_numbers(response_scan.document):
            yield RuleValue("section", None, EMPTY_LIST_WORD, list_vector.path(0))
    row_vector = response_scan.vector.descend(
        [*parent_steps, last_step] if isinstance(last_step, Elements) else parent_steps
    )
    list_depth = max(
        (depth for depth, step in enumerate(parent_steps, 1) if isinstance(step, Elements)),
        default=0,
    )
    outer_records = (
        response_scan.vector.descend(parent_steps[:list_depth]).values if list_depth else []
    )
    records = row_vector.values
    value_vector = row_vector.field(last_step.name) if isinstance(last_step, Field) else row_vector
    row_values, index_suffix = value_vector.values, ""
    if isinstance(last_step, NamedColumn):
        column_names = [*response_scan.vector.descend(last_step.header).values]
        records = [
            dict(zip(column_names, row_cells, strict=False)) if isinstance(row_cells, list) else {}
            for row_cells in row_values
        ]
        row_values = [record.get(last_step.name) for record in records]
        index_suffix = (
            f"[{column_names.index(last_step.name)}]" if last_step.name in column_names else ""
        )
    listed_engines = (
        response_scan.vector.descend(parse_pattern(rule.engines)).values
        if rule.engines.endswith("[]")
        else []
    )
    words_by_engine_or_field: dict[tuple[str, str] | None, set[str]] = {}
    values_with_context = []
    for position, (row_value, record) in enumerate(zip(row_values, records, strict=True)):
        target = row_vector.path(position).removeprefix("$").removeprefix(".")
        path = value_vector.path(position) + index_suffix
        row_value = rule.find_tag(join_short_list(row_value))
        if isinstance(last_step, Entries) and isinstance(row_value, dict):
            for name, entry_value in row_value.items():
                entry_value = rule.find_tag(entry_value)
                if rule.total and parse_count(entry_value) is not None:
                    total = find_total(record, rule.total, response_scan.requested_days)
                    entry_value = to_completeness(entry_value, total)
                if name == rule.total:
                    continue
                scope, entry_target = ("section", None) if rule.of == "section" else ("entry", name)
                if rule.kind == "rows":
                    scope, entry_target = "part", target.rpartition(".")[0]
                yield RuleValue(scope, entry_target, entry_value, path + format_key(name))
        elif type(row_value) in (str, int, bool, type(None), *[float] * bool(rule.total)):
            if rule.total and row_value is not None:
                total = find_total(record, rule.total, response_scan.requested_days)
                row_value = to_completeness(row_value, total)
                if row_value is None:
                    continue
            _, named_engine = rule.meaning_of(row_value)
            engine_or_field = None
            if rule.of == "engine" or named_engine:
                row_keys, row_fields = (
                    row_vector.level.keys,
                    record if isinstance(record, dict) else {},
                )
                outer_record = (
                    outer_records[position] if len(outer_records) == len(row_vector) else None
                )
                if isinstance(outer_record, dict) and rule.engines not in row_fields:
                    row_fields = outer_record  # the row is an object in it
                engine = row_fields.get(rule.engines, row_keys[position] if row_keys else None)
                if len(listed_engines) == len(row_vector):
                    engine = listed_engines[position]
                if named_engine and not isinstance(engine, str):
                    engine = response_scan.engine_names.get(fold(named_engine), named_engine)
                engine_or_field = (
                    ("engine", engine)
                    if isinstance(engine, str)
                    else find_engine_or_field(row_fields)
                )
            elif isinstance(last_step, Elements) and target.count("[") > 1:
                target = target.rpartition("[")[0].rpartition(".")[0]  # the row of the list
            words_by_engine_or_field.setdefault(engine_or_field, set()).add(to_rule_word(row_value))
            if row_value is not None or "null" in rule.words:
                values_with_context.append((engine_or_field, target, row_value, path, record))
    for engine_or_field, target, row_value, path, record in values_with_context:
        # What differs between the rows of an engine is stated of these rows.
        is_about_row = (
            len(words_by_engine_or_field[engine_or_field]) > 1 if engine_or_field else not rule.of
        )
        scope, stated_target = (
            ("row", target) if is_about_row else engine_or_field or ("section", None)
        )
        row_object = record if scope == "row" and isinstance(record, dict) else {}
        yield RuleValue(scope, stated_target, row_value, path, row_object)


SectionStatement = tuple[list[tuple[str | None, Availability]], str, str, Any]
"""What one rule says about all engines or rows, which together make up all data of the response.

The first item is a list of tuples: an engine or row, and its availability. Then come the JSON path,
the name of the rule, and the value that was read.
"""


def _read_rule_values(
    response_scan: ResponseScan, rule: Rule, rule_values: Sequence[RuleValue]
) -> list[SectionStatement]:
    """Add a `Signal` (a statement on missing data) for each value that has a meaning.

    The signals are added to ``response_scan``. If the values are about all engines (AI assistants)
    or all rows, they together describe all data. The result is then a list with one
    `SectionStatement` (the availability of each engine or row), else an empty list.
    """
    signal_count_before = len(response_scan.signals)
    rule_value_count = len(rule_values)
    rule_values = [
        rule_value
        for rule_value in rule_values
        if rule.meaning_of(rule_value.value)[0] != NO_MEANING
    ]
    # The type is in the key because 1 and True are equal.
    rule_value_by_key = {
        (type(rule_value.value), repr(rule_value.value)): rule_value for rule_value in rule_values
    }
    availability_by_key = {
        key: _find_availability_by_rule(response_scan, rule, rule_value)
        for key, rule_value in rule_value_by_key.items()
    }
    values_and_availabilities = [
        (rule_value, availability)
        for rule_value in rule_values
        if (availability := availability_by_key[type(rule_value.value), repr(rule_value.value)])
        is not None
    ]
    has_data = rule.of in ("section", "engine") and (
        True in response_scan.nonzero_flags
        or AVAILABLE in (availability for _, availability in values_and_availabilities)
    )
    for rule_value, availability in values_and_availabilities:
        if rule.meaning_of(rule_value.value)[0] is None:  # a word that nobody confirmed
            availability = make_partial_if_measured(
                availability, find_nonzero_flags(rule_value.row)
            )
        # Parts of a section of which one has data.
        if has_data and rule_value.scope == "section" and availability.status in EMPTY:
            availability = replace(availability, status=Status.PARTIAL)
        if rule_value.scope == "entry":
            add_named_item_signal(
                response_scan,
                NamedItem(rule_value.target or "", rule.of, rule_value.value, rule_value.path),
                availability,
            )
        elif rule_value.scope != "part":
            response_scan.add_signal(
                rule_value.scope,
                rule_value.target,
                availability,
                rule_value.path,
                rule.name,
                rule_value.value,
            )
        elif availability.status in EMPTY:
            # One engine lacks data; other engines measure the row, so the row is partial.
            partial_availability = replace(availability, status=Status.PARTIAL)
            response_scan.add_signal(
                "row",
                rule_value.target,
                partial_availability,
                rule_value.path,
                rule.name,
                rule_value.value,
            )
    response_scan.signals[signal_count_before:] = [
        replace(signal, rule=rule.name) for signal in response_scan.signals[signal_count_before:]
    ]
    is_about_rows = (
        rule.kind == "rows" and rule.of != "section" and True not in response_scan.nonzero_flags
    ) and not any("{engine}" in word for word in rule.words)  # a list of some engines
    are_all_empty = all(
        availability.status in EMPTY for _, availability in values_and_availabilities
    )
    value_by_target = {
        rule_value.target: rule_value.value
        for rule_value in rule_values
        if rule_value.scope in ("engine", "entry")
    }
    # If every engine has a state, these states together are that of the section.
    covers_all_engines = _is_about_all_engines(rule) and len(value_by_target) == len(rule_values)
    if not 0 < len(values_and_availabilities) == rule_value_count or not (
        covers_all_engines or (is_about_rows and are_all_empty)
    ):
        return []
    path = "$" + "".join(map(format_key, rule.steps)) if covers_all_engines else rule_values[0].path
    return [
        (
            [
                (rule_value.target, availability)
                for rule_value, availability in values_and_availabilities
            ],
            path,
            rule.name,
            value_by_target or rule_values[0].value,
        )
    ]


def _is_about_all_engines(rule: Rule) -> bool:
    """Return whether a rule reads a status for every engine (AI assistant).

    The result is False for a rule that reads a list of only the engines without data.
    """
    if rule.of != "engine" or any("{engine}" in word for word in rule.words):
        return False
    may_list_missing = (
        rule.kind == "rows" or find_availability_of_listed([*rule.steps][-1]) is not None
    )
    return "available" in rule.words.values() or not may_list_missing


def _find_availability_by_rule(
    response_scan: ResponseScan, rule: Rule, rule_value: RuleValue
) -> Availability | None:
    """Return the availability that a rule gives to a value; None if the rule gives none.

    A value that the rule does not explain may say that data are missing, so it is stored in
    ``response_scan`` as a `Hint` (a value to show to the user).
    """
    availability = read_availability(rule, rule_value.value)
    if availability is None or availability.status != Status.UNKNOWN:
        return availability
    # If the rule gives one value of a flag a meaning, the other value needs none and no hint.
    if not isinstance(rule_value.value, bool) or not {"true", "false"} & {*rule.words}:
        hint = Hint(rule_value.path, to_json_text(rule_value.value), _UNKNOWN_WORD_REASON)
        response_scan.unknown_words.setdefault((rule.at, to_rule_word(rule_value.value)), hint)
    return None


def _read_status_object(
    response_scan: ResponseScan, rule: Rule, status_object: Mapping[str, Any]
) -> None:
    """Read an object such as ``{"status": "partial", "engines": {"gemini": "not_run"}}`` by a rule.

    Add a `Signal` (a statement on data) to ``response_scan`` for all data, and for each field and
    engine that the object lists.
    """
    object_path = "$" + "".join(map(format_key, rule.steps))
    rule_values = []
    if rule.status in status_object:
        rule_values.append(RuleValue("section", None, status_object, object_path))
    for scope, key in (("field", rule.fields), ("engine", rule.engines)):
        status_by_name = status_object.get(key)
        for target, value in status_by_name.items() if isinstance(status_by_name, dict) else ():
            part_object = value if isinstance(value, dict) else {rule.status: value}
            path = f"{object_path}{format_key(key)}{format_key(target)}"
            rule_values.append(RuleValue(scope, target, part_object, path))
    for scope, target, part_object, path, _ in rule_values:
        status_value = rule.value_in(part_object, response_scan.requested_days)
        meaning, engine = rule.meaning_of(status_value)
        if meaning == NO_MEANING or (rule.total and status_value is None):
            continue
        if engine and scope == "section":
            scope, target = "engine", response_scan.engine_names.get(fold(engine), engine)
        sample_size, as_of = map(part_object.get, (rule.sample_size, rule.as_of))
        sample_size = sample_size if type(sample_size) is int else None
        as_of = as_of if isinstance(as_of, str) else None
        availability = (
            read_availability(rule, status_value, part_object.get(rule.reason)) or UNKNOWN
        )
        response_scan.add_signal(
            scope,
            target,
            availability,
            path,
            rule.name,
            {key: part_object[key] for key in (rule.status, rule.total) if key in part_object}
            if rule.total
            else part_object,
            sample_size=sample_size,
            as_of=as_of,
        )
