"""The adapter below the cache: the token, the deadline and the size limit.

What leaves here for the cache above is a whole answer or a ``Failure``. The request it belongs to
has no token, and of the response's headers only the listed ones are left, so that nothing above
can keep what must not be kept.
"""

from __future__ import annotations

import http.client
import threading
import time
from contextlib import suppress
from datetime import UTC, datetime
from typing import Any

import requests
import urllib3
from requests.adapters import HTTPAdapter
from requests.structures import CaseInsensitiveDict

from aatoolkit import errors
from aatoolkit.http.address import BaseUrl
from aatoolkit.http.decode import ANSWERS, judge, retry_after
from aatoolkit.http.retry import Failure, may_pass
from aatoolkit.http.secret import Secret
from aatoolkit.recognise import tells
from aatoolkit.strictjson import excerpt

CONNECT_TIMEOUT = 10.0
READ_TIMEOUT = 30.0
KEPT_HEADERS = ("content-type", "date", "etag", "last-modified", "retry-after", "x-request-id")
"""The response headers that anything above sees, beside those that speak of availability."""

_CHUNK = 1 << 16
_FAILURES = (
    requests.RequestException,
    urllib3.exceptions.HTTPError,
    http.client.HTTPException,
    OSError,
    ValueError,
)


class Answer(requests.Response):
    """A whole answer, without anything that must not be kept."""

    fetched_at: datetime


class _TooLarge(Exception):
    """The body has passed the limit; holds its beginning."""


class Transport(HTTPAdapter):
    """Sends one request: adds the token, bounds time and size, and judges the response.

    Parameters
    ----------
    base
        The only origin that the token goes to.
    token
        The token, or None to send none.
    max_body
        The largest body that is read, in bytes.
    connections
        The most connections that are kept open.
    """

    def __init__(
        self, base: BaseUrl, token: Secret | None, *, max_body: int, connections: int
    ) -> None:
        super().__init__(pool_connections=1, pool_maxsize=connections)
        self._base = base
        self._token = token
        self._max_body = max_body

    def send(  # type: ignore[override]
        self, request: requests.PreparedRequest, timeout: float = 60.0, **options: Any
    ) -> requests.Response:
        """Send a request; ``timeout`` is what the whole exchange may take, in seconds.

        Raises
        ------
        Failure
            If no answer came; it holds neither the request nor the library's exception.
        """
        outcome = self._exchange(request, timeout, {**options, "stream": True})
        if isinstance(outcome, Failure):
            raise outcome
        return outcome

    def _exchange(
        self, request: requests.PreparedRequest, timeout: float, options: dict[str, Any]
    ) -> Answer | Failure:
        """The frame that holds the token: it returns what happened and raises nothing."""
        ends = time.monotonic() + timeout
        limits = (min(CONNECT_TIMEOUT, timeout), min(READ_TIMEOUT, timeout))
        url = str(request.url)
        try:
            response = super().send(self._signed(request), timeout=limits, **options)
        except _FAILURES as error:
            late = time.monotonic() >= ends
            return _too_late(url) if late else _broken(url, error)
        body = self._body(url, response, ends)
        if time.monotonic() >= ends:
            body = _too_late(url)
        if isinstance(body, Failure):
            response.close()
            return body
        return self._judged(request, response, body)

    def _body(self, url: str, response: requests.Response, ends: float) -> bytes | Failure:
        """The whole body, or why it did not come."""
        facts: dict[str, Any] = {"url": url, "status": response.status_code}
        try:
            return _read(response.raw, self._max_body, ends)
        except _TooLarge as beginning:
            error: errors.FetchError = errors.TooLarge(
                f"the answer is larger than {self._max_body} bytes; narrow the scope, or raise "
                "max_body",
                problem="truncated",
                excerpt=excerpt(self._masked(beginning.args[0])),
                limit=self._max_body,
                **facts,
            )
            return Failure(error, again=False)
        except urllib3.exceptions.DecodeError:
            error = errors.DecodeError(
                "the answer cannot be decompressed", problem="encoding", excerpt="", **facts
            )
            return Failure(error, again=False)
        except _FAILURES as error_below:
            return _broken(url, error_below)

    def _signed(self, request: requests.PreparedRequest) -> requests.PreparedRequest:
        """A copy of the request that carries the token, if it goes to the one origin."""
        signed = request.copy()
        # What requests-cache tells itself in this header is not meant for the service.
        signed.headers.pop("Cache-Control", None)
        if self._token is not None and self._base.owns(str(request.url)):
            signed.headers["Authorization"] = f"Bearer {self._token.reveal()}"
        return signed

    def _judged(
        self, request: requests.PreparedRequest, response: requests.Response, body: bytes
    ) -> Answer | Failure:
        url, status = str(request.url), response.status_code
        given = response.headers.items()
        headers = CaseInsensitiveDict((name, self._masked_text(value)) for name, value in given)
        error = judge(url, status, headers, body, self._masked)
        if error is not None:
            return Failure(error, again=may_pass(error), wait=retry_after(headers))
        answer = Answer()
        answer.status_code, answer.url, answer.request = status, url, request
        answer.headers.update({name: value for name, value in headers.items() if _is_kept(name)})
        answer.fetched_at = datetime.now(UTC)
        # Errors may repeat what was sent.
        answer._content = body if status in ANSWERS else self._masked(body)
        return answer

    def _masked_text(self, text: str) -> str:
        return self._masked(text.encode()).decode()

    def _masked(self, text: bytes) -> bytes:
        return text if self._token is None else self._token.hide_in(text)


