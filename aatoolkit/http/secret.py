"""The token: held so that nothing prints, copies or pickles it."""

from __future__ import annotations

import re
from typing import NoReturn

from aatoolkit.errors import ConfigurationError

_B64TOKEN = re.compile(r"[A-Za-z0-9\-._~+/]+=*")
_PREFIX = re.compile(r"bearer\s+", re.IGNORECASE)


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

    def __repr__(self) -> str:
        return "***"

    def __reduce__(self) -> NoReturn:
        raise TypeError("a token is neither copied nor pickled")

    def __reduce_ex__(self, protocol: object) -> NoReturn:
        self.__reduce__()
