"""The body of a response: unpacked piece by piece, and never beyond its limit."""

from __future__ import annotations

import zlib
from collections.abc import Iterable, Iterator

PIECE = 1 << 16

_GZIP = 31  # zlib's word for a gzip header and 32 kB of memory


class TooMuch(Exception):
    """The body is larger than the limit."""


class Packed(Exception):
    """The body is packed in a way that was not asked for, or wrongly."""


class CutOff(Exception):
    """The body ends before its end."""


def read_body(pieces: Iterable[bytes], coding: str, limit: int, body: bytearray) -> None:
    """Fill ``body`` with the unpacked pieces of a response.

    Raises
    ------
    TooMuch, Packed, CutOff
        If it is larger than the limit, cannot be unpacked, or is not whole.
    """
    if coding not in ("", "identity", "gzip", "x-gzip"):
        raise Packed
    for piece in _unpacked(pieces) if coding.endswith("gzip") else pieces:
        body += piece
        if len(body) > limit:
            raise TooMuch


def _unpacked(pieces: Iterable[bytes]) -> Iterator[bytes]:
    """The contents of one gzip member after another."""
    member = None
    for piece in pieces:
        rest = piece
        while rest:
            member = member or zlib.decompressobj(_GZIP)
            try:
                unpacked = member.decompress(rest, PIECE)
            except zlib.error:
                raise Packed from None
            yield unpacked
            rest = member.unconsumed_tail
            while not rest and len(unpacked) == PIECE and not member.eof:
                unpacked = member.decompress(b"", PIECE)
                yield unpacked
            if member.eof:
                rest, member = member.unused_data, None
    if member is not None:
        raise CutOff
