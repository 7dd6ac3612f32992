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
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from typing import Any

from aatoolkit._util.lexicon import ends, fits, fold, is_whole, spaced, tokens, words
from aatoolkit.availability.detect.entries import read_statement
from aatoolkit.availability.detect.facts import Facts, Member
from aatoolkit.availability.detect.rules import TRUNCATED
from aatoolkit.availability.detect.words import (
    STATED,
    STATES,
    STRONG,
    Word,
    best,
    codes_in,
    denial,
    flag,
    in_prose,
    is_code,
    is_word,
    kind_of_entries,
    reason_in,
    status_of_part,
    subject,
    understand,
    weighed,
)
from aatoolkit.availability.status import Availability, Status
from aatoolkit.jsontree.paths import key_step
from aatoolkit.jsontree.vectors import MISSING

STATUSES: Mapping[int, Availability] = {
    status: STATES[word]
    for word, statuses in {
        "pending": (202, 425, 429, 503),
        "unavailable": (204, 205, 404, 410),
        "partial": (206,),
        "forbidden": (401, 402, 403, 423, 451),
        "not_connected": (409, 424, 428),
        "not_applicable": (501,),
    }.items()
    for status in statuses
}
"""The statuses that mean more than that a call failed."""

FAILED = STATES["error"]

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
_FLAGS = {"true": True, "false": False, "yes": True, "no": False, "1": True, "0": False}


# --- the status ------------------------------------------------------------------------------


def read_status(answer: Facts, status: int) -> bool:
    """Read an HTTP status; return whether the body is no answer of a section."""
    if status < 400 and status not in STATUSES:
        return False
    state = STATUSES.get(status, FAILED)
    texts = dict(_texts_in(answer.document))
    word = _word_of(texts.values())
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
    listed = [*_texts_in(body)]
    texts = [text for key, text in listed if ends(key, "reason") or is_word(key)]
    code = best([text for _, text in listed if is_code(text)], STRONG)
    if code is not None and code.canonical in _OF_SOURCES:
        # The code is decisive: its sentence may well name the domain that is not connected.
        texts = [text for text in texts if is_code(text)] or texts
    plain = " ".join(map(spaced, texts))
    word = _word_of(texts)
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


def _word_of(texts: Iterable[str]) -> Word | None:
    """The surest word of an error's codes, or the first word of absence in its sentences."""
    listed = [*texts]
    return best(filter(is_code, listed)) or next(filter(None, map(in_prose, listed)), None)


def _texts_in(body: Any, depth: int = 0) -> Iterator[tuple[str, str]]:
    """Yield the texts of an error body, also of an error object nested in it."""
    if isinstance(body, list) and body:
        body = body[0]
    if not isinstance(body, dict) or depth > 3:
        return
    for key, value in body.items():
        if is_whole(key, "error"):
            if isinstance(value, str):
                yield "detail" if " " in value else "code", value
            yield from _texts_in(value, depth + 1)
    for key, value in body.items():
        if isinstance(value, str) and key != "type":
            yield key, value


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
    value = _FLAGS.get(value.lower(), value) if isinstance(value, str) else value
    header = Member(key, value, f"header {name}", parameters)
    lacking = denial(key) if kind_of_entries(key) == "engine" else None
    part = _fraction(text) if subject(key) and isinstance(value, str) else None
    word: Word | None = None
    state = None if part is None else Availability(status_of_part(part))
    if lacking is not None:
        for engine in filter(None, re.split(r"[,;\s]+", text)):
            answer.add("engine", engine, lacking, header.path, "header", text)
    elif name == "warning":
        word = in_prose(text)
    elif isinstance(value, str) and subject(key) < STATED and fits(key, "stage"):
        word = understand(value)
    elif isinstance(value, bool) and subject(key) < STATED:
        state = flag(key, value)
    elif part is None:
        read_statement(answer, header)
    state = word.availability if word else state
    if state is not None:
        answer.add_whole(state, header._replace(value=text), "header")


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


# --- errors inside a body --------------------------------------------------------------------


def may_be_error(key: str) -> bool:
    """Whether a key may be one of an error in the body of a response."""
    flat = re.match(r"(error|fault)(code|message|detail|status|type)", fold(key))
    return is_whole(key, "error") or flat is not None or key in ("success", "ok", "code", "message")


def read_errors(answer: Facts) -> None:
    """Read an error in the body of a response that came with a good status."""
    document = answer.document
    if not isinstance(document, dict) or _read_located(answer):
        return
    error, path = _error(document, "$") or (None, "")
    if error is None:
        return
    texts = dict(_texts_in(error if isinstance(error, dict) else {"error": error}))
    codes = (text for text in (*texts.values(), *codes_in(error)) if is_code(text))
    word = best(codes) or _word_of(texts.values())
    given = error[0] if isinstance(error, list) else error
    numbers = given.values() if isinstance(given, dict) else ()
    state = next((STATUSES[v] for v in numbers if type(v) is int and v in STATUSES), FAILED)
    if word and word.is_lack:
        state = word.availability
    if answer.numbers:
        state = replace(state, status=Status.PARTIAL)
    reason = reason_in(texts) or (error if isinstance(error, str) else None)
    answer.add("section", None, replace(state, reason=reason), path, "error", error)


