"""A server that misbehaves to order: each connection runs a script over its bare socket."""

from __future__ import annotations

import socket
import ssl
import struct
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from typing import Any

PATIENCE = 20.0
"""How long a script may wait for anything, in seconds."""

SLACK = 3.0
"""How much later than it should a call may end where the machine is busy, in seconds.

One that does not end by itself lasts as long as a script has patience.
"""


class Wire:
    """One connection, as a script sees it."""

    def __init__(self, server: HostileServer, connection: socket.socket, number: int) -> None:
        self.connection = connection
        self.number = number
        self._server = server

    def request(self) -> bytes:
        """The head of the next request; nothing once the client is gone."""
        head = b""
        while not head.endswith(b"\r\n\r\n"):
            byte = self.connection.recv(1)
            if not byte:
                return b""
            head += byte
        self._server.heads.append(head)
        return head

    def send(self, data: bytes) -> None:
        self.connection.sendall(data)

    def drip(self, data: bytes, every: float = 0.02) -> None:
        """Send byte by byte; never so slow that a usual timeout would notice."""
        for at in range(len(data)):
            self.send(data[at : at + 1])
            if self._server.closing.wait(every):
                return

    def drip_for_ever(self, data: bytes, every: float = 0.02) -> None:
        while not self._server.closing.is_set():
            self.drip(data, every)

    def flood(self, data: bytes) -> None:
        """Send the same again and again, until the client hangs up."""
        block = data * (1 + (1 << 14) // len(data))
        while not self._server.closing.is_set():
            self.send(block)

    def stall(self) -> None:
        """Say nothing more, and hang on until the client hangs up."""
        while self.connection.recv(1 << 16):
            pass

    def wait(self, seconds: float) -> None:
        self._server.closing.wait(seconds)

    def reset(self) -> None:
        """Break off without a farewell."""
        self.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        self.connection.close()


Script = Callable[[Wire], Any]


class HostileServer:
    """Runs a script for every connection on a free loopback port.

    Attributes
    ----------
    heads : list of bytes
        The heads of the requests that scripts have read.
    connections : int
        How many connections there were.
    """

    def __init__(self, script: Script | None = None, tls: ssl.SSLContext | None = None) -> None:
        self.script = script
        self.heads: list[bytes] = []
        self.connections = 0
        self.closing = threading.Event()
        self._tls = tls
        self._listener = socket.create_server(("127.0.0.1", 0), backlog=64)
        self._listener.settimeout(0.05)
        self._open: list[socket.socket] = []
        self._threads = [threading.Thread(target=self._accept)]
        self._threads[0].start()
        scheme, name = ("https", "localhost") if tls else ("http", "127.0.0.1")
        self.port = self._listener.getsockname()[1]
        self.url = f"{scheme}://{name}:{self.port}"

    def __enter__(self) -> HostileServer:
        return self

    def __exit__(self, *_: object) -> None:
        self.closing.set()
        with suppress(OSError):
            self._listener.shutdown(socket.SHUT_RDWR)
        for connection in self._open:
            with suppress(OSError):
                connection.shutdown(socket.SHUT_RDWR)
        for thread in self._threads:
            thread.join(10)
        for connection in self._open:
            connection.close()
        self._listener.close()

    def gone(self) -> bool:
        """Whether the client has let go of every connection, soon."""
        ends = time.monotonic() + 5
        alive = [thread for thread in self._threads[1:] if thread.is_alive()]
        for thread in alive:
            thread.join(max(0.0, ends - time.monotonic()))
        return not any(thread.is_alive() for thread in alive)

    def _accept(self) -> None:
        while not self.closing.is_set():
            try:
                connection, _ = self._listener.accept()
            except OSError:
                continue
            connection.settimeout(PATIENCE)
            self.connections += 1
            self._open.append(connection)
            thread = threading.Thread(target=self._serve, args=(connection, self.connections))
            self._threads.append(thread)
            thread.start()

    def _serve(self, connection: socket.socket, number: int) -> None:
        # A client that hangs up is what most scripts lead to.
        with suppress(OSError, ValueError):
            if self._tls is not None:
                plain, connection = connection, self._tls.wrap_socket(connection, server_side=True)
                self._open.remove(plain)
                self._open.append(connection)
            assert self.script is not None
            self.script(Wire(self, connection, number))
        with suppress(OSError):
            connection.close()


def head(status: str = "200 OK", *headers: str) -> bytes:
    """The head of a response."""
    lines = [f"HTTP/1.1 {status}", *headers, "", ""]
    return "\r\n".join(lines).encode("latin-1")


def message(body: bytes = b'{"ok": true}', status: str = "200 OK", *headers: str) -> bytes:
    """A response with the length of its body."""
    return head(status, f"Content-Length: {len(body)}", *headers) + body


def chunked(*chunks: bytes, end: bytes = b"0\r\n\r\n") -> bytes:
    """A response in chunks."""
    framed = b"".join(b"%x\r\n%b\r\n" % (len(chunk), chunk) for chunk in chunks)
    return head("200 OK", "Transfer-Encoding: chunked") + framed + end


def replying(*parts: bytes | Script) -> Script:
    """For each request, these parts; then hang up."""

    def script(wire: Wire) -> None:
        if wire.request():
            for part in parts:
                part(wire) if callable(part) else wire.send(part)

    return script


def one_by_one(*responses: bytes | Script) -> Script:
    """One response to each request of a connection, and then hang up."""

    def script(wire: Wire) -> None:
        for response in responses:
            if not wire.request():
                return
            response(wire) if callable(response) else wire.send(response)

    return script
