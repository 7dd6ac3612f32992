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

from aatoolkit._util.lexicon import ends_with_word_of, fold, matches_form, spaced
from aatoolkit.availability.detect import general_rules
from aatoolkit.availability.detect.declared_rules import explain_signals, read_rules
from aatoolkit.availability.detect.facts import Facts, Hint, Member, Signal
from aatoolkit.availability.detect.general_rules import (
    ENVELOPE,
    apply_rule,
    find_error_word,
    iter_error_texts,
)
from aatoolkit.availability.detect.hints import find_hints
from aatoolkit.availability.detect.words import (
    FAILED,
    STATED,
    STATES,
    STATUSES,
    STRONG,
    find_reason,
    find_strongest_word,
    is_code,
    is_state_key,
    partial_if_measured,
    rate_key,
    state_of_named_flag,
    state_of_names_under,
)
from aatoolkit.availability.status import EMPTY, Cause, Status, combine
from aatoolkit.errors import SchemaDriftWarning, warn
from aatoolkit.jsontree.vectors import Vector
from aatoolkit.scope import ScopeOptions
from aatoolkit.sections.availability_rule import Rule, to_rule_tuple


def _add_engines_without_data(facts: Facts, options: ScopeOptions) -> None:
    """Add a statement (`Signal`) for each AI engine that is not configured or never ran."""
    stated_engines = {
        fold(signal.target or "") for signal in facts.signals if signal.scope == "engine"
    }
    engines = options.engines
    have_run = engines["last_run_day"].notna() if options.has_runs else [True] * len(engines)
    are_configured = engines["configured"].fillna(True)
    for engine, is_configured, has_run in zip(
        engines["engine"], are_configured, have_run, strict=True
    ):
        state = STATES["not_run" if is_configured else "not_configured"]
        if not (is_configured and has_run) and fold(engine) not in stated_engines:
            facts.add("engine", engine, state, "scope options", "options", engine)


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
        The ``signals`` (statements about data) and ``hints`` (values that may be such statements).

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
    facts = Facts(document, engines, vector, days)
    failure, is_ruled = None, False
    try:
        is_ruled = _add_signals(facts, to_rule_tuple(rule), status, headers or {})
        if options is not None:
            _add_engines_without_data(facts, options)
    except Warning:
        raise  # somebody has turned warnings into errors
    except Exception as error:
        failure = _describe_failure(error)
    if failure is not None:
        warn(failure, SchemaDriftWarning)
    return Detection(facts, headers or {}, failure, is_ruled)


class Detection:
    """The signals and hints found in one response.

    Attributes
    ----------
    signals : list of Signal
        The statements of the response on which of its data could be measured.
    failure : str or None
        The error message, if detection failed.
    is_ruled : bool
        Whether only the documented ``availability`` object was read.
    """

    def __init__(
        self, facts: Facts, headers: Mapping[str, str], failure: str | None, is_ruled: bool
    ) -> None:
        self.signals, self.failure, self.is_ruled = facts.signals, failure, is_ruled
        self._facts, self._headers = facts, headers
        if is_ruled:
            facts.document = None
        facts.release()

    @cached_property
    def hints(self) -> list[Hint]:
        """A list of values that may say which data could be measured, but were not understood."""
        failures = [Hint("$", None, self.failure)] if self.failure else []
        try:
            hints = find_hints(self._facts, {} if self.is_ruled else self._headers)
            self._facts.release()
            return failures + hints
        except Exception as error:
            return [*failures, Hint("$", None, _describe_failure(error))]


def _add_signals(
    facts: Facts, declared_rules: tuple[Rule, ...], status: int, headers: Mapping[str, str]
) -> bool:
    """Add a `Signal` to ``facts`` for each statement in the status, headers and body of a response.

    Return whether only the documented ``availability`` object of the body was read.
    """
    if read_status(facts, status):
        return False
    rule_headers = {rule.header for rule in declared_rules if rule.kind == "header"}
    read_headers(
        facts, {name: text for name, text in headers.items() if name.lower() not in rule_headers}
    )
    covers_response = read_rules(facts, declared_rules, headers)
    if not covers_response:
        if isinstance(facts.document, dict):
            general_rules.read_envelope(facts, Member("", facts.document, "$", {}))
        general_rules.read_rows(facts)
        explain_signals(facts)
    if declared_rules or not covers_response:
        _conclude_about_section(facts, has_rules=bool(declared_rules))
    if not covers_response:
        general_rules.read_prose(facts)
    return covers_response and not declared_rules


