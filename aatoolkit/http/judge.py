"""Judge responses: are they data or an error, may they be cached, and for how long?"""

from __future__ import annotations

import math
import re
import warnings
from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from typing import Any
from urllib.parse import parse_qs, urljoin, urlsplit

from aatoolkit import errors
from aatoolkit.availability import Cause, Status
from aatoolkit.availability.detect import detect, explains_absence
from aatoolkit.jsontree import decode
from aatoolkit.jsontree.decode import excerpt
from aatoolkit.payload import NO_CONTENT, Response

HideToken = Callable[[bytes], bytes]

SUCCESSES = frozenset({200, 201, 202, 203})
"""The statuses of success; with others a section may still explain why it has no data."""

_SHOWN_BYTES = 1 << 12
_SECONDS_PATTERN = re.compile(r"[0-9]{1,15}(?:\.[0-9]{1,9})?")


def judge(
    url: str,
    status: int,
    headers: Mapping[str, str],
    body: bytes,
    hide_token: HideToken = bytes,
    *,
    has_token: bool = True,
) -> errors.FetchError | None:
    """Return the error to raise for a response; None if its body can be used.

    A body can be used if the status is a success and the body is one JSON object or list. It can
    also be used if it explains why a section has no data. ``hide_token`` replaces the token in the
    parts of the body that an error repeats. ``has_token`` says whether the request had a token.
    """
    details = {"url": url, "status": status}
    if is_explanation(url, status, body):
        return None
    if status not in SUCCESSES:
        return _status_error(status, headers, body, hide_token, details, has_token)
    try:
        document = decode.decode(body)
    except errors.DecodeError as error:
        message, problem = hide_token(error.message.encode()).decode(), error.problem
    else:
        if isinstance(document, dict | list):
            return None
        problem = "wrong_type"
        message = "the response is neither a JSON object nor a list; check the base URL"
    text = excerpt(hide_token(body[:_SHOWN_BYTES]))
    return errors.DecodeError(message, problem=problem, excerpt=text, **details)


def is_explanation(url: str, status: int, body: bytes) -> bool:
    """Return whether a response, often with an error status, explains why a section has no data."""
    if status == 200 or "section" not in parse_qs(urlsplit(url).query):
        return False
    if status in NO_CONTENT and not body:
        return True
    try:
        return explains_absence(status, decode.decode(body))
    except errors.DecodeError:
        return False


def retry_after(headers: Mapping[str, str]) -> float | None:
    """Return the seconds to wait that ``Retry-After`` asks for; None if it is missing or invalid.

    Examples
    --------
    >>> retry_after({"retry-after": "2"}), retry_after({"retry-after": "soon"})
    (2.0, None)
    """
    text = headers.get("retry-after", "").strip()
    if _SECONDS_PATTERN.fullmatch(text):
        return float(text)
    try:
        moment = parsedate_to_datetime(text)
    except (ValueError, TypeError, IndexError, OverflowError):
        return None
    aware_moment = moment if moment.tzinfo else moment.replace(tzinfo=UTC)
    return max(0.0, (aware_moment - datetime.now(UTC)).total_seconds())


def _status_error(
    status: int,
    headers: Mapping[str, str],
    body: bytes,
    hide_token: HideToken,
    details: dict[str, Any],
    has_token: bool,
) -> errors.StatusError:
    """Return the error for an HTTP error status, with the service's own message, if any.

    ``details`` are attributes of the error; further attributes are read from the response.
    """
    body = hide_token(body)
    error_texts = _error_texts(body, hide_token)
    details |= {"excerpt": excerpt(body), "body": body}
    details["code"] = _first_text(error_texts, "code")
    message = _first_text(error_texts, "message", "detail", "msg", "title", "error", "errors") or ""
    message = message.rstrip(" .;")
    quotation = f": {message}" if message else ""
    if 300 <= status < 400:
        return _redirect_error(headers, details)
    kind = errors.StatusError
    problem, hint = "the service responded with a status that is not expected", ""
    if status == 401:
        kind, problem = errors.NotAuthorized, "the service accepts no request without a valid token"
        remedy = "check the token that is used" if has_token else "no token was given; set one"
        hint = f"; {remedy} (token=, --token-file or AATOOLKIT_TOKEN)"
    elif status in (403, 404, 410):
        kind, problem = errors.NotVisible, "the service shows the account no such host or section"
        hint = "; check the host, and that the account may see it"
    elif status in (400, 422):
        parameter = details["parameter"] = _first_text(error_texts, "parameter")
        subject = f"parameter {parameter}" if parameter else "request"
        kind, problem = errors.BadRequest, f"the service refused the {subject}"
        suggestions = _texts_in(error_texts, "suggestions")
        hint = f"; {errors.did_you_mean(suggestions, 'the scope options list the allowed values')}"
        details["suggestions"] = suggestions or _texts_in(error_texts, "allowed")
    elif status == 429 or status >= 500:
        is_rate_limit = status == 429
        kind = errors.RateLimited if is_rate_limit else errors.ServerFailed
        problem = "too many requests" if is_rate_limit else "the service failed"
        wait = details["retry_after"] = retry_after(headers)
        hint = f"; try again {'later' if wait is None else f'in {math.ceil(wait)} seconds'}"
    return kind(f"{problem} ({status}){quotation}{hint}", **details)


