"""Send one HTTP request and receive its response, within a deadline.

A socket timeout limits only a single read. Therefore each request runs in a thread of its own, and
its socket is shut down at the deadline. The token is inserted into the bytes of a request just
before they are sent, so that no library or log sees it.
"""

from __future__ import annotations

import http.client
import ipaddress
import os
import socket
import ssl
import struct
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, NamedTuple

import requests
import urllib3.exceptions as urllib3
from requests.adapters import HTTPAdapter
from requests.utils import get_environ_proxies, select_proxy
from urllib3.connection import HTTPConnection, HTTPSConnection
from urllib3.connectionpool import HTTPConnectionPool, HTTPSConnectionPool

from aatoolkit import errors
from aatoolkit._util.cancellation import is_cancelled
from aatoolkit.availability.detect import is_availability_header
from aatoolkit.http.endpoint import BaseUrl, Secret
from aatoolkit.http.judge import SUCCESS_STATUSES, find_response_error
from aatoolkit.jsontree.decode import make_excerpt
from aatoolkit.payload import Request, Response

POLL_SECONDS = 0.1
"""The longest wait, in seconds, before an interrupt is noticed."""

MASKED_AUTHORIZATION = "Bearer ***"
"""The ``Authorization`` header, with ``***`` in place of the token."""

# How long to wait for the thread of a request to end after its socket was shut down.
_THREAD_END_SECONDS = 0.05
# The socket option that closes a connection at once, without sending what is still buffered.
_NO_LINGER_OPTION = struct.pack("ii", 1, 0)


class NotLoopback(OSError):
    """Raised if a local host name, such as ``localhost``, resolves to another machine."""


class RequestAttempt:
    """One attempt to get a response: its socket, and the parts of the response received so far."""

    def __init__(self, token: Secret | None) -> None:
        self.status: int | None = None
        self.headers: dict[str, str] = {}
        self.body = bytearray()
        self._token = token
        self._socket: socket.socket | None = None
        self._lock = threading.Lock()
        self._is_ended = False

    def run(self, function: Callable[[], None], deadline_time: float) -> bool:
        """Call a function in a new thread; return whether it finished before the deadline.

        ``deadline_time`` is a time as returned by `time.monotonic`.
        """
        thread = threading.Thread(
            target=self._run_function, args=(function,), name="aatoolkit-attempt"
        )
        thread.daemon = True
        thread.start()
        try:
            while (
                thread.is_alive()
                and not is_cancelled()
                and (seconds_left := deadline_time - time.monotonic()) > 0
            ):
                thread.join(min(POLL_SECONDS, seconds_left))
        finally:
            is_overdue = self._end_and_shut_socket()
            if is_overdue:
                thread.join(_THREAD_END_SECONDS)
        return not is_overdue

    def store_status_and_headers(self, status: int, headers: dict[str, str]) -> None:
        """Store the status and the headers of the response, when they arrive."""
        with self._lock:
            if self._is_ended:
                raise ConnectionAbortedError
            self.status = status
            self.headers = headers

    def store_socket(self, open_socket: socket.socket) -> None:
        """Store the open socket, so that it can be shut down at the deadline."""
        with self._lock:
            if self._is_ended:
                raise ConnectionAbortedError
            if self._socket is None:
                # Another handle, as this one may be closed, and its number taken, at any moment.
                self._socket = socket.socket(fileno=os.dup(open_socket.fileno()))

    def with_token(self, request_bytes: bytes) -> bytes:
        """Insert the token into the header ``Authorization`` of a request; return the bytes."""
        if self._token is None:
            return request_bytes
        header_template = "\r\nAuthorization: Bearer {}\r\n"
        token_header = header_template.format(self._token.reveal()).encode()
        return request_bytes.replace(header_template.format("***").encode(), token_header, 1)

    def _run_function(self, function: Callable[[], None]) -> None:
        """Call the action of this attempt in the current thread; then mark the attempt as ended.

        If the action raises an exception, the attempt is ended as well.
        """
        _THREAD_LOCALS.attempt = self
        try:
            function()
        finally:
            with self._lock:
                self._is_ended = True
                if self._socket is not None:
                    self._socket.close()

    def _end_and_shut_socket(self) -> bool:
        """End the attempt and shut down its socket; return whether it was still running."""
        with self._lock:
            was_running = not self._is_ended
            self._is_ended = True
            if was_running and self._socket is not None:
                with suppress(OSError):
                    self._socket.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, _NO_LINGER_OPTION)
                    self._socket.shutdown(socket.SHUT_RDWR)
        return was_running


