"""Parse and validate the base URL of the service."""

from __future__ import annotations

import ipaddress
from dataclasses import dataclass
from urllib.parse import unquote, urlsplit

from aatoolkit._util.hosts import canonical_name
from aatoolkit.errors import ArgumentError

_PORTS = {"http": 80, "https": 443}


@dataclass(frozen=True)
class BaseUrl:
    """The base URL of every request.

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
    def parse(cls, text: str) -> BaseUrl:
        """Parse a base URL.

        Raises
        ------
        ArgumentError
            If a token must not be sent there. Allowed is https, or http on this machine, without
            user, query, fragment or ``..`` in the path.
        """
        given = text.strip()
        if any(character <= " " or character in "\\\x7f" for character in given):
            raise _refused("holds white space, a control character or a backslash")
        try:
            parts = urlsplit(given)
            name, port = parts.hostname or "", parts.port
        except ValueError:
            raise _refused("is not a URL") from None
        if parts.scheme not in _PORTS:
            raise _refused("does not begin with https://")
        if "@" in parts.netloc:
            raise _refused("names a user; give the token by itself instead")
        if "?" in given or "#" in given:
            raise _refused("holds a query or a fragment; leave it out")
        if any(_is_dot_segment(segment) for segment in parts.path.split("/")):
            raise _refused("holds . or .. in its path; write the path out")
        host = _address(name)
        if host is None or port == 0:
            raise _refused("names no valid host")
        base = cls(parts.scheme, host, port or _PORTS[parts.scheme], parts.path.rstrip("/"))
        if base.scheme == "http" and not base.is_loopback:
            raise _refused("is not encrypted; use https (http is for this machine only)")
        return base

    @property
    def origin(self) -> str:
        """Scheme, host and, where it is not the usual one, port."""
        host = f"[{self.host}]" if ":" in self.host else self.host
        usual = self.port == _PORTS[self.scheme]
        return f"{self.scheme}://{host}" + ("" if usual else f":{self.port}")

    @property
    def url(self) -> str:
        """The URL, without a slash at its end."""
        return self.origin + self.path

    @property
    def is_loopback(self) -> bool:
        """Whether the host is this machine."""
        try:
            return ipaddress.ip_address(self.host).is_loopback
        except ValueError:
            return self.host == "localhost"


def _address(text: str) -> str | None:
    """The canonical spelling of an IP address or host name, or None if it is neither."""
    try:
        return None if "%" in text else str(ipaddress.ip_address(text))
    except ValueError:
        return canonical_name(text)


def _is_dot_segment(segment: str) -> bool:
    plain = unquote(segment)
    return plain in (".", "..") or "/" in plain or "\\" in plain


def _refused(why: str) -> ArgumentError:
    # The URL is not repeated: somebody may have put a password into it.
    return ArgumentError(
        f"the base URL {why}; a base URL looks like https://api.example", argument="base_url"
    )
