"""What the transport says: the HTTP status, the response headers, errors inside a body.

What a section's response is, by its status and its words:

=============================  ==========================================================
200, 201, 203                  an answer; an error in its body is read as such
202, 204, 205                  no answer: ``pending``, ``unavailable``; a body is not needed
402, 403, 404, 409, 410, 422,  no answer, where its body says of the section why it could
423, 424, 425, 428, 451, 501,  not be measured: a plan that lacks it, a source that is not
503                            connected, a first run to come, …; else an error
206, 400, 401, 429, others     an error: it is about the call, the account or the service
=============================  ==========================================================

No answer gives typed, empty tables whose availability says why; an error is raised. A 404 that
speaks of the host, a 403 that speaks of rights and a 503 that only says "unavailable" are
errors. Of the combined view and of scope options every such status is an error.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any

from aatoolkit.availability import Availability, Cause, Status
from aatoolkit.availability.detect import keys, located, roles
from aatoolkit.availability.detect.context import Answer
from aatoolkit.availability.detect.parts import reason_in, words_in
from aatoolkit.availability.detect.phrases import STRONG
from aatoolkit.availability.detect.statements import read
from aatoolkit.availability.detect.vocabulary import Word, in_prose, is_code, tokens, understand
from aatoolkit.jsontree.vectors import step

STATUSES: Mapping[int, tuple[Status, Cause | None]] = {
    202: (Status.UNAVAILABLE, Cause.PENDING),
    204: (Status.UNAVAILABLE, None),
    205: (Status.UNAVAILABLE, None),
    206: (Status.PARTIAL, None),
    401: (Status.UNAVAILABLE, Cause.WITHHELD),
    402: (Status.UNAVAILABLE, Cause.WITHHELD),
    403: (Status.UNAVAILABLE, Cause.WITHHELD),
    404: (Status.UNAVAILABLE, None),
    409: (Status.UNAVAILABLE, Cause.NOT_CONNECTED),
    410: (Status.UNAVAILABLE, None),
    423: (Status.UNAVAILABLE, Cause.WITHHELD),
    424: (Status.UNAVAILABLE, Cause.NOT_CONNECTED),
    425: (Status.UNAVAILABLE, Cause.PENDING),
    428: (Status.UNAVAILABLE, Cause.NOT_CONNECTED),
    429: (Status.UNAVAILABLE, Cause.PENDING),
    451: (Status.UNAVAILABLE, Cause.WITHHELD),
    501: (Status.NOT_APPLICABLE, Cause.NOT_SUPPORTED),
    503: (Status.UNAVAILABLE, Cause.PENDING),
}
"""The statuses that say more than that a call failed."""

_SAYING = frozenset({402, 403, 404, 409, 410, 422, 423, 424, 425, 428, 451, 501, 503})
"""The error statuses under which a service may say why a section could not be measured."""

_CALL = re.compile(
    r"(domain|host(name)?|account|user|token|api key|credentials?|route|endpoint|url|parameter"
    r"|argument|method|rate limit|too many requests|maintenance|overloaded|capacity)s?"
)
"""What an error speaks of that is about the call, and not about the section's data."""

_PLAN = re.compile(
    r"plans?|upgrades?|subscriptions?|subscribe|licen[sc]ed?|entitle\w*|tier|add ?on|paid|billing"
    r"|payment|purchased?|trial"
)

_ERROR_KEYS = {"error", "errors", "fault", "failure", "problem", "partialfailureerror"}
_ERROR_FIELDS = {
    *("message", "code", "detail", "title", "status", "type", "path", "locations", "reason"),
    *("extensions", "field", "source", "domain", "name", "id", "errors", "details", "hint"),
    *("statuscode", "errorcode", "description", "links", "instance", "requestid", "meta"),
}


def of_status(answer: Answer, status: int) -> bool:
    """Read an HTTP status that says something; whether the body is no answer of a section."""
    if status < 400 and status not in STATUSES:
        return False
    told = Availability(*STATUSES.get(status, (Status.UNAVAILABLE, Cause.FAILED)))
    body = answer.document
    texts = dict(_texts(body))
    known = _named(texts.values()) or _heard([*texts.values()])
    if known and known.canonical not in ("available", "partial", "unavailable", "error"):
        told = known.availability
    reason = reason_in(texts) or None
    state = Availability(told.status, told.cause, reason)
    state = answer.weighed(state) if status < 400 else state
    answer.add("section", None, state, "status", "transport", status)
    return status != 206


