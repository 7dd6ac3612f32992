"""The transport: the HTTP status and the response headers.

What a section's response is, by its status and its words:

=============================  ==========================================================
200, 201, 203                  an answer; an error in its body is read as such
202, 204, 205                  no answer: ``pending``, ``unavailable``; a body is not needed
402, 403, 404, 409, 410, 422,  no answer, where its body names why the section could not be
423, 424, 425, 428, 451, 501,  measured: a plan that lacks it, a source that is not
503                            connected, a first run to come, …; else an error
206, 400, 401, 429, others     an error: it is about the call, the account or the service
=============================  ==========================================================

No answer gives typed, empty tables whose availability has the reason; an error is raised. A 404
about the host, a 403 about rights and a 503 that only states "unavailable" are errors. Of the
combined view and of scope options every such status is an error.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from aatoolkit.availability import Availability, Cause, Status
from aatoolkit.availability.detect import keys, roles
from aatoolkit.availability.detect.context import AnswerContext
from aatoolkit.availability.detect.errors import FAILED, STATUSES, texts_in, word_of
from aatoolkit.availability.detect.parts import reason_in, status_of_part
from aatoolkit.availability.detect.roles import fold, kind_of_entries, spaced, tokens
from aatoolkit.availability.detect.statements import read_statement
from aatoolkit.availability.detect.vocabulary import (
    STRONG,
    best,
    in_prose,
    is_code,
    understand,
)

_EXPLAINING = frozenset({402, 403, 404, 409, 410, 422, 423, 424, 425, 428, 451, 501, 503})
"""The error statuses under which a service may explain why a section could not be measured."""

_CALL = re.compile(
    r"\b(domain|host(name)?|account|user|token|api key|credentials?|route|endpoint|url|parameter"
    r"|argument|method|rate limit|too many requests|maintenance|overloaded|capacity)s?\b"
)
"""What an error names that is about the call, and not about the section's data."""

_OF_SOURCES = ("not_connected", "not_configured", "not_run")
"""Codes that are about what a section is measured from, and never about the call."""

_PLAN = re.compile(
    r"\b(plans?|upgrades?|subscriptions?|subscribe|licen[sc]ed?|entitle\w*|tier|add ?on|paid"
    r"|billing|payment|purchased?|trial)\b"
)

_TOTALS = frozenset({"x-total-count", "x-total", "total-count", "x-total-rows", "x-result-count"})
"""Headers that count the rows there are, of which an answer may give a part."""

_RANGE = re.compile(r"\s*(\w+) (\d{1,15})-(\d{1,15})/(\d{1,15})\s*")

TRUNCATED = Availability(Status.PARTIAL, Cause.TRUNCATED)
"""More rows than the answer gives."""


# --- the status ------------------------------------------------------------------------------


def read_status(answer: AnswerContext, status: int) -> bool:
    """Read an HTTP status; return whether the body is no answer of a section."""
    if status < 400 and status not in STATUSES:
        return False
    state = STATUSES.get(status, FAILED)
    texts = dict(texts_in(answer.document))
    known = word_of(texts.values())
    if known and known.canonical not in ("available", "partial", "unavailable", "error"):
        state = known.availability
    state = replace(state, reason=reason_in(texts) or None)
    state = answer.weighed(state) if status < 400 else state
    answer.add("section", None, state, "status", "transport", status)
    return status != 206


def explains_absence(status: int, body: Any) -> bool:
    """Whether an error response explains why its section could not be measured.

    Examples
    --------
    >>> [explains_absence(403, {"code": code}) for code in ("plan_required", "forbidden")]
    [True, False]
    >>> [explains_absence(404, {"detail": text}) for text in ("No data yet.", "Unknown domain.")]
    [True, False]
    """
    if status not in _EXPLAINING or not isinstance(body, dict) or _names_parameter(body):
        return False
    texts = [text for key, text in texts_in(body) if roles.is_reason(key) or keys.is_word(key)]
    code = best([text for _, text in texts_in(body) if is_code(text)], STRONG)
    if code is not None and code.canonical in _OF_SOURCES:
        # The code is decisive: its sentence may well name the domain that is not connected.
        texts = [text for text in texts if is_code(text)] or texts
    plain = " ".join(map(spaced, texts))
    known = word_of(texts)
    if _CALL.search(plain) or known is None or known.strength < STRONG:
        return False
    if known.canonical == "forbidden":
        return _PLAN.search(plain) is not None
    # An unavailable service is not an unavailable section.
    not_of_section = {"error", "available", "unavailable" if status == 503 else "error"}
    return known.canonical not in not_of_section


