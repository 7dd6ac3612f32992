"""The protocol: the HTTP status, the response headers, and errors inside a body.

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
about the host, a 403 about rights and a 503 that only states "unavailable" are errors.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from aatoolkit._util.lexicon import ends, fits, fold, spaced, tokens
from aatoolkit.availability.detect.facts import Facts, Member
from aatoolkit.availability.detect.rules import ENVELOPE, TRUNCATED, apply, texts_of, word_of
from aatoolkit.availability.detect.words import (
    FAILED,
    STATED,
    STATUSES,
    STRONG,
    best,
    denial,
    flag,
    is_code,
    is_word,
    kind_of_entries,
    reason_in,
    status_of_part,
    subject,
    understand,
    weighed,
)
from aatoolkit.availability.status import Availability

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
_TOTALS = ("x-total-count", "x-total", "total-count", "x-total-rows", "x-result-count")
"""Headers that count the rows there are, of which a response may give a part."""

_RANGE = re.compile(r"\s*(?!bytes)\w+ (\d{1,15})-(\d{1,15})/(\d{1,15})\s*")
_PART = re.compile(r"(\d+(?:\.\d+)?)\s*(?:(%)|/\s*([1-9]\d*))?")
_FLAGS = {"true": True, "false": False, "yes": True, "no": False, "1": True, "0": False}


# --- the status ------------------------------------------------------------------------------


def read_status(answer: Facts, status: int) -> bool:
    """Read an HTTP status; return whether the body is no answer of a section."""
    if status < 400 and status not in STATUSES:
        return False
    state = STATUSES.get(status, FAILED)
    texts = dict(texts_of(answer.document))
    word = word_of(texts.values())
    if word and word.canonical not in ("available", "partial", "unavailable", "error"):
        state = word.availability
    state = replace(state, reason=reason_in(texts) or None)
    state = weighed(state, answer.numbers) if status < 400 else state
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
    listed = [*texts_of(body)]
    texts = [text for key, text in listed if ends(key, "reason") or is_word(key)]
    code = best([text for _, text in listed if is_code(text)], STRONG)
    if code is not None and code.canonical in _OF_SOURCES:
        # The code is decisive: its sentence may well name the domain that is not connected.
        texts = [text for text in texts if is_code(text)] or texts
    plain = " ".join(map(spaced, texts))
    word = word_of(texts)
    if _CALL.search(plain) or word is None or word.strength < STRONG:
        return False
    if word.canonical == "forbidden":
        return _PLAN.search(plain) is not None
    # An unavailable service is not an unavailable section.
    return word.canonical not in ("error", "available", "unavailable" if status == 503 else "error")


def _names_parameter(body: Any, depth: int = 0) -> bool:
    """Whether an error is about the request: it names a parameter, or what is allowed."""
    if not isinstance(body, dict) or depth > 2:
        return False
    named = {fold(name) for name in body} & {"parameter", "param", "allowed", "suggestions"}
    return bool(named) or any(_names_parameter(value, depth + 1) for value in body.values())


# --- headers ---------------------------------------------------------------------------------


def read_headers(answer: Facts, headers: Mapping[str, str]) -> None:
    """Read response headers about availability, such as ``X-Data-Availability``."""
    for name, text in headers.items():
        if is_availability_header(name) and isinstance(text, str):
            before = len(answer.signals)
            _read_header(answer, name.lower(), text)
            answer.signals[before:] = [
                replace(signal, rule="header") for signal in answer.signals[before:]
            ]


def _read_header(answer: Facts, name: str, text: str) -> None:
    key = name.removeprefix("x-")
    value, parameters = _parse_header(text)
    if kind_of_entries(key) == "engine":
        value = [engine for engine in re.split(r"[,;\s]+", text) if engine]
    header = Member(key, value, f"header {name}", parameters)
    part = _PART.fullmatch(text.strip()) if subject(key) else None
    if part:
        whole = float(part[3] or (100 if part[2] or float(part[1]) > 1 else 1))
        share = Availability(status_of_part(float(part[1]), whole))
        answer.add_whole(share, header._replace(value=text), "header")
    elif fits(key, "stage") and not subject(key):
        word = understand(text)
        if word:
            answer.add_whole(word.availability, header, "header")
    else:
        any(apply(answer, rule, header) for rule in ENVELOPE)


def read_counts(answer: Facts, headers: Mapping[str, str]) -> None:
    """Read headers that count the rows there are: a response may give a part of them."""
    for name, text in headers.items():
        key, more = name.lower(), False
        if not isinstance(text, str) or key not in ("content-range", "link", *_TOTALS):
            continue
        most, span = max(answer.lengths, default=0), _RANGE.fullmatch(text)
        if key == "content-range":
            more = span is not None and int(span[2]) - int(span[1]) + 1 < int(span[3])
        elif key == "link":
            more = most > 0 and re.search(r'rel="?next\b', text) is not None
        elif re.fullmatch(r"\s*\d{1,15}\s*", text):
            more = 0 < most < int(text)
        if more:
            answer.add("section", None, TRUNCATED, f"header {key}", "cap", text)


def is_availability_header(header: str) -> bool:
    """Whether a response header is about availability, so that it is worth keeping.

    Examples
    --------
    >>> is_availability_header("X-Data-Availability"), is_availability_header("Content-Type")
    (True, False)
    """
    key = header.lower().removeprefix("x-")
    if subject(key) == STATED or (fits(key, "stage") and len(tokens(key)) > 1):
        return True
    if header.lower() in ("warning", "content-range", "link", *_TOTALS):
        return True
    engines = kind_of_entries(key) == "engine" and denial(key) is not None
    return engines or any(flag(key, value) for value in (False, True))


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
    value = value.strip('"') or text
    return _FLAGS.get(value.lower(), value), given
