"""Bytes to JSON, strictly: one document in UTF-8, or an error that names the problem.

A body is decoded by orjson, which is fast and changes a few things without a word: it keeps the
last of two equal keys, makes floats of integers beyond 64 bits, and reads 1024 levels deep. The
body's bytes show whether it met any of them. Where it may have, Python's own reader decides.
"""

from __future__ import annotations

import gc
import json
import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from itertools import chain
from math import isfinite
from typing import Any, TypeVar

import numpy as np
import orjson

from aatoolkit.errors import DecodeError, PayloadError
from aatoolkit.jsontree.stdlib_parser import MAX_DEPTH, MAX_DIGITS, InvalidDocument, excerpt, read

__all__ = ["BOM", "MAX_DEPTH", "MAX_DIGITS", "decode", "excerpt", "gc_paused", "outline"]

T = TypeVar("T")

BOM = b"\xef\xbb\xbf"
"""The UTF-8 byte order mark, which a document may begin with; it is passed over."""

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


class Inexact(Exception):
    """orjson may not have decoded a body exactly."""


def decode(body: bytes, **facts: Any) -> Any:
    """Decode one JSON document.

    A byte-order mark is dropped. Whole numbers stay exact, whatever their size.

    Parameters
    ----------
    body
        The document, in UTF-8.
    **facts
        Facts for the error: ``url``, ``status``, ``section``, ``scope``.

    Raises
    ------
    DecodeError
        If it is not one JSON document: ``.problem`` is the word for it. What JSON readers
        let pass is refused too: keys given twice, numbers that are not finite, text that is
        no Unicode, and nesting deeper than 128.

    Examples
    --------
    >>> decode(b'{"count": 9007199254740993}')
    {'count': 9007199254740993}
    """
    return decoded(body, **facts)


def decoded(answer: bytes | str | Any, **facts: Any) -> Any:
    """Decode a document as `decode` does, from bytes or text; or check a JSON value."""
    with gc_paused():
        return read_document(answer, _key_count, **facts)


def read_document(
    answer: bytes | str | Any, survey: Callable[[Any], tuple[T, int]], **facts: Any
) -> T:
    """Decode a document, as `decode` does, from bytes or text; or check a JSON value.

    Parameters
    ----------
    answer
        The document.
    survey
        Takes the value and returns what is asked for, and how many keys its objects have. It is
        called again with another value if the first is not exact.
    **facts
        Facts for the error.

    Raises
    ------
    DecodeError
        If it is not one JSON document.
    PayloadError
        If an object is no JSON value.
    """
    if not isinstance(answer, bytes | str):
        return survey(checked_value(answer, **facts))[0]
    body = answer.encode("utf-8", "surrogatepass") if isinstance(answer, str) else answer
    try:
        bare = body.removeprefix(BOM)
        result, keys = survey(orjson.loads(bare))
        if is_exact(bare, keys):
            return result
    except (Inexact, orjson.JSONDecodeError):
        pass
    return survey(decode_exactly(body, **facts))[0]


def is_exact(body: bytes, keys: int) -> bool:
    """Whether the bytes hold no more than so many keys, and no integer that may be too wide."""
    codes = np.frombuffer(body, np.uint8)
    starts = range(0, len(codes), _BLOCK)
    return sum(_keys(codes, start) for start in starts) == keys and not any(
        _wide(body, codes, start) for start in starts
    )


def decode_exactly(body: bytes, **facts: Any) -> Any:
    """Decode one JSON document by the standard library: slower than `decode`, always exact."""
    try:
        return read(body.removeprefix(BOM))
    except InvalidDocument as refused:
        problem, sentence = refused.problem, str(refused)
    # Raised here, outside the handler: what the handlers caught holds parts of the body.
    raise DecodeError(
        f"the answer is not a JSON document: {sentence}",
        problem=problem,
        excerpt=excerpt(body),
        **facts,
    )


def outline(body: bytes) -> Any:
    """Decode a document without checks; None if it is not JSON, or orjson cannot decide.

    Examples
    --------
    >>> outline(b'{"count": 1}'), outline(b'{"count"')
    ({'count': 1}, None)
    """
    try:
        with gc_paused():
            return orjson.loads(body.removeprefix(BOM))
    except orjson.JSONDecodeError:
        return None


def checked_value(answer: Any, **facts: Any) -> Any:
    """Check that an object is a JSON value; one that may be none is encoded and decoded again.

    Raises
    ------
    PayloadError
        If it is none.
    """
    if _is_json_value(answer):
        return answer
    try:
        body = json.dumps(answer).encode()
    except (TypeError, ValueError, RecursionError) as error:
        problem = str(error)
    else:
        if decode_exactly(body, **facts) == answer:
            return answer
        problem = "JSON cannot hold it as it is"
    raise PayloadError(f"the answer is not a JSON value: {problem}", problems=[f"{problem} @ $"])


@contextmanager
def gc_paused() -> Iterator[None]:
    """Pause the garbage collector, which would search every new object for cycles."""
    was_on = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_on:
            gc.enable()


def _key_count(value: Any) -> tuple[Any, int]:
    """A value and the number of keys of all its objects; raise if it is nested too deep."""
    waiting, depth, count = [value], 0, 0
    while waiting:
        objects = [inner for inner in waiting if type(inner) is dict]
        arrays = [inner for inner in waiting if type(inner) is list]
        depth += bool(objects or arrays)
        if depth > MAX_DEPTH:
            raise Inexact
        count += sum(map(len, objects))
        below = chain.from_iterable((*map(dict.values, objects), *arrays))
        waiting = [inner for inner in below if (kind := type(inner)) is dict or kind is list]
    return value, count


def _is_json_value(value: Any) -> bool:
    """Whether a value is made of what JSON has and nothing else, so that nothing changes in it."""
    values, depth = [value], 0
    while values and depth <= MAX_DEPTH:
        kinds = set(map(type, values))
        if not kinds <= _KINDS:
            return False
        # Each container once: one that holds itself twice would double with every level.
        objects = list({id(value): value for value in values if type(value) is dict}.values())
        arrays = list({id(value): value for value in values if type(value) is list}.values())
        keys = list(chain.from_iterable(objects))
        if not set(map(type, keys)) <= {str}:
            return False
        if not all(isfinite(value) for value in values if type(value) is float):
            return False
        if not is_unicode("".join(keys + [value for value in values if type(value) is str])):
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
