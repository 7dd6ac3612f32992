"""Where in the bytes of a document the values at some paths are.

One pass over the body finds all paths asked for, and reads past everything else. It is for bodies
that `~aatoolkit.jsontree.decode.decode` accepts: it looks for places and does not check again.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable
from dataclasses import dataclass, field

from aatoolkit.jsontree.paths import KEY_SIGN, Field, Position, parse_path

ByteSpan = tuple[int, int]
"""The first byte of a value, and the one after its last; counted from 0 in the whole body."""

_BOM = b"\xef\xbb\xbf"
_SPACE = re.compile(rb"[ \t\r\n]*")
_STRING = re.compile(rb'"[^"\\]*(?:\\.[^"\\]*)*"', re.S)
_SCALAR = re.compile(rb"[^\s,\]}]+")
_NESTING = re.compile(rb'[\[\]{}]|"[^"\\]*(?:\\.[^"\\]*)*"', re.S)


@dataclass
class _Wanted:
    """The paths asked for that begin alike: by step what is wanted below, and which end here."""

    below: dict[str | int, _Wanted] = field(default_factory=dict)
    values: list[str] = field(default_factory=list)
    keys: list[str] = field(default_factory=list)


def byte_spans(body: bytes, paths: Iterable[str]) -> dict[str, ByteSpan]:
    r"""Find where in a body the values at some concrete paths are.

    Parameters
    ----------
    body : bytes
        One JSON document in UTF-8, with or without a byte-order mark.
    paths : iterable of str
        Concrete paths, such as ``$.points[0].rate``; one that ends in ``~`` is that of a key.

    Returns
    -------
    dict of str to tuple of int
        For each path that is there, its first byte and the one after its last, such that
        ``body[start:end]`` is the value as it is spelled. A path that is not there is left out.

    Raises
    ------
    ValueError
        If a path is none, or is a pattern; or if the body ends within a value.

    Examples
    --------
    >>> body = b'{"points": [{"rate": 1.50}, null]}'
    >>> found = byte_spans(body, ["$.points[0].rate", "$.points[1]", "$.points[0].rate~", "$.x"])
    >>> {path: body[start:end] for path, (start, end) in found.items()}
    {'$.points[0].rate~': b'"rate"', '$.points[0].rate': b'1.50', '$.points[1]': b'null'}
    """
    root = _Wanted()
    for path in dict.fromkeys(paths):
        _want(root, path)
    scan = _Scan(body)
    if not body.removeprefix(_BOM).strip():
        return {}
    scan.value(len(_BOM) if body.startswith(_BOM) else 0, root)
    return scan.found


def _want(root: _Wanted, path: str) -> None:
    is_key = path.endswith(KEY_SIGN)
    at = root
    for step in parse_path(path.removesuffix(KEY_SIGN)):
        if isinstance(step, Field):
            at = at.below.setdefault(step.name, _Wanted())
        elif isinstance(step, Position):
            at = at.below.setdefault(step.number, _Wanted())
        else:
            raise ValueError(f"{path!r} is a pattern, not the path of one value")
    (at.keys if is_key else at.values).append(path)


class _Scan:
    """One pass over a body; it goes into containers only where something in them is wanted."""

    def __init__(self, body: bytes) -> None:
        self.body = body
        self.found: dict[str, ByteSpan] = {}

    def value(self, at: int, wanted: _Wanted) -> int:
        """Pass over the value that begins at a byte, or after space there; the byte after it."""
        start = self._space(at)
        end = self._enter(start, wanted.below) if wanted.below else self._skip(start)
        for path in wanted.values:
            self.found[path] = (start, end)
        return end

    def _enter(self, start: int, wanted: dict[str | int, _Wanted]) -> int:
        sign = self.body[start : start + 1]
        if sign == b"{":
            return self._object(start + 1, wanted)
        if sign == b"[":
            return self._array(start + 1, wanted)
        return self._skip(start)

    def _object(self, at: int, wanted: dict[str | int, _Wanted]) -> int:
        at = self._space(at)
        while self.body[at : at + 1] != b"}":
            key_end = self._skip(at)
            below = wanted.get(_key(self.body[at:key_end]))
            for path in below.keys if below else ():
                self.found[path] = (at, key_end)
            colon = self._space(key_end)
            after = self.value(colon + 1, below) if below else self._skip(self._space(colon + 1))
            at = self._next(after)
        return at + 1

    def _array(self, at: int, wanted: dict[str | int, _Wanted]) -> int:
        at, number = self._space(at), 0
        while self.body[at : at + 1] != b"]":
            below = wanted.get(number)
            after = self.value(at, below) if below else self._skip(at)
            at, number = self._next(after), number + 1
        return at + 1

    def _next(self, at: int) -> int:
        """The next member or element, or the end of them."""
        at = self._space(at)
        return self._space(at + 1) if self.body[at : at + 1] == b"," else at

    def _space(self, at: int) -> int:
        found = _SPACE.match(self.body, at)
        return found.end() if found else at

    def _skip(self, start: int) -> int:
        """The byte after the value that begins here."""
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


def _key(text: bytes) -> str:
    key: str = json.loads(text) if b"\\" in text else text[1:-1].decode()
    return key


def _ended(start: int) -> ValueError:
    return ValueError(f"the document ends within the value that begins at byte {start}")