def _names_parameter(body: Any, depth: int = 0) -> bool:
    """Whether an error is about the request: it names a parameter, or what is allowed."""
    if not isinstance(body, dict) or depth > 2:
        return False
    named = {fold(name) for name in body} & {"parameter", "param", "allowed", "suggestions"}
    return bool(named) or any(_names_parameter(value, depth + 1) for value in body.values())


# --- headers ---------------------------------------------------------------------------------


def read_headers(answer: AnswerContext, headers: Mapping[str, str]) -> None:
    """Read response headers about availability, such as ``X-Data-Availability``."""
    for name, text in headers.items():
        if is_availability_header(name) and isinstance(text, str):
            before = len(answer.found)
            _read_header(answer, name, text)
            answer.found[before:] = [replace(each, rule="header") for each in answer.found[before:]]


def _read_header(answer: AnswerContext, name: str, text: str) -> None:
    key, path = re.sub(r"(?i)^x-", "", name), f"header {name.lower()}"
    value, parameters = _parse_header(text)
    if isinstance(value, str):
        value = _FLAGS.get(value.lower(), value)
    denial = keys.denial(key) if kind_of_entries(key) == "engine" else None
    part = _fraction(text) if keys.subject(key) and isinstance(value, str) else None
    state: Availability | None = None
    if denial is not None:
        for engine in filter(None, re.split(r"[,;\s]+", text)):
            answer.add("engine", engine, denial, path, "header", text)
    elif part is not None:
        state = Availability(status_of_part(part))
    elif name.lower() == "warning":
        known = in_prose(text)
        state = answer.weighed(known.availability) if known else None
    elif isinstance(value, str) and keys.subject(key) != keys.STATED and roles.is_stage(key):
        known = understand(value)
        state = answer.weighed(known.availability) if known else None
    elif isinstance(value, bool) and keys.subject(key) != keys.STATED:
        state = keys.flag(key, value)
    else:
        read_statement(answer, key, value, (None, path), parameters)
    if state is not None:
        answer.add("section", None, state, path, "header", text)


def read_counts(answer: AnswerContext, headers: Mapping[str, str], lengths: set[int]) -> None:
    """Read headers that count the rows there are: an answer may give a part of them."""
    most = max(lengths, default=0)
    for name, text in headers.items():
        key = name.lower()
        if not isinstance(text, str):
            continue
        given = _RANGE.fullmatch(text)
        if key == "content-range" and given and given[1] != "bytes":
            more = int(given[3]) - int(given[2]) + 1 < int(given[4])
        elif key == "link":
            more = most > 0 and re.search(r'rel="?next\b', text) is not None
        elif key in _TOTALS and re.fullmatch(r"\d{1,15}", text.strip()):
            more = 0 < most < int(text)
        else:
            more = False
        if more:
            answer.add("section", None, TRUNCATED, f"header {key}", "cap", text)


def is_availability_header(header: str) -> bool:
    """Whether a response header is about availability, so that it is worth keeping.

    Examples
    --------
    >>> is_availability_header("X-Data-Availability"), is_availability_header("Content-Type")
    (True, False)
    """
    key = re.sub(r"(?i)^x-", "", header)
    stage = roles.is_stage(key) and len(tokens(key)) > 1
    named = header.lower() in ("warning", "content-range", "link") or header.lower() in _TOTALS
    if keys.subject(key) == keys.STATED or named or stage:
        return True
    engines = kind_of_entries(key) == "engine" and keys.denial(key) is not None
    return engines or any(keys.flag(key, value) for value in (False, True))


_FLAGS = {"true": True, "false": False, "yes": True, "no": False, "1": True, "0": False}


def _fraction(text: str) -> float | None:
    """Parse a part of a whole: ``0.82``, ``82%``, ``12/30``; None if it is none of them."""
    given = re.fullmatch(r"(\d+(?:\.\d+)?)\s*(%|/\s*\d+)?", text.strip())
    if given is None:
        return None
    number, of = float(given[1]), (given[2] or "").replace(" ", "")
    whole = 100.0 if of == "%" or (not of and number > 1) else float(of[1:] or 0) if of else 1.0
    return number / whole if whole > 0 and number <= whole else None


def _parse_header(text: str) -> tuple[Any, dict[str, str]]:
    """Parse a header to its value and parameters, as in ``partial; reason="two engines"``."""
    if text.lstrip().startswith(("{", "[")):
        try:
            return json.loads(text), {}
        except (ValueError, RecursionError):
            return text, {}
    first, *more = re.split(r"[;,]\s*", text.strip())
    pairs = [part.partition("=") for part in (first, *more) if "=" in part]
    given = {key.strip().lower(): value.strip().strip('"') for key, _, value in pairs}
    value = given.get("status", given.get("state", "")) if "=" in first else first
    return value.strip('"') or text, given
