"""Errors inside an answer: an error object or code, and errors that have the path of a field."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from typing import Any

from aatoolkit.availability import Availability, Status
from aatoolkit.availability.detect import roles
from aatoolkit.availability.detect.context import AnswerContext
from aatoolkit.availability.detect.parts import reason_in, words_in
from aatoolkit.availability.detect.roles import fold, words
from aatoolkit.availability.detect.vocabulary import (
    STRONG,
    WORDS,
    Word,
    best,
    in_prose,
    is_code,
    understand,
)
from aatoolkit.jsontree.paths import key_step
from aatoolkit.jsontree.vectors import MISSING

STATUSES: Mapping[int, Availability] = {
    status: Availability(*WORDS[word])
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

FAILED = Availability(*WORDS["error"])

_ERROR_KEYS = words("error errors fault failure problem partialfailureerror")
_ERROR_FIELDS = words(
    "message code detail title status type path locations reason extensions field source domain"
    " name id errors details hint statuscode errorcode description links instance requestid meta"
)


def word_of(texts: Iterable[str]) -> Word | None:
    """The surest word of an error's codes, or the first word of absence in its sentences."""
    listed = [*texts]
    sentences = (word for text in listed if (word := in_prose(text)))
    return best(filter(is_code, listed)) or next(sentences, None)


def texts_in(body: Any, depth: int = 0) -> Iterator[tuple[str, str]]:
    """Yield the texts of an error body, also of an error object nested in it."""
    if isinstance(body, list) and body:
        body = body[0]
    if not isinstance(body, dict) or depth > 3:
        return
    for key, value in body.items():
        if fold(key) in _ERROR_KEYS:
            if isinstance(value, str):
                yield "detail" if " " in value else "code", value
            yield from texts_in(value, depth + 1)
    for key, value in body.items():
        if isinstance(value, str) and key != "type":
            yield key, value


def read_errors(answer: AnswerContext) -> None:
    """Read an error in the body of an answer that came with a good status."""
    document = answer.document
    if _read_located(answer):
        return
    found = _error(document, "$") or _numbered(document, "$")
    if found is None:
        return
    error, path = found
    texts = dict(texts_in(error if isinstance(error, dict) else {"error": error}))
    codes = (text for text in (*texts.values(), *words_in(error)) if is_code(text))
    known = best(codes) or word_of(texts.values())
    status = next((v for v in _codes(error) if v in STATUSES), None)
    state = STATUSES[status] if status else FAILED
    if known and known.is_lack:
        state = known.availability
    if answer.measured:
        state = replace(state, status=Status.PARTIAL)
    reason = reason_in(texts) or (error if isinstance(error, str) else None)
    answer.add("section", None, replace(state, reason=reason), path, "error", error)


def _codes(error: Any) -> list[int]:
    given = error[0] if isinstance(error, list) and error else error
    return [v for v in given.values() if type(v) is int] if isinstance(given, dict) else []


def _error(document: Any, path: str) -> tuple[Any, str] | None:
    """Find the error that an object states: under its own key, or by ``success: false``."""
    if not isinstance(document, dict):
        return None
    for key, value in document.items():
        if fold(key) in _ERROR_KEYS and _is_error(value):
            return value, path + key_step(key)
    flat = {re.sub(r"^(error|fault)", "", fold(key)): key for key in document}
    members = {name: document[key] for name, key in flat.items() if fold(key) != name}
    if _is_error(members) and _is_failure(members):
        return members, f"{path}{key_step(flat[next(iter(members))])}"
    if _is_error(document) and any(in_prose(v) for v in document.values() if isinstance(v, str)):
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


def _is_failure(members: Mapping[str, Any]) -> bool:
    """Whether a code and a message spelt flat are not those of a success."""
    given = [value for value in members.values() if value not in (None, "", 0, "0", 200, "200")]
    texts = [value for value in given if isinstance(value, str)]
    known = [word for text in texts if (word := understand(text))]
    fine = "success" in given or any(word.canonical == "available" for word in known)
    return bool(texts) and not fine


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
        names <= _ERROR_FIELDS or bool(worded and names & {"code", "type", "status", "reason"})
    )


def _numbered(document: Any, path: str, depth: int = 0) -> tuple[Any, str] | None:
    """Find a failure given as a number and a message in place of a result."""
    if isinstance(document, dict) and depth < 3:
        code = document.get("status_code", document.get("statusCode"))
        message = document.get("status_message", document.get("statusMessage"))
        failed = type(code) is int and not str(code).startswith("2")
        empty = not any(map(document.get, ("result", "data", "results")))
        if failed and empty and isinstance(message, str):
            return {"code": code, "message": message}, path
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


def _read_located(answer: AnswerContext) -> bool:
    """Read errors that have the path of their field; return whether all of them do."""
    document = answer.document
    listed = document.get("errors") if isinstance(document, dict) else None
    if not isinstance(listed, list) or not listed:
        return False
    found = [_place(document, error) for error in listed]
    for at, (error, place) in enumerate(zip(listed, found, strict=True)):
        if place is not None:
            row = any(isinstance(part, int) for part in place)
            reason, known = reason_in(error), _word_of(error)
            state = replace(known.availability if known else FAILED, reason=reason)
            path = f"$.errors[{at}]"
            answer.add("row" if row else "field", _target(place), state, path, "error", error)
    return all(place is not None for place in found)


def _word_of(error: dict[str, Any]) -> Word | None:
    """The word that an error's codes mean, or else its sentence; None if neither is known."""
    reason = reason_in(error)
    known = best(words_in(error), STRONG) or (in_prose(reason) if reason else None)
    return None if known is None or known.canonical == "available" else known


def _place(document: dict[str, Any], error: Any) -> list[str | int] | None:
    """The keys and positions that lead to an error's field, if that field is empty."""
    path = error.get("path") if isinstance(error, dict) else None
    if not isinstance(path, list) or not path:
        return None
    if not all(isinstance(part, str) or type(part) is int for part in path):
        return None
    sure = _word_of(error) is not None
    for root in _ROOTS if sure or path[0] in _ROOTS else _ROOTS[1:]:
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
