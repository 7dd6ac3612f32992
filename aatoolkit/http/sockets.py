"""Sockets and connections that respect the deadline and the size limit of a `Call`.

urllib3 speaks HTTP over them, unaware of the call. A socket timeout limits one step only, and a
server that sends a byte now and then can take any number of steps; here the call limits them all.
"""

from __future__ import annotations

import ipaddress
import os
import selectors
import socket
import ssl
import threading
import time
from collections.abc import Callable
from concurrent.futures import Future, wait
from contextlib import suppress
from typing import Any, TypeVar

from urllib3.connection import HTTPConnection, HTTPSConnection
from urllib3.connectionpool import HTTPConnectionPool, HTTPSConnectionPool

from aatoolkit.http.deadline import STEP, Call
from aatoolkit.http.framing import StrictResponse

T = TypeVar("T")

CONNECT_SECONDS = 10.0
"""The longest that one address may take to accept a connection."""


class HostNotFound(OSError):
    """The name of the service has no address."""


class NoResponse(OSError):
    """An address neither accepted a connection nor refused it in time."""


class NotLoopback(OSError):
    """A name that should mean this machine has an address elsewhere."""


class _DeadlineSocket(socket.socket):
    """A socket whose operations run in short steps until the deadline of the active call."""

    ignores_input = False

    def _step(self, operation: Callable[..., T], *arguments: Any) -> T:
        call = Call.current()
        while True:
            seconds = call.step()
            if self.gettimeout() != seconds:  # setting it is a system call
                self.settimeout(seconds)
            try:
                return operation(*arguments)
            except TimeoutError as error:
                if error.errno is not None:  # the kernel gave up, not the step
                    raise

    def recv_into(self, *arguments: Any) -> int:
        if self.ignores_input:
            return 0
        count = self._step(super().recv_into, *arguments)
        Call.current().count_bytes(count)
        return count

    def recv(self, *arguments: Any) -> bytes:
        data = self._step(super().recv, *arguments)
        Call.current().count_bytes(len(data))
        return data

    def send(self, *arguments: Any) -> int:
        return self._step(super().send, *arguments)

    def sendall(self, data: Any, flags: int = 0) -> None:
        view = memoryview(data).cast("B")
        while view:
            view = view[self.send(view) :]


class Socket(_DeadlineSocket):
    """A plain socket."""

    def connect_within(self, address: Any, seconds: float) -> None:
        """Connect to an address.

        Raises
        ------
        NoResponse
            If there is no response in this time.
        """
        ends = time.monotonic() + seconds
        self.setblocking(False)
        with suppress(BlockingIOError):
            self.connect(address)
        with selectors.DefaultSelector() as selector:
            selector.register(self, selectors.EVENT_WRITE)
            while not selector.select(Call.current().step()):
                if time.monotonic() >= ends:
                    raise NoResponse
        problem = self.getsockopt(socket.SOL_SOCKET, socket.SO_ERROR)
        if problem:
            raise OSError(problem, os.strerror(problem))
        self.settimeout(STEP)


class TLSSocket(_DeadlineSocket, ssl.SSLSocket):
    """An encrypted socket."""

    def do_handshake(self, block: bool = False) -> None:
        """Perform the TLS handshake."""
        self._step(super().do_handshake)


def tls_context() -> ssl.SSLContext:
    """Return the TLS settings: TLS 1.2 or later, and a valid certificate for the host name.

    Made without the helpers of `ssl` and urllib3, which would write the keys of every connection
    to the file that ``SSLKEYLOGFILE`` names.
    """
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    context.minimum_version = ssl.TLSVersion.TLSv1_2
    context.sslsocket_class = TLSSocket
    return context


class _Connection(HTTPConnection):
    """The common part of plain and encrypted connections."""

    debuglevel = 0  # request heads are never printed, whatever http.client.debuglevel says
    response_class = StrictResponse

    def _new_conn(self) -> socket.socket:
        Call.current().mark_connected()
        return _connect(self._dns_host, self.port or self.default_port, self.socket_options)

    def send(self, data: Any) -> None:
        """Send with the token: below everything that logs, records or caches a request."""
        if self.sock is None:
            try:
                self.connect()
            except (BrokenPipeError, ConnectionResetError):
                # urllib3 takes these for faults of sending, and would go on to read an answer.
                raise ConnectionAbortedError from None
        self.sock.sendall(Call.current().signed(data))


class PlainConnection(_Connection):
    """A connection to this machine."""

    def _new_conn(self) -> socket.socket:
        found = super()._new_conn()
        try:
            # The connection may already be reset, and then it has no peer.
            peer = ipaddress.ip_address(found.getpeername()[0].partition("%")[0])
            if not peer.is_loopback:
                raise NotLoopback
        except BaseException:
            found.close()
            raise
        return found


class TLSConnection(_Connection, HTTPSConnection):
    """An encrypted connection."""


class _Pool(HTTPConnectionPool):
    ConnectionCls = PlainConnection


class _TLSPool(HTTPSConnectionPool):
    ConnectionCls = TLSConnection


POOLS = {"http": _Pool, "https": _TLSPool}
"""The connection pools by scheme, as urllib3 wants them."""


def _connect(host: str, port: int, options: Any) -> Socket:
    """Connect to the first address that accepts; each gets a share of the remaining time."""
    call = Call.current()
    addresses = _resolve(host, port)
    problem: OSError = HostNotFound()
    for tried, (family, kind, protocol, _, address) in enumerate(addresses):
        share = min(CONNECT_SECONDS, call.remaining() / (len(addresses) - tried))
        opened = Socket(family, kind, protocol)
        try:
            for option in options or ():
                opened.setsockopt(*option)
            opened.connect_within(address, share)
            return opened
        except OSError as error:
            opened.close()
            call.remaining()
            problem = error
        except BaseException:
            opened.close()
            raise
    raise problem


_LOOKUPS: dict[tuple[int, str, int], Future[list[Any]]] = {}


def _resolve(host: str, port: int) -> list[Any]:
    """Resolve a name in a thread of its own: a look-up cannot be cancelled, only abandoned.

    There is never more than one look-up of a name at a time; later callers wait for the same one.
    """
    key = (os.getpid(), host, port)
    fresh: Future[list[Any]] = Future()
    future = _LOOKUPS.setdefault(key, fresh)
    if future is fresh:
        thread = threading.Thread(target=_fill, args=(key, future), name="aatoolkit-dns")
        thread.daemon = True
        thread.start()
    while not wait([future], Call.current().step()).done:
        pass
    return future.result()


def _fill(key: tuple[int, str, int], future: Future[list[Any]]) -> None:
    found: list[Any] = []
    try:
        found = socket.getaddrinfo(*key[1:], type=socket.SOCK_STREAM)
    except (OSError, UnicodeError):
        pass  # the name has no addresses
    finally:
        del _LOOKUPS[key]
        future.set_result(found)
