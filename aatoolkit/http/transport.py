"""The adapter below the cache: one exchange with the service, and what it came to.

The request that it gets has no token, and of the response only the listed headers are left, so
that nothing above can store what must not be stored.
"""

from __future__ import annotations

import http.client
import os
import socket
import ssl
import time
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Literal

import requests
import urllib3.exceptions as urllib3
from requests.adapters import HTTPAdapter
from requests.utils import get_environ_proxies, select_proxy

from aatoolkit import errors
from aatoolkit._util.cancellation import is_cancelled
from aatoolkit.availability.detect import is_availability_header
from aatoolkit.http.address import BaseUrl
from aatoolkit.http.attempt import POOLS, UNSIGNED, Attempt, NotLoopback, tls_context
from aatoolkit.http.judge import SUCCESSES, judge, retry_after
from aatoolkit.http.secret import Secret
from aatoolkit.jsontree.decode import excerpt
from aatoolkit.payload import Request, Response

KEPT_HEADERS = ("content-type", "date", "etag", "last-modified", "retry-after", "x-request-id")
"""The response headers that are kept, beside those about availability."""

ERROR_BODY_LIMIT = 1 << 16
"""How much of the body of an error response is read, in bytes."""

ERROR_BODY_SECONDS = 2.0
"""How long reading it may take."""

CONNECT_SECONDS = 10.0
"""The longest that one address may take to accept a connection."""

_HEADERS = {"User-Agent": "aatoolkit", "Accept": "application/json", "Accept-Encoding": "gzip"}
_CHUNK = 1 << 16
_RETRYABLE = frozenset({429, 502, 503, 504})


class Unusable(Exception):
    """A setting of the environment cannot be used; the message says which."""


class TooLong(Exception):
    """The body is longer than the limit."""


@dataclass(frozen=True)
class Failure:
    """The reason why there is no response to use, and whether another attempt may help."""

    error: errors.FetchError | errors.InternalError
    is_retryable: bool = False
    retry_after: float | None = None


@dataclass(frozen=True)
class Fault:
    """What an exception of the libraries means, in our own words: theirs may hold anything."""

    reason: str
    is_retryable: bool = True
    kind: Literal["connection", "deadline", "too_large", "encoding", "internal"] = "connection"


_LATE = Fault("no complete response came before the deadline", False, "deadline")
_BROKEN = Fault("the connection broke off")
_FAULTS: dict[type[BaseException], Fault] = {
    TooLong: Fault("", False, "too_large"),
    urllib3.DecodeError: Fault("the response cannot be decompressed", False, "encoding"),
    # Before what befell the connection, which is one to the proxy.
    urllib3.ProxyError: Fault("the proxy that the environment names could not be used"),
    socket.gaierror: Fault("the name of the service is not known"),
    NotLoopback: Fault("a name of this machine leads to another one", False),
    ConnectionRefusedError: Fault("the connection was refused"),
    urllib3.NewConnectionError: Fault("no connection could be made"),
    urllib3.ConnectTimeoutError: Fault("no connection in time"),
    ssl.SSLCertVerificationError: Fault("the service could not prove who it is (TLS)", False),
    ssl.SSLEOFError: _BROKEN,
    ssl.SSLError: Fault("there is no agreement on an encrypted connection (TLS)", False),
    urllib3.ReadTimeoutError: Fault("the service went silent"),
    http.client.RemoteDisconnected: _BROKEN,
    http.client.IncompleteRead: _BROKEN,
    ConnectionError: _BROKEN,
    http.client.HTTPException: Fault("what came is not HTTP", False),
    ValueError: Fault("what came is not HTTP", False),
}
"""What exceptions mean; of several in one chain, the first here."""


