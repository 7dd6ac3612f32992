"""Find out from a response which of its data could be measured.

These are read in this order: the HTTP status, headers, the user's rules for the service, objects
about the whole response, the rows, and the service's list of engines. If the response says nothing
about its data, their status is ``unknown``.
"""

from __future__ import annotations

import re
import traceback
from collections.abc import Mapping
from dataclasses import replace
from functools import cached_property
from pathlib import Path
from typing import Any

from aatoolkit._util.lexicon import ends_with_word_of, fold, join_words, matches_form
from aatoolkit.availability.detect import general_rules
from aatoolkit.availability.detect.declared_rules import add_missing_causes, apply_rules
from aatoolkit.availability.detect.general_rules import (
    ENVELOPE_RULES,
    apply_rule,
    iter_error_texts,
)
from aatoolkit.availability.detect.hints import find_hints
from aatoolkit.availability.detect.response_scan import Hint, Member, ResponseScan, Signal
from aatoolkit.availability.detect.words import (
    AVAILABILITY_BY_HTTP_STATUS,
    AVAILABILITY_BY_TERM,
    FAILED,
    STATED,
    STRONG,
    find_availability_of_listed,
    find_reason,
    find_strong_status_word,
    find_strongest_status_word,
    is_code_text,
    is_status_key,
    make_partial_if_measured,
    read_flag_availability,
    score_availability_key,
)
from aatoolkit.availability.status import EMPTY, Cause, Status, combine
from aatoolkit.errors import SchemaDriftWarning, warn
from aatoolkit.jsontree.vectors import Vector
from aatoolkit.scope import ScopeOptions
from aatoolkit.sections.availability_rule import Rule, to_rule_tuple


def _add_engines_without_data(response_scan: ResponseScan, options: ScopeOptions) -> None:
    """Add a `Signal` (a statement on missing data) for each AI engine that has no data.

    Such an engine (AI assistant) is not configured, or never ran. ``options`` has the service's
    list of engines.
    """
    stated_engines = {
        fold(signal.target or "") for signal in response_scan.signals if signal.scope == "engine"
    }
    engine_frame = options.engines
    has_run_flags = (
        engine_frame["last_run_day"].notna() if options.has_runs else [True] * len(engine_frame)
    )
    is_configured_flags = engine_frame["configured"].fillna(True)
    for engine, is_configured, has_run in zip(
        engine_frame["engine"], is_configured_flags, has_run_flags, strict=True
    ):
        availability = AVAILABILITY_BY_TERM["not_run" if is_configured else "not_configured"]
        if not (is_configured and has_run) and fold(engine) not in stated_engines:
            response_scan.add_signal(
                "engine", engine, availability, "scope options", "options", engine
            )


def detect(
    document: Any,
    rule: Rule | tuple[Rule, ...] | None = None,
    *,
    status: int = 200,
    headers: Mapping[str, str] | None = None,
    options: ScopeOptions | None = None,
    vector: Vector | None = None,
    days: int | None = None,
) -> Detection:
    """Find out from a response which of its data could be measured.

    Parameters
    ----------
    document : object
        The decoded response; None if it has no body.
    rule : Rule or tuple of Rule, optional
        The user's rules: the JSON path of a value, and the status that each of its texts means.
        They take precedence over the general rules.
    status : int
        The HTTP status of the response.
    headers : mapping of str to str, optional
        The response headers.
    options : ScopeOptions, optional
        The engines of the service, with the day on which each last ran.
    vector : Vector, optional
        The response as a `Vector` (the values at one JSON path), if it is already made.
    days : int, optional
        The number of days that were asked for.

    Returns
    -------
    Detection
        Its ``signals`` are the statements of the response on its data, and its ``hints`` are values
        that may be such statements.

    Warns
    -----
    SchemaDriftWarning
        If a word that seems to state a status is not known, or if detection failed.

    Examples
    --------
    >>> detection = detect({"availability": {"status": "not_connected", "reason": "No CNAME."}})
    >>> str(detection.signals[0].availability)
    'unavailable (not connected): No CNAME.'
    """
    engines = () if options is None else options.engines["engine"].astype(str)
    response_scan = ResponseScan(document, engines, vector, days)
    failure_message, is_documented = None, False
    try:
        is_documented = _add_signals(response_scan, to_rule_tuple(rule), status, headers or {})
        if options is not None:
            _add_engines_without_data(response_scan, options)
    except Warning:
        raise  # somebody has turned warnings into errors
    except Exception as error:
        failure_message = _describe_failure(error)
    if failure_message is not None:
        warn(failure_message, SchemaDriftWarning)
    return Detection(response_scan, headers or {}, failure_message, is_documented)


