"""The bearer token, held so that nothing prints, copies or pickles it."""

from __future__ import annotations

import base64
import re
from collections.abc import Callable, Iterator
from functools import cache
from itertools import chain, combinations
from typing import NoReturn

from aatoolkit.errors import ConfigurationError

_B64TOKEN = re.compile(r"[A-Za-z0-9\-._~+/]+=*")
_ODD = re.compile(r"[+/=~]")
_FORMS = ("%{:02X}", "%{:02x}", "\\u{:04X}", "\\u{:04x}", "&#{:d};", "&#x{:X};", "&#x{:x};")
_PART = 12
_CHANCE = 8
_PREFIX = re.compile(r"bearer\s+", re.IGNORECASE)


class Secret:
    """A bearer token; it prints as ``***``.

    White space around it and a ``Bearer`` prefix are removed: tokens read from a file end in a
    line break. The constructor never fails, so that no traceback shows the token; ``check``
    validates it.

    Examples
    --------
    >>> Secret("Bearer abc123")
    ***
    """

    __slots__ = ("_parts", "reveal")

    def __init__(self, value: str) -> None:
        found = _PREFIX.sub("", value.strip(), count=1) if isinstance(value, str) else ""
        # Kept in a function: tools that list the attributes of an object show no token.
        self.reveal: Callable[[], str] = lambda: found
        self._parts = cache(lambda: _parts(found))

    @classmethod
    def wrap(cls, token: str | Secret | None) -> Secret | None:
        """Wrap a token; a `Secret` or None is returned as it is."""
        return token if token is None or isinstance(token, Secret) else cls(token)

    def check(self) -> Secret:
        """Validate the token by RFC 6750, and return the secret itself.

        Raises
        ------
        ConfigurationError
            If it is not valid; the message says where, and holds no part of the token.
        """
        # Computed in another frame: the one that raises holds neither the token nor a match.
        flaw = _flaw(self.reveal())
        if flaw is not None:
            raise ConfigurationError(flaw, setting="token")
        return self

    def is_in(self, text: bytes) -> bool:
        """Whether a text holds the token: plain, or as URLs, JSON, HTML, UTF-16 or Base64 have it.

        Examples
        --------
        >>> Secret("abc/12345").is_in(b"?t=abc%2f12345"), Secret("abc/12345").is_in(b"abc")
        (True, False)
        """
        token = self.reveal()
        # What every plain spelling has in common is looked for first: answers are long.
        common = max(_ODD.split(token), key=len).encode()
        if common in text and any(each in text for each in _spellings(token)):
            return True
        # Both orders of UTF-16 hold what is between the first byte and the last.
        wide = token.encode("utf-16-le")[:-1]
        return wide in text or any(
            form in text for form in set(_base64_forms(token.encode())) if len(form) >= _CHANCE
        )

    @property
    def is_distinct(self) -> bool:
        """Whether it is too long to occur in a text by chance."""
        return len(self.reveal()) >= _CHANCE

    def hide_in(self, text: bytes) -> bytes:
        """Return the text with the token masked, and any longer part of it."""
        folded = text.lower()
        spans = {span for part in self._parts() for span in _positions(part, folded)}
        shown, end = b"", 0
        for first, last in sorted(spans):
            if first > end or not end:
                shown += text[end:first] + b"***"
            end = max(end, last)
        return shown + text[end:]

    def __repr__(self) -> str:
        return "***"

    def __reduce__(self) -> NoReturn:
        raise TypeError("a token is neither copied nor pickled")

    def __reduce_ex__(self, protocol: object) -> NoReturn:
        self.__reduce__()


def _flaw(token: str) -> str | None:
    """Describe what is wrong with a token; None if nothing is."""
    if not token:
        return "the token is empty; give one, or none"
    match = _B64TOKEN.match(token)
    end = match.end() if match else 0
    if end == len(token):
        return None
    return (
        f"character {end + 1} of the token is not allowed in a token: letters, digits and -._~+/ "
        "are, and = at its end; was it copied whole?"
    )


def _parts(token: str) -> frozenset[bytes]:
    """Every part of the token, in lower case, that is too long to occur by chance."""
    return frozenset(
        spelling[start : start + _PART]
        for spelling in {each.lower() for each in _spellings(token)}
        for start in range(max(1, len(spelling) - _PART + 1))
    )


def _spellings(token: str) -> set[bytes]:
    """The token as it stands, and as URLs, JSON and HTML write its few odd characters.

    Which of them they write otherwise is a matter of taste: each choice is a spelling.
    """
    odd = sorted(set(_ODD.findall(token)))
    chosen = chain.from_iterable(combinations(odd, count + 1) for count in range(len(odd)))
    written = [
        token.translate({ord(char): form.format(ord(char)) for char in chars})
        for chars in chosen
        for form in _FORMS
    ]
    return {each.encode() for each in (token, token.replace("/", "\\/"), *written) if each}


def _base64_forms(token: bytes) -> Iterator[bytes]:
    """The token within Base64, at each of the three alignments."""
    for before in range(3):
        # Characters that also depend on the bytes before and after are left out.
        first, last = -(-before * 8 // 6), (before + len(token)) * 8 // 6
        for encode in (base64.b64encode, base64.urlsafe_b64encode):
            yield encode(bytes(before) + token)[first:last]


def _positions(part: bytes, text: bytes) -> Iterator[tuple[int, int]]:
    """The positions of a part in a text."""
    start = text.find(part)
    while start >= 0:
        yield start, start + len(part)
        start = text.find(part, start + 1)
