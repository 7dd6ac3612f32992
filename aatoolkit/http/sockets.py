"""Sockets and connections that belong to a `Call`: no step outlasts it, and none is long.

urllib3 speaks HTTP over them and knows nothing of it. A timeout bounds one step of a socket, and
a server that sends a byte now and then takes any number of steps; here the call bounds them all.
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
from aatoolkit.http.framing import Response

T = TypeVar("T")

CONNECT_SECONDS = 10.0
"""How long one address may take to accept a connection."""


class UnknownName(OSError):
    """The name of the service leads to no address."""


class Silent(OSError):
    """An address neither accepted a connection nor refused it in time."""


class NotHere(OSError):
    """A name that should mean this machine leads elsewhere."""


class _Bounded(socket.socket):
    """A socket each of whose operations is done in short steps, for as long as its call lasts."""

    deaf = False

    def _step(self, operation: Callable[..., T], *arguments: Any) -> T:
        call = Call.current()
        while True:
            self.settimeout(call.step())
            try:
                return operation(*arguments)
            except TimeoutError as error:
                if error.errno is not None:  # the kernel gave up, not the step
                    raise

    def recv_into(self, *arguments: Any) -> int:
        if self.deaf:
            return 0
        count = self._step(super().recv_into, *arguments)
        Call.current().take(count)
        return count

    def recv(self, *arguments: Any) -> bytes:
        data = self._step(super().recv, *arguments)
        Call.current().take(len(data))
        return data

    def send(self, *arguments: Any) -> int:
        return self._step(super().send, *arguments)

    def sendall(self, data: Any, flags: int = 0) -> None:
        view = memoryview(data).cast("B")
        while view:
            view = view[self.send(view) :]


class Socket(_Bounded):
    """A plain socket of a call."""

    def reach(self, address: Any, seconds: float) -> None:
        """Connect.

        Raises
        ------
        Silent
            If nothing answers in this time.
        """
        ends = time.monotonic() + seconds
        self.setblocking(False)
        with suppress(BlockingIOError):
            self.connect(address)
        with selectors.DefaultSelector() as selector:
            selector.register(self, selectors.EVENT_WRITE)
            while not selector.select(Call.current().step()):
                if time.monotonic() >= ends:
                    raise Silent
        problem = self.getsockopt(socket.SOL_SOCKET, socket.SO_ERROR)
        if problem:
            raise OSError(problem, os.strerror(problem))
        self.settimeout(STEP)


class TLSSocket(_Bounded, ssl.SSLSocket):
    """An encrypted socket of a call."""

    def do_handshake(self, block: bool = False) -> None:
        """Come to terms with the other side."""
        self._step(super().do_handshake)


def tls_context() -> ssl.SSLContext:
    """How the service proves who it is: by a certificate for its name, under TLS 1.2 or later.

    Made without the helpers of `ssl` and urllib3, which would write the keys of every connection
    to the file that ``SSLKEYLOGFILE`` names.
    """
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    context.minimum_version = ssl.TLSVersion.TLSv1_2
    context.sslsocket_class = TLSSocket
    return context


class _Connection(HTTPConnection):
    """What both kinds of connection have in common."""

    debuglevel = 0  # whatever http.client is told to print, heads are not printed
    response_class = Response

    def _new_conn(self) -> socket.socket:
        Call.current().connected()
        return _connected(self._dns_host, self.port or self.default_port, self.socket_options)

    def send(self, data: Any) -> None:
        """Send, with the token: below everything that logs, records or keeps a request."""
        if self.sock is None:
            self.connect()
        self.sock.sendall(Call.current().signed(data))


class PlainConnection(_Connection):
    """A connection to this very machine."""

    def _new_conn(self) -> socket.socket:
        found = super()._new_conn()
        if not ipaddress.ip_address(found.getpeername()[0].partition("%")[0]).is_loopback:
            found.close()
            raise NotHere
        return found


class TLSConnection(_Connection, HTTPSConnection):
    """An encrypted connection."""


class _Pool(HTTPConnectionPool):
    ConnectionCls = PlainConnection


class _TLSPool(HTTPSConnectionPool):
    ConnectionCls = TLSConnection


POOLS = {"http": _Pool, "https": _TLSPool}
"""The pools of connections by scheme, as urllib3 asks for them."""


def _connected(host: str, port: int, options: Any) -> Socket:
    """A socket connected to the first address that accepts; each gets a share of the time."""
    call = Call.current()
    found = _addresses(host, port)
    problem: OSError = UnknownName()
    for tried, (family, kind, protocol, _, address) in enumerate(found):
        share = min(CONNECT_SECONDS, call.left() / (len(found) - tried))
        opened = Socket(family, kind, protocol)
        try:
            for option in options or ():
                opened.setsockopt(*option)
            opened.reach(address, share)
            return opened
        except OSError as error:
            opened.close()
            call.left()
            problem = error
        except BaseException:
            opened.close()
            raise
    raise problem


_LOOKING_UP: dict[tuple[int, str, int], Future[list[Any]]] = {}


def _addresses(host: str, port: int) -> list[Any]:
    """The addresses of a name, looked up aside: a look-up cannot be ended, only left behind.

    There is never more than one look-up of a name; who comes later waits for the same one.
    """
    key = (os.getpid(), host, port)
    fresh: Future[list[Any]] = Future()
    future = _LOOKING_UP.setdefault(key, fresh)
    if future is fresh:
        aside = threading.Thread(target=_look_up, args=(key, future), name="aatoolkit-dns")
        aside.daemon = True
        aside.start()
    while not wait([future], Call.current().step()).done:
        pass
    return future.result()


def _look_up(key: tuple[int, str, int], future: Future[list[Any]]) -> None:
    found: list[Any] = []
    try:
        found = socket.getaddrinfo(*key[1:], type=socket.SOCK_STREAM)
    except (OSError, UnicodeError):
        pass  # no addresses then
    finally:
        del _LOOKING_UP[key]
        future.set_result(found)