# Its ``attempt`` is the `RequestAttempt` that runs in the current thread.
_THREAD_LOCALS = threading.local()


def pause(seconds: float) -> None:
    """Sleep for a number of seconds, or until the call is cancelled."""
    deadline_time = time.monotonic() + seconds
    while (seconds_left := deadline_time - time.monotonic()) > 0 and not is_cancelled():
        time.sleep(min(POLL_SECONDS, seconds_left))


# -- connections -----------------------------------------------------------------------------


class _Response(http.client.HTTPResponse):
    """An HTTP response that raises an error if its headers cannot be parsed."""

    def begin(self) -> None:
        super().begin()
        if self.headers.defects:  # urllib3 would log their text
            raise http.client.HTTPException


class _Connection(HTTPConnection):
    """An HTTP connection that inserts the token into the bytes it sends."""

    debuglevel = 0  # request heads are never printed, whatever http.client.debuglevel says
    response_class = _Response

    def _new_conn(self) -> socket.socket:
        new_socket = super()._new_conn()
        try:
            _THREAD_LOCALS.attempt.store_socket(new_socket)
            # TLS verifies the host by its certificate; plain HTTP must not leave this machine.
            if not isinstance(self, HTTPSConnection):
                peer_ip = new_socket.getpeername()[0].partition("%")[0]
                if not ipaddress.ip_address(peer_ip).is_loopback:
                    raise NotLoopback
        except BaseException:
            new_socket.close()
            raise
        return new_socket

    def send(self, data: Any) -> None:
        """Send the bytes of a request after inserting the token."""
        if self.sock is None:
            self.connect()
        _THREAD_LOCALS.attempt.store_socket(self.sock)
        self.sock.sendall(_THREAD_LOCALS.attempt.with_token(data))


class _TLSConnection(_Connection, HTTPSConnection):
    """A TLS connection that inserts the token into the bytes it sends."""


class _TLSSocket(ssl.SSLSocket):
    """A TLS socket that closes itself if the connection is lost before the handshake.

    Otherwise it would stay open until it is garbage-collected, with a ``ResourceWarning``.
    """

    def getpeername(self) -> Any:
        """Return the peer's address; close the socket on an error."""
        try:
            # On an error, `ssl` would leave the socket open.
            return super().getpeername()
        except OSError:
            self.close()
            raise


class _Pool(HTTPConnectionPool):
    """A pool of HTTP connections that insert the token into the bytes they send."""

    ConnectionCls = _Connection


class _TLSPool(HTTPSConnectionPool):
    """A pool of TLS connections that insert the token into the bytes they send."""

    ConnectionCls = _TLSConnection


POOL_CLASS_BY_SCHEME = {"http": _Pool, "https": _TLSPool}
"""The classes of connection pools, by URL scheme."""


def make_tls_context() -> ssl.SSLContext:
    """Return an SSL context that requires TLS 1.2 or later and a valid certificate."""
    # Not by the helpers of `ssl` and urllib3, which would write the keys of every connection to
    # the file that the environment variable ``SSLKEYLOGFILE`` names.
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    context.minimum_version = ssl.TLSVersion.TLSv1_2
    context.sslsocket_class = _TLSSocket
    return context


# -- the transport -----------------------------------------------------------------------------

STORED_HEADERS = ("content-type", "date", "etag", "last-modified", "retry-after", "x-request-id")
"""The names of the response headers that are stored."""

MAX_ERROR_BODY_BYTES = 1 << 16
"""The maximum number of bytes to read from the body of an error response."""