def _is_kept(header: str) -> bool:
    return header.lower() in KEPT_HEADERS or tells(header)


def _read(raw: Any, limit: int, ends: float) -> bytes:
    """The whole body, decompressed piece by piece, while the watchdog holds the deadline."""
    watchdog = threading.Timer(max(0.0, ends - time.monotonic()), _cut, (raw,))
    watchdog.daemon = True
    watchdog.start()
    body = bytearray()
    try:
        for chunk in raw.stream(_CHUNK, decode_content=True):
            body += chunk
            if len(body) > limit:
                raise _TooLarge(bytes(body[:_CHUNK]))
    finally:
        watchdog.cancel()
    return bytes(body)


def _cut(raw: Any) -> None:
    """End a read that would go on for as long as single bytes drip in."""
    with suppress(OSError, ValueError, RuntimeError):
        raw.shutdown()


def _too_late(url: str) -> Failure:
    message = "no whole answer came before the deadline; ask for less, or raise the deadline"
    return Failure(errors.DeadlineExceeded(message, url=url), again=False)


def _broken(url: str, error: Exception) -> Failure:
    """The failure that an exception of the libraries means; the exception itself is let go."""
    message = f"no answer: {_reason(error)}; check the base URL and the network"
    trusted = not isinstance(error, requests.exceptions.SSLError)
    return Failure(errors.ConnectionFailed(message, url=url), again=trusted)


def _reason(error: Exception) -> str:
    """Why there was no answer, without the words of the libraries: those may hold headers."""
    if isinstance(error, requests.exceptions.ProxyError):
        return "the proxy could not be used"
    if isinstance(error, requests.exceptions.SSLError):
        return "the service could not prove who it is (TLS)"
    if isinstance(error, requests.exceptions.ConnectTimeout):
        return "no connection in time"
    if isinstance(error, requests.exceptions.Timeout | urllib3.exceptions.TimeoutError):
        return "the service went silent"
    cause = getattr(error.args[0] if error.args else None, "reason", None)
    if isinstance(cause, urllib3.exceptions.NameResolutionError):
        return "the name of the service is not known"
    if isinstance(cause, urllib3.exceptions.NewConnectionError):
        return "the connection was refused"
    return "the connection broke off"
