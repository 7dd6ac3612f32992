"""Long documents in parts: the longest array cut between its elements, each part parsed alone.

A part is some hundred kilobytes, so that its objects stay in the processor's cache and are gone
before the next are made. Nothing is guessed: a cut that is none, as one inside of text, leaves a
part that is not JSON, and then the document is not cut.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import islice, pairwise
from typing import Any, NamedTuple
from uuid import uuid4

import orjson

from aatoolkit.jsontree.vectors import Vector

PART = 1 << 19
"""How many bytes the elements of a part have, about."""

LONG = 1 << 21
"""Shorter documents are not worth a cut."""

_HEAD = 1 << 16
_OPENING = re.compile(rb'\[\s*(\{\s*"(?:[^"\\]|\\.){1,200}+"\s*:)')
_CANDIDATES, _DEPTH = 8, 8


class NotInParts(BaseException):
    """A document must be read as a whole: no fault, which somebody might tolerate."""


class Cut(NamedTuple):
    """A document that is cut.

    Attributes
    ----------
    body : bytes
        All of it.
    names : tuple of str
        The fields that lead to the array.
    envelope : object
        The document, with an empty array there.
    last : list
        The last elements.
    cuts : list of int
        Where the elements of each part begin, the last ones' included, one byte on.
    """

    body: bytes
    names: tuple[str, ...]
    envelope: Any
    last: list[Any]
    cuts: list[int]

    def parts(self) -> Iterator[list[Any]]:
        """Yield the elements, part by part.

        Raises
        ------
        orjson.JSONDecodeError
            If a part is no elements: the document was cut elsewhere than between two.
        """
        view = memoryview(self.body)
        for start, end in pairwise(self.cuts):
            yield orjson.loads(b"".join((b"[", view[start : end - 1], b"]")))
        yield self.last

    def value(self, elements: list[Any]) -> Any:
        """The document with some of the elements only."""
        value: Any = elements
        for depth in range(len(self.names), 0, -1):
            above = self.envelope
            for name in self.names[: depth - 1]:
                above = above[name]
            value = {**above, self.names[depth - 1]: value}
        return value

    def document(self, elements: list[Any], first: int) -> Vector:
        """The document with some of the elements only, which know what their positions are."""
        document = Vector.of(self.value(elements))
        array = document
        for name in self.names:
            array = array.field(name)
        array.each().level.first = first
        return document


def cut(body: bytes) -> Cut | None:
    """Cut a long document; None if none of its first arrays reaches almost from end to end.

    Examples
    --------
    >>> body = b'{"n": 2, "rows": [%b]}' % b", ".join([b'{"id": 1, "text": "made up"}'] * 99_999)
    >>> parts = cut(body)
    >>> parts.names, parts.envelope, sum(map(len, parts.parts()))
    (('rows',), {'n': 2, 'rows': []}, 99999)
    """
    if len(body) < LONG:
        return None
    for opening in islice(_OPENING.finditer(body, 0, _HEAD), _CANDIDATES):
        between = re.compile(rb"\}\s*(,)\s*" + re.escape(opening[1]))
        cuts = [opening.start(1)]
        while found := between.search(body, cuts[-1] + PART, cuts[-1] + 2 * PART):
            cuts.append(found.end(1))
        if len(cuts) < 3 or len(body) - cuts[-1] > 2 * PART:
            continue
        mark = uuid4().hex
        marked = b"".join((body[: cuts[0]], orjson.dumps(mark), b",", body[cuts[-1] :]))
        try:
            envelope = orjson.loads(marked)
        except orjson.JSONDecodeError:
            continue
        names = _path_to(mark, envelope)
        if names is not None:
            array = envelope
            for name in names:
                array = array[name]
            last = array[1:]
            array.clear()
            return Cut(body, names, envelope, last, cuts)
    return None


def _path_to(mark: str, value: Any, depth: int = _DEPTH) -> tuple[str, ...] | None:
    """The fields that lead to the array whose first element is a mark."""
    if type(value) is list:
        return () if value[:1] == [mark] else None
    for name, inner in value.items() if type(value) is dict and depth else ():
        path = _path_to(mark, inner, depth - 1)
        if path is not None:
            return (name, *path)
    return None