class Detection:
    """What one response says about missing data.

    The property ``hints`` has the values that may say more, but were not understood.

    Attributes
    ----------
    signals : list of Signal
        The statements of the response. Each says whether some of its data could be measured.
    failure : str or None
        The error message, if detection failed.
    is_documented : bool
        Whether only the documented ``availability`` object was read.
    """

    def __init__(
        self,
        response_scan: ResponseScan,
        headers: Mapping[str, str],
        failure: str | None,
        is_documented: bool,
    ) -> None:
        self.signals = response_scan.signals
        self.failure, self.is_documented = failure, is_documented
        self._scan, self._headers = response_scan, headers
        if is_documented:
            response_scan.document = None
        response_scan.free_memory()

    @cached_property
    def hints(self) -> list[Hint]:
        """A list of values that may say which data could be measured, but were not understood."""
        failure_hints = [Hint("$", None, self.failure)] if self.failure else []
        try:
            hints = find_hints(self._scan, {} if self.is_documented else self._headers)
            self._scan.free_memory()
            return failure_hints + hints
        except Exception as error:
            return [*failure_hints, Hint("$", None, _describe_failure(error))]


def _add_signals(
    response_scan: ResponseScan,
    declared_rules: tuple[Rule, ...],
    status: int,
    headers: Mapping[str, str],
) -> bool:
    """Add a `Signal` to ``response_scan`` for each statement on missing data in a response.

    The HTTP status, the headers and the body are read. ``declared_rules`` are the user's. Return
    True if only the documented object ``availability`` of the body was read, else False.
    """
    if read_http_status(response_scan, status):
        return False
    rule_headers = {rule.header for rule in declared_rules if rule.kind == "header"}
    read_headers(
        response_scan,
        {name: value for name, value in headers.items() if name.lower() not in rule_headers},
    )
    covers_response = apply_rules(response_scan, declared_rules, headers)
    if not covers_response:
        if isinstance(response_scan.document, dict):
            general_rules.read_envelope(response_scan, Member("", response_scan.document, "$", {}))
        general_rules.read_rows(response_scan)
        # A rule of the user knows better what an object says; and what is available needs no
        # reason, so one beside it says that something lacks.
        rule_paths = tuple(
            signal.path for signal in response_scan.signals if signal.rule == "declared"
        )
        response_scan.signals[:] = [
            signal
            for signal in response_scan.signals
            if signal.rule == "declared"
            or not (
                any(path.startswith(f"{signal.path}.") for path in rule_paths)
                or (
                    signal.scope == "section"
                    and signal.availability.status == Status.AVAILABLE
                    and signal.availability.reason
                )
            )
        ]
        add_missing_causes(response_scan)
    if declared_rules or not covers_response:
        _infer_section_signal(response_scan, has_rules=bool(declared_rules))
    if not covers_response:
        general_rules.read_prose_messages(response_scan)
    return covers_response and not declared_rules


# --- the whole -------------------------------------------------------------------------------


def _infer_section_signal(response_scan: ResponseScan, *, has_rules: bool) -> None:
    """Add a `Signal` about the whole response, if the signals about its parts imply one.

    A `Signal` is a statement of the response on its data. For example, if the signals say that
    every engine (AI assistant) lacks data, the whole response lacks data.
    ``has_rules`` says whether the user has declared rules for the service.
    """
    signals = response_scan.signals
    has_data = True in response_scan.nonzero_flags
    if has_rules and not has_data:  # what else is stated about the whole is about parts of it
        signals_of_missing_data = [
            signal for signal in signals if signal.availability.status in EMPTY
        ]
        if "section" in {signal.scope for signal in signals_of_missing_data}:
            signals[:] = [
                signal
                for signal in signals
                if signal.scope != "section" or signal in signals_of_missing_data
            ]
    is_any_available = any(signal.availability.status == Status.AVAILABLE for signal in signals)
    if has_rules and not (response_scan.nonzero_flags or is_any_available):
        signals[:] = [  # without any number, no part is measured
            replace(signal, availability=replace(signal.availability, status=Status.UNAVAILABLE))
            if signal.scope == "section" and signal.availability.status == Status.PARTIAL
            else signal
            for signal in signals
        ]
    if not signals or response_scan.has_section_signal:
        return
    availabilities = [signal.availability for signal in signals]
    if has_rules and not has_data:  # without any number, partly measured is not measured
        availabilities = [
            availability for availability in availabilities if availability.status != Status.PARTIAL
        ]
    statuses = {availability.status for availability in availabilities}
    # A map of only the engines that lack data says nothing about the others.
    covers_engines = len(signals) > 1 and all(map(_is_from_engine_map, signals))
    stated_engines = {fold(signal.target or "") for signal in signals if signal.scope == "engine"}
    covers_engines |= (
        bool(response_scan.project_engines) and response_scan.project_engines <= stated_engines
    )
    # What some engines do not show says nothing of the others.
    is_about_some_engines = (
        statuses == {Status.NOT_APPLICABLE} and bool(stated_engines) and not covers_engines
    )
    is_only_pending = {availability.cause for availability in availabilities} == {
        Cause.PENDING
    } and response_scan.has_no_data
    is_all_unmeasured = statuses <= {*EMPTY} and (
        is_only_pending
        or ((has_rules or covers_engines) and not has_data and not is_about_some_engines)
    )
    is_all_measured = has_rules and has_data and not response_scan.unknown_words
    is_all_measured &= Status.AVAILABLE in statuses
    is_all_measured &= statuses <= {Status.AVAILABLE, Status.NOT_APPLICABLE}
    is_all_measured &= not any(general_rules.iter_prose_statements(response_scan))
    if availabilities and (is_all_unmeasured or is_all_measured):
        signal = signals[0]
        response_scan.add_signal(
            "section", None, combine(availabilities), signal.path, signal.rule, signal.raw
        )


