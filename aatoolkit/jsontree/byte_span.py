"""Find the bytes of a value in a JSON document by its path."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from functools import cached_property

from aatoolkit.jsontree.decode import BOM
from aatoolkit.jsontree.paths import KEY_MARKER, Field, Position, parse_path

ByteSpan = tuple[int, int]
"""The positions of the first byte of a value and of the byte after its end, as in a slice."""

_STRING_PATTERN = rb'"[^"\\]*(?:\\.[^"\\]*)*"'
_TOKEN_PATTERN = re.compile(rb"[\[\]{}]|" + _STRING_PATTERN + rb"|[^\s,:\]}\[{]+", re.S)


class ByteIndex:
    r"""Finds the bytes of a value in a JSON document by the value's path.

    A path that ends with ``~`` is that of a key.

    Examples
    --------
    >>> index = ByteIndex(b'{"points": [{"rate": 1.50}, null]}')
    >>> [index.find_span(path) for path in ("$.points[0].rate", "$.points[0].rate~", "$.x")]
    [(21, 25), (13, 19), None]
    """

    def __init__(self, body: bytes) -> None:
        self.body = body
        self._item_spans_by_opening_offset: dict[
            int, dict[str | int, tuple[ByteSpan | None, ByteSpan]]
        ] = {}

    @cached_property
    def _root_span(self) -> ByteSpan | None:
        """The span of bytes of the whole document; None if it is empty."""
        return next(self._iter_spans(len(BOM) if self.body.startswith(BOM) else 0), None)

    def find_span(self, path: str) -> ByteSpan | None:
        """Return the span of bytes of the value at a JSON path; None if there is no such value.

        For a path that ends with ``~``, such as ``$.rate~``, return the span of the key instead.
        """
        steps = parse_path(path.removesuffix(KEY_MARKER))
        key_span = value_span = self._root_span
        for step in steps:
            if not isinstance(step, Field | Position):
                raise ValueError(f"{path!r} is a pattern, not the path of one value")
            key_or_position = step.name if isinstance(step, Field) else step.index
            key_span, value_span = (
                self._find_spans(value_span[0]).get(key_or_position, (None, None))
                if value_span
                else (None, None)
            )
        return key_span if path.endswith(KEY_MARKER) else value_span

    def _find_spans(self, opening_offset: int) -> dict[str | int, tuple[ByteSpan | None, ByteSpan]]:
        """Return the spans of bytes of all items of an object or array.

        The result is a dict from key or position to a tuple of two spans: that of the key (None in
        an array), and that of the value. ``opening_offset`` is the position of the opening
        bracket.
        """
        if opening_offset not in self._item_spans_by_opening_offset:
            key_and_value_span_by_key = self._item_spans_by_opening_offset[opening_offset] = {}
            item_spans = (
                [*self._iter_spans(opening_offset + 1)]
                if self.body[opening_offset] in b"[{"
                else []
            )
            if self.body[opening_offset] == b"{"[0]:
                for key_span, value_span in zip(item_spans[::2], item_spans[1::2], strict=True):
                    key_and_value_span_by_key[json.loads(self.body[slice(*key_span)])] = (
                        key_span,
                        value_span,
                    )
            else:
                key_and_value_span_by_key.update(
                    (position, (None, span)) for position, span in enumerate(item_spans)
                )
        return self._item_spans_by_opening_offset[opening_offset]

    def _iter_spans(self, first_offset: int) -> Iterator[ByteSpan]:
        """Yield the span of bytes of each key and each value in an object or array, in order.

        ``first_offset`` is the position of the byte after the opening bracket.
        """
        depth = value_offset = 0
        for token_match in _TOKEN_PATTERN.finditer(self.body, first_offset):
            value_offset = value_offset if depth else token_match.start()
            depth += (token_match[0] in (b"{", b"[")) - (token_match[0] in (b"}", b"]"))
            if depth < 0:
                return
            if depth == 0:
                yield value_offset, token_match.end()
