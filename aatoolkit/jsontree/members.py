"""Count the members of objects in the bytes of a JSON text, without parsing it."""

from __future__ import annotations

import re
from functools import cached_property

import numpy as np

from aatoolkit.jsontree.stdlib_parser import MAX_DIGITS

_QUOTE, _COLON, _BACKSLASH, _BRACKET, _MINUS, _POINT, _E, _SPACE, _ZERO, _N = b'":\\[-.e 0n'
_BLOCK = 1 << 18
_STRIDE = MAX_DIGITS // 16
_OVERLONG = re.compile(rb"[0-9]{%d}" % (MAX_DIGITS + 1))
_PLAIN = re.compile(r'(?!:)[^\0-\x1f"\\]*[^\0-/:\[\\]')

_Bytes = np.ndarray[tuple[int], np.dtype[np.uint8]]
_Flags = np.ndarray[tuple[int], np.dtype[np.bool_]]
_Positions = np.ndarray[tuple[int], np.dtype[np.intp]]


def is_plain_key(key: str) -> bool:
    """Whether a key can be distinguished from text by its last byte.

    Examples
    --------
    >>> is_plain_key("chatId"), is_plain_key("a key"), is_plain_key("a:"), is_plain_key("")
    (True, True, False, False)
    """
    return _PLAIN.fullmatch(key) is not None


class Members:
    """The members of the objects in a text, all of whose keys are plain.

    A key ends in a quote before a colon. Of a quote in text the byte before is a backslash; of
    one that begins text it is a comma, a colon, a bracket or white space.

    Parameters
    ----------
    text : bytes
        The text.

    Examples
    --------
    >>> members = Members(b'{"a": 1, "b": "2:", "c": -3.5}')
    >>> members.count(), members.integers()
    (3, 1)
    """

    def __init__(self, text: bytes) -> None:
        self._codes = np.frombuffer(text, np.uint8)
        self._colons = {start: self._find(start) for start in range(2, len(text), _BLOCK)}

    def count(self) -> int | None:
        """Count the members; None if the text leaves that unsure."""
        if any(map(self._is_loose, self._colons)):
            return None
        return sum(int(np.count_nonzero(colons)) for colons in self._colons.values())

    def integers(self) -> int:
        """Count the members that are numbers with neither point nor exponent."""
        return sum(map(self._integers, self._colons))

    def nulls(self, key: str) -> int:
        """Count the members of a key that are null."""
        ends = self._null_ends
        name = np.frombuffer(b'"' + key.encode(), np.uint8)
        ends = ends[ends > len(name)]
        before = self._codes[ends[:, None] + np.arange(-1 - len(name), -1)]
        return int(np.count_nonzero((before == name).all(1)))

    @cached_property
    def _null_ends(self) -> _Positions:
        """The colons before null."""
        found = [np.flatnonzero(colons) + start for start, colons in self._colons.items()]
        colons = np.concatenate(found) if found else np.empty(0, np.intp)
        values = colons + 1
        while (spaces := _is_space(self._codes[values])).any():
            values += spaces
        ends: _Positions = colons[self._codes[values] == _N]
        return ends

    def _find(self, start: int) -> _Flags:
        """Flag the bytes of a block that are colons after keys."""
        codes = self._codes[start : start + _BLOCK]
        end = start + len(codes)
        found: _Flags = codes == _COLON
        found &= self._codes[start - 1 : end - 1] == _QUOTE
        last = self._codes[start - 2 : end - 2]
        found &= last >= _ZERO
        for text in (_COLON, _BRACKET, _BACKSLASH):
            found &= last != text
        return found

    def _is_loose(self, start: int) -> bool:
        """Whether there may be white space between a key of a block and its colon."""
        codes = self._codes[start : start + _BLOCK]
        loose = codes == _COLON
        loose &= self._codes[start - 1 : start - 1 + len(codes)] <= _SPACE
        if not loose.any():
            return False
        positions = np.flatnonzero(loose) + (start - 1)
        while (spaces := _is_space(self._codes[positions])).any():
            positions -= spaces
        return bool((self._codes[positions] == _QUOTE).any())

    def _integers(self, start: int) -> int:
        positions = np.flatnonzero(self._colons[start]) + (start + 1)
        while (spaces := _is_space(self._codes[positions])).any():
            positions += spaces
        first = self._codes[positions]
        positions = positions[_is_digit(first) | (first == _MINUS)] + 1
        count = 0
        while len(positions):
            codes = self._codes[positions]
            more = _is_digit(codes)
            whole = ~more & (codes != _POINT) & ((codes | 0x20) != _E)
            count += int(np.count_nonzero(whole))
            positions = positions[more] + 1
        return count


def has_overlong_number(text: bytes) -> bool:
    """Whether there is a longer run of digits than may be read."""
    digits = _is_digit(np.frombuffer(text, np.uint8)[::_STRIDE])
    for far in (1, 2, 4, 8):  # in the end, so many of sixteen in a row
        digits = digits[:-far] & digits[far:]
    return bool(digits.any()) and _OVERLONG.search(text) is not None


def _is_space(codes: _Bytes) -> _Flags:
    spaces: _Flags = (codes == 32) | ((codes <= 13) & (codes >= 9))
    return spaces


def _is_digit(codes: _Bytes) -> _Flags:
    digits: _Flags = (codes - np.uint8(48)) < 10
    return digits
