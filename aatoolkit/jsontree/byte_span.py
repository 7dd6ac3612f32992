"""Find the byte spans of values in a document by their paths.

A container is read through once, the first time that something in it is asked for, and what it
holds is passed over; a further value in it costs no more than its own path. It is for bodies that
`~aatoolkit.jsontree.decode.decode` accepts: it looks for places and does not check again.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable

from aatoolkit.jsontree.decode import BOM
from aatoolkit.jsontree.paths import KEY_SIGN, Field, Position, parse_path

ByteSpan = tuple[int, int]
"""The first byte of a value, and the one after its last; counted from 0 in the whole body."""

_Members = dict[str | int, tuple[ByteSpan | None, ByteSpan]]
"""What a container holds: by key or position, where the key is, and where the value is."""

_SPACE = re.compile(rb"[ \t\r\n]*")
_STRING = re.compile(rb'"[^"\\]*(?:\\.[^"\\]*)*"', re.S)
_SCALAR = re.compile(rb"[^\s,\]}]+")
_NESTING = re.compile(rb'[\[\]{}]|"[^"\\]*(?:\\.[^"\\]*)*"', re.S)


class ByteIndex:
    r"""Index of a body that finds the byte spans of values.

    Parameters
    ----------
    body : bytes
        One JSON document in UTF-8, with or without a byte-order mark.

    Examples
    --------
    >>> index = ByteIndex(b'{"points": [{"rate": 1.50}, null]}')
    >>> index.span("$.points[0].rate"), index.span("$.points[0].rate~"), index.span("$.x")
    ((21, 25), (13, 19), None)
    """

    def __init__(self, body: bytes) -> None:
        self.body = body
        self._members: dict[int, _Members] = {}

    def span(self, path: str) -> ByteSpan | None:
        """Return the byte span of the value at a concrete path; None if there is none.

        Parameters
        ----------
        path : str
            A concrete path, such as ``$.points[0].rate``; one that ends in ``~`` is that of a key.

        Raises
        ------
        ValueError
            If the path is none, or is a pattern; or if the body ends within a value.
        """
        steps = [_label(path, step) for step in parse_path(path.removesuffix(KEY_SIGN))]
        start = self._space(len(BOM) if self.body.startswith(BOM) else 0)
        if start >= len(self.body):
            return None
        key: ByteSpan | None = None
        found: ByteSpan = (start, start)
        for label in steps:
            member = self._held(found[0]).get(label)
            if member is None:
                return None
            key, found = member
        if path.endswith(KEY_SIGN):
            return key
        return found if steps else (start, self._skip(start))

    def _held(self, start: int) -> _Members:
        """Index the members of the container that begins at a byte; empty where none begins."""
        if start not in self._members:
            sign = self.body[start : start + 1]
            held: _Members = {}
            if sign == b"{":
                held = self._object(start + 1)
            elif sign == b"[":
                held = self._array(start + 1)
            self._members[start] = held
        return self._members[start]

    def _object(self, at: int) -> _Members:
        held: _Members = {}
        at = self._space(at)
        while self.body[at : at + 1] != b"}":
            key_end = self._skip(at)
            value = self._space(self._space(key_end) + 1)
            end = self._skip(value)
            held[_key(self.body[at:key_end])] = ((at, key_end), (value, end))
            at = self._next(end)
        return held

    def _array(self, at: int) -> _Members:
        held: _Members = {}
        at = self._space(at)
        while self.body[at : at + 1] != b"]":
            end = self._skip(at)
            held[len(held)] = (None, (at, end))
            at = self._next(end)
        return held

    def _next(self, at: int) -> int:
        """Return the position of the next member or element, or of the container's end."""
        at = self._space(at)
        return self._space(at + 1) if self.body[at : at + 1] == b"," else at

    def _space(self, at: int) -> int:
        found = _SPACE.match(self.body, at)
        return found.end() if found else at

    def _skip(self, start: int) -> int:
        """Return the position after the value that begins at a byte."""
        sign = self.body[start : start + 1]
        if sign == b'"':
            found = _STRING.match(self.body, start)
        elif sign and sign not in b"{[":
            found = _SCALAR.match(self.body, start)
        else:
            return self._skip_nested(start)
        if found is None:
            raise _ended(start)
        return found.end()

    def _skip_nested(self, start: int) -> int:
        depth = 0
        for token in _NESTING.finditer(self.body, start):
            sign = token[0]
            depth += (sign in (b"{", b"[")) - (sign in (b"}", b"]"))
            if not depth:
                return token.end()
        raise _ended(start)


def byte_spans(body: bytes, paths: Iterable[str]) -> dict[str, ByteSpan]:
    """Find the byte spans of the values at some concrete paths; absent ones are left out.

    Examples
    --------
    >>> body = b'{"points": [{"rate": 1.50}, null]}'
    >>> found = byte_spans(body, ["$.points[0].rate", "$.points[1]", "$.x"])
    >>> {path: body[start:end] for path, (start, end) in found.items()}
    {'$.points[0].rate': b'1.50', '$.points[1]': b'null'}
    """
    index = ByteIndex(body)
    found = {path: index.span(path) for path in paths}
    return {path: span for path, span in found.items() if span is not None}


def _label(path: str, step: object) -> str | int:
    if isinstance(step, Field):
        return step.name
    if isinstance(step, Position):
        return step.number
    raise ValueError(f"{path!r} is a pattern, not the path of one value")


def _key(text: bytes) -> str:
    key: str = json.loads(text) if b"\\" in text else text[1:-1].decode()
    return key


def _ended(start: int) -> ValueError:
    return ValueError(f"the document ends within the value that begins at byte {start}")
