"""Whether a text repeats the token, in any of the spellings in which a server might."""

from __future__ import annotations

import base64
import re
from collections.abc import Iterator
from urllib.parse import quote

from aatoolkit.http.secret import Secret

_ESCAPE = re.compile(rb"\\u00([0-7][0-9a-fA-F])")

_PERCENT = re.compile(rb"%..")


class Echo:
    """The spellings of one token: plain, escaped as in JSON or a URL, base64, UTF-16.

    Examples
    --------
    >>> echo = Echo(Secret("a/secret+token"))
    >>> echo.is_in(b'{"sent": "a\\\\/secret+token"}'), echo.is_in(b"a secret token")
    (True, False)
    """

    def __init__(self, token: Secret) -> None:
        self._spellings = frozenset(_spellings(token.reveal()))

    def is_in(self, text: bytes) -> bool:
        """Whether the text repeats the token."""
        if any(spelling in text for spelling in self._spellings):
            return True
        plain = _ESCAPE.sub(lambda found: bytes([int(found[1], 16)]), text)
        return plain != text and any(spelling in plain for spelling in self._spellings)

    def __repr__(self) -> str:
        return "<Echo>"


def _spellings(token: str) -> Iterator[bytes]:
    plain = token.encode()
    yield plain
    yield plain.replace(b"/", b"\\/")
    quoted = quote(token, safe="").encode()
    yield quoted
    yield _PERCENT.sub(lambda found: found[0].lower(), quoted)
    yield token.encode("utf-16-le")
    yield token.encode("utf-16-be")
    for before in range(3):
        # The part that is the same wherever in a longer text the token stands.
        whole = base64.b64encode(bytes(before) + plain)
        part = whole[(0, 2, 3)[before] : len(whole) // 4 * 4 - 4]
        if len(part) >= 8:
            yield part
            yield part.translate(bytes.maketrans(b"+/", b"-_"))