def _redirect_error(headers: Mapping[str, str], details: dict[str, Any]) -> errors.StatusError:
    """Return the error for a redirect; its message names the host that the redirect leads to."""
    try:
        host = urlsplit(urljoin(details["url"], headers.get("location", ""))).hostname
    except ValueError:
        host = None
    host_text = excerpt(host.encode("utf-8", "backslashreplace")) if host else None
    return errors.StatusError(
        f"the service redirects to {host_text or 'elsewhere'}, which is refused so that the "
        "token stays here; if the service has moved, change the base URL",
        target=host_text,
        **details,
    )


def _error_texts(body: bytes, hide_token: HideToken) -> dict[str, Any]:
    """Map field names in the body of an error response to their texts, each as one printable line.

    The fields are those of the top-level object, and of the first error in it: the object in
    ``error``, or the first one in ``errors`` (as in JSON:API) or ``detail``, with its ``source``.
    If the object and the first error have the same field, the text in the first error is used.
    """
    try:
        value = decode.decode(body)
    except errors.DecodeError:
        return {}
    if not isinstance(value, dict):
        return {}
    fields = dict(value)
    for name in ("errors", "detail", "error", "source"):
        item = fields.get(name)
        item = item[0] if item and isinstance(item, list) else item
        fields |= item if isinstance(item, dict) else {name: item}

    def to_text(value: object) -> Any:
        if isinstance(value, str):
            return excerpt(hide_token(value.encode()))
        return tuple(map(to_text, value)) if isinstance(value, list) else None

    return {name: to_text(value) for name, value in fields.items()}


def _first_text(error_texts: Mapping[str, Any], *names: str) -> str | None:
    """Return the text of the first of the fields ``names`` that has one; None if no field has."""
    return next((text for name in names for text in _texts_in(error_texts, name)[:1]), None)


def _texts_in(error_texts: Mapping[str, Any], name: str) -> tuple[str, ...]:
    """Return the texts in the field ``name``: several, one, or none if the field is missing."""
    value = error_texts.get(name)
    texts = value if isinstance(value, tuple) else (value,)
    return tuple(text for text in texts if text and isinstance(text, str))


# --- what may be kept --------------------------------------------------------------------------

FINAL = (200, 203)
"""The statuses of final responses."""

EMPTY = (204, 205, 402, 404, 409, 410, 412, 422, 423, 424, 428, 451, 501)
"""The statuses with which a response explains that there is no data; valid for a short time.

Most such responses are errors; those that are explanations are cached, also for offline use. Never
among them are refusals of the account (401, 403), and what is about to change (202, 425, 503).
"""

EMPTY_SECONDS = 300.0
"""For how long a response without data is fresh at most."""

_BRIEF_BYTES = 1 << 12


def may_be_kept(response: Response) -> bool:
    """Return whether a response may be cached: its status is final, and no data are pending."""
    return response.status in (*FINAL, *EMPTY) and not (
        response.status in SUCCESSES and is_temporary(response.body)
    )


def is_fresh(response: Response, seconds: float) -> bool:
    """Return whether a cached response is new enough to be used without asking the service.

    ``seconds`` is the age limit; for a response without data, it is at most `EMPTY_SECONDS`.
    """
    limit = min(seconds, EMPTY_SECONDS) if response.status in EMPTY else seconds
    age = (datetime.now(UTC) - response.fetched_at).total_seconds()
    # A response from the future means that a clock was moved: its age is unknown.
    return 0 <= age < limit


def allows_stale(error: errors.FetchError | errors.InternalError) -> bool:
    """Return whether an expired cached response may be used instead of raising ``error``."""
    if isinstance(error, errors.DecodeError):
        return error.problem == "truncated"
    return isinstance(error, errors.ConnectionFailed | errors.ServerFailed)


def is_temporary(body: bytes) -> bool:
    """Return whether a body only says that the data are pending, or could not be computed.

    Such a response must not be cached. A long body is never taken for such a response.

    Examples
    --------
    >>> is_temporary(b'{"status": "processing", "jobId": 7}'), is_temporary(b'{"domains": []}')
    (True, False)
    """
    if len(body) > _BRIEF_BYTES:
        return False
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", errors.SchemaDriftWarning)
        try:
            signals = detect(decode.decode(body)).signals
        except errors.DecodeError:
            return False
    return any(
        signal.scope == "section"
        and signal.availability.status == Status.UNAVAILABLE
        and signal.availability.cause in (Cause.PENDING, Cause.FAILED)
        for signal in signals
    )