def speaks(status: int, body: Any) -> bool:
    """Whether an error response says of its section why it could not be measured.

    Examples
    --------
    >>> speaks(403, {"code": "plan_required"}), speaks(403, {"code": "forbidden"})
    (True, False)
    >>> speaks(404, {"detail": "No data yet."}), speaks(404, {"detail": "Unknown domain."})
    (True, False)
    """
    if status not in _SAYING or not isinstance(body, dict) or _names_parameter(body):
        return False
    texts = [text for key, text in _texts(body) if roles.is_reason(key) or keys.is_word(key)]
    said = " ".join(" ".join(tokens(text)) for text in texts)
    if re.search(rf"\b({_CALL.pattern})\b", said):
        return False
    known = _named(texts) or _heard(texts)
    if known is None or known.strength < STRONG:
        return False
    if known.canonical == "forbidden":
        return re.search(rf"\b({_PLAN.pattern})\b", said) is not None
    # An unavailable service is not an unavailable section.
    return known.canonical not in (
        "error",
        "available",
        *(["unavailable"] if status == 503 else []),
    )


def _names_parameter(body: Any, depth: int = 0) -> bool:
    """Whether an error is about what was asked: it names a parameter, or what is allowed."""
    if not isinstance(body, dict) or depth > 2:
        return False
    asked = {roles.fold(name) for name in body} & {"parameter", "param", "allowed", "suggestions"}
    return bool(asked) or any(_names_parameter(value, depth + 1) for value in body.values())


def _heard(texts: list[str]) -> Word | None:
    """The first word of absence in the sentences of an error."""
    return next((word for text in texts if (word := in_prose(text))), None)


def _named(texts: Any) -> Word | None:
    """The most telling of some codes."""
    words = [word for text in texts if is_code(text) if (word := understand(text))]
    return max(words, key=lambda word: word.strength, default=None)


def _texts(body: Any, depth: int = 0) -> Iterator[tuple[str, str]]:
    """The texts of an error body, from its nested error object too."""
    if isinstance(body, list) and body:
        body = body[0]
    if not isinstance(body, dict) or depth > 3:
        return
    for key, value in body.items():
        if roles.fold(key) in _ERROR_KEYS:
            if isinstance(value, str):
                yield "detail" if " " in value else "code", value
            yield from _texts(value, depth + 1)
    for key, value in body.items():
        if isinstance(value, str) and key != "type":
            yield key, value


def of_headers(answer: Answer, headers: Mapping[str, str]) -> None:
    """Read response headers that speak of availability, such as ``X-Data-Availability``."""
    for name, text in headers.items():
        if tells(name) and isinstance(text, str):
            before = len(answer.found)
            _of_header(answer, name, text)
            answer.found[before:] = [replace(each, rule="header") for each in answer.found[before:]]


def _of_header(answer: Answer, name: str, text: str) -> None:
    key, path = re.sub(r"(?i)^x-", "", name), f"header {name.lower()}"
    value, said = _header(text)
    if isinstance(value, str):
        value = _FLAGS.get(value.lower(), value)
    denial = keys.denial(key) if roles.speaks_of(key) == "engine" else None
    part = _fraction(text) if keys.subject(key) and isinstance(value, str) else None
    state: Availability | None = None
    if denial is not None:
        for engine in filter(None, re.split(r"[,;\s]+", text)):
            answer.add("engine", engine, denial, path, "header", text)
    elif part is not None:
        full = Status.AVAILABLE if part == 1 else Status.PARTIAL
        state = Availability(full if part else Status.UNAVAILABLE)
    elif name.lower() == "warning":
        known = in_prose(text)
        state = answer.weighed(known.availability) if known else None
    elif isinstance(value, str) and keys.subject(key) != keys.STATED and roles.is_stage(key):
        word = understand(value)
        state = answer.weighed(word.availability) if word else None
    elif isinstance(value, bool) and keys.subject(key) != keys.STATED:
        state = keys.flag(key, value)
    else:
        read(answer, key, value, (None, path), said)
    if state is not None:
        answer.add("section", None, state, path, "header", text)


def tells(header: str) -> bool:
    """Whether a response header is about availability, so that it is worth keeping.

    Examples
    --------
    >>> tells("X-Data-Availability"), tells("Content-Type")
    (True, False)
    """
    key = re.sub(r"(?i)^x-", "", header)
    stage = roles.is_stage(key) and len(tokens(key)) > 1
    if keys.subject(key) == keys.STATED or header.lower() == "warning" or stage:
        return True
    engines = roles.speaks_of(key) == "engine" and keys.denial(key) is not None
    return engines or any(keys.flag(key, said) for said in (False, True))


_FLAGS = {"true": True, "false": False, "yes": True, "no": False, "1": True, "0": False}


def _fraction(text: str) -> float | None:
    """A part of a whole in figures: ``0.82``, ``82%``, ``12/30``; None if it is none of them."""
    given = re.fullmatch(r"(\d+(?:\.\d+)?)\s*(%|/\s*\d+)?", text.strip())
    if given is None:
        return None
    number, of = float(given[1]), (given[2] or "").replace(" ", "")
    whole = 100.0 if of == "%" or (not of and number > 1) else float(of[1:] or 0) if of else 1.0
    return number / whole if whole > 0 and number <= whole else None


