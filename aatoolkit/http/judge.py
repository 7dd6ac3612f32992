"""Decide whether a response is data or an error, and whether it may be cached."""

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
"""The HTTP statuses of success."""

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

    Parameters
    ----------
    url : str
        The requested URL.
    status : int
        The HTTP status.
    headers : mapping of str to str
        The response headers, with names in lower case.
    body : bytes
        The body, decompressed.
    hide_token : callable
        A function that replaces the token in bytes by ``***``.
    has_token : bool
        Whether the request had a token, for the advice in the message.

    Returns
    -------
    FetchError or None
        The error, such as `NotAuthorized`.
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
    """Return whether an error response only explains why a section has no data.

    Such a response is not treated as an error.

    Examples
    --------
    >>> url = "https://api.example/agent-analytics?section="
    >>> [is_explanation(url + section, 409, b'{"code": "E7"}') for section in ("crawl", "urls")]
    [True, False]
    """
    sections = parse_qs(urlsplit(url).query).get("section")
    if status == 200 or sections is None:
        return False
    if status in NO_CONTENT and not body:
        return True
    try:
        document = decode.decode(body)
        # The one conflict that the API documents: the domain is not connected to the gateway.
        is_not_connected = status == 409 and sections == ["crawl"] and isinstance(document, dict)
        return is_not_connected or explains_absence(status, document)
    except errors.DecodeError:
        return False


def retry_after(headers: Mapping[str, str]) -> float | None:
    """Return the seconds to wait, from the header ``Retry-After``; None without such a header.

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
    """Create the error for an HTTP error status; its message quotes the service's own message."""
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
    """Create the error for a redirect; its message names the host that the service redirects to."""
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
    """Return the texts in the body of an error response, as a dict by field name."""
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
    """Return the text of the first of these fields that an error response has; None if none."""
    return next((text for name in names for text in _texts_in(error_texts, name)[:1]), None)


def _texts_in(error_texts: Mapping[str, Any], name: str) -> tuple[str, ...]:
    """Return all texts in one field of an error response."""
    value = error_texts.get(name)
    texts = value if isinstance(value, tuple) else (value,)
    return tuple(text for text in texts if text and isinstance(text, str))


# --- what may be kept --------------------------------------------------------------------------

FINAL = (200, 203)
"""The HTTP statuses of responses that are complete."""

# Not 401 and 403, which refuse the account, nor 202, 425 and 503, which change soon.
EMPTY = (204, 205, 402, 404, 409, 410, 412, 422, 423, 424, 428, 451, 501)
"""The HTTP statuses of responses that may explain why there are no data; they can be cached."""

EMPTY_SECONDS = 300.0
"""The longest time, in seconds, for which a cached response without data is used."""

_BRIEF_BYTES = 1 << 12


def may_be_kept(response: Response) -> bool:
    """Return whether a response may be cached."""
    return response.status in (*FINAL, *EMPTY) and not (
        response.status in SUCCESSES and is_temporary(response.body)
    )


def is_fresh(response: Response, seconds: float) -> bool:
    """Return whether a cached response is younger than a number of seconds."""
    limit = min(seconds, EMPTY_SECONDS) if response.status in EMPTY else seconds
    age = (datetime.now(UTC) - response.fetched_at).total_seconds()
    # A response from the future means that a clock was moved: its age is unknown.
    return 0 <= age < limit


def allows_stale(error: errors.FetchError | errors.InternalError) -> bool:
    """Return whether, instead of raising this error, an expired cached response may be returned."""
    if isinstance(error, errors.DecodeError):
        return error.problem == "truncated"
    return isinstance(error, errors.ConnectionFailed | errors.ServerFailed)


def is_temporary(body: bytes) -> bool:
    """Return whether a body states that data are not computed yet, or that computing them failed.

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
