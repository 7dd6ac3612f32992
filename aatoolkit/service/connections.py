"""Connections of the server: deadlines, a limit on their number, and a check of the Host header."""

from __future__ import annotations

import asyncio
import ipaddress
import re
from collections.abc import Iterable
from urllib.parse import unquote

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


_HOST = re.compile(r"(?:\[([0-9a-f:.]+)\]|([^][:]+))(?::[0-9]{0,5})?", re.IGNORECASE)
_LOCALHOST = re.compile(r"(?:[a-z0-9-]+\.)*localhost\.?", re.IGNORECASE)
_ABSOLUTE = re.compile(rb"https?://([^/?#]*)", re.IGNORECASE)


class HostCheck:
    """ASGI middleware that refuses requests that name another host than this computer.

    A page in a browser can have its own host name resolve to 127.0.0.1 and so reach a service
    on this computer (DNS rebinding); its requests then carry that name: in the Host header, or
    in a target in absolute form (RFC 9112, 3.2.2), which is passed on as a path.

    Parameters
    ----------
    app
        The application for the other requests.
    allowed
        Names accepted beside those of the loopback interface, such as the one that a reverse
        proxy on this computer passes on; None accepts every name.
    """

    def __init__(self, app: ASGIApp, allowed: Iterable[str] | None = ()) -> None:
        self._app = app
        self._allowed = None if allowed is None else frozenset(map(str.lower, allowed))

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass a request on, or refuse it."""
        if scope["type"] == "http":
            names = [value for name, value in scope["headers"] if name == b"host"]
            accepted = len(names) == 1
            absolute = _ABSOLUTE.match(scope["raw_path"])
            if absolute is not None:
                names.append(absolute[1])
                raw = scope["raw_path"][absolute.end() :] or b"/"
                scope = {**scope, "raw_path": raw, "path": unquote(raw.decode("latin-1"))}
            accepted &= all(self._accepts(name.decode("latin-1")) for name in names)
            if self._allowed is not None and not accepted:
                message = "The service listens on this computer alone; the Host header names"
                error = ApiError(421, "misdirected_request", f"{message} another host.")
                await error_reply(error)(scope, receive, send)
                return
        await self._app(scope, receive, send)

    def _accepts(self, authority: str) -> bool:
        host = _HOST.fullmatch(authority)
        name = "" if host is None else host[1] or host[2]
        return is_loopback(name) or (self._allowed is not None and name.lower() in self._allowed)


def is_loopback(name: str) -> bool:
    """Whether a host name or address is of the loopback interface."""
    try:
        return ipaddress.ip_address(name).is_loopback
    except ValueError:
        return _LOCALHOST.fullmatch(name) is not None
