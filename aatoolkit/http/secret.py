"""The token: held so that nothing prints, copies or pickles it."""

from __future__ import annotations

import base64
import re
from collections.abc import Iterator
from typing import NoReturn
from urllib.parse import unquote_to_bytes

from aatoolkit.errors import ConfigurationError

_B64TOKEN = re.compile(r"[A-Za-z0-9\-._~+/]+=*")
_PREFIX = re.compile(r"bearer\s+", re.IGNORECASE)
_ESCAPE = re.compile(rb"\\(?:u00([0-9A-Fa-f]{2})|(/))")


class Secret:
    """A bearer token; it prints as ``***``.

    White space around it and a ``Bearer`` in front are dropped: tokens read from a file end in
    a line break. Making one never fails, so that no traceback shows what was given; ``check``
    says whether it can be used.

    Examples
    --------
    >>> Secret("Bearer abc123")
    ***
    """

    __slots__ = ("_value",)

    def __init__(self, value: str) -> None:
        self._value = _PREFIX.sub("", value.strip(), count=1) if isinstance(value, str) else ""

    @classmethod
    def wrap(cls, token: str | Secret | None) -> Secret | None:
        """Hide a token; what is hidden, or None, stays as it is."""
        return token if token is None or isinstance(token, Secret) else cls(token)

    def check(self) -> Secret:
        """Return the secret itself if it is a token as RFC 6750 has it.

        Raises
        ------
        ConfigurationError
            If it is not; the message says where, and holds no part of the token.
        """
        if not self._value:
            raise ConfigurationError("the token is empty; give one, or none", setting="token")
        match = _B64TOKEN.match(self._value)
        end = match.end() if match else 0
        if end < len(self._value):
            raise ConfigurationError(
                f"character {end + 1} of the token cannot stand in a token: letters, digits and "
                "-._~+/ can, and = at its end; was it copied whole?",
                setting="token",
            )
        return self

    def reveal(self) -> str:
        """The token itself, for the one header that it belongs in."""
        return self._value

    def hide_in(self, text: bytes) -> bytes:
        """The text with the token masked, should a server repeat it."""
        return text.replace(self._value.encode(), b"***")

    def is_in(self, text: bytes) -> bool:
        """Whether a text holds the token: plain, escaped as in a URL or JSON, or in Base64.

        Examples
        --------
        >>> Secret("abc/123").is_in(b"?t=abc%2f123"), Secret("abc/123").is_in(b"abc")
        (True, False)
        """
        token = self._value.encode()
        if token in text or any(form in text for form in _base64_forms(token)):
            return True
        plain = unquote_to_bytes(text) if b"%" in text else text
        plain = _ESCAPE.sub(_unescaped, plain) if b"\\" in plain else plain
        return plain is not text and token in plain

    def __repr__(self) -> str:
        return "***"

    def __reduce__(self) -> NoReturn:
        raise TypeError("a token is neither copied nor pickled")

    def __reduce_ex__(self, protocol: object) -> NoReturn:
        self.__reduce__()


def _base64_forms(token: bytes) -> Iterator[bytes]:
    """How a token looks within Base64, wherever in the text that was encoded it stood."""
    for before in range(3):
        # The characters that also depend on the bytes before and after are left out.
        first, last = -(-before * 8 // 6), (before + len(token)) * 8 // 6
        for encode in (base64.b64encode, base64.urlsafe_b64encode):
            yield encode(bytes(before) + token)[first:last]


def _unescaped(found: re.Match[bytes]) -> bytes:
    return bytes.fromhex(found[1].decode()) if found[1] else found[2]
