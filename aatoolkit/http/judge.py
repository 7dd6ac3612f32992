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
from aatoolkit._util.text import counted
from aatoolkit.availability import Cause, Status
from aatoolkit.availability.detect import detect, explains_absence
from aatoolkit.jsontree import decode
from aatoolkit.jsontree.decode import make_excerpt
from aatoolkit.payload import NO_CONTENT_STATUSES, Response

TokenMasker = Callable[[bytes], bytes]

SUCCESS_STATUSES = frozenset({200, 201, 202, 203})
"""The HTTP statuses of success."""

# How many bytes of a body an error may repeat.
_EXCERPT_BYTES = 1 << 12
_SECONDS_PATTERN = re.compile(r"[0-9]{1,15}(?:\.[0-9]{1,9})?")


def find_response_error(
    url: str,
    status: int,
    headers: Mapping[str, str],
    body: bytes,
    mask_token: TokenMasker = bytes,
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
    mask_token : callable
        A function that replaces the token in bytes by ``***``.
    has_token : bool
        Whether the request had a token, for the advice in the message.

    Returns
    -------
    FetchError or None
        The error, such as `NotAuthorized`.
    """
    error_attributes = {"url": url, "status": status}
    if explains_missing_data(url, status, body):
        return None
    if status not in SUCCESS_STATUSES:
        return _make_status_error(status, headers, body, mask_token, error_attributes, has_token)
    try:
        document = decode.decode(body)
    except errors.DecodeError as error:
        message, problem = error.message, error.problem
        # Only these repeat a part of the body; a short token may occur in our own words.
        if problem in ("duplicate_key", "not_finite"):
            message = mask_token(message.encode()).decode()
    else:
        if isinstance(document, dict | list):
            return None
        problem = "wrong_type"
        message = "the response is neither a JSON object nor a list; check the base URL"
    body_excerpt = make_excerpt(mask_token(body[:_EXCERPT_BYTES]))
    return errors.DecodeError(message, problem=problem, excerpt=body_excerpt, **error_attributes)


def explains_missing_data(url: str, status: int, body: bytes) -> bool:
    """Return whether an error response only explains why a section has no data.

    No error is raised for such a response; its tables are empty.

    Examples
    --------
    >>> urls = [f"https://api.example/agent-analytics?section={name}" for name in ("crawl", "urls")]
    >>> [explains_missing_data(url, 409, b'{"code": "E7"}') for url in urls]
    [True, False]
    """
    sections = parse_qs(urlsplit(url).query).get("section")
    if status == 200 or sections is None:
        return False
    if status in NO_CONTENT_STATUSES and not body:
        return True
    try:
        document = decode.decode(body)
        # The one conflict that the API documents: the domain is not connected to the gateway.
        is_not_connected = status == 409 and sections == ["crawl"] and isinstance(document, dict)
        return is_not_connected or explains_absence(status, document)
    except errors.DecodeError:
        return False


def retry_after_seconds(headers: Mapping[str, str]) -> float | None:
    """Return the seconds to wait that the header ``Retry-After`` states; None if it states none.

    Examples
    --------
    >>> [retry_after_seconds({"retry-after": text}) for text in ("2", "soon")]
    [2.0, None]
    """
    header_value = headers.get("retry-after", "").strip()
    if _SECONDS_PATTERN.fullmatch(header_value):
        return float(header_value)
    try:
        retry_time = parsedate_to_datetime(header_value)
    except (ValueError, TypeError, IndexError, OverflowError):
        return None
    aware_retry_time = retry_time if retry_time.tzinfo else retry_time.replace(tzinfo=UTC)
    return max(0.0, (aware_retry_time - datetime.now(UTC)).total_seconds())


def _make_status_error(
    status: int,
    headers: Mapping[str, str],
    body: bytes,
    mask_token: TokenMasker,
    error_attributes: dict[str, Any],
    has_token: bool,
) -> errors.StatusError:
    """Create the error for an HTTP error status; its message quotes the service's own message.

    ``error_attributes`` are the attributes of the error that are already known, such as ``url``.
    """
    error_texts = _find_error_texts(body, mask_token)
    body = mask_token(body)
    error_attributes |= {"excerpt": make_excerpt(body), "body": body}
    error_attributes["code"] = _find_text(error_texts, "code")
    message = _find_text(error_texts, "message", "detail", "msg", "title", "error", "errors") or ""
    message = message.rstrip(" .;")
    quoted_message = f": {message}" if message else ""
    if 300 <= status < 400:
        return _make_redirect_error(headers, error_attributes)
    error_class = errors.StatusError
    problem = "the service responded with a status that is not expected"
    hint = ""
    if status == 401:
        error_class = errors.NotAuthorized
        problem = "the service accepts no request without a valid token"
        remedy = "check the token that is used" if has_token else "no token was given; set one"
        hint = f"; {remedy} (token=, --token-file or AATOOLKIT_TOKEN)"
    elif status in (403, 404, 410):
        error_class = errors.NotVisible
        problem = "the service shows the account no such host or section"
        hint = "; check the host, and that the account may see it"
    elif status in (400, 422):
        parameter = error_attributes["parameter"] = _find_text(error_texts, "parameter")
        refused_item = f"parameter {parameter}" if parameter else "request"
        error_class = errors.BadRequest
        problem = f"the service refused the {refused_item}"
        suggestions = _list_texts(error_texts, "suggestions")
        hint = f"; {errors.suggest_names(suggestions, 'the scope options list the allowed values')}"
        error_attributes["suggestions"] = suggestions or _list_texts(error_texts, "allowed")
    elif status == 429 or status >= 500:
        is_rate_limit = status == 429
        error_class = errors.RateLimited if is_rate_limit else errors.ServerFailed
        problem = "too many requests" if is_rate_limit else "the service failed"
        delay = error_attributes["retry_after"] = retry_after_seconds(headers)
        moment = "later" if delay is None else f"in {counted(math.ceil(delay), 'second')}"
        hint = f"; try again {moment}"
    return error_class(f"{problem} ({status}){quoted_message}{hint}", **error_attributes)


def _make_redirect_error(
    headers: Mapping[str, str], error_attributes: dict[str, Any]
) -> errors.StatusError:
    """Create the error for a redirect; its message names the host that the service redirects to.

    ``error_attributes`` are the attributes of the error that are already known, such as ``url``.
    """
    try:
        host = urlsplit(urljoin(error_attributes["url"], headers.get("location", ""))).hostname
    except ValueError:
        host = None
    host_text = make_excerpt(host.encode("utf-8", "backslashreplace")) if host else None
    return errors.StatusError(
        f"the service redirects to {host_text or 'elsewhere'}, which is refused so that the "
        "token stays here; if the service has moved, change the base URL",
        target=host_text,
        **error_attributes,
    )


def _find_error_texts(body: bytes, mask_token: TokenMasker) -> dict[str, Any]:
    """Return the texts in the JSON body of an error response, as a dict by field name.

    Texts in nested objects such as ``error`` are included. A list of texts becomes a tuple.
    """
    try:
        error_object = decode.decode(body)
    except errors.DecodeError:
        return {}
    if not isinstance(error_object, dict):
        return {}
    error_fields = dict(error_object)
    for field_name in ("errors", "detail", "error", "source"):
        content = error_fields.get(field_name)
        content = content[0] if content and isinstance(content, list) else content
        error_fields |= content if isinstance(content, dict) else {field_name: content}

    def to_text(value: object) -> Any:
        if isinstance(value, str):
            return make_excerpt(mask_token(value.encode()))
        return tuple(map(to_text, value)) if isinstance(value, list) else None

    return {field_name: to_text(content) for field_name, content in error_fields.items()}


def _find_text(error_texts: Mapping[str, Any], *field_names: str) -> str | None:
    """Return the first text in the fields ``field_names``, in this order; None if there is none."""
    return next((text for name in field_names for text in _list_texts(error_texts, name)[:1]), None)


def _list_texts(error_texts: Mapping[str, Any], field_name: str) -> tuple[str, ...]:
    """Return the texts in one field of an error response; an empty tuple if there are none."""
    field_value = error_texts.get(field_name)
    texts = field_value if isinstance(field_value, tuple) else (field_value,)
    return tuple(text for text in texts if text and isinstance(text, str))


# --- what may be kept --------------------------------------------------------------------------

COMPLETE_STATUSES = (200, 203)
"""The HTTP statuses of complete responses."""

# Not 401 and 403, which refuse the account, nor 202, 425 and 503, which change soon.
NO_DATA_STATUSES = (204, 205, 402, 404, 409, 410, 412, 422, 423, 424, 428, 451, 501)
"""The HTTP statuses of responses that may explain why there are no data; they can be cached."""

NO_DATA_MAX_SECONDS = 300.0
"""The longest time, in seconds, for which a cached response without data is used."""

# A longer body is taken for data: it is not a notice that there are none yet.
_MAX_NOTICE_BYTES = 1 << 12


def may_be_cached(response: Response) -> bool:
    """Return whether a response may be cached."""
    return response.status in (*COMPLETE_STATUSES, *NO_DATA_STATUSES) and not (
        response.status in SUCCESS_STATUSES and is_temporary_notice(response.body)
    )


def is_fresh(response: Response, max_seconds: float) -> bool:
    """Return whether a cached response is young enough to be used.

    Its age must be below ``max_seconds``. For a response without data, a lower limit may apply.
    """
    max_age_seconds = (
        min(max_seconds, NO_DATA_MAX_SECONDS)
        if response.status in NO_DATA_STATUSES
        else max_seconds
    )
    age_seconds = (datetime.now(UTC) - response.fetched_at).total_seconds()
    # A response from the future means that a clock was moved: its age is unknown.
    return 0 <= age_seconds < max_age_seconds


def allows_stale_response(error: errors.FetchError | errors.InternalError) -> bool:
    """Return whether an expired cached response may be used instead of raising ``error``."""
    if isinstance(error, errors.DecodeError):
        return error.problem == "truncated"
    return isinstance(error, errors.ConnectionFailed | errors.ServerFailed)


def is_temporary_notice(body: bytes) -> bool:
    """Return whether a body only says that the data are not computed yet, or could not be computed.

    A response with such a body is not cached.

    Examples
    --------
    >>> is_temporary_notice(b'{"status": "processing", "jobId": 7}')
    True
    >>> is_temporary_notice(b'{"domains": []}')
    False
    """
    if len(body) > _MAX_NOTICE_BYTES:
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