MAX_BODY_BYTES = 64 * 2**20
"""The maximum size of a response, in bytes."""

CONNECT_TIMEOUT_SECONDS = 10.0
"""The timeout for connecting to one address, in seconds."""

_SENT_HEADERS = {"User-Agent": "aatoolkit", "Accept": "application/json", "Accept-Encoding": "gzip"}
_CHUNK_BYTES = 1 << 16
_RETRYABLE_STATUSES = frozenset({429, 502, 503, 504})


class UnusableSetting(Exception):
    """Raised if an environment variable, such as one for a proxy, has an invalid value."""


class BodyTooLong(Exception):
    """Raised if the body of a response is longer than `MAX_BODY_BYTES`."""


@dataclass(frozen=True)
class Failure:
    """A request that failed: the error to raise, and whether sending it again may help."""

    error: errors.FetchError | errors.InternalError
    is_retryable: bool = False


class Fault(NamedTuple):
    """What a caught exception means: a reason in words, and the class of error to raise.

    ``problem`` is the attribute ``problem`` of the error to raise, if that is a `DecodeError`.
    """

    reason: str
    is_retryable: bool = True
    error_class: type[errors.FetchError | errors.InternalError] = errors.ConnectionFailed
    problem: str | None = None


_MESSAGE_BY_ERROR_CLASS: dict[type[errors.AAToolkitError], str] = {
    errors.ConnectionFailed: "no response: {}; check the base URL and the network",
    errors.DeadlineExceeded: "{}; ask for less, or raise the deadline",
    errors.DecodeError: "{}",
    errors.InternalError: "the response could not be handled: {}; this is a fault of aatoolkit "
    "and not of the network, please report it",
}

_DEADLINE_FAULT = Fault(
    "no complete response came before the deadline", False, errors.DeadlineExceeded
)
_BROKEN_CONNECTION_FAULT = Fault("the connection broke off")
# Reasons are texts of this package: the message of an exception may hold a token.
_FAULT_BY_EXCEPTION_TYPE: dict[type[BaseException], Fault] = {
    BodyTooLong: Fault(
        f"the response is larger than {MAX_BODY_BYTES >> 20} MiB; narrow the scope",
        False,
        errors.DecodeError,
        "too_large",
    ),
    urllib3.DecodeError: Fault(
        "the response cannot be decompressed; tell the operator of the service",
        False,
        errors.DecodeError,
        "encoding",
    ),
    # Before what befell the connection, which is one to the proxy.
    urllib3.ProxyError: Fault("the proxy that the environment names could not be used"),
    socket.gaierror: Fault("the name of the service is not known"),
    NotLoopback: Fault("a name of this machine leads to another one", False),
    ConnectionRefusedError: Fault("the connection was refused"),
    urllib3.NewConnectionError: Fault("no connection could be made"),
    urllib3.ConnectTimeoutError: Fault("no connection in time"),
    ssl.SSLCertVerificationError: Fault("the service could not prove who it is (TLS)", False),
    ssl.SSLEOFError: _BROKEN_CONNECTION_FAULT,
    ssl.SSLError: Fault("there is no agreement on an encrypted connection (TLS)", False),
    urllib3.ReadTimeoutError: Fault("the service went silent"),
    http.client.IncompleteRead: _BROKEN_CONNECTION_FAULT,
    ConnectionError: _BROKEN_CONNECTION_FAULT,
    http.client.HTTPException: Fault("what came is not HTTP", False),
    ValueError: Fault("what came is not HTTP", False),
}
"""The meaning of exceptions; the first match counts."""


