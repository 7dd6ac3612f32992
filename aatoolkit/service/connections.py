"""Connections of the server: deadlines, a limit on their number, and a check of the Host header."""

from __future__ import annotations

import asyncio
import ipaddress
from collections.abc import Iterable

import h11
from starlette.types import ASGIApp, Receive, Scope, Send
from uvicorn.protocols.http.h11_impl import H11Protocol

from aatoolkit.service.app import error_reply
from aatoolkit.service.requests import ApiError

IDLE_SECONDS = 5
"""How long a connection may be idle between two requests."""

REQUEST_SECONDS = 10.0
"""How long a client may take to send a request, from its connection or last answer on."""

STALL_SECONDS = 30.0
"""How long a client may leave an answer unread before its connection is aborted."""

MAX_CONNECTIONS = 1000
"""Connections at the same time; further ones are answered 503 and closed."""

_TOO_LATE = b"HTTP/1.1 408 Request Timeout\r\nConnection: close\r\nContent-Length: 0\r\n\r\n"
_TOO_MANY = (
    b"HTTP/1.1 503 Service Unavailable\r\nRetry-After: 1\r\nConnection: close\r\n"
    b"Content-Length: 0\r\n\r\n"
)


class TimedProtocol(H11Protocol):
    """uvicorn's HTTP/1.1, with deadlines for sending a request and for reading its answer."""

    request_timer: asyncio.TimerHandle | None = None
    stall_timer: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Accept a connection, or refuse it where there are too many."""
        super().connection_made(transport)
        if len(self.connections) > MAX_CONNECTIONS:
            transport.write(_TOO_MANY)
            self._close()
        else:
            self._watch()

    def connection_lost(self, exc: Exception | None) -> None:
        """Forget the deadlines of a closed connection."""
        super().connection_lost(exc)
        self.request_timer = _cancelled(self.request_timer)
        self.stall_timer = _cancelled(self.stall_timer)

    def data_received(self, data: bytes) -> None:
        """Parse what arrived; a complete request ends the wait for it."""
        super().data_received(data)
        self._watch()

    def on_response_complete(self) -> None:
        """Wait for the next request."""
        super().on_response_complete()
        self._watch()

    def pause_writing(self) -> None:
        """Give the client some time to read what is buffered for it."""
        super().pause_writing()
        self.stall_timer = self.loop.call_later(STALL_SECONDS, self.transport.abort)

    def resume_writing(self) -> None:
        """Continue: the client has read what was buffered."""
        super().resume_writing()
        self.stall_timer = _cancelled(self.stall_timer)

    def timeout_keep_alive_handler(self) -> None:
        """Close a connection that was idle between two requests."""
        super().timeout_keep_alive_handler()
        self._close()

    def _watch(self) -> None:
        """Set the deadline where a request is awaited, and drop it where one is answered."""
        if self.cycle is not None and not self.cycle.response_complete:
            self.request_timer = _cancelled(self.request_timer)
        elif self.request_timer is None and not self.transport.is_closing():
            self.request_timer = self.loop.call_later(REQUEST_SECONDS, self._late)

    def _late(self) -> None:
        if self.conn.our_state is h11.IDLE and self.conn.trailing_data[0]:
            self.transport.write(_TOO_LATE)
        self._close()

    def _close(self) -> None:
        """Close once what is buffered was read, or abort if it is not read in time."""
        self.transport.close()
        if self.stall_timer is None:
            self.stall_timer = self.loop.call_later(STALL_SECONDS, self.transport.abort)


def _cancelled(timer: asyncio.TimerHandle | None) -> asyncio.TimerHandle | None:
    """Cancel a timer, if there is one, and return None."""
    if timer is not None:
        timer.cancel()
    return None


class HostCheck:
    """ASGI middleware that refuses requests whose Host header is no loopback name.

    A page in a browser can have its own host name resolve to 127.0.0.1 and so reach a service
    on this computer (DNS rebinding); its requests then carry that name.

    Parameters
    ----------
    app
        The application for the other requests.
    allowed
        Further names, such as the one that a reverse proxy on this computer passes on.
    """

    def __init__(self, app: ASGIApp, allowed: Iterable[str] = ()) -> None:
        self._app = app
        self._allowed = frozenset(name.lower() for name in allowed)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass a request on, or refuse it."""
        if scope["type"] == "http":
            given = [value for name, value in scope["headers"] if name == b"host"]
            name = _host_name(given[0].decode("latin-1")) if len(given) == 1 else ""
            if not is_loopback(name) and name not in self._allowed:
                message = "The service listens on this computer alone; the Host header names"
                error = ApiError(421, "misdirected_request", f"{message} another host.")
                await error_reply(error)(scope, receive, send)
                return
        await self._app(scope, receive, send)


def is_loopback(name: str) -> bool:
    """Whether a host name or address is of the loopback interface."""
    try:
        return ipaddress.ip_address(name.strip("[]")).is_loopback
    except ValueError:
        plain = name.lower().removesuffix(".")
        return plain == "localhost" or plain.endswith(".localhost")


def _host_name(header: str) -> str:
    """The name in a Host header, without its port."""
    name, _, port = header.rpartition(":")
    return (name if name and port.isdigit() else header).lower()
