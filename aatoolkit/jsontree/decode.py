"""Bytes to JSON, strictly: one document in UTF-8, or an error that names the problem.

A body is decoded by orjson, which is fast and changes a few things without a word; the body's
bytes show whether it met any of them. Where it may have, Python's own reader decides.
"""

from __future__ import annotations

import gc
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import chain
from typing import Any

from aatoolkit.errors import DecodeError
from aatoolkit.jsontree.exactness import InexactParse, check_exact, count_keys, is_json_value
from aatoolkit.jsontree.members import (
    Members,
    has_overlong_number,
    is_plain_key,
)
from aatoolkit.jsontree.split import Chunk, Span, SplitBody, SplitError, split_body
from aatoolkit.jsontree.stdlib_parser import MAX_DEPTH, MAX_DIGITS, InvalidDocument, excerpt, read

__all__ = [
    "BOM",
    "MAX_DEPTH",
    "MAX_DIGITS",
    "Chunk",
    "InexactParse",
    "Members",
    "Span",
    "SplitBody",
    "SplitError",
    "check_exact",
    "decode",
    "decode_exactly",
    "excerpt",
    "gc_paused",
    "has_overlong_number",
    "is_json_value",
    "is_plain_key",
    "outline",
    "split_body",
]

BOM = b"\xef\xbb\xbf"
"""The UTF-8 byte order mark, which a document may begin with; it is passed over."""


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
    try:
        with gc_paused():
            return _decode_fast(body.removeprefix(BOM))
    except InexactParse:
        pass
    return decode_exactly(body, **facts)


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
    """Decode a document without checks, with only the beginning of its longest list.

    None if it is not JSON, or orjson cannot decide.

    Examples
    --------
    >>> outline(b'{"count": 1}'), outline(b'{"count"')
    ({'count': 1}, None)
    """
    try:
        with gc_paused():
            return split_body(body.removeprefix(BOM)).document
    except InexactParse:
        return None


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


def _decode_fast(body: bytes) -> Any:
    try:
        return _joined(body, split_body(body))
    except SplitError:
        return _joined(body, split_body(body, whole=True))


def _joined(body: bytes, parts: SplitBody) -> Any:
    members = count_keys([parts.document], 0)
    for chunk in chain([parts.first], parts.rest(parts.chunk)) if parts.first else ():
        members += count_keys(chunk.values, parts.depth)
        parts.array.extend(chunk.values)
    check_exact(body, members)
    return parts.document
