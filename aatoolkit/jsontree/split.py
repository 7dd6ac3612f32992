"""Split a large body: the document without its long array, and the array in chunks.

Most answers are one long array in a small envelope. Decoding it chunk by chunk keeps new objects
in the processor's caches, and the caller can free each chunk before the next.

Where to cut is guessed and then proved. If ``[c1]``, ``[c2]``, … are JSON, then so is
``[c1,c2,…]``, and it holds what they hold: the grammar reads it in no other way. The same goes
for the envelope, once a number put in the array's place is read back as the array's one element.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any, NamedTuple, TypeVar

import orjson

from aatoolkit.jsontree.exactness import InexactParse

T = TypeVar("T")
Span = tuple[int, int]
"""Where a part of a body begins and ends."""

_FIRST = 1 << 18
_CHUNK = 1 << 19
_EDGE = 1 << 13
_TRIES = 6
_MARK = 8070450532247928833
_OPENING = re.compile(rb"\[(?=[ \t\r\n]*\{)")
_CLOSING = re.compile(rb"(?<=\})[ \t\r\n]*\]")
_HEAD = re.compile(rb'[ \t\r\n]*(\{[ \t\r\n]*"(?:[^"\\]|\\.)*")')


class SplitError(Exception):
    """The array does not end where it seemed to; the body is to be read whole."""


class Chunk(NamedTuple):
    """Some elements of an array: their text with brackets, and their values."""

    text: bytes
    values: list[Any]


@dataclass
class SplitBody:
    """A decoded document whose long array is still to be read, chunk by chunk.

    Parameters
    ----------
    document
        The document; where there is a first chunk, its long array is empty.
    text : bytes
        The text it was read from.
    path : tuple of str
        The fields that lead to the array.
    array : list
        The array itself.
    body : bytes
        The text of all elements and more.
    start, end : int
        Where in it those after the first chunk are.
    head : bytes
        What an element begins with.
    first : Chunk or None
        The first elements; None if the document is whole.
    chunk_size : int
        About how many bytes the next chunks have, at the least.
    """

    document: Any
    text: bytes
    path: tuple[str, ...] = ()
    array: list[Any] = field(default_factory=list)
    body: bytes = b""
    start: int = 0
    end: int = 0
    head: bytes = b""
    first: Chunk | None = None
    chunk_size: int = 0

    @property
    def depth(self) -> int:
        """The number of objects and arrays that enclose an element of the array."""
        return len(self.path) + 1

    def rest(self, read: Callable[[Span, Iterator[Span]], T | None]) -> Iterator[T]:
        """Yield the results of ``read`` for the chunks after the first, some in parallel.

        It gets where they are, and where the next ones are likely to be; it returns None if what
        is there is not the text of elements. It may change `chunk_size`.

        Raises
        ------
        SplitError
            If the text cannot be cut into such pieces.
        """
        start = self.start
        while start < self.end:
            size = max(self.chunk_size, _CHUNK)
            for stop in self._stops(start, size):
                found = read((start, stop), self._likely(stop + 1, size))
                if found is not None:
                    yield found
                    start = stop + 1
                    break
            else:
                raise SplitError

    def text_of(self, span: Span, before: bytes = b"[", after: bytes = b"]") -> bytes:
        """Return a span of the body between brackets, or other text before and after."""
        start, end = span
        return b"".join((before, memoryview(self.body)[start:end], after))

    def chunk(self, span: Span, _: object = None) -> Chunk | None:
        """Parse a span of the body; None if its text is not a sequence of elements."""
        text = self.text_of(span)
        try:
            return Chunk(text, orjson.loads(text))
        except orjson.JSONDecodeError:
            return None

    def take_first(self) -> bool:
        """Parse the first chunk; return whether there is one."""
        for stop in self._stops(self.start, _FIRST):
            self.first = self.chunk((self.start, stop))
            if self.first is not None:
                self.start = stop + 1
                break
        return self.first is not None

    def _likely(self, start: int, size: int) -> Iterator[Span]:
        while start < self.end:
            stop = next(self._stops(start, size))
            yield start, stop
            start = stop + 1

    def _stops(self, start: int, size: int) -> Iterator[int]:
        """Yield the positions where a chunk may end: commas before the start of an element."""
        at = start + size
        for _ in range(_TRIES):
            at = self.body.find(self.head, at, self.end)
            if at < 0:
                break
            comma = _before(self.body, at)
            if self.body[comma : comma + 1] == b",":
                yield comma
            at += 1
        yield self.end


def split_body(body: bytes, whole: bool = False) -> SplitBody:
    """Decode a body in parts; in one if that is requested or no long array is found in it.

    Raises
    ------
    InexactParse
        If orjson cannot read it.
    """
    found = None if whole or len(body) <= 2 * _CHUNK else _envelope(body)
    return found or SplitBody(_loads(body), body)


def _loads(body: bytes) -> Any:
    try:
        return orjson.loads(body)
    except orjson.JSONDecodeError:
        raise InexactParse from None


def _envelope(body: bytes) -> SplitBody | None:
    """Decode the parts around an array that begins near the start and ends near the end."""
    starts = [found.end() for found in _OPENING.finditer(body, 0, _EDGE)][:_TRIES]
    ends = [found.end() - 1 for found in _CLOSING.finditer(body, len(body) - _EDGE)][-_TRIES:]
    for start in starts:
        for end in ends:
            text = b"%b%d%b" % (body[:start], _MARK, body[end:])
            try:
                document = orjson.loads(text)
            except orjson.JSONDecodeError:
                continue
            marked = list(_marked(document))
            head = _HEAD.match(body, start, end)
            if len(marked) == 1 and head:
                path, array = marked[0]
                array.clear()
                parts = SplitBody(document, text, path, array, body, start, end, head[1])
                if parts.take_first():
                    return parts
            break
    return None


def _marked(document: Any) -> Iterator[tuple[tuple[str, ...], list[Any]]]:
    """Yield every list that holds only the mark, with the fields on the way to it."""
    pending: list[tuple[tuple[str, ...], Any]] = [((), document)]
    while pending:
        path, value = pending.pop()
        if value == [_MARK]:
            yield path, value
        elif type(value) is dict:
            pending += [((*path, key), item) for key, item in value.items()]


def _before(body: bytes, at: int) -> int:
    """Return the position of the last character before another that is no white space."""
    at -= 1
    while body[at] in b" \t\r\n":
        at -= 1
    return at