def _header(text: str) -> tuple[Any, dict[str, str]]:
    """The value of a header and its parameters: ``partial; reason="two engines"``, or JSON."""
    if text.lstrip().startswith(("{", "[")):
        try:
            return json.loads(text), {}
        except (ValueError, RecursionError):
            return text, {}
    first, *more = re.split(r"[;,]\s*", text.strip())
    pairs = [part.partition("=") for part in (first, *more) if "=" in part]
    said = {key.strip().lower(): value.strip().strip('"') for key, _, value in pairs}
    value = said.get("status", said.get("state", "")) if "=" in first else first
    return value.strip('"') or text, said


def of_errors(answer: Answer) -> None:
    """Read an error in the body of an answer that came with a good status."""
    document = answer.document
    if located.read(answer):
        return
    found = _error(document, "$") or _numbered(document, "$")
    if found is None:
        return
    error, path = found
    texts = dict(_texts({"error": error} if not isinstance(error, dict) else error))
    known = _named([*texts.values(), *words_in(error)]) or _heard([*texts.values()])
    status = next((v for v in _codes(error) if v in STATUSES), None)
    told = (
        Availability(*STATUSES[status])
        if status
        else Availability(Status.UNAVAILABLE, Cause.FAILED)
    )
    if known and known.strength >= STRONG and known.canonical != "available":
        told = known.availability
    reason = reason_in(texts) or (error if isinstance(error, str) else None)
    if answer.measured:
        told = Availability(Status.PARTIAL, told.cause)
    answer.add("section", None, Availability(told.status, told.cause, reason), path, "error", error)


def _codes(error: Any) -> list[int]:
    given = error[0] if isinstance(error, list) and error else error
    return [v for v in given.values() if type(v) is int] if isinstance(given, dict) else []


def _error(document: Any, path: str) -> tuple[Any, str] | None:
    """The error that an object states: under a key of its own, or by ``success: false``."""
    if not isinstance(document, dict):
        return None
    for key, value in document.items():
        if roles.fold(key) in _ERROR_KEYS and _is_error(value):
            return value, path + step(key)
    flat = {re.sub(r"^(error|fault)", "", roles.fold(key)): key for key in document}
    said = {name: document[key] for name, key in flat.items() if roles.fold(key) != name}
    if _is_error(said) and _is_trouble(said):
        return said, f"{path}{step(flat[next(iter(said))])}"
    if _is_error(document) and _heard([v for v in document.values() if isinstance(v, str)]):
        return document, path
    for key in ("success", "ok"):
        if document.get(key) is False:
            return document, f"{path}.{key}"
    word = document.get("status")
    if isinstance(word, str) and len(document) <= 6 and reason_in(document):
        known = understand(word)
        if known and known.canonical == "error":
            return document, f"{path}.status"
    return None


def _is_trouble(said: Mapping[str, Any]) -> bool:
    """Whether a code and a message spelt flat are not those of a success."""
    told = [value for value in said.values() if value not in (None, "", 0, "0", 200, "200")]
    words = [word for value in told if isinstance(value, str) and (word := understand(value))]
    fine = any(word.canonical == "available" for word in words)
    return any(isinstance(value, str) for value in told) and not fine and "success" not in told


def _is_error(value: Any) -> bool:
    if isinstance(value, str):
        return bool(value.strip())
    if isinstance(value, list):
        placed = any(isinstance(v, dict) and isinstance(v.get("path"), list) for v in value)
        told = all(isinstance(v, str | dict) and _is_error(v) for v in value)
        return bool(value) and told and not placed
    if not isinstance(value, dict) or isinstance(value.get("path"), str):
        return False
    names = {roles.fold(name) for name in value}
    worded = names & {"message", "detail", "title", "description"}
    return bool(names & {"message", "code", "detail"}) and (
        names <= _ERROR_FIELDS or bool(worded and names & {"code", "type", "status", "reason"})
    )


def _numbered(document: Any, path: str, depth: int = 0) -> tuple[Any, str] | None:
    """A failure told by a number and a message where a result should stand, one level down too."""
    if isinstance(document, dict) and depth < 3:
        code = document.get("status_code", document.get("statusCode"))
        said = document.get("status_message", document.get("statusMessage"))
        if type(code) is int and isinstance(said, str) and not str(code).startswith("2"):
            results = [document.get(name) for name in ("result", "data", "results")]
            if not any(results):
                return {"code": code, "message": said}, path
        number, title = document.get("status"), document.get("title")
        if type(number) is int and number >= 400 and isinstance(title, str):
            return document, f"{path}.status"
        for key, value in document.items():
            if isinstance(value, list) and len(value) == 1:
                found = _numbered(value[0], f"{path}{step(key)}[0]", depth + 1)
                if found:
                    return found
    return None
