"""Errors inside an answer: an error object or code, and errors that name their place."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

from aatoolkit.availability import Availability, Cause, Status
from aatoolkit.availability.detect import roles
from aatoolkit.availability.detect.context import AnswerContext
from aatoolkit.availability.detect.parts import reason_in, words_in
from aatoolkit.availability.detect.phrases import STRONG
from aatoolkit.availability.detect.vocabulary import (
    Word,
    best,
    in_prose,
    is_code,
    understand,
)
from aatoolkit.jsontree.paths import key_step
from aatoolkit.jsontree.vectors import MISSING

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

_ERROR_KEYS = {"error", "errors", "fault", "failure", "problem", "partialfailureerror"}
_ERROR_FIELDS = {
    *("message", "code", "detail", "title", "status", "type", "path", "locations", "reason"),
    *("extensions", "field", "source", "domain", "name", "id", "errors", "details", "hint"),
    *("statuscode", "errorcode", "description", "links", "instance", "requestid", "meta"),
}


def word_in_sentences(texts: list[str]) -> Word | None:
    """The first word of absence in the sentences of an error."""
    return next((word for text in texts if (word := in_prose(text))), None)


def word_of_codes(texts: Any) -> Word | None:
    """The most telling of some codes."""
    words = [word for text in texts if is_code(text) if (word := understand(text))]
    return max(words, key=lambda word: word.strength, default=None)


def texts_in(body: Any, depth: int = 0) -> Iterator[tuple[str, str]]:
    """The texts of an error body, from its nested error object too."""
    if isinstance(body, list) and body:
        body = body[0]
    if not isinstance(body, dict) or depth > 3:
        return
    for key, value in body.items():
        if roles.fold(key) in _ERROR_KEYS:
            if isinstance(value, str):
                yield "detail" if " " in value else "code", value
            yield from texts_in(value, depth + 1)
    for key, value in body.items():
        if isinstance(value, str) and key != "type":
            yield key, value


def read_errors(answer: AnswerContext) -> None:
    """Read an error in the body of an answer that came with a good status."""
    document = answer.document
    if read_located(answer):
        return
    found = _error(document, "$") or _numbered(document, "$")
    if found is None:
        return
    error, path = found
    texts = dict(texts_in({"error": error} if not isinstance(error, dict) else error))
    known = word_of_codes([*texts.values(), *words_in(error)]) or word_in_sentences(
        [*texts.values()]
    )
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
            return value, path + key_step(key)
    flat = {re.sub(r"^(error|fault)", "", roles.fold(key)): key for key in document}
    said = {name: document[key] for name, key in flat.items() if roles.fold(key) != name}
    if _is_error(said) and _is_trouble(said):
        return said, f"{path}{key_step(flat[next(iter(said))])}"
    if _is_error(document) and word_in_sentences(
        [v for v in document.values() if isinstance(v, str)]
    ):
        return document, path
    for key in ("success", "ok"):
        if document.get(key) is False:
            return document, f"{path}.{key}"
    for key, value in document.items():
        if roles.is_wrapper(key) and isinstance(value, dict) and path == "$":
            found = _error(value, path + key_step(key))
            if found is not None:
                return found
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
                found = _numbered(value[0], f"{path}{key_step(key)}[0]", depth + 1)
                if found:
                    return found
    return None


_ROOTS = ("", "data", "result")


def read_located(answer: AnswerContext) -> bool:
    """Read errors that say where they belong; whether all of an answer's errors do."""
    document = answer.document
    listed = document.get("errors") if isinstance(document, dict) else None
    if not isinstance(listed, list) or not listed:
        return False
    found = [_place(document, error) for error in listed]
    for at, (error, place) in enumerate(zip(listed, found, strict=True)):
        if place is not None:
            row = any(isinstance(part, int) for part in place)
            state = _state(error)
            answer.add(
                "row" if row else "field", _target(place), state, f"$.errors[{at}]", "error", error
            )
    return all(place is not None for place in found)


def _state(error: dict[str, Any]) -> Availability:
    reason, known = reason_in(error), _word(error)
    if known is None:
        return Availability(Status.UNAVAILABLE, Cause.FAILED, reason)
    return Availability(known.availability.status, known.availability.cause, reason)


def _word(error: dict[str, Any]) -> Word | None:
    """What an error says by its codes, or else in its sentence."""
    reason = reason_in(error)
    known = best(words_in(error), STRONG) or (in_prose(reason) if reason else None)
    return None if known is None or known.canonical == "available" else known


def _place(document: dict[str, Any], error: Any) -> list[str | int] | None:
    """Where an error belongs: the keys and positions from the top, to a place that is empty."""
    path = error.get("path") if isinstance(error, dict) else None
    if not isinstance(path, list) or not path:
        return None
    if not all(isinstance(part, str) or type(part) is int for part in path):
        return None
    sure = _word(error) is not None
    for root in _ROOTS if sure else _ROOTS[1:]:
        steps = [root, *path] if root else [*path]
        if _at(document, steps[:-1]) is not MISSING and _at(document, steps) in (None, MISSING, []):
            return steps
    return None


def _at(document: Any, steps: list[str | int]) -> Any:
    for part in steps:
        if isinstance(document, dict) and isinstance(part, str):
            document = document.get(part, MISSING)
        elif isinstance(document, list) and type(part) is int and 0 <= part < len(document):
            document = document[part]
        else:
            return MISSING
    return document


def _target(place: list[str | int]) -> str:
    parts = (f"[{part}]" if isinstance(part, int) else key_step(part) for part in place)
    return "".join(parts).removeprefix(".")
