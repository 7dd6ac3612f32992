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

_OPENING = re.compile(rb'\[\s*(\{\s*"(?:[^"\\]|\\.){1,200}+"\s*:)')
_HEAD, _CANDIDATES = 1 << 16, 8


class NotInParts(BaseException):
    """A document must be read as a whole: no fault, which somebody might tolerate."""


class Cut(NamedTuple):
    """A document that is cut.

    Attributes
    ----------
    body : bytes
        All of it.
    name : str
        The field of the document that has the array.
    envelope : dict
        The document, with an empty array there.
    cuts : list of int
        Where the elements of each part begin, the last ones' included, one byte on.
    last : list
        The last elements.
    """

    body: bytes
    name: str
    envelope: dict[str, Any]
    cuts: list[int]
    last: list[Any]

    def documents(self) -> Iterator[Vector]:
        """Yield the document with the elements of each part, which know their positions.

        Raises
        ------
        orjson.JSONDecodeError
            If a part is no elements: the document was cut elsewhere than between two.
        """
        view, first = memoryview(self.body), 0
        for start, end in [*pairwise(self.cuts), (0, 0)]:
            elements = (
                orjson.loads(b"".join((b"[", view[start : end - 1], b"]"))) if end else self.last
            )
            document = Vector.of({**self.envelope, self.name: elements})
            document.field(self.name).each().level.first = first
            first += len(elements)
            yield document


def cut(body: bytes) -> Cut | None:
    """Cut a long document; None if no array of its fields reaches almost from end to end.

    Examples
    --------
    >>> body = b'{"n": 2, "rows": [%b]}' % b", ".join([b'{"id": 1, "text": "made up"}'] * 99_999)
    >>> parts = cut(body)
    >>> parts.name, parts.envelope, sum(len(one.field("rows").each()) for one in parts.documents())
    ('rows', {'n': 2, 'rows': []}, 99999)
    """
    openings = _OPENING.finditer(body, 0, _HEAD) if len(body) >= LONG else ()
    for opening in islice(openings, _CANDIDATES):
        between = re.compile(rb"\}\s*(,)\s*" + re.escape(opening[1]))
        cuts = [opening.start(1)]
        while comma := between.search(body, cuts[-1] + PART, cuts[-1] + 2 * PART):
            cuts.append(comma.end(1))
        if len(cuts) < 3 or len(body) - cuts[-1] > 2 * PART:
            continue
        mark = uuid4().hex
        try:
            envelope = orjson.loads(
                b'%b"%b",%b' % (body[: cuts[0]], mark.encode(), body[cuts[-1] :])
            )
        except orjson.JSONDecodeError:
            continue
        for name, value in envelope.items() if type(envelope) is dict else ():
            if type(value) is list and value[:1] == [mark]:
                return Cut(body, name, {**envelope, name: []}, cuts, value[1:])
    return None