def _is_from_engine_map(signal: Signal) -> bool:
    """Return whether a signal was read from an object with one entry per engine (AI assistant).

    Return False for an object such as ``missingEngines``, which has only the engines without data.
    """
    if signal.scope != "engine" or signal.rule != "map":
        return False
    key = re.split(r"[.\[\]\"]+", signal.path.rstrip('"]'))[-2]
    return find_availability_of_listed(key) is None and not matches_form(key, "reasons")


def _describe_failure(error: Exception) -> str:
    """Return a message about an error during detection: its type, file and line."""
    stack_frame = traceback.extract_tb(error.__traceback__)[-1]
    return (
        f"availability could not be read in full ({type(error).__name__} in "
        f"{Path(stack_frame.filename).name}, line {stack_frame.lineno}): a fault of aatoolkit, "
        "which leaves the response as it is; please report it"
    )


# Whether a reply counts as a section's response, by its HTTP status:
#
# 200, 201, 203                  yes; an error in the body is read as availability
# 202, 204, 205                  no, even without a body: 202 means ``pending``, 204 and 205 mean
#                                ``unavailable``; the tables are empty, with the reason
# 402, 403, 404, 409, 410, 422,  as 204, if the body says why the section could not be measured (the
# 423, 424, 425, 428, 451, 501,  plan does not include it, a source is not connected, the first run
# 503                            is still to come, …); else an error
# 400                            as 204, if the body says that a source is not connected
# 206, 401, 429, others          an error: it is about the call, the account or the service
_EXPLAINING_STATUSES = {400, 422, *AVAILABILITY_BY_HTTP_STATUS} - {202, 204, 205, 206, 401, 429}
"""The HTTP error statuses whose body may explain why a section could not be measured."""

# Words about a domain, which is the reason of an error, unless it is not connected to the gateway.
_HOST_PROBLEM_PATTERN = re.compile(
    r"^(?!.*\bnot (yet )?(connected|linked) (to|with) (the |our )?(\w+ )?gateway\b)"
    r".*\b(domain|host(name)?)s?\b"
)
_CALL_PROBLEM_PATTERN = re.compile(
    r"\b(account|user|token|api key|credentials?|route|endpoint|url|parameter"
    r"|argument|method|rate limit|too many requests|maintenance|overloaded|capacity)s?\b"
)
"""Words in an error message about the request itself, and not about the requested data."""

_DATA_SOURCE_TERMS = ("not_connected", "not_configured", "not_run")
"""The standard terms for errors which say that a source of the data is not ready."""

_PAID_PLAN_PATTERN = re.compile(
    r"\b(plans?|editions?|upgrades?|subscriptions?|subscribe|licen[sc]ed?|entitle\w*|tier|add ?on"
    r"|paid|billing|payment|purchased?|trial|vertrags?|tarifs?|pakets?|abos?|abonnements?|lizenz\w*"
    r"|contrat\w*|contrato|contratto|forfait|formules?|plano|piano|licence|licencia|licença|licenza)\b"
)

_PARAMETER_PATTERN = re.compile(r'[;,]\s*([^=;,]+?)\s*=\s*"?([^";,]*)')
"""A parameter of an HTTP header, such as ``reason`` in ``partial; reason="late"``."""

_BOOL_BY_TEXT = {"true": True, "false": False, "yes": True, "no": False, "1": True, "0": False}


# --- the status ------------------------------------------------------------------------------