# --- the whole -------------------------------------------------------------------------------


def _conclude_about_section(facts: Facts, *, has_rules: bool) -> None:
    """Add a statement (`Signal`) about the whole response if all those about its parts agree."""
    signals = facts.signals
    has_data = True in facts.number_kinds
    if has_rules and not has_data:  # what else is stated about the whole is about parts of it
        empty_signals = [signal for signal in signals if signal.availability.status in EMPTY]
        if "section" in {signal.scope for signal in empty_signals}:
            signals[:] = [
                signal for signal in signals if signal.scope != "section" or signal in empty_signals
            ]
    if not signals or facts.has_section:
        return
    states = [signal.availability for signal in signals]
    if has_rules and not has_data:  # without any number, partly measured is not measured
        states = [state for state in states if state.status != Status.PARTIAL]
    statuses = {state.status for state in states}
    # A map of only the engines that lack data says nothing about the others.
    covers_engines = len(signals) > 1 and all(map(_is_of_each_engine, signals))
    stated_engines = {fold(signal.target or "") for signal in signals if signal.scope == "engine"}
    covers_engines |= bool(facts.project_engines) and facts.project_engines <= stated_engines
    # What some engines do not show says nothing of the others.
    is_of_some = statuses == {Status.NOT_APPLICABLE} and bool(stated_engines) and not covers_engines
    is_only_pending = {state.cause for state in states} == {Cause.PENDING} and facts.is_bare
    is_empty = statuses <= {*EMPTY} and (
        is_only_pending or ((has_rules or covers_engines) and not has_data and not is_of_some)
    )
    lacks_nothing = has_rules and has_data and not facts.unknown_words
    lacks_nothing &= Status.AVAILABLE in statuses
    lacks_nothing &= statuses <= {Status.AVAILABLE, Status.NOT_APPLICABLE}
    if states and (is_empty or lacks_nothing):
        first = signals[0]
        facts.add("section", None, combine(states), first.path, first.rule, first.raw)


def _is_of_each_engine(signal: Signal) -> bool:
    """Return whether a signal comes from an object that has one entry for every engine.

    Return False for an object that only lists the engines (AI assistants) without data, such as
    ``missingEngines``.
    """
    if signal.scope != "engine" or signal.rule != "map":
        return False
    key = re.split(r"[.\[\]\"]+", signal.path.rstrip('"]'))[-2]
    return state_of_names_under(key) is None and not matches_form(key, "reasons")