class Transport(HTTPAdapter):
    """Sends one request: signs it, limits time and size, and classifies the response.

    Parameters
    ----------
    base
        The only origin that the token goes to.
    token
        The token, or None to send none.
    max_body
        The largest body, in bytes.
    connections
        The size of the connection pool.
    """

    def __init__(
        self, base: BaseUrl, token: Secret | None, *, max_body: int, connections: int
    ) -> None:
        super().__init__(pool_connections=1, pool_maxsize=connections)
        self._base = base
        self._token = token
        self._max_body = max_body

    def init_poolmanager(self, *arguments: Any, **options: Any) -> None:
        """Use connections that an attempt can end."""
        super().init_poolmanager(*arguments, ssl_context=tls_context(), **options)
        self.poolmanager.pool_classes_by_scheme = POOLS

    def proxy_manager_for(self, proxy: str, **options: Any) -> Any:
        """Use such connections through a proxy too."""
        if proxy not in self.proxy_manager:
            options |= {"ssl_context": tls_context(), "proxy_ssl_context": tls_context()}
        manager = super().proxy_manager_for(proxy, **options)
        manager.pool_classes_by_scheme = POOLS
        return manager

    def close(self) -> None:
        """Close the idle connections now; urllib3 would leave that to the garbage collector."""
        for manager in (self.poolmanager, *self.proxy_manager.values()):
            for key in manager.pools.keys():  # noqa: SIM118  (it has no other iteration)
                pool = manager.pools.get(key)
                if pool is not None:
                    pool.close()
            manager.clear()

    def ask(self, request: Request, seconds: float) -> Response | Failure:
        """Send a request; return the response, or why there is none, within some seconds."""
        outcome = self._outcome(request, seconds)
        if isinstance(outcome, Failure) and outcome.is_retryable:
            # The next attempt goes over a new connection: this one may not be the only stale one.
            self.close()
        return outcome

    def _outcome(self, request: Request, seconds: float) -> Response | Failure:
        ends = time.monotonic() + seconds
        attempt = Attempt(self._token)
        error_ends = float("inf")

        def limit() -> float:
            nonlocal error_ends
            if attempt.status is not None and attempt.status not in SUCCESSES:
                # The status says what happened; the body only adds a message.
                error_ends = min(error_ends, time.monotonic() + ERROR_BODY_SECONDS)
            return min(ends, error_ends) - time.monotonic()

        fault: Fault | None = None

        def act() -> None:
            nonlocal fault
            try:
                self._exchange(request.url, attempt, seconds)
            except Exception as error:
                fault = _fault_of(error)

        is_late = not attempt.run(act, limit)
        is_error = attempt.status is not None and attempt.status not in SUCCESSES
        if is_error or (fault is None and not is_late):
            try:
                return self._judged(request, attempt)
            except Exception as error:
                fault = _fault_of(error)
        if is_late:
            fault = Fault("the call was cancelled", False) if is_cancelled() else _LATE
        return self._failure(fault or _LATE, request, attempt)

    def _exchange(self, url: str, attempt: Attempt, seconds: float) -> None:
        """Send the request, and receive the response's status, headers and body."""
        signed = {} if self._token is None else {"Authorization": UNSIGNED}
        prepared = requests.Request("GET", url, headers={**_HEADERS, **signed}).prepare()
        response = super().send(
            prepared,
            stream=True,
            timeout=(min(CONNECT_SECONDS, seconds / 4), seconds + 1),
            **_environment(self._base, url),
        )
        raw: Any = response.raw
        try:
            headers = {
                name.lower(): self._masked(value.encode(errors="replace")).decode(errors="replace")
                for name, value in response.headers.items()
                if name.lower() in (*KEPT_HEADERS, "location") or is_availability_header(name)
            }
            attempt.begin(response.status_code, headers)
            is_success = response.status_code in SUCCESSES
            limit = self._max_body if is_success else ERROR_BODY_LIMIT
            while chunk := raw.read1(_CHUNK, decode_content=True):
                attempt.body += chunk
                if len(attempt.body) > limit:
                    raise TooLong
        finally:
            raw.close()

    def _judged(self, request: Request, attempt: Attempt) -> Response | Failure:
        status, body = attempt.status or 0, bytes(attempt.body)
        is_success = status in SUCCESSES
        if is_success and self.repeats_token(body):
            error: errors.FetchError | None = errors.DecodeError(
                "the response repeats the token, and is not used, so that the token does not get "
                "into tables and files; tell whoever runs the service",
                problem="token",
                **self._facts(request, attempt),
            )
        else:
            error = judge(request.url, status, attempt.headers, body, self._masked)
        if error is not None:
            cut_off = isinstance(error, errors.DecodeError) and error.problem == "truncated"
            return Failure(error, status in _RETRYABLE or cut_off, retry_after(attempt.headers))
        headers = {name: value for name, value in attempt.headers.items() if name != "location"}
        # Errors may repeat what was sent.
        content = body if is_success else self._masked(body)
        return Response(request, status, headers, datetime.now(UTC), content)

    def _failure(self, fault: Fault, request: Request, attempt: Attempt) -> Failure:
        """Return the error for a fault, with what had arrived until then."""
        facts, reason = self._facts(request, attempt), fault.reason
        error: errors.FetchError | errors.InternalError
        if fault.kind == "deadline":
            message = f"{reason}; ask for less, or raise the deadline"
            error = errors.DeadlineExceeded(message, **facts)
        elif fault.kind == "too_large":
            error = errors.DecodeError(
                f"the response is larger than {self._max_body} bytes; narrow the scope, or raise "
                "max_body",
                problem="too_large",
                limit=self._max_body,
                **facts,
            )
        elif fault.kind == "encoding":
            error = errors.DecodeError(reason, problem="encoding", **facts)
        elif fault.kind == "internal":
            error = errors.InternalError(
                f"the response could not be handled: {reason}; this is a fault of aatoolkit and "
                "not of the network, please report it",
                **facts,
            )
        else:
            message = f"no response: {reason}; check the base URL and the network"
            error = errors.ConnectionFailed(message, **facts)
        return Failure(error, fault.is_retryable)

    def _facts(self, request: Request, attempt: Attempt) -> dict[str, Any]:
        shown = excerpt(self._masked(bytes(attempt.body[:_CHUNK])))
        came = attempt.status is not None
        return {"url": request.url, "status": attempt.status, "excerpt": shown if came else None}

    def repeats_token(self, body: bytes) -> bool:
        """Whether a text holds the token that requests carry."""
        return self._token is not None and self._token.is_in(body)

    def _masked(self, text: bytes) -> bytes:
        return text if self._token is None else self._token.hide_in(text)