def read_http_status(response_scan: ResponseScan, status: int) -> bool:
    """Add a `Signal` (a statement on missing data) if the HTTP status, such as 204, implies one.

    Return whether the rest of the response is to be ignored.
    """
    if status < 400 and status not in AVAILABILITY_BY_HTTP_STATUS:
        return False
    availability = AVAILABILITY_BY_HTTP_STATUS.get(status, FAILED)
    text_by_key = dict(iter_error_texts(response_scan.document))
    status_word = find_strong_status_word(text_by_key.values()) or find_strongest_status_word(
        filter(is_code_text, text_by_key.values())
    )
    if status_word and status_word.term not in ("available", "partial", "unavailable", "error"):
        availability = status_word.availability
    availability = replace(availability, reason=find_reason(text_by_key))
    availability = (
        make_partial_if_measured(availability, response_scan.nonzero_flags)
        if status < 400
        else availability
    )
    response_scan.add_signal("section", None, availability, "status", "transport", status)
    return status != 206


def explains_absence(status: int, body: Any) -> bool:
    """Return whether the body of an error response says why the data could not be measured.

    ``status`` is the HTTP status, and ``body`` the decoded JSON.

    Examples
    --------
    >>> [explains_absence(403, {"code": code}) for code in ("plan_required", "forbidden")]
    [True, False]
    >>> [explains_absence(404, {"detail": text}) for text in ("No data yet.", "Unknown domain.")]
    [True, False]
    >>> message = "The domain is not connected to the gateway. Validate the domain first."
    >>> explains_absence(409, {"message": message})
    True
    """
    if (
        status not in _EXPLAINING_STATUSES
        or not isinstance(body, dict)
        or _mentions_parameter(body)
    ):
        return False
    keys_and_texts = [*iter_error_texts(body)]
    reason_texts = [
        error_text
        for key, error_text in keys_and_texts
        if ends_with_word_of(key, "reason") or is_status_key(key)
    ]
    error_codes = [error_text for _, error_text in keys_and_texts if is_code_text(error_text)]
    code_word = find_strongest_status_word(error_codes, STRONG)
    is_about_source = code_word and code_word.term in _DATA_SOURCE_TERMS
    if is_about_source and not any(map(_HOST_PROBLEM_PATTERN.search, map(join_words, error_codes))):
        # The code is decisive: its sentence may well name the domain that is not connected.
        reason_texts = error_codes
    sentence = " ".join(map(join_words, reason_texts))
    status_word = find_strong_status_word(reason_texts)
    is_about_call = _CALL_PROBLEM_PATTERN.search(sentence) or _HOST_PROBLEM_PATTERN.search(sentence)
    if is_about_call or status_word is None or status_word.strength < STRONG:
        return False
    if status == 400:
        return status_word.term == "not_connected"
    if status_word.term == "forbidden":
        return _PAID_PLAN_PATTERN.search(sentence) is not None
    # An unavailable service is not an unavailable section.
    return status_word.term not in (
        "error",
        "available",
        "unavailable" if status == 503 else "error",
    )


def _mentions_parameter(body: Any, depth: int = 0) -> bool:
    """Return whether the body of an error response names a wrong parameter of the request.

    The body then has a key such as ``parameter`` or ``allowed``. ``depth`` is the depth of nesting,
    from 0.
    """
    if not isinstance(body, dict) or depth > 2:
        return False
    parameter_keys = {"parameter", "param", "allowed", "suggestions"}
    return any(
        (fold(key) in parameter_keys and value != "section")
        or _mentions_parameter(value, depth + 1)
        for key, value in body.items()
    )


# --- headers ---------------------------------------------------------------------------------


def read_headers(response_scan: ResponseScan, headers: Mapping[str, str]) -> None:
    """Add a `Signal` (a statement on missing data) for each HTTP header that states one.

    An example is ``X-Data: partial; reason="late"``.
    """
    for name, header_value in headers.items():
        if not (is_availability_header(name) and isinstance(header_value, str)):
            continue
        key = name.lower().removeprefix("x-")
        signal_count_before = len(response_scan.signals)
        first_header_part = re.split("[;,]", header_value)[0].strip()
        text_by_parameter = dict(_PARAMETER_PATTERN.findall(header_value))
        header_word = _BOOL_BY_TEXT.get(
            first_header_part.lower(),
            first_header_part.strip('"') if text_by_parameter else header_value,
        )
        header_member = Member(key, header_word, f"header {name.lower()}", text_by_parameter)
        any(apply_rule(response_scan, rule, header_member) for rule in ENVELOPE_RULES)
        response_scan.signals[signal_count_before:] = [
            replace(signal, rule="header") for signal in response_scan.signals[signal_count_before:]
        ]


def is_availability_header(header_name: str) -> bool:
    """Return whether the name of a response header suggests that it states missing data.

    Examples
    --------
    >>> is_availability_header("X-Data-Availability"), is_availability_header("Content-Type")
    (True, False)
    """
    key = header_name.lower().removeprefix("x-")
    return (
        score_availability_key(key) == STATED
        or header_name.lower() in ("warning", "link")
        or any(read_flag_availability(key, value) for value in (False, True))
    )
