"""Decode JSON strictly: only a single valid document in UTF-8 is accepted.

The package orjson decodes fast, but it keeps only the last of two equal keys, and rounds integers
beyond 64 bits. A document that may have either is decoded by Python's own decoder instead.
"""

from __future__ import annotations

import gc
import json
import math
import re
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, NoReturn, TypeVar

import numpy as np
import orjson

from aatoolkit._util.text import visible
from aatoolkit.errors import DecodeError, PayloadError
from aatoolkit.jsontree.layout import MAX_DEPTH, InexactDecoding, StructureCounter

T = TypeVar("T")

BOM = b"\xef\xbb\xbf"
"""The UTF-8 byte order mark, which is skipped if a document begins with it."""

MAX_EXACT_FLOAT = 2**53
"""The greatest number up to which a float can represent every whole number."""

_BLOCK_SIZE = 1 << 17
_EXCERPT_LENGTH = 200
_QUOTE, _BACKSLASH, _COLON, _SPACE = b'"\\: '
_STRING_PATTERN = re.compile(rb'"(?:[^"\\]|\\.)*+(?:"|\\?\Z)', re.DOTALL)
_KEY_END_PATTERN = re.compile(rb'(?<!\\)(?:\\\\)*"\s*\Z')


class _InvalidDocument(Exception):
    """Raised for an invalid JSON document; it has a word for the kind of problem, and a message."""


def decode(response: bytes | str | Any, **error_details: Any) -> Any:
    """Decode one JSON document from bytes or text; or check and copy a decoded value.

    Parameters
    ----------
    response : bytes, str or object
        The document, or a decoded value.
    **error_details
        Attributes of the exception if the document is not valid, such as ``url``.

    Raises
    ------
    DecodeError
        If the document is not valid. Duplicate keys, NaN and lone surrogates are not allowed.
    PayloadError
        If a decoded value is not a JSON value.

    Examples
    --------
    >>> decode(b'{"count": 9007199254740993}')
    {'count': 9007199254740993}
    """

    def count_value_keys(value: Any, has_exact_integers: bool) -> tuple[Any, int]:
        counter = StructureCounter(has_exact_integers=has_exact_integers)
        counter.count_values([value], {type(value)}, 0)
        return value, counter.key_count

    with gc_paused():
        return read_document(response, count_value_keys, **error_details)


def read_document(
    response: bytes | str | Any,
    convert_value: Callable[[Any, bool], tuple[T, int]],
    **error_details: Any,
) -> T:
    """Decode a document as `decode` does, and return the result of a function for its value.

    ``convert_value`` is this function. It takes the decoded value, and a boolean: whether large
    integers are certainly exact. It returns a tuple of its result and the number of keys in all
    objects. This number is compared with the number of keys in the bytes, to find duplicate keys.
    ``error_details`` are attributes of the exception if the document is not valid.
    """
    if not isinstance(response, bytes | str):
        return convert_value(check_json_value(response, **error_details), True)[0]
    body = response.encode("utf-8", "surrogatepass") if isinstance(response, str) else response
    json_bytes = body.removeprefix(BOM)
    try:
        # convert_value also returns the number of keys in all objects.
        result, key_count = convert_value(orjson.loads(json_bytes), False)
        if count_keys(json_bytes) == key_count:
            return result
    except (InexactDecoding, orjson.JSONDecodeError):
        pass
    return convert_value(decode_exactly(body, **error_details), True)[0]


def count_keys(body: bytes) -> int:
    """Count the keys in the bytes of a document; raise `InexactDecoding` if that is not possible.

    The count is used to find duplicate keys, which orjson drops.
    """
    key_count = 0
    byte_values = np.frombuffer(body, np.uint8)
    for block_offset in range(0, len(byte_values), _BLOCK_SIZE):
        colon_offsets = (
            np.flatnonzero(byte_values[block_offset : block_offset + _BLOCK_SIZE] == _COLON)
            + block_offset
        )
        previous_bytes = byte_values[colon_offsets - 1]
        follows_quote = previous_bytes == _QUOTE
        is_doubtful_quote = (previous_bytes <= _SPACE) | (
            follows_quote & (byte_values[colon_offsets - 2] == _BACKSLASH)
        )
        key_count += int(np.count_nonzero(follows_quote & ~is_doubtful_quote))
        for colon_offset in colon_offsets[is_doubtful_quote].tolist():
            bytes_before_colon = body[max(colon_offset - 64, 0) : colon_offset]
            if not bytes_before_colon.strip(b'\\" \t\r\n'):
                raise InexactDecoding  # the string begins before the window
            key_count += _KEY_END_PATTERN.search(bytes_before_colon) is not None
    return key_count