def _describe_failure(error: Exception) -> str:
    """Return a message about an error during detection: its type, file and line."""
    frame = traceback.extract_tb(error.__traceback__)[-1]
    return (
        f"availability could not be read in full ({type(error).__name__} in "
        f"{Path(frame.filename).name}, line {frame.lineno}): a fault of aatoolkit, which leaves "
        "the response as it is; please report it"
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
_EXPLAINING = {400, 422, *STATUSES} - {202, 204, 205, 206, 401, 429}
"""The HTTP error statuses whose body may explain why a section could not be measured."""

_HOST = re.compile(
    r"^(?!.*\bnot (yet )?(connected|linked) (to|with) (the |our )?(\w+ )?gateway\b)"
    r".*\b(domain|host(name)?)s?\b"
)
_CALL = re.compile(
    r"\b(account|user|token|api key|credentials?|route|endpoint|url|parameter"
    r"|argument|method|rate limit|too many requests|maintenance|overloaded|capacity)s?\b"
)
"""Words in an error message about the call, and not about the section's data."""

_SOURCE_CODES = ("not_connected", "not_configured", "not_run")
"""Error codes about the source of a section's data."""

_PLAN = re.compile(
    r"\b(plans?|editions?|upgrades?|subscriptions?|subscribe|licen[sc]ed?|entitle\w*|tier|add ?on"
    r"|paid|billing|payment|purchased?|trial|vertrags?|tarifs?|pakets?|abos?|abonnements?|lizenz\w*"
    r"|contrat\w*|contrato|contratto|forfait|formules?|plano|piano|licence|licencia|licença|licenza)\b"
)

_FLAGS = {"true": True, "false": False, "yes": True, "no": False, "1": True, "0": False}


# --- the status ------------------------------------------------------------------------------


def read_status(facts: Facts, status: int) -> bool:
    """Add a statement (`Signal`) on missing data for an HTTP status such as 204.

    Return whether the body is to be ignored.
    """
    if status < 400 and status not in STATUSES:
        return False
    state = STATUSES.get(status, FAILED)
    text_by_key = dict(iter_error_texts(facts.document))
    word = find_error_word(text_by_key.values())
    if word and word.canonical not in ("available", "partial", "unavailable", "error"):
        state = word.availability
    state = replace(state, reason=find_reason(text_by_key))
    state = partial_if_measured(state, facts.number_kinds) if status < 400 else state
    facts.add("section", None, state, "status", "transport", status)
    return status != 206


def explains_absence(status: int, body: Any) -> bool:
    """Return whether the body of an error response says why the data could not be measured.

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
    if status not in _EXPLAINING or not isinstance(body, dict) or _names_parameter(body):
        return False
    keys_and_texts = [*iter_error_texts(body)]
    texts = [
        text
        for key, text in keys_and_texts
        if ends_with_word_of(key, "reason") or is_state_key(key)
    ]
    codes = [text for _, text in keys_and_texts if is_code(text)]
    code_word = find_strongest_word(codes, STRONG)
    is_about_source = code_word and code_word.canonical in _SOURCE_CODES
    if is_about_source and not any(map(_HOST.search, map(spaced, codes))):
        # The code is decisive: its sentence may well name the domain that is not connected.
        texts = codes
    sentence = " ".join(map(spaced, texts))
    word = find_error_word(texts)
    is_about_call = _CALL.search(sentence) or _HOST.search(sentence)
    if is_about_call or word is None or word.strength < STRONG:
        return False
    if status == 400:
        return word.canonical == "not_connected"
    if word.canonical == "forbidden":
        return _PLAN.search(sentence) is not None
    # An unavailable service is not an unavailable section.
    return word.canonical not in ("error", "available", "unavailable" if status == 503 else "error")


def _names_parameter(body: Any, depth: int = 0) -> bool:
    """Return whether an error body has a key for a request parameter or for its allowed values."""
    if not isinstance(body, dict) or depth > 2:
        return False
    keys = {"parameter", "param", "allowed", "suggestions"}
    return any(
        (fold(key) in keys and value != "section") or _names_parameter(value, depth + 1)
        for key, value in body.items()
    )


# --- headers ---------------------------------------------------------------------------------


def read_headers(facts: Facts, headers: Mapping[str, str]) -> None:
    """Add a `Signal` (a statement on missing data) for each HTTP header that states one.

    An example is ``X-Data: partial; reason="late"``.
    """
    for name, text in headers.items():
        if not (is_availability_header(name) and isinstance(text, str)):
            continue
        key = name.lower().removeprefix("x-")
        signal_count_before = len(facts.signals)
        first_part, *parameters = re.split(r"[;,]\s*", text.strip())
        text_by_parameter = dict(part.split("=", 1) for part in parameters if "=" in part)
        value = _FLAGS.get(first_part.lower(), first_part.strip('"') if text_by_parameter else text)
        siblings = {
            name.strip().lower(): part.strip().strip('"')
            for name, part in text_by_parameter.items()
        }
        header = Member(key, value, f"header {name.lower()}", siblings)
        any(apply_rule(facts, rule, header) for rule in ENVELOPE)
        facts.signals[signal_count_before:] = [
            replace(signal, rule="header") for signal in facts.signals[signal_count_before:]
        ]


def is_availability_header(header: str) -> bool:
    """Return whether a response header, by its name, may say whether data could be measured.

    Examples
    --------
    >>> is_availability_header("X-Data-Availability"), is_availability_header("Content-Type")
    (True, False)
    """
    key = header.lower().removeprefix("x-")
    return (
        rate_key(key) == STATED
        or header.lower() in ("warning", "link")
        or any(state_of_named_flag(key, value) for value in (False, True))
    )