def _environment(base: BaseUrl, url: str) -> dict[str, Any]:
    """Proxies and certificates as the environment names them; no proxy for this machine.

    Raises
    ------
    Unusable
        If it names any that cannot be used.
    """
    proxies = {} if base.is_loopback else get_environ_proxies(url)
    proxy = select_proxy(url, proxies)
    if proxy is not None and not proxy.lower().startswith(("http://", "https://")):
        raise Unusable("only http:// and https:// proxies can be used")
    bundle = os.environ.get("REQUESTS_CA_BUNDLE") or os.environ.get("CURL_CA_BUNDLE")
    if bundle and not Path(bundle).exists():
        raise Unusable("REQUESTS_CA_BUNDLE names no file or folder")
    return {"proxies": proxies, "verify": bundle or True}


def _fault_of(error: Exception) -> Fault:
    """Return what an exception, or any exception behind it, means."""
    chain = tuple(_chain(error))
    for kind, fault in _FAULTS.items():
        if any(isinstance(cause, kind) for cause in chain):
            return fault
    if isinstance(error, Unusable):
        return Fault(str(error), False)
    if isinstance(error, OSError | EOFError | urllib3.HTTPError):  # as all of requests are
        return _BROKEN
    return Fault(f"{type(error).__name__} within aatoolkit", False, "internal")


def _chain(error: BaseException) -> Iterator[BaseException]:
    """An exception, and every exception that it was made from."""
    waiting: list[object] = [error]
    seen: set[int] = set()
    while waiting:
        cause = waiting.pop()
        if not isinstance(cause, BaseException) or id(cause) in seen:
            continue
        seen.add(id(cause))
        yield cause
        waiting += [*cause.args, getattr(cause, "reason", None), cause.__cause__, cause.__context__]