def decode_exactly(body: bytes, **error_details: Any) -> Any:
    """Decode a document with Python's own decoder, which is slower than orjson but exact.

    ``error_details`` are attributes of the exception if the document is not valid.
    """
    try:
        return _decode_strictly(body.removeprefix(BOM))
    except _InvalidDocument as invalid:
        problem, message = invalid.args
    # Raised outside the handler, as the exception caught there contains parts of the body.
    raise DecodeError(
        f"the response is not a JSON document: {message}",
        problem=problem,
        excerpt=make_excerpt(body),
        **error_details,
    )


def check_json_value(response: Any, **error_details: Any) -> Any:
    """Return a copy of a decoded value; raise `PayloadError` if it cannot be written as JSON."""
    try:
        copied_value = decode_exactly(json.dumps(response).encode(), **error_details)
    except (TypeError, ValueError, RecursionError) as error:
        problem_text = str(error)
    else:
        if copied_value == response:
            return copied_value
        problem_text = "JSON cannot hold it as it is"
    raise PayloadError(
        f"the response is not a JSON value: {problem_text}", problems=[f"{problem_text} @ $"]
    )


@contextmanager
def gc_paused() -> Iterator[None]:
    """Disable the garbage collector in a ``with`` block that creates many objects, for speed."""
    was_enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_enabled:
            gc.enable()


def make_excerpt(body: bytes) -> str:
    r"""Return the beginning of a body as one printable line of at most 200 characters.

    Examples
    --------
    >>> make_excerpt(b"a\x1b[31m\nb")
    'a\\x1b[31m\\nb'
    """
    body_text = body[: 4 * _EXCERPT_LENGTH].decode("utf-8", "backslashreplace")
    return visible(body_text[:_EXCERPT_LENGTH])[:_EXCERPT_LENGTH]


def is_utf8_encodable(text: str) -> bool:
    """Return whether a text can be encoded in UTF-8, i.e. has no unpaired surrogate."""
    try:
        return text.isascii() or bool(text.encode())
    except UnicodeEncodeError:
        return False


def _decode_strictly(body: bytes) -> Any:
    """Decode a document with Python's decoder; raise `_InvalidDocument` if it is not valid."""
    first_bytes = body[:512].lstrip()
    if not body.strip():
        raise _InvalidDocument("empty", "it is empty")
    if first_bytes.startswith(b"<"):
        raise _InvalidDocument(
            "html", "it is a web page; is this a login page, or a wrong base URL?"
        )
    if b"\0" in first_bytes[:4]:
        raise _InvalidDocument("encoding", "it is not in UTF-8")
    try:
        document_text = body.decode("utf-8")
        document_value = json.loads(
            document_text,
            object_pairs_hook=_make_object,
            parse_constant=_reject_constant,
            parse_float=_make_float,
        )
        StructureCounter(has_exact_integers=True).count_descendants([document_value])
    except UnicodeDecodeError as error:
        raise _InvalidDocument("encoding", f"it is not in UTF-8 (byte {error.start})") from None
    except (InexactDecoding, RecursionError):
        raise _InvalidDocument("too_deep", f"it is nested more than {MAX_DEPTH} deep") from None
    except ValueError as error:
        bytes_without_strings = _STRING_PATTERN.sub(b"", body)
        opening_count = bytes_without_strings.count(b"{") + bytes_without_strings.count(b"[")
        closing_count = bytes_without_strings.count(b"}") + bytes_without_strings.count(b"]")
        if opening_count > closing_count and first_bytes[:1] in (b"{", b"["):
            raise _InvalidDocument("truncated", "it breaks off before its end") from None
        raise _InvalidDocument("not_json", f"{error}") from None
    if "\\u" in document_text and not is_utf8_encodable(
        json.dumps(document_value, ensure_ascii=False)
    ):
        raise _InvalidDocument("encoding", "it holds half a surrogate pair, which is no text")
    return document_value


def _make_object(keys_and_values: list[tuple[str, Any]]) -> dict[str, Any]:
    """Create a dict from the keys and values of an object; a duplicate key is an error."""
    json_object = dict(keys_and_values)
    if len(json_object) < len(keys_and_values):
        ((duplicate_key, _),) = Counter(key for key, _ in keys_and_values).most_common(1)
        key_excerpt = make_excerpt(repr(duplicate_key).encode("utf-8", "backslashreplace"))
        raise _InvalidDocument(
            "duplicate_key", f"the key {key_excerpt} is given twice in one object"
        )
    return json_object


def _reject_constant(name: str) -> NoReturn:
    """Raise `_InvalidDocument` for ``NaN`` and infinities, which JSON does not allow."""
    raise _InvalidDocument("not_finite", f"{name} is no JSON number")


def _make_float(number_text: str) -> float:
    """Convert the text of a JSON number to a float; raise `_InvalidDocument` if it is too large."""
    number = float(number_text)
    if math.isinf(number):
        raise _InvalidDocument(
            "not_finite", f"the number {make_excerpt(number_text.encode())} is too large"
        )
    return number
