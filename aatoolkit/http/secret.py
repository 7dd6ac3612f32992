"""The bearer token, held so that nothing prints, copies or pickles it."""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import cache
from typing import NoReturn
from urllib.parse import quote

from aatoolkit.errors import ArgumentError

_B64TOKEN = re.compile(r"[A-Za-z0-9\-._~+/]+=*")
_PREFIX = re.compile(r"bearer\s+", re.IGNORECASE)

_PART = 12
_CHANCE = 8


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

    __slots__ = ("_pattern", "reveal")

    def __init__(self, value: str) -> None:
        token = _PREFIX.sub("", value.strip(), count=1) if isinstance(value, str) else ""
        # Kept in a function: tools that list the attributes of an object show no token.
        self.reveal: Callable[[], str] = lambda: token
        self._pattern = cache(lambda: _pattern(token))

    @classmethod
    def wrap(cls, token: str | Secret | None) -> Secret | None:
        """Wrap a token; a `Secret` or None is returned as it is."""
        return token if token is None or isinstance(token, Secret) else cls(token)

    def check(self) -> Secret:
        """Validate the token by RFC 6750, and return the secret itself.

        Raises
        ------
        ArgumentError
            If it is not valid; the message says where, and holds no part of the token.
        """
        # Computed in another frame: the one that raises holds neither the token nor a match.
        flaw = _flaw(self.reveal())
        if flaw is not None:
            raise ArgumentError(flaw, argument="token")
        return self

    def is_in(self, text: bytes) -> bool:
        r"""Whether a text holds the token: as it is, or as JSON or a URL writes it.

        One of a few characters may occur in any text, and is not looked for.

        Examples
        --------
        >>> secret = Secret("abc/12345")
        >>> secret.is_in(b"?t=abc%2f12345"), secret.is_in(rb"abc\/12345"), secret.is_in(b"abc")
        (True, True, False)
        """
        token = self.reveal()
        return len(token) >= _CHANCE and any(form in text for form in _forms(token))

    def hide_in(self, text: bytes) -> bytes:
        """Return the text with the token masked, and any longer part of it, in either case."""
        return self._pattern().sub(b"***", text)

    def __repr__(self) -> str:
        return "***"

    def __reduce_ex__(self, protocol: object) -> NoReturn:
        raise TypeError("a token is neither copied nor pickled")


def _flaw(token: str) -> str | None:
    """Describe what is wrong with a token; None if nothing is."""
    if not token:
        return "the token is empty or no text; give one as text, or none"
    match = _B64TOKEN.match(token)
    end = match.end() if match else 0
    if end == len(token):
        return None
    return (
        f"character {end + 1} of the token is not allowed in a token: letters, digits and -._~+/ "
        "are, and = at its end; was it copied whole?"
    )


def _forms(token: str) -> set[bytes]:
    """A token as it is, in JSON with escaped slashes, and in a URL."""
    in_url = quote(token, safe="")
    in_lower_case = re.sub("%..", lambda escape: escape[0].lower(), in_url)
    return {form.encode() for form in (token, token.replace("/", r"\/"), in_url, in_lower_case)}


def _pattern(token: str) -> re.Pattern[bytes]:
    """A pattern of the token's forms, and of parts too long to occur by chance."""
    forms = sorted(_forms(token), key=len, reverse=True)
    parts = {form[at : at + _PART] for form in forms for at in range(len(form) - _PART + 1)}
    return re.compile(b"|".join(map(re.escape, [*forms, *sorted(parts)])), re.IGNORECASE)