class Transport(HTTPAdapter):
    """An HTTP adapter for `requests` that adds the token, and limits time and response size."""

    def __init__(self, base_url: BaseUrl, token: Secret | None, max_connections: int) -> None:
        super().__init__(pool_connections=1, pool_maxsize=max_connections)
        self._base_url = base_url
        self._token = token

    def init_poolmanager(self, *args: Any, **kwargs: Any) -> None:
        """Create connection pools that use the connection classes of this module."""
        super().init_poolmanager(*args, ssl_context=make_tls_context(), **kwargs)
        self.poolmanager.pool_classes_by_scheme = POOL_CLASS_BY_SCHEME

    def proxy_manager_for(self, proxy: str, **kwargs: Any) -> Any:
        """Return pools of connections through a proxy that use the classes of this module."""
        if proxy not in self.proxy_manager:
            kwargs |= {"ssl_context": make_tls_context(), "proxy_ssl_context": make_tls_context()}
        pool_manager = super().proxy_manager_for(proxy, **kwargs)
        pool_manager.pool_classes_by_scheme = POOL_CLASS_BY_SCHEME
        return pool_manager

    def close(self) -> None:
        """Close idle connections."""
        for pool_manager in (self.poolmanager, *self.proxy_manager.values()):
            for pool_key in pool_manager.pools.keys():  # noqa: SIM118  (it has no other iteration)
                pool = pool_manager.pools.get(pool_key)
                if pool is not None:
                    pool.close()
            pool_manager.clear()

    def send_request(self, request: Request, max_seconds: float) -> Response | Failure:
        """Send a request once, and return the response; if it fails, return the failure.

        ``max_seconds`` is the time limit.
        """
        deadline_time = time.monotonic() + max_seconds
        attempt = RequestAttempt(self._token)
        fault: Fault | None = None

        def send_and_catch() -> None:
            nonlocal fault
            try:
                self._send_and_receive(request.url, attempt, max_seconds)
            except Exception as error:
                fault = _to_fault(error)

        is_overdue = not attempt.run(send_and_catch, deadline_time)
        has_error_status = attempt.status is not None and attempt.status not in SUCCESS_STATUSES
        if has_error_status or (fault is None and not is_overdue):
            try:
                return self._to_response_or_failure(request, attempt)
            except Exception as error:
                fault = _to_fault(error)
        if is_overdue:
            fault = Fault("the call was cancelled", False) if is_cancelled() else _DEADLINE_FAULT
        return self._make_failure(fault or _DEADLINE_FAULT, request, attempt)

    def _send_and_receive(self, url: str, attempt: RequestAttempt, max_seconds: float) -> None:
        """Send a request, and store status, headers and body of the response in ``attempt``."""
        token_header = {} if self._token is None else {"Authorization": MASKED_AUTHORIZATION}
        prepared_request = requests.Request(
            "GET", url, headers={**_SENT_HEADERS, **token_header}
        ).prepare()
        response = super().send(
            prepared_request,
            stream=True,
            timeout=(min(CONNECT_TIMEOUT_SECONDS, max_seconds / 4), max_seconds + 1),
            **_read_environment_options(self._base_url, url),
        )
        raw_response = response.raw
        try:
            headers = {
                name.lower(): self._mask_token(value.encode(errors="replace")).decode(
                    errors="replace"
                )
                for name, value in response.headers.items()
                if name.lower() in (*STORED_HEADERS, "location") or is_availability_header(name)
            }
            attempt.store_status_and_headers(response.status_code, headers)
            is_success = response.status_code in SUCCESS_STATUSES
            max_body_bytes = MAX_BODY_BYTES if is_success else MAX_ERROR_BODY_BYTES
            while body_chunk := raw_response.read1(_CHUNK_BYTES, decode_content=True):
                attempt.body += body_chunk
                if len(attempt.body) > max_body_bytes:
                    raise BodyTooLong
        finally:
            raw_response.close()

    def _to_response_or_failure(
        self, request: Request, attempt: RequestAttempt
    ) -> Response | Failure:
        """Return the response of a finished attempt; return a failure if it reports an error."""
        status = attempt.status or 0
        body = bytes(attempt.body)
        is_success = status in SUCCESS_STATUSES
        if is_success and self.contains_token(body):
            error: errors.FetchError | None = errors.DecodeError(
                "the response repeats the token, and is not used, so that the token does not get "
                "into tables and files; tell the operator of the service",
                problem="token",
                **self._make_error_attributes(request, attempt),
            )
        else:
            error = find_response_error(
                request.url,
                status,
                attempt.headers,
                body,
                self._mask_token,
                has_token=self._token is not None,
            )
        if error is not None:
            is_truncated = isinstance(error, errors.DecodeError) and error.problem == "truncated"
            return Failure(error, status in _RETRYABLE_STATUSES or is_truncated)
        headers = {name: value for name, value in attempt.headers.items() if name != "location"}
        # Errors may repeat what was sent.
        stored_body = body if is_success else self._mask_token(body)
        return Response(request, status, headers, datetime.now(UTC), stored_body)

    def _make_failure(self, fault: Fault, request: Request, attempt: RequestAttempt) -> Failure:
        """Create the `Failure` of a request from a `Fault` (the meaning of an exception)."""
        error_attributes = self._make_error_attributes(request, attempt)
        message = _MESSAGE_BY_ERROR_CLASS[fault.error_class].format(fault.reason)
        if fault.problem:
            error_attributes["problem"] = fault.problem
        if fault.problem == "too_large":
            error_attributes["limit"] = MAX_BODY_BYTES
        return Failure(fault.error_class(message, **error_attributes), fault.is_retryable)

    def _make_error_attributes(self, request: Request, attempt: RequestAttempt) -> dict[str, Any]:
        """Return attributes for an error of a request: URL, status, and beginning of the body."""
        body_excerpt = make_excerpt(self._mask_token(bytes(attempt.body[:_CHUNK_BYTES])))
        shown_excerpt = None if attempt.status is None else body_excerpt
        return {"url": request.url, "status": attempt.status, "excerpt": shown_excerpt}

    def contains_token(self, content: bytes) -> bool:
        """Return whether bytes contain the token, in plain text, JSON-escaped or URL-encoded."""
        return self._token is not None and self._token.occurs_in(content)

    def _mask_token(self, content: bytes) -> bytes:
        """Return a copy of the bytes in which ``***`` replaces the token."""
        return content if self._token is None else self._token.mask_in(content)


