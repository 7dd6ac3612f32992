"""The frame of a response, read strictly: where its head and body end can be told in one way.

Python's own reader lets much pass by which two readers of one connection may come to disagree
about where an answer ends, and the next one begins.
"""

from __future__ import annotations

import http.client
import io
import re
import socket
from contextlib import suppress
from email.errors import MultipartInvariantViolationDefect, StartBoundaryNotFoundDefect
from typing import Any

_MAX_LINE = 1 << 16
_LENGTH = re.compile(r"[0-9]{1,18}")
_NAME = re.compile(r"[!#$%&'*+.^_`|~0-9A-Za-z-]+")
_CHUNK_SIZE = re.compile(rb"([0-9a-fA-F]{1,15})[ \t]*(?:;.*)?\r?\n", re.DOTALL)
_OF_THE_BODY = (StartBoundaryNotFoundDefect, MultipartInvariantViolationDefect)


class Malformed(http.client.HTTPException):
    """What came is not HTTP, or can be read in two ways."""


class _Lines(io.BufferedReader):
    """Lines of bounded length that no control character can split."""

    def readline(self, size: int | None = -1, /) -> bytes:
        line = super().readline(_MAX_LINE)
        if (line and line[-1:] != b"\n" and len(line) == _MAX_LINE) or b"\0" in line:
            raise Malformed
        if b"\r" in line.removesuffix(b"\r\n"):
            raise Malformed
        return line


class Response(http.client.HTTPResponse):
    """A response whose frame is sound; urllib3 reads its body through `read`."""

    def __init__(self, sock: socket.socket, *arguments: Any, **options: Any) -> None:
        super().__init__(sock, *arguments, **options)
        self.fp.close()
        self.fp: Any = _Lines(sock.makefile("rb", buffering=0))
        self._sock: Any = sock
        self._left = 0

    def begin(self) -> None:
        """Read the head, past interim responses."""
        super().begin()
        while 100 <= self.status < 200 and self.status != http.HTTPStatus.SWITCHING_PROTOCOLS:
            self.headers = self.msg = None  # type: ignore[assignment]
            super().begin()
        self._check()

    def read(self, amt: int | None = None) -> bytes:
        """The next piece of the body, of at most so many bytes; nothing at its end."""
        if not self.chunked or self.fp is None:
            return super().read(amt)
        if not self._left:
            self._left = self._chunk_size()
            if not self._left:
                self._read_trailer()
                self._close_conn()
                return b""
        piece: bytes = self.fp.read(self._left if amt is None else min(amt, self._left))
        self._left -= len(piece)
        if not piece:
            raise http.client.IncompleteRead(b"")
        if not self._left and self.fp.read(2) not in (b"\r\n", b"\r", b""):
            raise Malformed
        return piece

    def _check(self) -> None:
        headers = self.headers
        if any(not isinstance(defect, _OF_THE_BODY) for defect in headers.defects):
            raise Malformed
        for name, value in headers.items():
            if not _NAME.fullmatch(name) or "\n" in value or "\r" in value:
                raise Malformed
        lengths = {value.strip() for value in headers.get_all("content-length", ())}
        codings = [value.strip().lower() for value in headers.get_all("transfer-encoding", ())]
        if len(lengths) > 1 or not all(map(_LENGTH.fullmatch, lengths)):
            raise Malformed
        if codings and (codings != ["chunked"] or lengths):
            raise Malformed

    def _chunk_size(self) -> int:
        line = self.fp.readline()
        found = _CHUNK_SIZE.fullmatch(line)
        if found:
            return int(found[1], 16)
        raise Malformed if line.endswith(b"\n") else http.client.IncompleteRead(b"")

    def _read_trailer(self) -> None:
        while self.fp.readline() not in (b"\r\n", b"\n", b""):
            pass

    def _close_conn(self) -> None:
        # What came after the end belongs to no question: the connection is not used again.
        self._sock.deaf = True
        with suppress(OSError):
            if self.fp.peek(1):
                self._sock.shutdown(socket.SHUT_RDWR)
        self._sock.deaf = False
        super()._close_conn()  # type: ignore[misc]
