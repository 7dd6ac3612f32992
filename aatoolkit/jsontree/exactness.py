"""Check in the bytes of a body whether orjson decoded it exactly.

orjson keeps the last of two equal keys, makes floats of integers beyond 64 bits, and reads 1024
levels deep. `confirm` finds the first two in the bytes, at a few per cent of the time that
decoding takes; `survey` counts keys and levels where nobody else walks the document.
"""

from __future__ import annotations

import re
from itertools import chain
from math import isfinite
from typing import Any

import numpy as np

from aatoolkit.jsontree.stdlib_parser import MAX_DEPTH, MAX_DIGITS

EXACT_FLOAT = 2**53
"""Floats hold every whole number up to this one, and not the next."""

_BLOCK = 1 << 20
_QUOTE, _BACKSLASH, _COLON, _MINUS, _SPACE = b'"\\:- '
_STRIDE = 4
_WIDE = re.compile(rb"(?:\A|(?<=[\[,: \t\r\n]))(?:-[0-9]{19}|[0-9]{20})")

_Bytes = np.ndarray[tuple[int], np.dtype[np.uint8]]
_Flags = np.ndarray[tuple[int], np.dtype[np.bool_]]
_Positions = np.ndarray[tuple[int], np.dtype[np.intp]]


_KINDS = {type(None), bool, int, float, str, list, dict}


class InexactParse(Exception):
    """orjson may not have decoded a body exactly."""


def check_exact(body: bytes, members: int) -> None:
    """Raise `InexactParse` unless the bytes hold no more than so many keys, and no wide integer.

    Parameters
    ----------
    body : bytes
        The body, as orjson read it.
    members : int
        How many keys its objects have, all together.
    """
    codes = np.frombuffer(body, np.uint8)
    starts = range(0, len(codes), _BLOCK)
    if sum(_keys(codes, start) for start in starts) != members:
        raise InexactParse
    if any(_wide(body, codes, start) for start in starts):
        raise InexactParse


def count_keys(values: list[Any], depth: int) -> int:
    """Count the keys of the objects among values and below them.

    Raises
    ------
    InexactParse
        If they lie deeper than is allowed; ``depth`` is that of what encloses the values.
    """
    members = 0
    while values:
        objects = [value for value in values if type(value) is dict]
        arrays = [value for value in values if type(value) is list]
        depth += bool(objects or arrays)
        if depth > MAX_DEPTH:
            raise InexactParse
        members += sum(map(len, objects))
        below = chain.from_iterable((*map(dict.values, objects), *arrays))
        values = [value for value in below if (kind := type(value)) is dict or kind is list]
    return members


def is_json_value(value: Any) -> bool:
    """Whether a value is made of what JSON has and nothing else, so that nothing changes in it.

    Examples
    --------
    >>> [is_json_value(one) for one in ({"a": [1, None]}, {"a": (1, 2)}, {1: float("nan")})]
    [True, False, False]
    """
    values, depth = [value], 0
    while values and depth <= MAX_DEPTH:
        kinds = set(map(type, values))
        if not kinds <= _KINDS:
            return False
        # Each container once: one that holds itself twice would double with every level.
        objects = list({id(one): one for one in values if type(one) is dict}.values())
        arrays = list({id(one): one for one in values if type(one) is list}.values())
        keys = list(chain.from_iterable(objects))
        texts = keys + [one for one in values if type(one) is str]
        if not (
            set(map(type, keys)) <= {str}
            and all(isfinite(one) for one in values if type(one) is float)
            and is_unicode("".join(texts))
        ):
            return False
        values = list(chain.from_iterable((*map(dict.values, objects), *arrays)))
        depth += 1
    return not values


def is_unicode(text: str) -> bool:
    """Whether text can be encoded: it has no unpaired surrogate."""
    try:
        return text.isascii() or bool(text.encode())
    except UnicodeEncodeError:
        return False


def _keys(codes: _Bytes, start: int) -> int:
    """Count the keys that end in a block, or a few more: text may begin with a colon.

    A key is a quote before a colon, with or without white space between. The quote is text
    if a backslash escapes it.
    """
    end = min(start + _BLOCK, len(codes))
    start = max(start, 2)
    last = np.flatnonzero(codes[start:end] == _COLON) + (start - 1)
    before = codes[last]
    quotes, loose = last[before == _QUOTE], last[before <= _SPACE]
    doubtful = quotes[codes[quotes - 1] == _BACKSLASH]
    keys = len(quotes) - np.count_nonzero(_escaped(codes, doubtful))
    while (spaces := _is_space(codes[loose])).any():
        loose -= spaces
    loose = loose[codes[loose] == _QUOTE]
    keys += len(loose) - np.count_nonzero(_escaped(codes, loose))
    return int(keys)


def _is_space(codes: _Bytes) -> _Flags:
    spaces: _Flags = (codes == 32) | ((codes <= 13) & (codes >= 9))
    return spaces


def _escaped(codes: _Bytes, positions: _Positions) -> _Flags:
    """Whether an odd number of backslashes precedes each byte."""
    odd = np.zeros(len(positions), np.bool_)
    if not len(positions):
        return odd
    running = codes[positions - 1] == _BACKSLASH
    back = 1
    while running.any():
        odd ^= running
        back += 1
        running = running & (codes[positions - back] == _BACKSLASH)
    return odd


def _wide(body: bytes, codes: _Bytes, start: int) -> bool:
    """Whether a block holds an integer that may need more than 64 bits, or a very long number.

    Nineteen digits in a row are four in a row of every fourth byte, and few other bytes are.
    """
    block = codes[start : start + _BLOCK + MAX_DIGITS]
    digits = (block[::_STRIDE] - np.uint8(48)) < 10
    found = digits[:-3] & digits[1:-2] & digits[2:-1] & digits[3:]
    positions = np.flatnonzero(found) * _STRIDE + start
    if not len(positions):
        return False
    many = MAX_DIGITS // _STRIDE - _STRIDE
    if len(positions) > many and (positions[many:] - positions[:-many] == many * _STRIDE).any():
        return True
    return any(_WIDE.search(body, max(0, at - 24), at + 24) for at in _long(codes, positions))


def _long(codes: _Bytes, positions: _Positions) -> list[int]:
    """The positions at which runs of twenty digits, or a minus and nineteen, begin nearby."""
    around = codes.take(positions[:, None] + np.arange(-4, 20), mode="clip")
    digits = (around - np.uint8(48)) < 10
    found = np.zeros(len(positions), np.bool_)
    for back in range(1, 5):
        long = digits[:, back : back + 19].all(1)
        found |= long & (digits[:, back + 19 : back + 20].any(1) | (around[:, back - 1] == _MINUS))
    chosen: list[int] = positions[found].tolist()
    return chosen
