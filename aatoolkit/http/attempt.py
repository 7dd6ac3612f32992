"""One attempt to get a response, in a thread of its own that a watchdog ends.

A socket timeout limits one step only, and a server that sends a byte now and then can take any
number of steps. So the caller does not wait for the sockets: when the deadline comes, or an
interrupt, it shuts the socket of the attempt and goes on.
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
from collections.abc import Callable
from contextlib import suppress
from typing import Any

from urllib3.connection import HTTPConnection, HTTPSConnection
from urllib3.connectionpool import HTTPConnectionPool, HTTPSConnectionPool

from aatoolkit._util.cancellation import is_cancelled
from aatoolkit.http.secret import Secret

STEP = 0.1
"""The longest single wait, in seconds, before an interrupt or a cancellation is noticed."""

UNSIGNED = "Bearer ***"
"""The header as everything above the connection sees it."""

_LEAVE_SECONDS = 0.05
_LINGER = struct.pack("ii", 1, 0)


class NotLoopback(OSError):
    """A name that should mean this machine has an address elsewhere."""


class Attempt:
    """What an attempt has received so far, and the socket it goes over.

    Parameters
    ----------
    token
        The token that signs the request; None leaves it unsigned.
    """

    def __init__(self, token: Secret | None) -> None:
        self.status: int | None = None
        self.headers: dict[str, str] = {}
        self.body = bytearray()
        self._token = token
        self._socket: socket.socket | None = None
        self._lock, self._is_ended = threading.Lock(), False

    def run(self, action: Callable[[], None], limit: Callable[[], float]) -> bool:
        """Run an action in a thread; returns whether it ended while ``limit`` had seconds left."""
        thread = threading.Thread(target=self._act, args=(action,), name="aatoolkit-attempt")
        thread.daemon = True
        thread.start()
        try:
            while thread.is_alive() and not is_cancelled() and (left := limit()) > 0:
                thread.join(min(STEP, left))
        finally:
            is_late = self._end()
            if is_late:
                thread.join(_LEAVE_SECONDS)
        return not is_late

    def begin(self, status: int, headers: dict[str, str]) -> None:
        """Note that a response has begun; one that was ended meanwhile has not."""
        with self._lock:
            if self._is_ended:
                raise ConnectionAbortedError
            self.status, self.headers = status, headers

    def watch(self, connected: socket.socket) -> None:
        """Note the socket that the attempt goes over."""
        with self._lock:
            if self._is_ended:
                raise ConnectionAbortedError
            if self._socket is None:
                # Another handle, as this one may be closed, and its number taken, at any moment.
                self._socket = socket.socket(fileno=os.dup(connected.fileno()))

    def signed(self, data: bytes) -> bytes:
        """Return the head of a request with the token in it: the only bytes that ever hold it."""
        if self._token is None:
            return data
        header = "\r\nAuthorization: Bearer {}\r\n"
        signed = header.format(self._token.reveal()).encode()
        return data.replace(header.format("***").encode(), signed, 1)

    def _act(self, action: Callable[[], None]) -> None:
        _CURRENT.attempt = self
        try:
            action()
        finally:
            with self._lock:
                self._is_ended = True
                if self._socket is not None:
                    self._socket.close()

    def _end(self) -> bool:
        """Shut the socket; returns whether the attempt had not ended by itself."""
        with self._lock:
            was_under_way, self._is_ended = not self._is_ended, True
            if was_under_way and self._socket is not None:
                with suppress(OSError):
                    self._socket.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, _LINGER)
                    self._socket.shutdown(socket.SHUT_RDWR)
        return was_under_way


_CURRENT = threading.local()


def pause(seconds: float) -> None:
    """Sleep in short steps, so that an interrupt or a cancellation ends it at once."""
    ends = time.monotonic() + seconds
    while (left := ends - time.monotonic()) > 0 and not is_cancelled():
        time.sleep(min(STEP, left))


# -- connections -----------------------------------------------------------------------------


class _Response(http.client.HTTPResponse):
    """A response after any number of interim ones, with a head that can be read."""

    def _read_status(self) -> tuple[str, int, str]:
        while True:
            version, status, reason = super()._read_status()  # type: ignore[misc]
            if not 101 < status < 200:
                return version, status, reason
            http.client.parse_headers(self.fp)

    def begin(self) -> None:
        super().begin()
        if self.headers.defects:  # urllib3 would log their text
            raise http.client.HTTPException


class _Connection(HTTPConnection):
    """The common part of plain and encrypted connections."""

    debuglevel = 0  # request heads are never printed, whatever http.client.debuglevel says
    response_class = _Response

    def _new_conn(self) -> socket.socket:
        connected = super()._new_conn()
        try:
            _CURRENT.attempt.watch(connected)
            self._check(connected)
        except BaseException:
            connected.close()
            raise
        return connected

    def _check(self, connected: socket.socket) -> None:
        """Refuse a connection that leads elsewhere than to this machine."""
        # The connection may already be reset, and then it has no peer.
        if not ipaddress.ip_address(connected.getpeername()[0].partition("%")[0]).is_loopback:
            raise NotLoopback

    def send(self, data: Any) -> None:
        """Send with the token: below everything that logs, records or caches a request."""
        if self.sock is None:
            self.connect()
        _CURRENT.attempt.watch(self.sock)
        self.sock.sendall(_CURRENT.attempt.signed(data))


class _TLSConnection(_Connection, HTTPSConnection):
    def _check(self, connected: socket.socket) -> None:
        """Nothing: certificates prove where a connection leads."""


class _Pool(HTTPConnectionPool):
    ConnectionCls = _Connection


class _TLSPool(HTTPSConnectionPool):
    ConnectionCls = _TLSConnection


POOLS = {"http": _Pool, "https": _TLSPool}
"""The connection pools by scheme, as urllib3 wants them."""


def tls_context() -> ssl.SSLContext:
    """Return the TLS settings: TLS 1.2 or later, and a valid certificate for the host name.

    Made without the helpers of `ssl` and urllib3, which would write the keys of every connection
    to the file that ``SSLKEYLOGFILE`` names.
    """
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    context.minimum_version = ssl.TLSVersion.TLSv1_2
    return context
