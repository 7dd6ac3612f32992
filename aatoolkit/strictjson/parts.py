"""A large body in parts: the document without its long array, and the array in chunks.

Most answers are one long array in a small envelope. Decoding it chunk by chunk keeps new objects
in the processor's caches, and lets who asks free each chunk before the next.

Where to cut is guessed and then proved. If ``[c1]``, ``[c2]``, … are JSON, then so is
``[c1,c2,…]``, and it holds what they hold: the grammar reads it in no other way. The same goes
for the envelope, once a number put in the array's place is read back as the array's one element.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from itertools import chain
from typing import Any

import orjson

from aatoolkit.strictjson.evidence import Unsure

_CHUNK = 1 << 19
_EDGE = 1 << 13
_TRIES = 6
_MARK = 8070450532247928833
_OPENING = re.compile(rb"\[(?=[ \t\r\n]*\{)")
_CLOSING = re.compile(rb"(?<=\})[ \t\r\n]*\]")
_HEAD = re.compile(rb'[ \t\r\n]*(\{[ \t\r\n]*"(?:[^"\\]|\\.)*")')


class Miscut(Exception):
    """The array does not end where it seemed to; the body is to be read whole."""


@dataclass
class Parts:
    """A document and what is still to be put into its long array.

    Parameters
    ----------
    document
        The document; where ``chunks`` holds anything, its long array is empty.
    path : tuple of str, optional
        The fields that lead to the array; None if the document is whole.
    array : list
        The array itself.
    chunks : iterable of list
        Its elements, in order; reading on may raise `Miscut`.
    """

    document: Any
    path: tuple[str, ...] | None = None
    array: list[Any] = field(default_factory=list)
    chunks: Iterable[list[Any]] = ()

    @property
    def depth(self) -> int:
        """How many objects and arrays enclose an element of the array."""
        return len(self.path or ()) + 1


def cut(body: bytes, whole: bool = False) -> Parts:
    """Decode a body in parts; in one if that is asked for or no long array is found in it.

    Raises
    ------
    Unsure
        If orjson cannot read it.
    """
    found = None if whole or len(body) <= 2 * _CHUNK else _envelope(body)
    return found or Parts(_loads(body))


def _loads(body: bytes) -> Any:
    try:
        return orjson.loads(body)
    except orjson.JSONDecodeError:
        raise Unsure from None


def _envelope(body: bytes) -> Parts | None:
    """The parts around the first array that begins near the start and ends near the end."""
    starts = [found.end() for found in _OPENING.finditer(body, 0, _EDGE)][:_TRIES]
    ends = [found.end() - 1 for found in _CLOSING.finditer(body, len(body) - _EDGE)][-_TRIES:]
    for start in starts:
        for end in ends:
            try:
                document = orjson.loads(b"%b%d%b" % (body[:start], _MARK, body[end:]))
            except orjson.JSONDecodeError:
                continue
            places = list(_marked(document))
            chunks = _chunks(body, start, end)
            first = next(chunks, None)
            if len(places) == 1 and first:
                path, array = places[0]
                array.clear()
                return Parts(document, path, array, chain([first], chunks))
            break
    return None


def _marked(document: Any) -> Iterator[tuple[tuple[str, ...], list[Any]]]:
    """Every list of the mark alone, and the fields that lead there."""
    waiting: list[tuple[tuple[str, ...], Any]] = [((), document)]
    while waiting:
        path, value = waiting.pop()
        if value == [_MARK]:
            yield path, value
        elif type(value) is dict:
            waiting += [((*path, key), item) for key, item in value.items()]


def _chunks(body: bytes, start: int, end: int) -> Iterator[list[Any]]:
    """The elements between two places, some at a time; none if the first cannot be cut off."""
    head = _HEAD.match(body, start, end)
    view, first = memoryview(body), True
    while head and start < end:
        for stop in _stops(body, start, end, head[1]):
            try:
                elements = orjson.loads(b"".join((b"[", view[start:stop], b"]")))
            except orjson.JSONDecodeError:
                continue
            yield elements
            start, first = stop + 1, False
            break
        else:
            if first:
                return
            raise Miscut


def _stops(body: bytes, start: int, end: int, head: bytes) -> Iterator[int]:
    """The next places where a chunk may end: commas before what elements begin with."""
    at = start + _CHUNK
    for _ in range(_TRIES):
        at = body.find(head, at, end)
        if at < 0:
            break
        comma = _before(body, at)
        if body[comma : comma + 1] == b",":
            yield comma
        at += 1
    yield end


def _before(body: bytes, at: int) -> int:
    """The last place before another that is no white space."""
    at -= 1
    while body[at] in b" \t\r\n":
        at -= 1
    return at
