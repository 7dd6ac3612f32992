"""The base URL of a service, and the token, which is never printed, copied or pickled."""

from __future__ import annotations

import ipaddress
import re
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from typing import NoReturn
from urllib.parse import quote, unquote, urlsplit

from aatoolkit._util.hosts import normalize_host_name
from aatoolkit.errors import ArgumentError

_PORT_BY_SCHEME = {"http": 80, "https": 443}


@dataclass(frozen=True)
class BaseUrl:
    """The base URL of a service, parsed into its parts.

    Examples
    --------
    >>> BaseUrl.parse("https://API.example:443/v1/").url
    'https://api.example/v1'
    """

    scheme: str
    host: str
    port: int
    path: str

    @classmethod
    def parse(cls, url_text: str) -> BaseUrl:
        """Parse a base URL, and normalise its spelling.

        Raises
        ------
        ArgumentError
            If the URL does not begin with ``https://`` (``http://`` is allowed for this machine
            only), or has a user name, a query, a fragment or ``..``.
        """
        url_text = url_text.strip()
        try:
            url_parts = urlsplit(url_text)
            host_name = url_parts.hostname or ""
            port = url_parts.port
        except ValueError:
            url_parts = None
        if url_parts is None or any(
            character <= " " or character in "\\\x7f" for character in url_text
        ):
            raise _make_url_error("is not a URL")
        if url_parts.scheme not in _PORT_BY_SCHEME:
            raise _make_url_error("does not begin with https://")
        path_segments = [unquote(path_segment) for path_segment in url_parts.path.split("/")]
        has_bad_path = (
            "." in path_segments
            or ".." in path_segments
            or any({*path_segment} & {*"/\\"} for path_segment in path_segments)
        )
        if has_bad_path or any(separator in url_text for separator in "@?#"):
            raise _make_url_error(
                "has a user, a query, a fragment or . or .. in its path; leave it out"
            )
        try:
            host = None if "%" in host_name else str(ipaddress.ip_address(host_name))
        except ValueError:
            host = normalize_host_name(host_name)
        if host is None or port == 0:
            raise _make_url_error("names no valid host")
        base_url = cls(
            url_parts.scheme,
            host,
            port or _PORT_BY_SCHEME[url_parts.scheme],
            url_parts.path.rstrip("/"),
        )
        if base_url.scheme == "http" and not base_url.is_loopback:
            raise _make_url_error("is not encrypted; use https (http is for this machine only)")
        return base_url

    @property
    def origin(self) -> str:
        """Scheme, host and port, such as ``https://api.example``."""
        host = f"[{self.host}]" if ":" in self.host else self.host
        is_default_port = self.port == _PORT_BY_SCHEME[self.scheme]
        return f"{self.scheme}://{host}" + ("" if is_default_port else f":{self.port}")

    @property
    def url(self) -> str:
        """The base URL as text, without a slash at the end."""
        return self.origin + self.path

    @property
    def is_loopback(self) -> bool:
        """Whether the host is this machine, such as ``localhost``."""
        try:
            return ipaddress.ip_address(self.host).is_loopback
        except ValueError:
            return self.host == "localhost"


def _make_url_error(reason: str) -> ArgumentError:
    """Create the error for an unusable base URL; ``reason`` continues "the base URL …"."""
    # The URL is not repeated: somebody may have put a password into it.
    return ArgumentError(
        f"the base URL {reason}; a base URL looks like https://api.example", argument="base_url"
    )


_TOKEN_PATTERN = re.compile(r"[A-Za-z0-9\-._~+/]+=*")
_BEARER_PATTERN = re.compile(r"bearer\s+", re.IGNORECASE)

# Parts of a token that have this many characters are masked, too.
_MASKED_PART_LENGTH = 12
# Shorter tokens are not searched for in texts: they may occur there by chance.
_MIN_TOKEN_LENGTH = 8


class Secret:
    """A bearer token that cannot be copied or pickled, and whose ``repr`` is ``***``.

    ``reveal()`` returns the token as text.

    Examples
    --------
    >>> Secret("Bearer abc123")
    ***
    """

    __slots__ = ("_pattern", "reveal")

    def __init__(self, token_text: str) -> None:
        # It never fails, as a traceback would show the token; `check` validates it.
        token = (
            _BEARER_PATTERN.sub("", token_text.strip(), count=1)
            if isinstance(token_text, str)
            else ""
        )
        # Kept in a function: tools that list the attributes of an object show no token.
        self.reveal: Callable[[], str] = lambda: token
        self._pattern = cache(lambda: _compile_token_pattern(token))

    @classmethod
    def wrap(cls, token: str | Secret | None) -> Secret | None:
        """Convert a token given as text to a `Secret`; return a `Secret` or None unchanged."""
        return token if token is None or isinstance(token, Secret) else cls(token)

    def check(self) -> Secret:
        """Return this token unchanged; raise an error if it is not valid by RFC 6750.

        Raises
        ------
        ArgumentError
            If the token is not valid. The message does not repeat the token.
        """
        # Computed in another frame: the one that raises holds neither the token nor a match.
        problem = _find_token_problem(self.reveal())
        if problem is not None:
            raise ArgumentError(problem, argument="token")
        return self

    def occurs_in(self, content: bytes) -> bool:
        r"""Return whether bytes contain the token, in plain text, JSON-escaped or URL-encoded.

        Examples
        --------
        >>> secret = Secret("abc/12345")
        >>> [secret.occurs_in(body) for body in (b"?t=abc%2f12345", rb"abc\/12345", b"abc")]
        [True, True, False]
        """
        token = self.reveal()
        return len(token) >= _MIN_TOKEN_LENGTH and any(
            encoding in content for encoding in _list_encodings(token)
        )

    def mask_in(self, content: bytes) -> bytes:
        """Return a copy of the bytes in which ``***`` replaces the token and long parts of it."""
        return self._pattern().sub(b"***", content)

    def __repr__(self) -> str:
        return "***"

    def __reduce_ex__(self, protocol: object) -> NoReturn:
        raise TypeError("a token is neither copied nor pickled")


def _find_token_problem(token: str) -> str | None:
    """Return the reason why a token is not valid; None if it is valid."""
    if not token:
        return "the token is empty or not a text; give a token as text, or leave it out"
    token_match = _TOKEN_PATTERN.match(token)
    valid_length = token_match.end() if token_match else 0
    if valid_length == len(token):
        return None
    return (
        f"character {valid_length + 1} of the token is not allowed in a token: letters, digits "
        "and -._~+/ are, and = at its end; was it copied whole?"
    )


def _list_encodings(token: str) -> set[bytes]:
    """Return the ways to write a token, as bytes: plain text, JSON-escaped and URL-encoded."""
    url_encoding = quote(token, safe="")
    lower_case_encoding = re.sub("%..", lambda match: match[0].lower(), url_encoding)
    return {
        encoding.encode()
        for encoding in (token, token.replace("/", r"\/"), url_encoding, lower_case_encoding)
    }


def _compile_token_pattern(token: str) -> re.Pattern[bytes]:
    """Return a regular expression that matches a token and long parts of it.

    It matches plain text, JSON escapes and URL encoding.
    """
    encodings = sorted(_list_encodings(token), key=len, reverse=True)
    token_parts = {
        encoding[start_index : start_index + _MASKED_PART_LENGTH]
        for encoding in encodings
        for start_index in range(len(encoding) - _MASKED_PART_LENGTH + 1)
    }
    return re.compile(b"|".join(map(re.escape, [*encodings, *sorted(token_parts)])), re.IGNORECASE)
