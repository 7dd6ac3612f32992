"""Read and decompress the body of a response, within a size limit."""

from __future__ import annotations

import zlib
from collections.abc import Iterable, Iterator

from aatoolkit.http.deadline import ResponseTooLarge

CHUNK = 1 << 16

_GZIP = 31  # zlib's wbits for a gzip header and a window of 32 kB


class BadEncoding(Exception):
    """The content encoding was not requested, or the body does not decompress."""


class IncompleteBody(Exception):
    """The compressed body ends before its end."""


def read_body(chunks: Iterable[bytes], encoding: str, limit: int, body: bytearray) -> None:
    """Append the decompressed chunks of a response to ``body``.

    Raises
    ------
    ResponseTooLarge, BadEncoding, IncompleteBody
        If the body is larger than the limit, does not decompress, or is cut short.
    """
    if encoding not in ("", "identity", "gzip", "x-gzip"):
        raise BadEncoding
    for chunk in _decompressed(chunks) if encoding.endswith("gzip") else chunks:
        body += chunk
        if len(body) > limit:
            raise ResponseTooLarge


def _decompressed(chunks: Iterable[bytes]) -> Iterator[bytes]:
    """Decompress one gzip member after another."""
    member = None
    for chunk in chunks:
        rest = chunk
        while rest:
            member = member or zlib.decompressobj(_GZIP)
            try:
                plain = member.decompress(rest, CHUNK)
            except zlib.error:
                raise BadEncoding from None
            yield plain
            rest = member.unconsumed_tail
            while not rest and len(plain) == CHUNK and not member.eof:
                plain = member.decompress(b"", CHUNK)
                yield plain
            if member.eof:
                rest, member = member.unused_data, None
    if member is not None:
        raise IncompleteBody