def _error(document: Mapping[str, Any], path: str) -> tuple[Any, str] | None:
    """Find the error that an object states: under its own key, or by ``success: false``."""
    for key, value in document.items():
        if is_whole(key, "error") and _is_error(value):
            return value, path + key_step(key)
    flat = {re.sub(r"^(error|fault)", "", fold(key)): key for key in document}
    members = {name: document[key] for name, key in flat.items() if fold(key) != name}
    if members and _is_error(members) and _is_failure(members):
        return members, f"{path}{key_step(flat[next(iter(members))])}"
    texts = [value for value in document.values() if isinstance(value, str)]
    if _is_error(document) and any(map(in_prose, texts)):
        return document, path
    number = document.get("status")
    if type(number) is int and number >= 400 and isinstance(document.get("title"), str):
        return document, f"{path}.status"
    for key in ("success", "ok"):
        if document.get(key) is False:
            return document, f"{path}.{key}"
    for key, value in document.items() if path == "$" else ():
        inner = is_whole(key, "wrapper") and isinstance(value, dict)
        found = _error(value, path + key_step(key)) if inner else None
        if found is not None:
            return found
    if isinstance(number, str) and len(document) <= 6 and reason_in(document):
        word = understand(number)
        if word and word.canonical == "error":
            return document, f"{path}.status"
    return None


def _is_failure(members: Mapping[str, Any]) -> bool:
    """Whether a code and a message spelt flat are not those of a success."""
    texts = [value for value in members.values() if isinstance(value, str)]
    given = [text for text in texts if text not in ("", "0", "200")]
    word = [word.canonical for text in given if (word := understand(text))]
    return bool(given) and "success" not in given and "available" not in word


def _is_error(value: Any) -> bool:
    if isinstance(value, str):
        return bool(value.strip())
    if isinstance(value, list):
        placed = any(isinstance(v, dict) and isinstance(v.get("path"), list) for v in value)
        errors = all(isinstance(v, str | dict) and _is_error(v) for v in value)
        return bool(value) and errors and not placed
    if not isinstance(value, dict) or isinstance(value.get("path"), str):
        return False
    names = {fold(name) for name in value}
    worded = names & {"message", "detail", "title", "description"}
    return bool(names & {"message", "code", "detail"}) and (
        names <= words("error_field")
        or bool(worded and names & {"code", "type", "status", "reason"})
    )


def _read_located(answer: Facts) -> bool:
    """Read errors that have the path of their field; return whether all of them do."""
    listed = answer.document.get("errors")
    places = [_place(answer.document, e) for e in listed] if isinstance(listed, list) else []
    for at, place in enumerate(places):
        if place is not None:
            error = listed[at]
            word = _lack_in(error)
            state = replace(word.availability if word else FAILED, reason=reason_in(error))
            scope = "row" if any(isinstance(step, int) for step in place) else "field"
            steps = (f"[{s}]" if isinstance(s, int) else key_step(s) for s in place)
            target = "".join(steps).removeprefix(".")
            answer.add(scope, target, state, f"$.errors[{at}]", "error", error)
    return bool(places) and None not in places


def _lack_in(error: Mapping[str, Any]) -> Word | None:
    """The word that an error's codes mean, or else its sentence; None if neither is known."""
    word = best(codes_in(error), STRONG) or in_prose(reason_in(error) or "")
    return None if word is None or word.canonical == "available" else word


def _place(document: Mapping[str, Any], error: Any) -> list[str | int] | None:
    """The keys and positions that lead to an error's field, if that field is empty."""
    path = error.get("path") if isinstance(error, dict) else None
    if not isinstance(path, list) or not path or not {*map(type, path)} <= {str, int}:
        return None
    certain = _lack_in(error) is not None or path[0] in ("data", "result")
    for root in ([], ["data"], ["result"]) if certain else (["data"], ["result"]):
        steps = [*root, *path]
        if _at(document, steps[:-1]) is not MISSING and _at(document, steps) in (None, MISSING, []):
            return steps
    return None


def _at(document: Any, steps: list[Any]) -> Any:
    for step in steps:
        if isinstance(document, dict) and isinstance(step, str):
            document = document.get(step, MISSING)
        elif isinstance(document, list) and type(step) is int and 0 <= step < len(document):
            document = document[step]
        else:
            return MISSING
    return document
