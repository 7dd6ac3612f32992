"""Read the framing of a response strictly: where its head and body end is never ambiguous.

Python's own reader accepts much that two readers of one connection may interpret differently, so
that they disagree about where a response ends and the next one begins (response smuggling).
"""

from __future__ import annotations

import http.client
import io
import re
import socket
from contextlib import suppress
from typing import Any

_MAX_LINE = 1 << 16
_LENGTH = re.compile(r"[0-9]{1,18}")
_NAME = re.compile(r"[!#$%&'*+.^_`|~0-9A-Za-z-]+")
_CHUNK_SIZE = re.compile(rb"([0-9a-fA-F]{1,15})[ \t]*(?:;.*)?\r?\n", re.DOTALL)
_TROUBLE = frozenset({429, *range(500, 600)})
_MOST = 100
_PIECE = 1 << 16


class MalformedResponse(http.client.HTTPException):
    """The response is not HTTP, or is ambiguous."""


class _Lines(io.BufferedReader):
    """A reader of lines of limited length, without control characters in them."""

    at_end = False

    def readline(self, size: int | None = -1, /) -> bytes:
        line = super().readline(_MAX_LINE)
        if b"\0" in line or b"\r" in line.removesuffix(b"\r\n"):
            raise MalformedResponse
        self.at_end = not line.endswith(b"\n")
        if self.at_end and len(line) == _MAX_LINE:
            raise MalformedResponse
        return line


class StrictResponse(http.client.HTTPResponse):
    """A response with strict framing; urllib3 reads its body through `read`."""

    def __init__(self, sock: socket.socket, *arguments: Any, **options: Any) -> None:
        super().__init__(sock, *arguments, **options)
        self.fp.close()
        self.fp: Any = _Lines(sock.makefile("rb", buffering=0))
        self._sock: Any = sock
        self._left = 0
        self._problem: Exception | None = None

    def begin(self) -> None:
        """Read the head, skipping interim responses."""
        for _ in range(_MOST):
            self._begin()
            if self.status >= 200 or self.status == http.HTTPStatus.SWITCHING_PROTOCOLS:
                return self._check()
            self.headers = self.msg = None  # type: ignore[assignment]
        raise MalformedResponse

    def read(self, amt: int | None = None) -> bytes:
        """Return the next chunk of the body, of at most so many bytes; empty at its end."""
        if not self.chunked or (self.fp is None and self._problem is None):
            return super().read(amt)
        pieces, room = [], amt or _PIECE
        while room and self._problem is None:
            try:
                piece = self._piece(room)
            except Exception as problem:  # raised once what came before it was read
                self._problem = problem
                break
            if not piece:
                break
            pieces.append(piece)
            room -= len(piece)
        if self._problem is not None and not pieces:
            raise self._problem
        return b"".join(pieces)

    def _begin(self) -> None:
        try:
            super().begin()
        except http.client.RemoteDisconnected:
            raise
        except http.client.BadStatusLine:
            if not self.fp.at_end:
                raise
        if self.fp.at_end:
            raise http.client.IncompleteRead(b"")

    def _piece(self, most: int) -> bytes:
        if self.fp is None:
            return b""
        if not self._left:
            self._left = self._chunk_size()
            if not self._left:
                self._read_trailer()
                self._close_conn()
                return b""
        piece: bytes = self.fp.read(min(most, self._left))
        self._left -= len(piece)
        if not piece:
            raise http.client.IncompleteRead(b"")
        if not self._left and self.fp.read(2) not in (b"\r\n", b"\r", b""):
            raise MalformedResponse
        return piece

    def _check(self) -> None:
        headers = self.headers
        if headers.defects:
            raise MalformedResponse
        for name, value in headers.items():
            if not _NAME.fullmatch(name) or "\n" in value or "\r" in value:
                raise MalformedResponse
        lengths = {value.strip() for value in headers.get_all("content-length", ())}
        codings = [value.strip().lower() for value in headers.get_all("transfer-encoding", ())]
        if len(lengths) > 1 or not all(map(_LENGTH.fullmatch, lengths)):
            raise MalformedResponse
        if codings and (codings != ["chunked"] or lengths):
            raise MalformedResponse

    def _chunk_size(self) -> int:
        line = self.fp.readline()
        found = _CHUNK_SIZE.fullmatch(line)
        if found:
            return int(found[1], 16)
        raise MalformedResponse if line.endswith(b"\n") else http.client.IncompleteRead(b"")

    def _read_trailer(self) -> None:
        for _ in range(_MOST):
            if self.fp.readline() in (b"\r\n", b"\n", b""):
                return
        raise MalformedResponse

    def _close_conn(self) -> None:
        # After an error the service is asked over a new connection, and bytes after the end of a
        # response belong to no request: neither connection is reused.
        self._sock.ignores_input = True
        with suppress(OSError):
            if self.status in _TROUBLE or self.fp.peek(1):
                self._sock.shutdown(socket.SHUT_RDWR)
        self._sock.ignores_input = False
        super()._close_conn()  # type: ignore[misc]