def _read_environment_options(base_url: BaseUrl, url: str) -> dict[str, Any]:
    """Return options for `requests` from environment variables: proxies and certificates."""
    proxy_by_scheme = {} if base_url.is_loopback else get_environ_proxies(url)
    proxy = select_proxy(url, proxy_by_scheme)
    if proxy is not None and not proxy.lower().startswith(("http://", "https://")):
        raise UnusableSetting("only http:// and https:// proxies can be used")
    certificates_path = os.environ.get("REQUESTS_CA_BUNDLE") or os.environ.get("CURL_CA_BUNDLE")
    if certificates_path and not Path(certificates_path).exists():
        raise UnusableSetting("REQUESTS_CA_BUNDLE names no file or folder")
    return {"proxies": proxy_by_scheme, "verify": certificates_path or True}


def _to_fault(error: Exception) -> Fault:
    """Return the `Fault` (reason and error class) of an exception, found from it or its causes."""
    causes = tuple(_iterate_causes(error))
    for exception_type, fault in _FAULT_BY_EXCEPTION_TYPE.items():
        if any(isinstance(cause, exception_type) for cause in causes):
            return fault
    if isinstance(error, UnusableSetting):
        return Fault(str(error), False)
    if isinstance(error, OSError | EOFError | urllib3.HTTPError):  # as all of requests are
        return _BROKEN_CONNECTION_FAULT
    return Fault(f"{type(error).__name__} within aatoolkit", False, errors.InternalError)


def _iterate_causes(error: BaseException) -> Iterator[BaseException]:
    """Yield an exception, then the exceptions that caused it, directly or indirectly."""
    pending_objects: list[object] = [error]
    seen_object_ids: set[int] = set()
    while pending_objects:
        cause = pending_objects.pop()
        if not isinstance(cause, BaseException) or id(cause) in seen_object_ids:
            continue
        seen_object_ids.add(id(cause))
        yield cause
        pending_objects += [
            *cause.args,
            getattr(cause, "reason", None),
            cause.__cause__,
            cause.__context__,
        ]
